"""Values that many runs share, as nobody can write to them: dictionaries and lists whose writing
methods refuse.

They are subclasses and no views: what checks, encodes or validates JSON takes them for what they
are, and reading costs as much. A copy is plain again, and may be written to.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel

T = TypeVar("T")
_ATOMS: Final = frozenset({str, int, float, bool, bytes, type(None)})


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


_SEALED: Final = frozenset({*_ATOMS, ReadOnlyDict, ReadOnlyList})
_MODELS: Final = WeakValueDictionary[int, BaseModel]()
"""The models that are read-only throughout, by where they lie: looking through one again takes as
long as through all that it holds.
"""


def read_only(value: T) -> T:
    """The value with every dictionary and list in it read-only, through models too; itself where it
    is so already. Equal, and encoded alike.
    """
    return cast("T", _read_only(value))


def _read_only(value: Any) -> Any:
    if type(value) in _SEALED:
        # nearly all are, and asking whether one is a model costs more than all else here
        return value
    if isinstance(value, dict):
        held = cast("dict[Any, Any]", value).items()
        return ReadOnlyDict(
            {name: part if type(part) in _ATOMS else _read_only(part) for name, part in held}
        )
    if isinstance(value, list):
        return ReadOnlyList(
            [
                part if type(part) in _ATOMS else _read_only(part)
                for part in cast("list[Any]", value)
            ]
        )
    return _read_only_model(value) if isinstance(value, BaseModel) else value


def _read_only_model(model: BaseModel) -> BaseModel:
    if _MODELS.get(id(model)) is model:
        return model
    held = model.__dict__
    sealed = {
        name: part if type(part) in _ATOMS else _read_only(part) for name, part in held.items()
    }
    if any(sealed[name] is not part for name, part in held.items()):
        model = model.model_copy()
        # past ``model_copy(update=…)``, which would note the fields as written by whoever made the
        # model
        vars(model).update(sealed)
    if model.model_config.get("frozen"):
        _MODELS[id(model)] = model
    return model
