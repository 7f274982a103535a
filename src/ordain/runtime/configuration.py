"""The control plane: versioned records of profiles and pins, and which profile holds for a session
(PRF-03, PRF-05, C5).

Every face writes here, the operator's command and the server alike: one unit per record, with rule
``configure`` inside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import ValidationError

from ordain.contracts.conversation import WORKSPACE_ID
from ordain.contracts.faults import faults_of, placed
from ordain.contracts.pinned import (
    CONFIG_BYTES,
    EVERYWHERE,
    PIN_ID,
    PROFILE_ID,
    PinScope,
    ResourceType,
    canonical,
    contract_of,
    pin_id,
    pins_of,
)
from ordain.contracts.policy import Policy
from ordain.errors import Conflict
from ordain.ports.clock import Clock
from ordain.ports.configuration import ConfigKey, ConfigRecord, Configuration
from ordain.ports.shared import ConfigFound, ConfigRead, Ruling, Shared
from ordain.ports.store import Arrive, JournalStore
from ordain.ports.writes import ConfigVersion
from ordain.rules.configure import Configured, ConfigureFacts, ConfigureReason, decide_configure
from ordain.rules.decision import Decision
from ordain.rules.profile import (
    PROFILE,
    HeldProfile,
    NoProfile,
    PinsSeen,
    ProfileInputs,
    ProfileOutcome,
    ProfileSeen,
    profiled_by,
)
from ordain.rules.profile_choice import (
    PROFILE_CHOICE,
    Binding,
    ProfileChoiceFacts,
    ProfileChoiceReason,
)

__all__ = [
    "Applied",
    "ConfigKey",
    "ConfigRecord",
    "ControlPlane",
    "RecordChange",
    "Rejected",
    "Upsert",
]

LISTED_MOST = 500
SHOWN_CHARS = 80
_PLACE = re.compile(rf"{WORKSPACE_ID[:-1]}\Z")
_IDS = {
    ResourceType.PROFILE: re.compile(rf"{PROFILE_ID[:-1]}\Z"),
    ResourceType.POLICY: re.compile(rf"{PIN_ID[:-1]}\Z"),
}
_WHY: Mapping[str, str] = {
    ConfigureReason.VERSION_CONFLICT: (
        "the record is at version {} and not at the one expected: read it again"
    ),
    ConfigureReason.NOT_FOUND: "there is no such record",
    ConfigureReason.FULL: "there are as many records, or versions of this one, as there may be",
}


class RecordChange(Struct, frozen=True, kw_only=True):
    """What a record is to become: its place (a workspace, or ``EVERYWHERE``), type, id and config,
    None to remove it.

    ``expected`` is the version that it has to be at: None any, 0 none. ``owner``: asked by the
    installation's owner, who alone changes what holds everywhere.
    """

    place: str
    resource: str
    id: str
    config: Any
    expected: int | None = None
    owner: bool = False


class Applied(Struct, frozen=True, kw_only=True, tag_field="outcome", tag="applied"):
    """The version that stands now; ``changed``: it was written just now, and did not say the same
    before.
    """

    version: int
    changed: bool


class Rejected(Struct, frozen=True, kw_only=True, tag_field="outcome", tag="rejected"):
    """Nothing was written: a stable code and what is wrong, with the version that stands (0: none).
    ``kind`` says whose move it is.
    """

    reason: str
    message: str
    version: int = 0
    kind: Literal["invalid", "conflict", "missing", "refused"] = "invalid"


Upsert = Applied | Rejected


class ConfigChange(Struct, frozen=True, kw_only=True):
    """A change that can be decided about: what a record becomes (None: it is removed), by whom and
    when. Its ``read`` and ``writes`` may stand in any unit.
    """

    key: ConfigKey
    config: bytes | None
    expected: int | None
    by: str
    at: int

    @property
    def read(self) -> ConfigRead:
        """What is read of the record."""
        return ConfigRead(key=self.key)

    def decided(self, found: ConfigFound) -> Decision[Any]:
        """Whether the change may be made of the record as it is found."""
        newest = found.newest
        facts = ConfigureFacts(
            version=0 if newest is None else newest.version,
            stands=newest is not None and newest.config is not None,
            expected=self.expected,
            same=newest is not None and newest.config == self.config,
            removes=self.config is None,
            records=found.records,
        )
        return decide_configure(facts, None, None)

    def writes(self, outcome: Configured) -> tuple[ConfigVersion, ...]:
        """The next version, where it says another thing than the one before."""
        record = ConfigRecord(
            key=self.key, version=outcome.version, config=self.config, by=self.by[:200], at=self.at
        )
        return (ConfigVersion(record=record),) if outcome.changed else ()


class ChosenProfile(Struct, frozen=True, kw_only=True):
    """A caller may choose the profile; ``pin`` is what has yet to be written for it."""

    pin: ConfigChange | None = None


class ControlPlane:
    """Reads records through the one port, writes them through the other."""

    def __init__(self, records: Configuration, store: JournalStore, clock: Clock) -> None:
        """Over one storage."""
        self._records, self._store, self._clock = records, store, clock

    async def change(self, asked: RecordChange, *, by: str) -> Upsert:
        """Write a record's next version, or say why not; one of two writers at once who expect a
        version is rejected.
        """
        change, made = self._change(asked, by), list[Upsert]()
        if isinstance(change, Rejected):
            return change

        def decide(found: ConfigFound) -> Ruling:
            decision = change.decided(found)
            made[:] = [_upsert(decision)]
            if not isinstance(decision.outcome, Configured):
                return Ruling(refused=str(decision.reason).rpartition(".")[2])
            return Ruling(writes=change.writes(decision.outcome))

        place = change.key.place
        await self._store.submit(
            Arrive(
                workspace="" if place == EVERYWHERE else place,
                shared=Shared(reads=(change.read,), decide=decide),
            )
        )
        return made[-1]

    def _change(self, asked: RecordChange, by: str) -> ConfigChange | Rejected:
        checked = _checked(asked)
        if isinstance(checked, Rejected):
            return checked
        key, config = checked
        return ConfigChange(
            key=key, config=config, expected=asked.expected, by=by, at=self._clock.now()
        )

    async def record(self, key: ConfigKey) -> ConfigRecord | None:
        """A record as it stands; None where it was never written or was removed."""
        found = await self._records.current((key,))
        return found[0] if found and found[0].config is not None else None

    async def records(
        self, place: str, resource: str, *, limit: int = 50, after: str = ""
    ) -> Sequence[ConfigRecord]:
        """What stands of a type in a place, by id."""
        return await self._records.records(place, resource, limit=limit, after=after)

    async def history(
        self, key: ConfigKey, *, limit: int = 50, before: int | None = None
    ) -> Sequence[ConfigRecord]:
        """Every version of a record, the newest first, removals among them."""
        return await self._records.history(key, limit=limit, before=before)

    async def holding(
        self, workspace: str, session: str, policy: Policy
    ) -> Decision[ProfileOutcome]:
        """Which profile holds for a session now, by which pin, as its next turn will decide it."""
        seen = await pins_seen(self._records, workspace, session)
        return PROFILE.apply(seen.facts(), ProfileInputs(seen=seen), policy)

    async def offered(self, workspace: str, policy: Policy) -> Sequence[str]:
        """The profiles that policy lets a caller choose in a workspace, by name."""
        if not policy.profile.selectable:
            return ()
        places = (workspace, EVERYWHERE)
        found = {
            one.key.id
            for place in places
            for one in await self._records.records(
                place, ResourceType.PROFILE, limit=LISTED_MOST, after=""
            )
        }
        return sorted(name for name in found if _is_selectable(name, policy))

    async def chosen(
        self, named: str, workspace: str, session: str, *, begun: bool, policy: Policy, by: str
    ) -> ChosenProfile | None:
        """Whether the caller of a session may bind it to the profile that they name, by rule
        ``profile_choice``. None: policy offers no profile of this name.

        Nothing is written: the pin comes in with what is said (``Conversation.receive``).

        Raises:
            Conflict: the session is pinned to another one, or has begun without it
                (``profile_unfit``).
        """
        key = ConfigKey(
            place=workspace, resource=ResourceType.POLICY, id=pin_id(PinScope.SESSION, session)
        )
        newest = next(iter(await self._records.history(key, limit=1, before=None)), None)
        there = await self._records.current(
            [
                ConfigKey(place=place, resource=ResourceType.PROFILE, id=named)
                for place in (workspace, EVERYWHERE)
            ]
        )
        facts = ProfileChoiceFacts(
            named=named,
            offered=_is_selectable(named, policy)
            and any(record.config is not None for record in there),
            begun=begun,
            pinned=_pinned_by(newest),
        )
        decision = PROFILE_CHOICE.apply(facts, None, policy)
        match decision.outcome.binding:
            case Binding.STANDS:
                return ChosenProfile()
            case Binding.PINS:
                version = 0 if newest is None or newest.config is None else newest.version
                asked = RecordChange(
                    place=workspace,
                    resource=key.resource,
                    id=key.id,
                    config={"profile": named},
                    expected=version,
                )
                change = self._change(asked, by)
                if isinstance(change, Rejected):
                    raise Conflict(
                        f"the session cannot be pinned: {change.message}", code="profile_unfit"
                    )
                return ChosenProfile(pin=change)
            case Binding.REFUSED if decision.reason is ProfileChoiceReason.NOT_OFFERED:
                return None
            case Binding.REFUSED:
                why = ProfileChoiceReason(decision.reason).meaning
                raise Conflict(
                    f"profile {_shown(named)} cannot be chosen here. {why}", code="profile_unfit"
                )


def _is_selectable(name: str, policy: Policy) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in policy.profile.selectable)


def _pinned_by(record: ConfigRecord | None) -> str:
    """The profile that a pin names; "" of one that does not stand."""
    return (
        ""
        if record is None or record.config is None
        else str((_read(record.config) or {}).get("profile", ""))
    )


def key_of(place: str, resource: str, name: str) -> ConfigKey:
    """The record of this type and id for somebody in a workspace: the global pin is everybody's."""
    return ConfigKey(
        place=EVERYWHERE if name == pin_id(PinScope.GLOBAL) else place, resource=resource, id=name
    )


