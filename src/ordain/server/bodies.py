"""Reading a request's body: bounded, strict, and refused with the place of what is wrong, never
with the value.

A body of a million values costs seconds to build and judge, and everybody waits meanwhile. So
values and nesting are counted in what stands outside strings before anything is built, by a few
passes that cost a body's length and no more, and a refusal tells the first place alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import reduce
from operator import getitem
from typing import Any, TypeVar

from msgspec import Struct, structs
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from ordain.contracts.branches import errors_meant
from ordain.contracts.conversation import DATA_CHARS
from ordain.contracts.json_only import INTEGER_BOUND
from ordain.contracts.model_keys import first_misfit, misfit_words
from ordain.contracts.sizes import said_bytes
from ordain.errors import InvalidRequest
from ordain.runtime.apart import apart
from ordain.server.json_places import place_of_double, place_of_number, place_of_surrogate

M = TypeVar("M", bound=BaseModel)
DEPTH_MAX = 64
BODY_BYTES = 256 * 1024
FILES_BYTES = DATA_CHARS + BODY_BYTES
"""Most of one body that is a message, with the bytes of its files."""
BODY_VALUES = 10_000
APART_BYTES = 64 * 1024
"""A larger body is judged in a thread."""
PLACE_PART_CHARS = 64
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPENING = frozenset(b"[{")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BodyBounds(Struct, frozen=True, kw_only=True):
    """How many bytes a JSON body may have, and how many values (each in a list or under a key is
    one, as is what holds them).
    """

    bytes: int = BODY_BYTES
    values: int = BODY_VALUES


SHIPPED = BodyBounds()


def of_messages(bounds: BodyBounds) -> BodyBounds:
    """The same bounds, with room for the files of a message."""
    return structs.replace(bounds, bytes=max(bounds.bytes, FILES_BYTES))


class _Refused(ValueError):
    """Why a body that is JSON by its grammar is refused all the same."""

    def __init__(self, code: str, message: str, number: str | None = None) -> None:
        super().__init__(code)
        self.code, self.message, self.number = code, message, number


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("duplicate_key", "an object names a key twice")
    return found


def _constant(text: str) -> float:
    raise _Refused("not_finite", "NaN and Infinity are no JSON", text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused("not_finite", "a number is out of range", text)
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or not -INTEGER_BOUND <= (value := int(text)) < INTEGER_BOUND:
        raise _Refused("not_finite", "an integer is out of range: 64 bits with sign", text)
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_integer
)


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
        raise InvalidRequest(
            "send application/json in UTF-8, not compressed",
            code="unsupported_media_type",
            status=415,
        )
    return await bounded(
        request,
        most,
        InvalidRequest(f"the body is larger than {said_bytes(most)}", code="too_large", status=413),
    )


def declared_bytes(request: Request) -> int:
    """How long the body is said to be; 0 where it is not said."""
    declared = request.headers.get("content-length", "")
    return int(declared[:20]) if declared.isdigit() else 0


async def bounded(
    request: Request,
    most: int,
    too_large: InvalidRequest,
    arrived: Callable[[int], None] | None = None,
) -> bytes:
    """The raw body, at most ``most`` bytes; no more than that is read. ``arrived`` is told how much
    is there, and may refuse it.

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


def check_json(body: bytes, most: int = BODY_VALUES) -> None:
    """Refuse what is no strict JSON: other encodings, malformed text, keys named twice, NaN,
    numbers beyond 64 bits, deep nesting, over ``most`` values.

    Raises:
        InvalidRequest: 400 with ``invalid_utf8``, ``malformed_json``, ``duplicate_key``,
            ``not_finite``, ``too_deep`` or ``invalid_unicode``; 413 ``too_many_values``.
    """
    _check_shape(body, most)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"the body is not UTF-8: byte {error.start}", code="invalid_utf8", status=400
        ) from None
    try:
        value = _DECODER.decode(text)
        if _ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _not_strict(
            "invalid_unicode", "a text holds half a surrogate pair", place_of_surrogate(text)
        ) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise InvalidRequest(
            f"the body is not JSON: {where}", code="malformed_json", status=400
        ) from None
    except _Refused as refused:
        place = (
            place_of_double(text)
            if refused.number is None
            else place_of_number(text, refused.number)
        )
        raise _not_strict(refused.code, refused.message, place) from None


