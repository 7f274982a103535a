"""Reading a request's body: bounded, strict, and refused with the place of what is wrong, never with the value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from ordain.errors import InvalidRequest

M = TypeVar("M", bound=BaseModel)
DEPTH_MAX = 64
PLACES_MAX = 20
PLACE_PART_CHARS = 64
INTEGER_BOUND = 2**63
_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A string, or what is left of one that never ends: matched in one pass, whatever stands in it."""
_BRACKETS = re.compile(r"[\[\]{}]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _Refused(ValueError):
    """Why a body that is JSON by its grammar is refused all the same."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("duplicate_key", "an object names a key twice")
    return found


def _constant(_: str) -> float:
    raise _Refused("not_finite", "NaN and Infinity are no JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused("not_finite", "a number is out of range")
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or not -INTEGER_BOUND <= (value := int(text)) < INTEGER_BOUND:
        raise _Refused("not_finite", "an integer is out of range: 64 bits with sign")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_integer)


async def read_body(request: Request, most: int) -> bytes:
    """The raw body of a JSON request, at most ``most`` bytes.

    Raises:
        InvalidRequest: 413 ``too_large``, 415 ``unsupported_media_type``.
    """
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.partition("charset=")[2].strip(' "').lower()
    if (
        kind.strip().lower() != "application/json"
        or charset not in {"", "utf-8"}
        or request.headers.get("content-encoding", "identity") != "identity"
    ):
        raise InvalidRequest("send application/json in UTF-8, not compressed", code="unsupported_media_type", status=415)
    return await bounded(request, most, InvalidRequest(f"the body exceeds {most} bytes", code="too_large", status=413))


def declared_bytes(request: Request) -> int:
    """How long the body is said to be; 0 where it is not said."""
    declared = request.headers.get("content-length", "")
    return int(declared[:20]) if declared.isdigit() else 0


async def bounded(request: Request, most: int, too_large: InvalidRequest, arrived: Callable[[int], None] | None = None) -> bytes:
    """The raw body, at most ``most`` bytes; no more than that is read. ``arrived`` is told how much is there, and may refuse it.

    Raises:
        InvalidRequest: ``too_large``, as given.
    """
    if declared_bytes(request) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
        if arrived is not None:
            arrived(len(body))
    return bytes(body)


def check_json(body: bytes) -> None:
    """Refuse what is no strict JSON: other encodings, malformed text, keys named twice, NaN, numbers beyond 64 bits, deep nesting.

    Raises:
        InvalidRequest: 400 with ``invalid_utf8``, ``malformed_json``, ``duplicate_key``, ``not_finite``, ``too_deep`` or ``invalid_unicode``.
    """
    try:
        text = body.decode()
        if nesting_exceeds(text, DEPTH_MAX):
            raise _Refused("too_deep", f"the body nests deeper than {DEPTH_MAX} levels")
        value = _DECODER.decode(text)
        if _ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the body is not UTF-8: byte {error.start}", code="invalid_utf8", status=400) from None
    except UnicodeEncodeError:
        raise InvalidRequest("a text holds half a surrogate pair", code="invalid_unicode", status=400) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise InvalidRequest(f"the body is not JSON: {where}", code="malformed_json", status=400) from None
    except _Refused as refused:
        raise InvalidRequest(refused.message, code=refused.code, status=400) from None


def nesting_exceeds(text: str, most: int) -> bool:
    """Whether brackets outside strings nest deeper than ``most``."""
    depth = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > most:
            return True
    return False


def validated(model: type[M], body: bytes) -> M:
    """The body as its contract's value.

    Raises:
        InvalidRequest: 400 for what is no strict JSON (``check_json``); 422 ``invalid_request`` with the places that do not fit.
    """
    check_json(body)
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        spelled = _whole_numbers(body, error)
        if spelled is not None:
            return validated(model, spelled)
        raise InvalidRequest("the request is not of its contract's shape", details={"errors": places(error)}) from None


def _whole_numbers(body: bytes, error: ValidationError) -> bytes | None:
    """The body with ``13.0`` written as ``13`` where an integer was expected: to JSON Schema they are one. None where there is no such place."""
    value: Any = json.loads(body)
    found = False
    for one in error.errors(include_url=False, include_context=False):
        number = one["input"]
        if one["type"] != "int_type" or not isinstance(number, float) or not number.is_integer() or abs(number) >= INTEGER_BOUND:
            continue
        *path, last = one["loc"]
        try:
            holder = reduce(getitem, path, value)
            holder[last], found = int(number), holder[last] == number
        except (LookupError, TypeError):  # named otherwise than it was sent
            return None
    return json.dumps(value).encode() if found else None


def places(error: ValidationError) -> list[dict[str, str]]:
    """Where and why a value does not fit: JSON pointers, codes and sentences; no values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [{"place": pointer(one["loc"]), "code": one["type"], "message": one["msg"]} for one in found[:PLACES_MAX]]


def pointer(loc: tuple[int | str, ...]) -> str:
    """A JSON pointer (RFC 6901); long keys, which are the caller's own, are cut."""
    return "".join("/" + str(part)[:PLACE_PART_CHARS].replace("~", "~0").replace("/", "~1") for part in loc)


async def read(request: Request, model: type[M], most: int) -> M:
    """Read, check and validate a body."""
    return validated(model, await read_body(request, most))
