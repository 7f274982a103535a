"""Python's values as JSON has them, by pydantic's form for their types: arguments' defaults and
functions' results.
"""

from __future__ import annotations

import math
from collections import UserString
from collections.abc import Iterator, Mapping, Sequence, Set
from numbers import Integral, Rational, Real
from operator import index
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python


class Formless(Exception):
    """A value of the type that it names has no form in JSON."""


def form_of(value: Any) -> Any:
    """What JSON has no form for by itself: a model, text and numbers of classes of their own, as
    numpy's are, and whatever else pydantic has a form for: the declared schema is pydantic's.
    """
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Integral):
        return int(index(value))
    if isinstance(value, Real) and not isinstance(value, Rational):
        return float.__float__(value) if isinstance(value, float) else float(value)
    named = type(value).__name__
    if isinstance(value, dict | list):
        raise Formless("dict whose keys are no names")
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, UserString):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, Sequence | Set):
        return list(cast("Sequence[Any]", value))
    if isinstance(value, Iterator) or callable(value):  # the one may never end
        raise Formless(named)
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError as error:
        raise Formless(named) from error


def is_finite(value: Any) -> bool:
    """Whether no number in a value is infinite, or none at all."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, cast(dict[str, Any], value).values()))
    return not isinstance(value, (list, tuple)) or all(map(is_finite, cast(list[Any], value)))