def _not_strict(code: str, message: str, place: tuple[int | str, ...] | None) -> InvalidRequest:
    errors = [] if place is None else [{"place": pointer(place), "code": code, "message": message}]
    return InvalidRequest(
        message, code=code, status=400, details={"errors": errors} if errors else None
    )


def _check_shape(body: bytes, most: int) -> None:
    """Count what a body would build, before it does.

    Raises:
        InvalidRequest: 413 ``too_many_values``; 400 ``too_deep``.
    """
    # what is left of quotes begins and ends strings
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * most:  # a string is a value or the key of one
        raise _too_many(most)
    outside = b"s".join(plain.split(b'"')[::2]).translate(None, b" \t\r\n")
    depth = 0
    for bracket in outside.translate(None, _NOT_BRACKETS)[: 2 * most]:
        depth += 1 if bracket in _OPENING else -1
        if depth < 0:  # no JSON, and the parser stops there too
            break
        if depth > DEPTH_MAX:
            raise InvalidRequest(
                f"the body nests deeper than {DEPTH_MAX} levels", code="too_deep", status=400
            )
    filled = outside.count(b"[") + outside.count(b"{") - outside.count(b"[]") - outside.count(b"{}")
    if 1 + filled + outside.count(b",") > most:
        raise _too_many(most)


def _too_many(most: int) -> InvalidRequest:
    return InvalidRequest(
        f"the body holds more than {most} values", code="too_many_values", status=413
    )


def validated(model: type[M], body: bytes, bounds: BodyBounds = SHIPPED) -> M:
    """The body as its contract's value.

    Raises:
        InvalidRequest: 400 for what is no strict JSON, 413 for too many values (``check_json``);
            422 ``invalid_request`` with the first place that does not fit.
    """
    check_json(body, bounds.values)
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        spelled = _whole_numbers(body, found)
        if spelled is not None:
            return validated(model, spelled, bounds)
        raise InvalidRequest(
            "the request is not of its contract's shape",
            details={"errors": _first(model, found, json.loads(body))},
        ) from None


def _whole_numbers(body: bytes, errors: Sequence[ErrorDetails]) -> bytes | None:
    """The body with ``13.0`` written as ``13`` where an integer was expected: to JSON Schema they
    are one. None where there is no such place.
    """
    numbers = [one for one in errors if one["type"] == "int_type" and _is_whole(one["input"])]
    if not numbers:
        return None
    value: Any = json.loads(body)
    found = False
    for one in numbers:
        *path, last = one["loc"]
        try:
            holder = reduce(getitem, path, value)
            holder[last], found = int(one["input"]), holder[last] == one["input"]
        except (LookupError, TypeError):  # named otherwise than it was sent
            return None
    return json.dumps(value).encode() if found else None


def _is_whole(number: object) -> bool:
    return isinstance(number, float) and number.is_integer() and abs(number) < INTEGER_BOUND


def places(model: type[BaseModel], error: ValidationError, value: Any) -> list[dict[str, str]]:
    """Where and why a value does not fit, the first place alone: a JSON pointer, a code and a
    sentence; no value but the key that was probably meant.
    """
    return _first(
        model, error.errors(include_url=False, include_context=False, include_input=False), value
    )


def _first(
    model: type[BaseModel], errors: Sequence[ErrorDetails], value: Any
) -> list[dict[str, str]]:
    one = first_misfit(model, errors_meant(errors, value))
    return [
        {"place": pointer(one["loc"]), "code": one["type"], "message": misfit_words(model, one)}
    ]


def pointer(loc: tuple[int | str, ...]) -> str:
    """A JSON pointer (RFC 6901); long keys, which are the caller's own, are cut, and what is no
    text in one is escaped.
    """
    parts = (
        str(part)[:PLACE_PART_CHARS].encode("utf-8", "backslashreplace").decode() for part in loc
    )
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


async def read(request: Request, model: type[M], bounds: BodyBounds) -> M:
    """Read, check and validate a body."""
    return validated(model, await read_body(request, bounds.bytes), bounds)


async def read_large(request: Request, model: type[M], bounds: BodyBounds) -> M:
    """The same of a body that may be large: such a one is judged in a thread, so that nobody waits
    for it.
    """
    return await validated_apart(model, await read_body(request, bounds.bytes), bounds)


async def validated_apart(model: type[M], body: bytes, bounds: BodyBounds) -> M:
    """As ``validated``; a large body in a thread."""
    return await apart(len(body) > APART_BYTES, validated, model, body, bounds)
