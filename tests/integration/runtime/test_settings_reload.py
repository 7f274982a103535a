"""A running process takes up changed settings: models, lanes and policy at once, the rest when it
starts again, and nothing of what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ordain.app import Extras, Ordain
from ordain.settings import load_settings
from ordain.settings_change import change_of
from tests.e2e.model_endpoint import ModelEndpoint
from tests.replay.golden import finish, request

PROFILE = """
[models.{name}]
provider = "openai"
model = "{model}"
base_url = "{url}"
key_env = "{key}"
"""
NOT_WATCHED = "[verbs]\nwatch_ms = 0\n"
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def first() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as found:
        yield found


@pytest.fixture
def second() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as found:
        yield found


class House:
    """A data folder whose settings are written while it runs."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment: dict[str, str] = {}

    def write(self, *tables: str) -> None:
        (self.home / "ordain.toml").write_text("\n".join((NOT_WATCHED, *tables)), encoding="utf-8")

    def ordain(self) -> Ordain:
        return Ordain(
            load_settings(self.environment, self.home),
            extras=Extras(reread=lambda: load_settings(self.environment, self.home)),
        )


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def profile(name: str, endpoint: ModelEndpoint, model: str = "m", key: str = "NO_SUCH_KEY") -> str:
    return PROFILE.format(name=name, url=endpoint.url, model=model, key=key)


async def asked(ordain: Ordain, endpoint: ModelEndpoint) -> None:
    """A plan is worked on by the model behind this endpoint, and by no other."""
    endpoint.will_answer(finish("Done."))
    done = await ordain.plan(request("math.evaluate", request_id=None))
    assert done.ok, done.header
    assert len(endpoint.asked) == 1


async def test_another_model_is_asked_from_the_next_run_on(
    house: House, first: ModelEndpoint, second: ModelEndpoint
) -> None:
    """A profile that is written while it runs is asked, with its key, which is struck out from then
    on; one that is the same keeps its connections.
    """
    house.write(profile("one", first))
    async with house.ordain() as ordain:
        await asked(ordain, first)
        kept = ordain.models["one"]
        house.environment["ANOTHER_KEY"] = KEY
        (house.home / "policy.toml").write_text(
            'version = 1\n[lanes.profiles]\nlocal = ["two"]\nworker = ["two"]\n'
            'brain = ["two", "one"]\n'
        )
        house.write(profile("one", first), profile("two", second, key="ANOTHER_KEY"))
        assert (await ordain.reload()).ok
        await asked(ordain, second)
        assert second.keys == [f"Bearer {KEY}"]
        assert ordain.models["one"] is kept
        assert KEY not in ordain.seal.text(f"it says {KEY}")
        assert ordain.catalog.policy.lanes.profiles["brain"] == ["two", "one"]


async def test_a_profile_that_goes_elsewhere_is_asked_there(
    house: House, first: ModelEndpoint, second: ModelEndpoint
) -> None:
    """The same profile at another address: the next call goes there, and what answered before is
    closed with the house at the latest.
    """
    house.write(profile("one", first))
    async with house.ordain() as ordain:
        await asked(ordain, first)
        house.write(profile("one", second))
        assert (await ordain.reload()).changed
        await asked(ordain, second)


async def test_a_tightened_policy_holds_at_once(house: House, first: ModelEndpoint) -> None:
    """What policy switches off while it runs may not be called any more."""
    house.write(profile("one", first))
    async with house.ordain() as ordain:
        assert (await ordain.execute("math.evaluate", {"expression": "1 + 1"})).ok
        (house.home / "policy.toml").write_text(
            'version = 1\n[verbs.default]\ndeny = ["math.*"]\n', encoding="utf-8"
        )
        assert (await ordain.reload()).changed
        refused = await ordain.execute("math.evaluate", {"expression": "1 + 1"})
        assert not refused.ok


