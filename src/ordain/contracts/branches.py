"""Errors of a value that may have several shapes, as whoever wrote it sees them: where they stand
in what was written, and of the shape that was meant.

Pydantic tells what every shape of a union finds wrong, each under the shape's name, which nobody
wrote: ``content.str`` beside ``content.list[Part].0.text``. The shape that was meant is the one
whose kind of value it is; where it is of none, what each wants is told at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct
from pydantic_core import ErrorDetails

_SHOULD_BE = "Input should be "


class _Placed(Struct, frozen=True):
    """An error, and the shapes under which it stands: how deep in what was written, and their
    names.
    """

    error: ErrorDetails
    shapes: tuple[tuple[int, str], ...] = ()


def errors_meant(errors: Sequence[ErrorDetails], value: Any) -> list[ErrorDetails]:
    """The first error and those that stand beside it, with places as they are written in ``value``,
    which is what was validated.
    """
    return [one.error for one in _of_shape([_placed(error, value) for error in errors], 0)]


def _placed(error: ErrorDetails, value: Any) -> _Placed:
    """Walk to where the error stands: what is no key of what is there names a shape."""
    written: list[int | str] = []
    shapes: list[tuple[int, str]] = []
    parts = error["loc"]
    for at, part in enumerate(parts):
        if _is_there(value, part):
            written.append(part)
            value = value[part]
        elif isinstance(part, str) and _names_shape(value, parts[at + 1 :], error["type"]):
            shapes.append((len(written), part))
        else:  # what is missing, or named otherwise than it was written
            written += parts[at:]
            break
    placed: ErrorDetails = {**error, "loc": tuple(written)}
    return _Placed(placed, tuple(shapes))


def _is_there(value: Any, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in value
    return (
        isinstance(value, list) and isinstance(part, int) and part < len(cast("list[Any]", value))
    )


def _names_shape(value: Any, rest: Sequence[int | str], code: str) -> bool:
    if not isinstance(value, dict):
        return value is None or isinstance(value, str | int | float | list)
    return (
        _is_there(value, rest[0]) or (code == "missing" and len(rest) == 1)
        if rest
        else code != "missing"
    )


def _of_shape(placed: Sequence[_Placed], level: int) -> Sequence[_Placed]:
    """The errors of the shape that was meant, of the union that the first one stands in."""
    first = placed[0]
    if len(first.shapes) <= level:
        return placed
    depth = first.shapes[level][0]
    above = first.error["loc"][:depth]
    by_shape: dict[str, list[_Placed]] = {}
    for one in placed:
        if (
            len(one.shapes) > level
            and one.shapes[level][0] == depth
            and one.error["loc"][:depth] == above
        ):
            by_shape.setdefault(one.shapes[level][1], []).append(one)
    kinds = [
        shape for shape in by_shape.values() if not any(_is_other_kind(one, depth) for one in shape)
    ]
    return (
        _of_shape(kinds[0], level + 1)
        if kinds
        else [_of_any([shape[0] for shape in by_shape.values()])]
    )


def _is_other_kind(one: _Placed, depth: int) -> bool:
    return len(one.error["loc"]) == depth and one.error["type"].endswith("_type")


def _of_any(ones: Sequence[_Placed]) -> _Placed:
    """What every shape wants."""
    wanted = [one.error["msg"] for one in ones]
    if not all(words.startswith(_SHOULD_BE) for words in wanted):
        return ones[0]
    return _Placed(
        {
            **ones[0].error,
            "msg": _SHOULD_BE + " or ".join(words.removeprefix(_SHOULD_BE) for words in wanted),
        }
    )
