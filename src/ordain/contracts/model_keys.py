"""Which keys a place of a contract has: for whoever wrote one that it has not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel


def keys_at(model: type[BaseModel], place: Sequence[str | int]) -> frozenset[str]:
    """The keys that are known at a place below a contract, as they are written; none where the place is no table of it, or one of many kinds."""
    at: Any = model
    for part in place:
        at = _below(at, part)
    found = _table(at)
    return frozenset() if found is None else frozenset(field.alias or name for name, field in found.model_fields.items())


def _below(at: Any, part: str | int) -> Any:
    """What stands under a key: a field of a contract, or an entry of a table or list of such."""
    found = _table(at)
    if found is not None:
        return next((field.annotation for name, field in found.model_fields.items() if part in (name, field.alias)), None)
    return get_args(at)[-1] if get_origin(at) in (dict, list) else None


def _table(at: Any) -> type[BaseModel] | None:
    """A contract, also one that may be left out."""
    kinds = [kind for kind in (at, *get_args(at)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return kinds[0] if len(kinds) == 1 and (kinds[0] is at or type(None) in get_args(at)) else None
