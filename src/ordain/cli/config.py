"""``ordain config``: profiles and pins where the data folder is, also beside a running server, for
whose next turns they hold.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ordain.cli.config_lines import (
    config_of,
    difference,
    differences,
    place_of,
    print_config,
    view,
    when,
)
from ordain.cli.config_settings import changed
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.options import RecordOptions, RecordPage, RecordPlace
from ordain.cli.output import print_json, print_table, show, warn
from ordain.cli.person import operator
from ordain.cli.places import home_of
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.pinned import (
    CONFIG_BYTES,
    EVERYWHERE,
    PinScope,
    ResourceType,
    contract_of,
    pin_id,
)
from ordain.engines.clock import SystemClock
from ordain.errors import Conflict, InvalidRequest, NotFound, OrdainError, Refused
from ordain.rules.profile import NoProfile
from ordain.runtime.configuration import (
    LISTED_MOST,
    Applied,
    ConfigKey,
    ControlPlane,
    RecordChange,
    Rejected,
    key_of,
)
from ordain.settings import load_settings
from ordain.store.configuration import SqliteConfiguration
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore

_ERRORS: Mapping[str, type[OrdainError]] = {
    "invalid": InvalidRequest,
    "conflict": Conflict,
    "missing": NotFound,
    "refused": Refused,
}


class RecordNamed(Struct, frozen=True, kw_only=True):
    """A record as the command line names it."""

    resource: str
    id: str
    where: RecordPlace

    @property
    def place(self) -> str:
        """Where it belongs; a workspace's pin in that."""
        whole = pin_id(PinScope.WORKSPACE, "")
        if self.resource == ResourceType.POLICY and self.id.startswith(f"{whole}:"):
            return self.id.removeprefix(f"{whole}:")
        return EVERYWHERE if self.where.everywhere else self.where.workspace

    @property
    def key(self) -> ConfigKey:
        """By which it is found."""
        return key_of(self.place, self.resource, self.id)


class RecordWanted(Struct, frozen=True, kw_only=True):
    """What a record is to become: keys that change, or a file that it is, or nothing any more."""

    settings: Sequence[str]
    how: RecordOptions


def get(data_dir: Path | None, named: RecordNamed, *, as_json: bool) -> int:
    """Show a record.

    Raises:
        NotFound: there is none.
    """
    _contract(named.resource)
    with _control(home_of(data_dir)) as control:
        record = asyncio.run(control.record(named.key))
    if record is None:
        raise NotFound(
            f"there is no {named.resource} {named.id} {place_of(named.key)}",
            code="config_not_found",
        )
    if as_json:
        print_json(view(record))
        return OK
    show(
        f"{record.key.resource} {record.key.id} {place_of(record.key)}, version {record.version}, "
        f"{when(record)} (UTC), {record.by}"
    )
    print_config(record)
    return OK


def put(data_dir: Path | None, named: RecordNamed, wanted: RecordWanted, *, as_json: bool) -> int:
    """Write a record's next version and say what stands.

    Raises:
        InvalidRequest, Conflict, NotFound, Refused: it was rejected.
    """
    _contract(named.resource)
    if wanted.how.remove + (wanted.how.file is not None) + bool(wanted.settings) != 1:
        raise InvalidRequest(
            "say what is to stand: --key value, or --file FILE, or --remove", code="usage"
        )
    with _control(home_of(data_dir), fresh=True) as control:
        return asyncio.run(_put(control, named, wanted, as_json=as_json))


async def _put(
    control: ControlPlane, named: RecordNamed, wanted: RecordWanted, *, as_json: bool
) -> int:
    config, expected = None, wanted.how.expected_version
    if wanted.how.file is not None:
        config = _file(wanted.how.file)
    elif wanted.settings:
        standing = await control.record(named.key)
        expected = expected if expected is not None else 0 if standing is None else standing.version
        config = changed(
            _contract(named.resource),
            {} if standing is None else config_of(standing),
            wanted.settings,
        )
    change = RecordChange(
        place=named.place,
        resource=named.resource,
        id=named.id,
        config=config,
        expected=expected,
        owner=True,
    )
    done = await control.change(change, by=operator())
    if isinstance(done, Rejected):
        if as_json:
            print_json(msgspec.to_builtins(done))
        raise _ERRORS[done.kind](done.message, code=done.reason)
    if as_json:
        print_json(
            {**msgspec.to_builtins(done), "resourceType": named.resource, "resourceId": named.id}
        )
        return OK
    show(_said(named, wanted, done))
    if (warning := await _leads_nowhere(control, named, config)) is not None:
        warn(warning)
    return OK


def _said(named: RecordNamed, wanted: RecordWanted, done: Applied) -> str:
    what = f"{named.resource} {named.id} {place_of(named.key)}"
    if not done.changed:
        return f"unchanged: {what}, version {done.version}"
    return f"{'removed' if wanted.how.remove else 'applied'}: {what}, version {done.version}"