async def any_pin(records: Configuration, workspace: str, session: str = "") -> bool:
    """Whether a pin that stands concerns a session, or ("") what is outside of any."""
    return any(
        record.config is not None
        for record in await records.current(tuple(_pin_keys(workspace, session).values()))
    )


@lru_cache(1024)
def _pin_keys(workspace: str, session: str) -> Mapping[PinScope, ConfigKey]:
    """Where the pins are that concern a session, the narrowest first; each of its calls asks."""
    pins = pins_of(workspace, session).items()
    return {
        scope: ConfigKey(place=place, resource=ResourceType.POLICY, id=pin)
        for scope, (place, pin) in pins
    }


async def profile_now(
    records: Configuration, workspace: str, session: str, policy: Policy
) -> HeldProfile | NoProfile | None:
    """The profile that holds for a session, or outside of any, as things stand now; None where no
    profile says anything of it.
    """
    seen = await pins_seen(records, workspace, session)
    if profiled_by(policy, pinned=bool(seen.pins)) is None:
        return None
    return PROFILE.apply(seen.facts(), ProfileInputs(seen=seen), policy).outcome


async def pins_seen(records: Configuration, workspace: str, session: str) -> PinsSeen:
    """What is pinned for a session, and the profiles that the pins name: the workspace's own, else
    those that are everywhere.
    """
    where = _pin_keys(workspace, session)
    found = {record.key: record for record in await records.current(tuple(where.values()))}
    pins: dict[str, str] = {}
    for scope, key in where.items():
        if (record := found.get(key)) is not None and record.config is not None:
            pins[str(scope)] = _pinned_by(record)
    if not pins:
        return PinsSeen()
    named = [
        ConfigKey(place=place, resource=ResourceType.PROFILE, id=name)
        for name in dict.fromkeys(pins.values())
        for place in (workspace, EVERYWHERE)
    ]
    profiles: dict[str, ProfileSeen] = {}
    for record in await records.current(named):
        if record.config is not None:
            profiles.setdefault(
                record.key.id, ProfileSeen(version=record.version, config=_read(record.config))
            )
    return PinsSeen(pins=pins, profiles=profiles)


