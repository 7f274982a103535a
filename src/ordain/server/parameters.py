"""What a handler takes of a request beside its body: declared as its arguments, read and checked
before it is called.

A handler's signature is read when its route is asked for the first time. The published document is
made of the same declarations (``openapi``).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from ordain.contracts.nearest import did_you_mean
from ordain.errors import InvalidRequest
from ordain.server.bodies import pointer

_QUOTED = re.compile("'([^']+)'")
Misfits = list[dict[str, str]]
ParameterSource = Literal["path", "query", "header"]
_ORDER: Sequence[ParameterSource] = ("path", "query", "header")
"""In which order parameters are read, and what does not fit is told."""


class SentParameter(Struct, frozen=True):
    """A parameter of the address or a header: the name that it is sent under (None: as the
    argument, in a header with hyphens), and what it must be.
    """

    source: ParameterSource
    alias: str | None
    description: str | None
    bounds: Mapping[str, Any]


class MadeParameter(Struct, frozen=True):
    """An argument that a function makes of parameters, which it takes as a handler does."""

    function: Callable[..., Any]


def from_query(
    *, alias: str | None = None, description: str | None = None, **bounds: Any
) -> SentParameter:
    """A parameter of the address; ``bounds`` as pydantic's ``Field`` has them."""
    return SentParameter("query", alias, description, bounds)


def from_header(
    *, alias: str | None = None, description: str | None = None, **bounds: Any
) -> SentParameter:
    """A header; ``bounds`` as pydantic's ``Field`` has them."""
    return SentParameter("header", alias, description, bounds)


class ParameterReader:
    """One handler's arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Read the signature of ``function``; what is neither declared nor the request is a part of
        the path.
        """
        hints = get_type_hints(function, include_extras=True)
        parts = [
            _part(name, hints[name], one.default)
            for name, one in inspect.signature(function).parameters.items()
        ]
        self._request = [part.name for part in parts if isinstance(part, _RequestPart)]
        self._made = [part for part in parts if isinstance(part, _MadePart)]
        self._sent = sorted(
            (part for part in parts if isinstance(part, _SentPart)),
            key=lambda part: _ORDER.index(part.source),
        )

    def arguments(self, request: Request) -> dict[str, Any]:
        """The arguments of one request.

        Raises:
            InvalidRequest: a parameter does not fit.
        """
        misfits: Misfits = []
        found = self.read(request, misfits)
        if misfits:
            raise InvalidRequest("a parameter does not fit", details={"errors": misfits})
        return found

    def read(self, request: Request, misfits: Misfits) -> dict[str, Any]:
        """The arguments of one request; what does not fit goes to ``misfits``."""
        found: dict[str, Any] = dict.fromkeys(self._request, request)
        for made in self._made:
            of_its_own: Misfits = []
            given = made.reader.read(request, of_its_own)
            misfits += of_its_own
            found[made.name] = None if of_its_own else made.function(**given)
        for sent in self._sent:
            found[sent.name] = sent.read(request, misfits)
        return found


class _RequestPart(Struct, frozen=True):
    name: str


class _MadePart(Struct, frozen=True):
    name: str
    function: Callable[..., Any]
    reader: ParameterReader


class _SentPart(Struct, frozen=True):
    name: str
    source: ParameterSource
    sent: str
    several: bool
    adapter: TypeAdapter[Any]
    default: Any

    def read(self, request: Request, misfits: Misfits) -> Any:
        """The value that was sent, or the default where none was; what does not fit goes to
        ``misfits``.
        """
        match self.source:
            case "path":
                given = request.path_params.get(self.sent)
            case "query":
                given = (
                    request.query_params.getlist(self.sent)
                    if self.several
                    else request.query_params.get(self.sent)
                )
            case "header":
                given = request.headers.get(self.sent)
        if given is None or given == []:
            if self.default is inspect.Parameter.empty:
                misfits.append(_misfit((self.source, self.sent), "missing", "Field required"))
            return self.default
        try:
            return self.adapter.validate_python(given)
        except ValidationError as error:
            found = error.errors(include_url=False)
            misfits += [
                _misfit(
                    (self.source, self.sent, *one["loc"]), one["type"], one["msg"] + _meant(one)
                )
                for one in found
            ]
            return None


def _meant(error: ErrorDetails) -> str:
    """Of a word that is none of a few, the one that was probably meant."""
    said, known = error["input"], _QUOTED.findall(str(error.get("ctx", {}).get("expected", "")))
    return did_you_mean(said, known) if isinstance(said, str) and known else ""


def _misfit(place: tuple[str | int, ...], code: str, message: str) -> dict[str, str]:
    return {"place": pointer(place), "code": code, "message": message}


def _part(name: str, hint: Any, default: Any) -> _RequestPart | _MadePart | _SentPart:
    if hint is Request:
        return _RequestPart(name)
    told, metadata = (
        (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    )
    for declared in metadata:
        if isinstance(declared, MadeParameter):
            return _MadePart(name, declared.function, ParameterReader(declared.function))
        if isinstance(declared, SentParameter):
            sent = declared.alias or (
                name.replace("_", "-") if declared.source == "header" else name
            )
            bounded: Any = Annotated[
                (
                    told,
                    *(
                        Field(**one.bounds) if isinstance(one, SentParameter) else one
                        for one in metadata
                    ),
                )
            ]
            several = any(get_origin(one) is list for one in (told, *get_args(told)))
            return _SentPart(name, declared.source, sent, several, TypeAdapter(bounded), default)
    return _SentPart(name, "path", name, False, TypeAdapter(hint), default)
