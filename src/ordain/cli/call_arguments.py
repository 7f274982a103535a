"""``key=value`` as a verb's arguments: its input schema says what a value is, and what is wrong
with one is told by its name. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NoReturn, cast

from ordain.contracts.argument_faults import SHOWN, argument_faults
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import properties_of
from ordain.errors import InvalidRequest

_TYPES: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("null", type(None)),
    ("boolean", bool),
    ("integer", int),
    ("number", (int, float)),
    ("string", str),
    ("array", list),
    ("object", dict),
)
_TEXT = frozenset({"string"})


def arguments_of(
    schema: Mapping[str, Any], given: Mapping[str, Any], words: Sequence[str]
) -> dict[str, Any]:
    """The arguments: those that are ``given`` as JSON, and each ``key=value`` over them.
    ``key.part=value`` is a part of one; one that is a list takes several.

    Raises:
        InvalidRequest: a word is no key=value, there is no such argument, or a value is none that
            it can be (``invalid_arguments``).
    """
    found: dict[str, Any] = json.loads(json.dumps(given))
    said = set[str]()
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise _wrong(f"{word[:SHOWN]!a} is no key=value{_as_json(word)}")
        _put(found, schema, key, text, again=key in said)
        said.add(key)
    _check(schema, found)
    return found


def _as_json(word: str) -> str:
    return "; a JSON object goes to --input" if word.lstrip().startswith("{") else ""


def _put(
    found: dict[str, Any], schema: Mapping[str, Any], key: str, text: str, *, again: bool
) -> None:
    """One value into its place."""
    at, properties, name = found, properties_of(schema), key
    while (
        name not in properties
        and "." in name
        and "object" in _kinds(properties.get(name.partition(".")[0]))
    ):
        first, _, name = name.partition(".")
        inner = at.setdefault(first, {})
        if not isinstance(inner, dict):
            raise _wrong(f"{first}: what is given has no parts")
        at, properties = cast("dict[str, Any]", inner), properties_of(properties[first])
    kinds = _kinds(properties.get(name))
    value, before = _named_value(key, properties.get(name), text), at.get(name)
    if again:
        if not ("array" in kinds and isinstance(value, list) and isinstance(before, list)):
            raise _wrong(f"{key}: it is given twice")
        value = [*cast("list[Any]", before), *cast("list[Any]", value)]
    at[name] = value


def _named_value(key: str, schema: Any, text: str) -> Any:
    try:
        return _value(schema, text)
    except InvalidRequest as error:
        raise _wrong(f"{key}: {error.message}") from None


def _kinds(schema: Any) -> frozenset[str]:
    """The types that a value may be of; none where the schema leaves it open."""
    if not isinstance(schema, dict):
        return frozenset()
    told = cast("dict[str, Any]", schema)
    if "type" in told:
        return frozenset([told["type"]] if isinstance(told["type"], str) else told["type"])
    if "enum" in told or "const" in told:
        return frozenset(_type_of(one) for one in told.get("enum", [told.get("const")]))
    choices = [_kinds(one) for name in ("anyOf", "oneOf") for one in told.get(name, ())]
    return frozenset[str]().union(*choices) if choices and all(choices) else frozenset()


def _type_of(value: object) -> str:
    return next(name for name, kind in _TYPES if isinstance(value, kind))


def _value(schema: Any, text: str) -> Any:
    """A text for a text; else JSON that is of the right type; of a list also what stands between
    commas. What is neither stays, for the schema to refuse.
    """
    kinds = _kinds(schema)
    if kinds == _TEXT:
        return text
    try:
        value: Any = json.loads(text, parse_constant=_no_number, parse_float=finite)
    except (ValueError, RecursionError):
        value = text
    kind = _type_of(value)
    if not kinds or kind in kinds or (kind == "integer" and "number" in kinds):
        return value
    if "string" in kinds:
        return text
    if "array" in kinds:
        items = cast("dict[str, Any]", schema).get("items")
        return [_value(items, part.strip()) for part in text.split(",") if part.strip()]
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def finite(text: str) -> float:
    """A number as JSON has it.

    Raises:
        InvalidRequest: it is larger than any that is read: it would be told as none.
    """
    if not isfinite(number := float(text)):
        raise _wrong(f"{text[:SHOWN]} is larger than a number can be")
    return number


def _check(schema: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """What is wrong, each by its name: before a call is begun for it."""
    if told := argument_faults(Schema(schema), found):
        raise _wrong("; ".join(told))


def _wrong(why: str) -> InvalidRequest:
    return InvalidRequest(why, code="invalid_arguments")


def parsed_input(text: str) -> dict[str, Any]:
    """Arguments as typed.

    Raises:
        InvalidRequest: no JSON object.
    """
    try:
        value = json.loads(text, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"--input is no JSON: {error}", code="malformed_json") from error
    if not isinstance(value, dict):
        raise InvalidRequest(
            "--input is a JSON object: the arguments by name", code="invalid_request"
        )
    return cast("dict[str, Any]", value)
