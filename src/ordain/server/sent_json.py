"""What this face sends as JSON: the one place where it is spelled. No text in it commands, hides or
reorders, whatever field it stands in (C5).

Texts and keys are made visible. What has to stay as it was recorded is sent ``as_recorded``: the
same value, with the number of what would be shown otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import chain, zip_longest
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw

from ordain.contracts.visible import escaped_json, places_below, visible_json

_PLACE = "\x00"
"""Where something exact goes; as itself it stands in no JSON."""
V = TypeVar("V")


class _AsRecorded:
    """A value that is sent as it is."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def as_recorded(value: V) -> V:
    """A part of what is sent, as it was recorded: whoever gets it may compute with it, or compare
    its digest.
    """
    return cast("V", _AsRecorded(value))


def with_recorded(answer: Mapping[str, Any], fields: Set[str]) -> Mapping[str, Any]:
    """An answer with some of its fields as they were recorded, such as ``output`` or
    ``final_answer.structured``.
    """
    return (
        {field: _recorded(field, value, fields) for field, value in answer.items()}
        if fields
        else answer
    )


def _recorded(field: str, value: object, fields: Set[str]) -> object:
    if field in fields:
        return as_recorded(value)
    below = places_below(fields, field)
    return (
        with_recorded(cast("Mapping[str, Any]", value), below)
        if below and isinstance(value, Mapping)
        else value
    )


def spelled(content: object) -> bytes:
    """The JSON text of what a face answers with."""
    kept: list[str] = []

    def keep(value: Any) -> Raw:
        if not isinstance(value, _AsRecorded):
            raise NotImplementedError
        kept.append(escaped_json(msgspec.json.encode(value.value).decode()))
        return Raw(_PLACE)

    encoded = msgspec.json.encode(content, enc_hook=keep).decode()
    if not kept:
        return visible_json(encoded).encode()
    around = map(visible_json, encoded.split(_PLACE))
    return "".join(chain.from_iterable(zip_longest(around, kept, fillvalue=""))).encode()
