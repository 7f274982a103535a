"""Records of the configuration as people and programs are shown them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from ordain.cli.output import json_text, moment, print_table, show
from ordain.contracts.pinned import (
    EVERYWHERE,
    HELD_FOR_LATER,
    PinnedProfile,
    ResourceType,
    canonical,
)
from ordain.runtime.configuration import ConfigKey, ConfigRecord


def view(record: ConfigRecord) -> dict[str, Any]:
    """A record as C5 has it."""
    return {
        "resourceType": record.key.resource,
        "resourceId": record.key.id,
        "workspace": None if record.key.place == EVERYWHERE else record.key.place,
        "version": record.version,
        "config": None if record.config is None else config_of(record),
        "by": record.by,
        "at": _at(record),
    }


def print_config(record: ConfigRecord) -> None:
    """Every key of a record, those of parts with a dot; and which of them nothing reads yet."""
    flat = dict(_flat(config_of(record)))
    print_table(("key", "value"), [(key, json_text(value)) for key, value in flat.items()])
    if record.key.resource == ResourceType.PROFILE:
        show(f"stored and shown, nothing reads them yet: {', '.join(HELD_FOR_LATER)}")


def differences(record: ConfigRecord, before: ConfigRecord | None) -> list[str]:
    """The keys that say something else than before; where there was nothing before, than a record
    that says nothing.
    """
    was = _plain(record) if before is None or before.config is None else _told(config_of(before))
    now = _told(config_of(record))
    return [
        f"{key}={json_text(now.get(key))}"
        for key in sorted({**was, **now})
        if now.get(key) != was.get(key)
    ]


def difference(record: ConfigRecord, before: ConfigRecord | None) -> str:
    """The same in one line."""
    if record.config is None:
        return "removed"
    said = ", ".join(differences(record, before))
    return said or ("as shipped" if before is None else "nothing")


def _plain(record: ConfigRecord) -> dict[str, Any]:
    return _told(canonical(PinnedProfile())) if record.key.resource == ResourceType.PROFILE else {}


def _told(config: Mapping[str, Any]) -> dict[str, Any]:
    """Key by key; a table of nothing has none."""
    return {key: value for key, value in _flat(config) if value != {}}


def _flat(config: Mapping[str, Any], under: str = "") -> Generator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{under}{key}.")  # pyright: ignore[reportUnknownArgumentType] - JSON
        else:
            yield f"{under}{key}", value


def config_of(record: ConfigRecord) -> dict[str, Any]:
    """What a record says; nothing of a removed one."""
    return {} if record.config is None else msgspec.json.decode(record.config, type=dict[str, Any])


def _at(record: ConfigRecord) -> str:
    return datetime.fromtimestamp(record.at / 1e6, UTC).isoformat()


def when(record: ConfigRecord) -> str:
    """When it was written, for people."""
    return moment(_at(record))


def place_of(key: ConfigKey) -> str:
    """Where it belongs, in words."""
    return "for every workspace" if key.place == EVERYWHERE else f"in {key.place}"
