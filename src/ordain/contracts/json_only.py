"""A value that JSON has a form for, and a record: what a caller in Python gives may be anything."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import AfterValidator, JsonValue
from pydantic_core import PydanticCustomError

INTEGER_BOUND = 2**63
"""An integer below it, and not below its negative, has 64 bits."""
DEPTH_MAX = 128
"""Twice what comes over HTTP; at 200 a record could not be read back."""


def _kept(value: JsonValue) -> JsonValue:
    depth = 0
    level: list[Any] = [value]
    while level:
        depth += 1
        if depth > DEPTH_MAX:
            raise PydanticCustomError(
                "too_deep", "it nests deeper than {most} levels", {"most": DEPTH_MAX}
            )
        if any(isinstance(one, int) and not -INTEGER_BOUND <= one < INTEGER_BOUND for one in level):
            raise PydanticCustomError("not_finite", "an integer is out of range: 64 bits with sign")
        level = [below for one in level for below in _within(one)]
    return value


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


JsonOnly = Annotated[JsonValue, AfterValidator(_kept)]
"""As ``JsonValue``, and what it is has a form in a record."""