def _read(config: bytes) -> dict[str, Any] | None:
    """A config as stored; None where it is none."""
    try:
        return msgspec.json.decode(config, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _upsert(decision: Decision[Any]) -> Upsert:
    outcome = decision.outcome
    if isinstance(outcome, Configured):
        return Applied(version=outcome.version, changed=outcome.changed)
    kind = "missing" if decision.reason is ConfigureReason.NOT_FOUND else "conflict"
    code = str(decision.reason).rpartition(".")[2]
    message = _WHY[decision.reason].format(outcome.version)
    return Rejected(
        reason="config_not_found" if kind == "missing" else code,
        message=message,
        version=outcome.version,
        kind=kind,
    )


def _checked(asked: RecordChange) -> tuple[ConfigKey, bytes | None] | Rejected:
    """The record's key and its config as stored."""
    if asked.resource not in {str(one) for one in ResourceType}:
        known = ", ".join(ResourceType)
        return Rejected(
            reason="unknown_resource",
            message=f"there is no resource type {_shown(asked.resource)}: it is one of {known}",
        )
    resource = ResourceType(asked.resource)
    if not _IDS[resource].fullmatch(asked.id):
        what = "a profile's id" if resource is ResourceType.PROFILE else "a pin's id"
        form = (
            "letters, digits, . _ -"
            if resource is ResourceType.PROFILE
            else "profile-pin:session:ID, profile-pin:workspace:ID or profile-pin:global"
        )
        return Rejected(
            reason="invalid_id", message=f"{_shown(asked.id)} is no id: {what} is {form}"
        )
    key = key_of(asked.place, str(resource), asked.id)
    if (misplaced := _misplaced(key, owner=asked.owner)) is not None:
        return misplaced
    if asked.config is None:
        return key, None
    return _config(key, resource, asked.config)


def _misplaced(key: ConfigKey, *, owner: bool) -> Rejected | None:
    if key.place == EVERYWHERE:
        if not owner:
            return Rejected(
                reason="owner_only",
                message="what holds in every workspace its owner alone changes",
                kind="refused",
            )
        if key.resource == ResourceType.POLICY and key.id != pin_id(PinScope.GLOBAL):
            return Rejected(
                reason="invalid_id",
                message="a session and a workspace are pinned in their workspace",
            )
    elif not _PLACE.fullmatch(key.place):
        return Rejected(reason="invalid_workspace", message=f"{_shown(key.place)} is no workspace")
    elif key.id.startswith(pin_id(PinScope.WORKSPACE) + ":") and key.id != pin_id(
        PinScope.WORKSPACE, key.place
    ):
        return Rejected(
            reason="invalid_id",
            message=(
                f"in workspace {key.place} its own pin is {pin_id(PinScope.WORKSPACE, key.place)}"
            ),
        )
    return None


def _config(
    key: ConfigKey, resource: ResourceType, given: Any
) -> tuple[ConfigKey, bytes] | Rejected:
    what, contract = "profile" if resource is ResourceType.PROFILE else "pin", contract_of(resource)
    try:
        if len(json.dumps(given)) > CONFIG_BYTES:
            # and whoever hands over what contains itself is told so here
            return Rejected(
                reason="config_too_large", message=f"a config has at most {CONFIG_BYTES} bytes"
            )
        found = canonical(contract.model_validate(given))
        return key, json.dumps(
            found, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode()
    except ValidationError as error:
        first = "; ".join(placed(*fault) for fault in islice(faults_of(contract, error), 3))
        return Rejected(
            reason="invalid_config", message=f"it is no config of a {what}: {_shown(first, 400)}"
        )
    except (TypeError, ValueError, RecursionError) as error:
        return Rejected(reason="invalid_config", message=f"it is no JSON: {type(error).__name__}")


def _shown(text: object, chars: int = SHOWN_CHARS) -> str:
    """Somebody's text as it may stand in a message, on one line."""
    said = str(text)
    return said[:chars] if said.isprintable() else ascii(said)[: chars + 2]
