"""Records of the configuration, the same for every adapter: versions that are never rewritten, one
writer of two, and what a hostile config comes to.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ordain.contracts.pinned import CONFIG_BYTES, EVERYWHERE, ResourceType
from ordain.contracts.policy import Policy
from ordain.engines.clock import SystemClock
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.shared import ConfigFound, ConfigRead, Ruling, Shared
from ordain.ports.store import Arrive
from ordain.ports.writes import ConfigVersion
from ordain.rules.configure import RECORDS_MOST
from ordain.runtime.configuration import Applied, ControlPlane, RecordChange, Rejected, Upsert
from tests.at_once import at_once
from tests.contract.ports.conftest import Ports, opened
from tests.contract.ports.test_ledger import told
from tests.contract.writing import WORKSPACE
from tests.unit.rules.given import json_values

PIN = "profile-pin:session:s1"


def control_of(ports: Ports) -> ControlPlane:
    return ControlPlane(ports.configuration, ports.store, SystemClock())


def change(
    name: str,
    config: Any,
    *,
    place: str = WORKSPACE,
    expected: int | None = None,
    owner: bool = True,
) -> RecordChange:
    resource = ResourceType.POLICY if name.startswith("profile-pin") else ResourceType.PROFILE
    return RecordChange(
        place=place, resource=resource, id=name, config=config, expected=expected, owner=owner
    )


def key(name: str, place: str = WORKSPACE) -> ConfigKey:
    resource = ResourceType.POLICY if name.startswith("profile-pin") else ResourceType.PROFILE
    return ConfigKey(place=place, resource=resource, id=name)


async def test_what_was_not_there_is_seen_once_it_is(ports: Ports) -> None:
    """However often nothing was found before, and whoever else was written meanwhile."""
    control = control_of(ports)
    for _ in range(3):
        assert list(await ports.configuration.current((key("p"), key(PIN)))) == []
    assert await control.change(change("other", {"systemPrompt": "x"}), by="local:test") == Applied(
        version=1, changed=True
    )
    assert list(await ports.configuration.current((key("p"),))) == []
    assert await control.change(change("p", {"systemPrompt": "one"}), by="local:test") == Applied(
        version=1, changed=True
    )
    assert [one.version for one in await ports.configuration.current((key("p"),))] == [1]


async def test_versions_are_added_and_none_is_rewritten(ports: Ports) -> None:
    """Each change is the next version, a removal too, and what came after a removal goes on from
    there; all of it stays to be read.
    """
    control = control_of(ports)
    said = [{"systemPrompt": "one"}, {"systemPrompt": "two"}, None, {"systemPrompt": "three"}]
    for number, config in enumerate(said, start=1):
        assert await control.change(change("p", config), by="local:test") == Applied(
            version=number, changed=True
        )
    history = await ports.configuration.history(key("p"), limit=10, before=None)
    assert [(one.version, one.config is None) for one in history] == [
        (4, False),
        (3, True),
        (2, False),
        (1, False),
    ]
    assert [
        one.version for one in await ports.configuration.history(key("p"), limit=1, before=3)
    ] == [2]
    assert [json.loads(one.config or b"{}").get("systemPrompt") for one in reversed(history)] == [
        "one",
        "two",
        None,
        "three",
    ]
    assert await control.change(change("p", said[-1]), by="local:other") == Applied(
        version=4, changed=False
    )
    (newest,) = await ports.configuration.current((key("p"),))
    assert (newest.version, newest.by) == (4, "local:test")
    await told(ports)


async def test_a_version_that_is_there_is_not_written_over(ports: Ports) -> None:
    """Whoever writes a number that was taken gets nothing of their unit."""
    record = ConfigRecord(key=key("p"), version=1, config=b"{}", by="a", at=1)
    other = ConfigRecord(key=key("p"), version=1, config=b'{"skills":[]}', by="b", at=2)
    outcomes = [
        await ports.store.submit(
            Arrive(
                workspace=WORKSPACE,
                shared=Shared(
                    reads=(), decide=lambda one=one: Ruling(writes=(ConfigVersion(record=one),))
                ),
            )
        )
        for one in (record, other)
    ]
    assert [one.refused for one in outcomes] == ["", "version_conflict"]
    assert list(await ports.configuration.current((key("p"),))) == [record]
    await told(ports)


async def test_of_two_writers_at_once_one_is_rejected(ports: Ports) -> None:
    """Both read version 1; one becomes version 2, the other is told that it stands, and does not
    write over it.
    """
    control = control_of(ports)
    await control.change(change("p", {}), by="a")
    made: list[Upsert] = await asyncio.gather(
        *(
            control.change(change("p", {"systemPrompt": by}, expected=1), by=by)
            for by in ("a", "b", "c")
        )
    )
    assert [one.version for one in made if isinstance(one, Applied)] == [2]
    assert [(one.reason, one.version, one.kind) for one in made if isinstance(one, Rejected)] == [
        ("version_conflict", 2, "conflict")
    ] * 2
    assert len(await ports.configuration.history(key("p"), limit=10, before=None)) == 2


async def test_records_of_a_place_by_id(ports: Ports) -> None:
    """What stands of a type in a place, in the order of ids, page by page; removed ones, and those
    of other places, are not among them.
    """
    control = control_of(ports)
    for name in ("c", "a", "b", "d"):
        await control.change(change(name, {}), by="x")
    await control.change(change("b", None), by="x")
    await control.change(change("e", {}, place="another"), by="x")
    await control.change(change(PIN, {"profile": "a"}), by="x")
    assert [one.key.id for one in await control.records(WORKSPACE, "profile", limit=2)] == [
        "a",
        "c",
    ]
    assert [
        one.key.id for one in await control.records(WORKSPACE, "profile", limit=2, after="c")
    ] == ["d"]
    assert [one.key.id for one in await control.records(WORKSPACE, "policy")] == [PIN]
    assert [one.key.id for one in await control.records("another", "profile")] == ["e"]


async def test_what_is_read_in_the_transaction(ports: Ports) -> None:
    """A decision sees the newest version, a removal too, and how many records its place ever
    had.
    """
    control = control_of(ports)
    await control.change(change("p", {}), by="x")
    await control.change(change("p", None), by="x")
    await control.change(change("q", {}), by="x")
    found = list[ConfigFound]()

    def decide(one: ConfigFound, none: ConfigFound) -> Ruling:
        found[:] = [one, none]
        return Ruling(refused="looked")

    await ports.store.submit(
        Arrive(
            workspace=WORKSPACE,
            shared=Shared(
                reads=(ConfigRead(key=key("p")), ConfigRead(key=key("r"))), decide=decide
            ),
        )
    )
    assert [(one.newest and one.newest.version, one.records) for one in found] == [
        (2, 2),
        (None, 2),
    ]


async def test_pins_in_their_order(ports: Ports) -> None:
    """Session X before workspace Y before everybody's Z: removing X, then Y, then Z changes what
    holds, in that order; each names its profile's version.

    PRF-04 "Profile scopes: global default, workspace default, session override."
    PRF-05 "Resolution order session override → workspace default → global default."
    """
    control, policy = control_of(ports), Policy(version=1)
    pins = {PIN: "x", f"profile-pin:workspace:{WORKSPACE}": "y", "profile-pin:global": "z"}
    for name, place in (("x", WORKSPACE), ("y", WORKSPACE), ("z", EVERYWHERE), ("y", EVERYWHERE)):
        await control.change(change(name, {}, place=place), by="op")
    await control.change(change("y", {"skills": []}), by="op")
    for pin, name in pins.items():
        await control.change(change(pin, {"profile": name}), by="op")
    found = list[tuple[str, str, int]]()
    for pin in (*pins, ""):
        decision = await control.holding(WORKSPACE, "s1", policy)
        assert not isinstance(decision.outcome, Rejected)
        found.append(
            (
                decision.reason,
                getattr(decision.outcome, "profile", ""),
                getattr(decision.outcome, "version", 0),
            )
        )
        if pin:
            await control.change(change(pin, None), by="op")
    assert found == [
        ("profile.session", "x", 1),
        ("profile.workspace", "y", 2),
        ("profile.global", "z", 1),
        ("profile.policy", "", 0),
    ]


async def test_a_pin_to_nothing_is_not_found(ports: Ports) -> None:
    """It does not fall through to a wider pin, however good that is; the global pin finds no
    profile that a workspace has for itself.
    """
    control, policy = control_of(ports), Policy(version=1)
    await control.change(change("mine", {}), by="op")
    await control.change(change("profile-pin:global", {"profile": "mine"}), by="op")
    await control.change(change(f"profile-pin:workspace:{WORKSPACE}", {"profile": "mine"}), by="op")
    await control.change(change(PIN, {"profile": "gone"}), by="op")
    reasons = [
        (await control.holding(place, session, policy)).reason
        for place, session in ((WORKSPACE, "s1"), (WORKSPACE, "s2"), ("another", "s1"))
    ]
    assert reasons == ["profile.not_found", "profile.workspace", "profile.not_found"]


async def test_what_holds_everywhere_is_its_owners(ports: Ports) -> None:
    """Nobody else writes a global pin or a profile for all; a workspace's own records anybody may
    who got so far.
    """
    control = control_of(ports)
    asked = [
        change("profile-pin:global", {"profile": "x"}, owner=False),
        change("x", {}, place=EVERYWHERE, owner=False),
    ]
    for one in asked:
        done = await control.change(one, by="token:a")
        assert isinstance(done, Rejected)
        assert (done.reason, done.kind) == ("owner_only", "refused")
    assert isinstance(await control.change(change("x", {}, owner=False), by="token:a"), Applied)


async def test_one_workspace_pins_no_other(ports: Ports) -> None:
    """A workspace's pin stands in that workspace alone, and a session's pin pins the session of
    that name in no other.
    """
    control = control_of(ports)
    done = await control.change(change("profile-pin:workspace:another", {"profile": "x"}), by="a")
    assert isinstance(done, Rejected)
    assert done.reason == "invalid_id"
    await control.change(change(PIN, {"profile": "x"}), by="a")
    assert (await control.holding("another", "s1", Policy(version=1))).reason == "profile.policy"


HOSTILE: list[Any] = [
    None.__class__,
    [],
    "x",
    7,
    float("nan"),
    {"unknown": 1},
    {"systemPrompt": "x" * 5000},
    {"systemPrompt": "a\x00b"},
    {"systemPrompt": "\ud800"},
    {"systemPrompt": "\x1b[2J"},
    {"skills": ["a\nb"]},
    {"skills": ["x" * 129]},
    {"skills": ["a"] * 501},
    {"skills": "everything"},
    {"skills": {"a": 1}},
    {"mcpServers": ["files\r\nHost: x"]},
    {"providers": {"wri\nting": "m"}},
    {"providers": {"writing": "m\n"}},
    {"providers": {f"r{number}": "m" for number in range(51)}},
    {"safety": {"mode": "off"}},
    {"safety": {"expiresS": 0}},
    {"safety": {"expiresS": True}},
    {"safety": {"expiresS": 10**30}},
    {"safety": {"notRequester": "no"}},
    {"allowedHandoffTargets": ["a b"]},
    {"allowedHandoffModes": []},
    {"maxFanoutAgents": 1},
    {"heartbeat": {"cadenceMinutes": 0}},
    {"systemPrompt": ["x" * CONFIG_BYTES]},
]


async def test_hostile_configs_are_rejected(ports: Ports) -> None:
    """Typed, on one line, with no more of what was given than fits there; and nothing is
    written.
    """
    control = control_of(ports)
    for config in HOSTILE:
        done = await control.change(change("p", config), by="a")
        assert isinstance(done, Rejected), config
        assert done.reason in ("invalid_config", "config_too_large")
        assert done.message.isprintable()
        assert len(done.message) < 500
        assert await control.record(key("p")) is None


async def test_what_contains_itself_is_rejected(ports: Ports) -> None:
    """An embedder may hand over anything."""
    config: dict[str, Any] = {}
    config["safety"] = config
    deep: Any = {}
    for _ in range(100_000):
        deep = {"safety": deep}
    for given_ in (config, deep):
        done = await control_of(ports).change(change("p", given_), by="a")
        assert isinstance(done, Rejected)
        assert done.reason == "invalid_config"


@settings(max_examples=60)
@given(
    st.text(max_size=80),
    st.text(max_size=20),
    json_values,
    st.one_of(st.none(), st.integers(-1, 3)),
)
def test_anything_is_applied_or_rejected(
    name: str, place: str, config: Any, expected: int | None
) -> None:
    """Whatever is asked, the answer is one of the two, and what was applied can be read back."""

    async def asked() -> None:
        with opened("memory") as ports:
            control = control_of(ports)
            done = await control.change(
                change(name, config, place=place, expected=expected), by=name
            )
            if isinstance(done, Applied):
                assert await control.record(key(name, place)) is not None

    asyncio.run(asked())


class Records(RuleBasedStateMachine):
    """Changes by anybody who expects anything: the model is a list of versions, and both adapters
    keep to it.
    """

    adapter = "memory"

    def __init__(self) -> None:
        super().__init__()
        self._opened = opened(self.adapter)
        self.ports = self._opened.__enter__()
        self.control = control_of(self.ports)
        self.versions: list[str | None] = []

    def teardown(self) -> None:
        self._opened.__exit__(None, None, None)

    @initialize()
    def begin(self) -> None:
        """Nothing stands."""
        assert asyncio.run(self.control.record(key("p"))) is None

    @rule(
        prompt=st.one_of(st.none(), st.sampled_from("abc")),
        expected=st.one_of(st.none(), st.integers(0, 6)),
    )
    def write(self, prompt: str | None, expected: int | None) -> None:
        """A change is applied if and only if what it expects stands, and it removes nothing that is
        not there.
        """
        standing = self.versions[-1] if self.versions else None
        number = len(self.versions) if standing is not None else 0
        config = None if prompt is None else {"systemPrompt": prompt}
        done = asyncio.run(self.control.change(change("p", config, expected=expected), by="x"))
        if expected not in (None, number):
            assert isinstance(done, Rejected)
            assert done.reason == "version_conflict"
        elif prompt is None and standing is None:
            assert isinstance(done, Rejected)
            assert done.reason == "config_not_found"
        elif prompt == standing:
            assert done == Applied(version=number, changed=False)
        else:
            self.versions.append(prompt)
            assert done == Applied(version=len(self.versions), changed=True)

    @invariant()
    def history_is_what_was_written(self) -> None:
        """Every version is there, the newest first."""
        found = at_once(self.ports.configuration.history(key("p"), limit=100, before=None))
        assert [one.version for one in reversed(found)] == list(range(1, len(self.versions) + 1))
        said = [
            None if one.config is None else json.loads(one.config)["systemPrompt"]
            for one in reversed(found)
        ]
        assert said == self.versions


class InSqlite(Records):
    """The same over SQLite."""

    adapter = "in-memory"


TestRecords = Records.TestCase
TestInSqlite = InSqlite.TestCase
TestRecords.settings = TestInSqlite.settings = settings(max_examples=25, stateful_step_count=12)


async def test_a_place_takes_only_so_many(ports: Ports) -> None:
    """A workspace that is full takes no new record; the ones that it has go on changing."""
    many = tuple(
        ConfigVersion(record=ConfigRecord(key=key(f"p{n}"), version=1, config=b"{}", by="a", at=1))
        for n in range(RECORDS_MOST)
    )
    await ports.store.submit(
        Arrive(workspace=WORKSPACE, shared=Shared(reads=(), decide=lambda: Ruling(writes=many)))
    )
    control = control_of(ports)
    made = [
        await control.change(change(name, config), by="x")
        for name, config in (("new", {}), ("p1", {}), ("p2", None), ("new", {}))
    ]
    assert [one.reason if isinstance(one, Rejected) else "applied" for one in made] == [
        "full",
        "applied",
        "applied",
        "full",
    ]