async def test_what_waits_for_the_next_start_is_told(house: House, first: ModelEndpoint) -> None:
    """Where it listens, what verbs may reach and what memory goes by stay as they are, and it says
    so; what stands beside them is taken up.
    """
    house.write(profile("one", first))
    async with house.ordain() as ordain:
        before = ordain.settings
        (house.home / "policy.toml").write_text(
            "version = 1\n[memory]\nshared = true\n", encoding="utf-8"
        )
        house.write(
            profile("one", first, model="other"),
            '[server]\nrate = "5/s"',
            '[assistant]\nname = "Ada"',
        )
        done = await ordain.reload()
        assert [(one.code, one.warning) for one in done.problems] == [("needs_restart", True)]
        assert "[server], [policy: memory]" in done.problems[0].message
        assert (ordain.settings.server, ordain.settings.policy.memory) == (
            before.server,
            before.policy.memory,
        )
        assert ordain.catalog.data.profiles["one"].model == "other"
        assert ordain.catalog.data.assistant is not None
        house.write(profile("one", first))
        (house.home / "policy.toml").unlink()
        assert (await ordain.reload()).problems == ()


@pytest.mark.parametrize(
    "broken",
    [
        "[models.one\n",
        '[models.one]\nprovider = "openai"\nmodel = "m"\nspeed = 1\n',
        '[models.one]\nprovider = "local"\nmodel = "m"\n',
        '[models.one]\nprovider = "anthropic"\nmodel = "llama-3-8b-instruct-q4_k_m"\n',
        '[assistant]\nverb = "nobodys"\n',
    ],
)
async def test_what_is_wrong_changes_nothing(
    house: House, first: ModelEndpoint, broken: str
) -> None:
    """Broken TOML, an unknown key, a model that is not there, one that nobody named, a verb that is
    none: all stays, and it says why.
    """
    house.write(profile("one", first))
    async with house.ordain() as ordain:
        catalog = ordain.catalog.digest
        house.write(broken)
        done = await ordain.reload()
        assert (done.ok, len(done.problems)) == (False, 1)
        assert ordain.catalog.digest == catalog
        await asked(ordain, first)


async def test_an_embedders_settings_are_its_own(
    house: House, first: ModelEndpoint, second: ModelEndpoint
) -> None:
    """Settings that were handed over stay, whatever is written; those that an ``Ordain`` found by
    itself are read anew.
    """
    house.write(profile("one", first))
    async with Ordain(load_settings({}, house.home)) as ordain:
        house.write(profile("one", second))
        assert not (await ordain.reload()).changed
        await asked(ordain, first)
    house.write(profile("one", first))
    async with Ordain(home=house.home) as ordain:
        house.write(profile("one", second))
        assert (await ordain.reload()).changed
        await asked(ordain, second)


def test_nothing_waits_where_nothing_changed(house: House, first: ModelEndpoint) -> None:
    """The same files come to the same settings; every field either is taken up or waits."""
    house.write(profile("one", first))
    settings = load_settings({}, house.home)
    assert change_of(settings, load_settings({}, house.home)).problems == ()
    moved = settings.model_copy(update={"port": 1})
    change = change_of(settings, moved)
    assert (change.settings.port, change.waiting) == (settings.port, ("port",))


async def test_a_watcher_sees_the_settings_change(house: House, first: ModelEndpoint) -> None:
    """The files that settings are read from, keys and policies that are not there yet among them,
    are looked at like verbs.
    """
    (house.home / "key").write_text("one-key-0123456789", encoding="utf-8")
    house.write(profile("one", first).replace('key_env = "NO_SUCH_KEY"', 'key_file = "key"'))
    async with house.ordain() as ordain:
        source = ordain._files
        seen = source.fingerprint()
        (house.home / "policy.toml").write_text("version = 1\n", encoding="utf-8")
        policy = source.fingerprint()
        (house.home / "key").write_text("another-key-0123456789", encoding="utf-8")
        assert len({repr(one) for one in (seen, policy, source.fingerprint())}) == 3
