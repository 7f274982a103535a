"""A handler's declarations in the words of FastAPI, which makes the document of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_origin, get_type_hints

from fastapi import Depends, Header, Query

from ordain.server.parameters import MadeParameter, SentParameter


def as_documented(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A function that says of itself what ``handler`` does; nobody calls it."""

    def told() -> None:
        raise NotImplementedError

    hints = get_type_hints(handler, include_extras=True)
    given = inspect.signature(handler).parameters.values()
    told.__name__, told.__doc__ = handler.__name__, handler.__doc__
    vars(told)["__signature__"] = inspect.Signature(
        [one.replace(annotation=_told(hints[one.name])) for one in given]
    )
    return told


def _told(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return hint
    return Annotated[(hint.__origin__, *map(_marked, hint.__metadata__))]


def _marked(declared: Any) -> Any:
    match declared:
        case SentParameter(source="header"):
            return Header(alias=declared.alias, description=declared.description, **declared.bounds)
        case SentParameter():
            return Query(alias=declared.alias, description=declared.description, **declared.bounds)
        case MadeParameter():
            return Depends(as_documented(declared.function))
        case _:
            return declared
