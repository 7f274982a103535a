"""Values that many runs share, as nobody can write to them: dictionaries and lists whose writing methods refuse.

They are subclasses and no views: what checks, encodes or validates JSON takes them for what they are, and reading costs as much. A copy is
plain again, and may be written to.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar, cast

from pydantic import BaseModel

T = TypeVar("T")


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("what runs share cannot be written to: copy it first")


class ReadOnlyDict(dict[Any, Any]):
    """A dictionary to be read from only."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        """A copy is a plain one."""
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list to be read from only."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # pyright: ignore[reportAssignmentType]
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        """A copy is a plain one."""
        return list, (list(self),)


def read_only(value: T) -> T:
    """The value with every dictionary and list in it read-only, through models too; itself where it is so already. Equal, and encoded alike."""
    return cast("T", _read_only(value))


def _read_only(value: Any) -> Any:
    if isinstance(value, BaseModel):
        held = value.__dict__
        sealed = {name: _read_only(part) for name, part in held.items()}
        if all(sealed[name] is held[name] for name in held):
            return value
        copy = value.model_copy()
        vars(copy).update(sealed)  # past ``model_copy(update=…)``, which would note the fields as written by whoever made the model
        return copy
    if isinstance(value, dict) and not isinstance(value, ReadOnlyDict):
        return ReadOnlyDict({name: _read_only(part) for name, part in cast("dict[Any, Any]", value).items()})
    if isinstance(value, list) and not isinstance(value, ReadOnlyList):
        return ReadOnlyList([_read_only(part) for part in cast("list[Any]", value)])
    return value
