"""Which keys a place of a contract has, and what is told to whoever wrote one that it has not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ordain.contracts.nearest import did_you_mean, nearest

M = TypeVar("M", bound=BaseModel)
UNKNOWN_KEY = "extra_forbidden"
_ONE_OF = ("enum", "literal_error")
_QUOTED = re.compile(r"'([^']*)'")
_CONTRACTS_OWN = "Value error, "
"""How a check of the contract's own is told by pydantic: its words say what is wrong without
that.
"""


def keys_at(model: type[BaseModel], place: Sequence[str | int]) -> frozenset[str]:
    """The keys that are known at a place below a contract, as they are written; none where the
    place is no table of it, or one of many kinds.
    """
    at: Any = model
    for part in place:
        at = _below(at, part)
    found = _table(at)
    return (
        frozenset()
        if found is None
        else frozenset(field.alias or name for name, field in found.model_fields.items())
    )


def fitting_table(model: type[BaseModel], place: Sequence[str | int], given: Any) -> str:
    """The table beside a key that is no field, in which the key would stand with what is given for
    it; "" where there is none.
    """
    if not place:  # the contract's own, and no key's
        return ""
    *above, key = place
    at: Any = model
    for part in above:
        at = _below(at, part)
    found = _table(at)
    fields = {} if found is None else found.model_fields
    for name, field in () if key in fields else fields.items():
        kind: Any = field.annotation
        if get_origin(kind) is dict:
            try:
                TypeAdapter[Any](kind).validate_python({key: given}, strict=False)
            except ValidationError:
                continue
            return ".".join(map(str, (*above, field.alias or name)))
    return ""


def misfit_words(model: type[BaseModel], error: ErrorDetails) -> str:
    """What is wrong at a place of a contract; of a key, or of one of several words, that nobody
    knows, which was probably meant.
    """
    given = error.get("input")  # not there where whoever reads the errors wants no values in them
    if error["type"] in _ONE_OF and isinstance(given, str):
        known = _QUOTED.findall(str(error.get("ctx", {}).get("expected", "")))
        return f"{error['msg']}{did_you_mean(given, known)}"
    if error["type"] != UNKNOWN_KEY:
        return error["msg"].removeprefix(_CONTRACTS_OWN)
    *above, key = error["loc"]
    return f"there is no such key{did_you_mean(str(key), keys_at(model, above))}"


def first_misfit(model: type[BaseModel], errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """The first of them; the misspelt key that it is the want of, where there is one."""
    first = errors[0]
    if first["type"] != "missing":
        return first
    *above, wanted = first["loc"]
    beside = [
        one for one in errors if one["type"] == UNKNOWN_KEY and list(one["loc"][:-1]) == above
    ]
    known = keys_at(model, above)
    return next((one for one in beside if nearest(str(one["loc"][-1]), known) == wanted), first)


def read_contract(model: type[M], given: Mapping[str, Any]) -> M:
    """A value as its contract's, for whoever writes one in Python.

    Raises:
        ValidationError: it is not of its shape; of a key that nobody knows it says which was
            probably meant.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        if all(one["type"] != UNKNOWN_KEY for one in found):
            raise
        told = [
            InitErrorDetails(
                type=_worded(one["type"], misfit_words(model, one)),
                loc=one["loc"],
                input=one["input"],
            )
            for one in found
        ]
        raise ValidationError.from_exception_data(error.title, told) from None


def _worded(code: str, words: str) -> PydanticCustomError:
    return PydanticCustomError(code, "{words}", {"words": words})  # pyright: ignore[reportArgumentType] - a code as pydantic itself gave it


def _below(at: Any, part: str | int) -> Any:
    """What stands under a key: a field of a contract, or an entry of a table or list of such."""
    found = _table(at)
    if found is not None:
        return next(
            (
                field.annotation
                for name, field in found.model_fields.items()
                if part in (name, field.alias)
            ),
            None,
        )
    return get_args(at)[-1] if get_origin(at) in (dict, list) else None


def _table(at: Any) -> type[BaseModel] | None:
    """A contract, also one that may be left out."""
    kinds = [
        kind
        for kind in (at, *get_args(at))
        if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]
    return kinds[0] if len(kinds) == 1 and (kinds[0] is at or type(None) in get_args(at)) else None
