"""What is wrong with a verb's arguments, each by its name and with what was probably meant: for
whoever gave them. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ordain.contracts.nearest import did_you_mean
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import properties_of

SHOWN = 60


def argument_faults(schema: Schema, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The first few faults, each once; none of arguments that fit."""
    source, told = schema.source, list[str]()
    for fault in schema.faults(given):
        place = ".".join(fault.place)
        known = properties_of(_at(source, fault.place))
        for name in fault.unexpected:
            told.append(
                f"{_under(place, name)}: there is no such "
                f"argument{did_you_mean(name, known) or _all(known)}"
            )
        if fault.missing:
            told.append(f"{_under(place, fault.missing)}: it is missing")
        if not fault.unexpected and not fault.missing:
            typed = fault.value if isinstance(fault.value, str) else ""
            told.append(
                f"{place or 'the arguments'}: "
                f"{fault.message}{did_you_mean(typed, fault.options) if typed else ''}"
            )
    return tuple(dict.fromkeys(told))


def _under(place: str, name: str) -> str:
    return f"{place}.{name[:SHOWN]}" if place else name[:SHOWN]


def _all(known: Mapping[str, Any]) -> str:
    return f"; known: {', '.join(known)}" if known else ""


def _at(schema: Mapping[str, Any], place: Sequence[str]) -> Mapping[str, Any]:
    for part in place:
        below = properties_of(schema).get(part, schema.get("items"))
        schema = cast("dict[str, Any]", below) if isinstance(below, dict) else {}
    return schema
