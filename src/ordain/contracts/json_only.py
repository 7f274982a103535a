"""A value that JSON has a form for, and a record: what a caller in Python gives may be anything."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import AfterValidator, JsonValue
from pydantic_core import PydanticCustomError

INTEGER_BOUND = 2**63


def _in_range(value: JsonValue) -> JsonValue:
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left.extend(cast("dict[str, Any]", one).values())
        elif isinstance(one, list):
            left.extend(cast("list[Any]", one))
        elif isinstance(one, int) and not -INTEGER_BOUND <= one < INTEGER_BOUND:
            raise PydanticCustomError("not_finite", "an integer is out of range: 64 bits with sign")
    return value


JsonOnly = Annotated[JsonValue, AfterValidator(_in_range)]
"""As ``JsonValue``, and every integer has a form in a record."""
