"""What a call amounts to, equal for the same however it is spelled, since a model spells the same
call in many ways. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, cast
from unicodedata import normalize
from urllib.parse import quote
from uuid import UUID

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.http_call import PLACEHOLDER, HttpCall, SecretReference
from ordain.contracts.verbs import VerbSpec, properties_of
from ordain.effects.calls import Call
from ordain.journal.digests import call_digest, content_digest


def likeness(call: Call, catalog: Catalog) -> frozenset[str]:
    """Digests of what a call amounts to under a catalog; two calls that share one are the same.

    The same are a whole number with or without a fraction, a text in another normal form, a moment
    or an id written otherwise, a set in another order, a null or a default said or left out, and of
    an HTTP verb whatever makes the same request, under whichever name. There are two: as it was
    said, which another build of its verb may take otherwise, and with what it left out as the
    verb's defaults have it.
    """
    verb = catalog.verbs.get(call.verb)
    if verb is None:
        return frozenset({call_digest(call)})
    spec = verb.spec
    return frozenset(
        content_digest(
            msgspec.json.encode(
                _made(spec, _members(call.args, spec.input_schema, full=full)),
                order="deterministic",
            )
        )
        for full in (False, True)
    )


def _made(spec: VerbSpec, args: dict[str, object]) -> object:
    return (spec.name, args) if spec.http is None else _request(spec.http, args)


def _request(http: HttpCall, args: Mapping[str, object]) -> object:
    """What goes out, but for secrets, which stand there by name, and the order of parameters."""
    url = PLACEHOLDER.sub(lambda found: _part(found[1], args), http.url)
    headers = [(name.lower(), value) for name, value in _filled(http.headers, args)]
    body = {name: value for name, value in args.items() if name not in http.placed()}
    if http.encoding == "form":
        body = {name: _text(value) for name, value in body.items()}
    query = sorted(_filled(http.query, args))
    return (http.method, url, query, sorted(headers), http.encoding, body)


def _part(name: str, args: Mapping[str, object]) -> str:
    return quote(_text(args[name]), safe="") if name in args else f"{{{name}}}"


def _filled(
    values: Mapping[str, str | SecretReference], args: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """A parameter of which an argument was not given is left out, as it is where it is sent."""
    for name, value in values.items():
        if isinstance(value, SecretReference):
            yield name, f"{value.prefix}{{{value.secret}}}"
        elif args.keys() >= set(PLACEHOLDER.findall(value)):
            yield name, PLACEHOLDER.sub(lambda found: _text(args[found[1]]), value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _plain(value: object, declared: Mapping[str, Any], *, full: bool) -> object:
    declared = _branch(declared)
    match value:
        case str():
            return _spelled(normalize("NFC", value), declared)
        case float() if value.is_integer():
            return int(value)
        case list():
            items = _schema(declared.get("items"))
            plain = [_plain(one, items, full=full) for one in cast("list[object]", value)]
            return _set(plain) if declared.get("uniqueItems") is True else plain
        case dict():
            return _members(cast("dict[str, object]", value), declared, full=full)
        case _:
            return value


def _spelled(text: str, declared: Mapping[str, Any]) -> object:
    """A text as what its schema says it is, where that may be written in several ways: a moment, an
    id, a number that may be one.
    """
    read = _READ.get(str(declared.get("format")))
    if read is None and any(one.get("type") in _NUMBERS for one in _branches(declared)):
        read = _number
    if read is None:
        return text
    try:
        return read(text)
    except (ValueError, ArithmeticError):
        return text


def _moment(text: str) -> object:
    """A moment without an offset is none: whose clock it goes by nobody knows here."""
    read = datetime.fromisoformat(text)
    return (read if read.tzinfo is None else read.astimezone(UTC)).isoformat()


def _number(text: str) -> object:
    """What is larger or smaller than any number of JSON's readers stays a text: of 1e999999999 the
    digits alone would fill the memory.
    """
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > DIGITS:
        return text
    return int(number) if number == number.to_integral_value() else float(number)


_READ: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {"date-time": _moment, "uuid": lambda text: str(UUID(text))}
)
_NUMBERS = ("number", "integer")
DIGITS = 300
"""A number that is written as a text is read up to so many, as a double has them."""


def _set(values: list[object]) -> list[object]:
    """What is there once and in no order."""
    said = {msgspec.json.encode(one, order="deterministic"): one for one in values}
    return [said[one] for one in sorted(said)]


def _branch(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a value that may be null, too, is declared as where it is not."""
    branches = _branches(declared)
    return branches[0] if len(branches) == 1 else declared


def _branches(declared: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = declared.get("anyOf", declared.get("oneOf"))
    each = [_schema(one) for one in cast("list[object]", found)] if isinstance(found, list) else []
    return [one for one in each if one.get("type") != "null"]


def _members(
    given: Mapping[str, object], schema: Mapping[str, Any], *, full: bool
) -> dict[str, object]:
    """What is said of an object, without nulls; ``full``: what is left out stands there as its
    default.
    """
    declared, members = properties_of(_branch(schema)), dict[str, object]()
    for name in {**given, **declared}:
        within = _schema(declared.get(name))
        value = given.get(name)
        if value is None and full:
            value = within.get("default")
        if value is not None:
            members[normalize("NFC", name)] = _plain(value, within, full=full)
    return members


def _schema(found: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