async def _leads_nowhere(control: ControlPlane, named: RecordNamed, config: Any) -> str | None:
    """What to say of a pin to a profile that is not there."""
    if named.resource != ResourceType.POLICY or not isinstance(config, dict):
        return None
    profile = str(config.get("profile"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - accepted by its contract
    places = (EVERYWHERE,) if named.key.place == EVERYWHERE else (named.place, EVERYWHERE)
    for place in places:
        if (
            await control.record(ConfigKey(place=place, resource=ResourceType.PROFILE, id=profile))
            is not None
        ):
            return None
    where = "for every workspace" if len(places) == 1 else f"in {named.place}"
    whose = " in a workspace that has none of its own" if len(places) == 1 else ""
    return (
        f"there is no profile {profile} {where}: a turn or run that is pinned to it{whose} fails "
        "with profile_not_found"
    )


def history(data_dir: Path | None, named: RecordNamed, page: RecordPage, *, as_json: bool) -> int:
    """Show a record's versions, the newest first.

    Raises:
        NotFound: there never was such a record.
    """
    _contract(named.resource)
    limit, before = _limit(page.limit), page.before
    with _control(home_of(data_dir)) as control:
        found = asyncio.run(control.history(named.key, limit=limit + 1, before=before))
    if not found and before is None:
        raise NotFound(
            f"there never was a {named.resource} {named.id} {place_of(named.key)}",
            code="config_not_found",
        )
    shown, older = found[:limit], found[1:]
    if as_json:
        print_json(
            {
                "versions": [view(one) for one in shown],
                "next": shown[-1].version if len(found) > limit else None,
            }
        )
        return OK
    rows = [
        (one.version, when(one), one.by, difference(one, older[at] if at < len(older) else None))
        for at, one in enumerate(shown)
    ]
    print_table(("version", "at (UTC)", "by", "what changed"), rows)
    if len(found) > limit:
        show(f"more: --before {shown[-1].version}")
    return OK


def print_records(data_dir: Path | None, named: RecordNamed, limit: int, *, as_json: bool) -> int:
    """Show the records of a type in a place."""
    _contract(named.resource)
    with _control(home_of(data_dir)) as control:
        found = asyncio.run(
            control.records(named.place, named.resource, limit=_limit(limit) + 1, after=named.id)
        )
    shown = found[:limit]
    if as_json:
        print_json(
            {
                "records": [view(one) for one in shown],
                "next": shown[-1].key.id if len(found) > limit else None,
            }
        )
        return OK
    rows = [
        (one.key.id, one.version, when(one), one.by, ", ".join(differences(one, None)))
        for one in shown
    ]
    print_table((named.resource, "version", "at (UTC)", "by", "says"), rows)
    if len(found) > limit:
        show(f"more: --after {shown[-1].key.id}")
    return OK


def which(data_dir: Path | None, session: str, workspace: str, *, as_json: bool) -> int:
    """Show which profile holds for a session's next turn."""
    home = home_of(data_dir)
    policy = load_settings(home=home).policy
    with _control(home) as control:
        decision = asyncio.run(control.holding(workspace, session, policy))
    if as_json:
        print_json(
            {
                "reason": str(decision.reason),
                "why": decision.reason.meaning,
                "outcome": msgspec.to_builtins(decision.outcome),
            }
        )
    else:
        show(f"{decision.outcome.name}: {decision.reason}: {decision.reason.meaning}")
    return FAILED if isinstance(decision.outcome, NoProfile) else OK


def _contract(resource: str) -> Any:
    try:
        return contract_of(ResourceType(resource))
    except ValueError:
        raise InvalidRequest(
            f"there is no resource type {resource[:40]!a}: it is one of "
            f"{', '.join(ResourceType)}{did_you_mean(resource, ResourceType)}",
            code="unknown_resource",
        ) from None


def _file(path: Path) -> Any:
    """A config of a file, ``-``: of stdin."""
    if str(path) == "-":
        text = sys.stdin.read(CONFIG_BYTES + 1)
    else:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(CONFIG_BYTES + 1)
    if len(text) > CONFIG_BYTES:
        raise InvalidRequest(f"a config has at most {CONFIG_BYTES} bytes", code="config_too_large")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"{path} is no JSON: {str(error)[:200]}", code="invalid_config"
        ) from None
    if not isinstance(found, dict):
        raise InvalidRequest(f"{path} is no JSON object", code="invalid_config")
    return found  # pyright: ignore[reportUnknownVariableType] - its contract says what it is


def _limit(limit: int) -> int:
    if not 1 <= limit <= LISTED_MOST:
        raise InvalidRequest(f"--limit is 1 to {LISTED_MOST}", code="usage")
    return limit


@contextmanager
def _control(home: Path, *, fresh: bool = False) -> Generator[ControlPlane]:
    """The records of a data folder, opened as a guest; ``fresh`` makes the folder where there is
    none.
    """
    if not fresh and not (home / FILE).is_file():
        raise NotFound(f"there is no data in {home}", code="no_data")
    store = SqliteStore(home)
    try:
        yield ControlPlane(SqliteConfiguration(store), store, SystemClock())
    finally:
        store.close()
