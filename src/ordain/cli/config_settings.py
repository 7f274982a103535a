"""``--key value`` as a record's config: what is named changes, what is not stays. Only the shape is
read here; whether it holds the contract says.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from ordain.contracts.conversation import Camel
from ordain.contracts.nearest import did_you_mean
from ordain.errors import InvalidRequest

SHOWN = 60


def changed(
    contract: type[Camel], standing: Mapping[str, Any], settings: Sequence[str]
) -> dict[str, Any]:
    """The config that stands, with what is named; ``key.part`` names a part of a field, and a part
    of nothing goes.

    Raises:
        InvalidRequest: a key is none of the contract's, or has no value.
    """
    config: dict[str, Any] = json.loads(json.dumps(standing))
    for key, value in _pairs(settings):
        first, _, rest = key.partition(".")
        name, field = _field(contract, first, key)
        if not rest:
            config[name] = _value(field.annotation, value)
            continue
        whole = field.annotation
        if isinstance(whole, type) and issubclass(whole, Camel):
            part, inner = _field(whole, rest, key)
            config.setdefault(name, {})[part] = _value(inner.annotation, value)
        elif get_origin(whole) is dict:
            _part(config.setdefault(name, {}), rest, value)
        else:
            raise _unknown(key, f"{name} has no parts")
    return config


def _part(config: dict[str, Any], role: str, value: str) -> None:
    """One entry of a table; with no value it goes."""
    if value:
        config[role] = value
    else:
        config.pop(role, None)


def _pairs(settings: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = iter(settings)
    for one in rest:
        if not one.startswith("--") or len(one) == 2:
            raise InvalidRequest(f"{one[:SHOWN]!a} is no --key", code="usage")
        key, equals, value = one[2:].partition("=")
        if not equals:
            found = next(rest, None)
            if found is None:
                raise InvalidRequest(f"--{key[:SHOWN]} has no value", code="usage")
            value = found
        yield key, value


def _field(contract: type[Camel], key: str, whole: str) -> tuple[str, FieldInfo]:
    """A field by its name on the wire, or as options are written: ``systemPrompt`` and
    ``system-prompt``.
    """
    name = to_camel(key.replace("-", "_")) if "-" in key else key
    known = {field.alias or to_camel(one): field for one, field in contract.model_fields.items()}
    if name not in known:
        raise _unknown(whole, f"it is one of {', '.join(known)}{did_you_mean(name, known)}")
    return name, known[name]


def _unknown(key: str, why: str) -> InvalidRequest:
    return InvalidRequest(f"there is no key {key[:SHOWN]!a}: {why}", code="unknown_key")


def _value(annotation: Any, text: str) -> Any:
    """A text for a text; a list of commas or JSON; else JSON, and what is none as it is, for the
    contract to refuse.
    """
    kinds = _kinds(annotation)
    if list in kinds and not text.lstrip().startswith("["):
        return [one.strip() for one in text.split(",") if one.strip()]
    if str in kinds and len(kinds) == 1:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _kinds(annotation: Any) -> set[type]:
    """What a value may be, to be read as one."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return {kind for part in get_args(annotation) for kind in _kinds(part)}
    if origin is Literal:
        return {type(one) for one in get_args(annotation)}
    found = origin or annotation
    if not isinstance(found, type):  # a name for an annotated type
        return _kinds(get_args(annotation)[0]) if get_args(annotation) else set()
    return {str} if issubclass(found, StrEnum) else {found}
