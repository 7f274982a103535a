"""A resource's routes: declared by its module, served as Starlette's, published by the document
(``openapi``).

The module is imported, and its routes are made, when the first request comes for an address that
begins as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any, TypeVar

from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from ordain.server.face import Face
from ordain.server.parameters import ParameterReader

Handler = Callable[..., Coroutine[Any, Any, Response]]
SocketHandler = Callable[[WebSocket], Coroutine[Any, Any, None]]
H = TypeVar("H", bound=Handler)
S = TypeVar("S", bound=SocketHandler)
_CHOSEN = "ordain.route"


class DeclaredRoute(Struct, frozen=True, kw_only=True):
    """One address and method; ``options`` say what the document tells of it."""

    method: str
    path: str
    handler: Handler
    options: Mapping[str, Any]

    def served(self) -> Route:
        """The route that answers."""
        handler = self.handler

        @cache
        def reader() -> ParameterReader:
            return ParameterReader(handler)

        async def answer(request: Request) -> Response:
            return await handler(**reader().arguments(request))

        route = Route(self.path, answer, methods=[self.method], name=handler.__name__)
        route.methods = {self.method}  # HEAD is asked as GET (``arrival``)
        return route


class Resource(Struct, frozen=True, kw_only=True):
    """Routes as they are declared, in their order; an operation is named as its function, and a
    test holds the names apart.
    """

    tags: tuple[str, ...]
    prefix: str
    declared: list[DeclaredRoute | WebSocketRoute] = field(
        default_factory=list["DeclaredRoute | WebSocketRoute"]
    )

    def get(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare what shows something."""
        return self._declares("GET", path, options)

    def post(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare what does something."""
        return self._declares("POST", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare what removes something."""
        return self._declares("DELETE", path, options)

    def websocket(self, path: str) -> Callable[[S], S]:
        """Declare an address that speaks WebSocket; the document does not tell of it."""

        def declare(handler: S) -> S:
            self.declared.append(WebSocketRoute(self.prefix + path, handler))
            return handler

        return declare

    def _declares(self, method: str, path: str, options: Mapping[str, Any]) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            self.declared.append(
                DeclaredRoute(
                    method=method, path=self.prefix + path, handler=handler, options=options
                )
            )
            return handler

        return declare


def resource(*tags: str, prefix: str = "") -> Resource:
    """A resource without routes yet."""
    return Resource(tags=tags, prefix=prefix)


class ResourceRoute(BaseRoute):
    """Every route of one resource."""

    def __init__(self, face: Face, firsts: Sequence[str], maker: str) -> None:
        """``firsts`` are the first segments of its addresses, ``maker`` is where the function
        stands that declares them: ``module:function``.
        """
        self._face, self._firsts, self._maker = face, frozenset(firsts), maker

    @cached_property
    def resource(self) -> Resource:
        """What the module declares."""
        module, _, name = self._maker.partition(":")
        made: Resource = getattr(import_module(module), name)(self._face)
        return made

    @cached_property
    def routes(self) -> Sequence[Route | WebSocketRoute]:
        """Its routes, in their order."""
        return [
            one.served() if isinstance(one, DeclaredRoute) else one
            for one in self.resource.declared
        ]

    def answering(self, scope: Scope) -> list[Route | WebSocketRoute]:
        """Its routes of the address, whether or not of the method."""
        return [route for _, _, route in self._matching(scope)]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first route of address and method, else the first of the address."""
        first: tuple[Match, Scope] = Match.NONE, {}
        for match, child, route in self._matching(scope):
            found = match, {**child, _CHOSEN: route}
            if match is Match.FULL:
                return found
            first = found if first[0] is Match.NONE else first
        return first

    def _matching(self, scope: Scope) -> Iterator[tuple[Match, Scope, Route | WebSocketRoute]]:
        if (
            scope["type"] in {"http", "websocket"}
            and scope["path"].removeprefix("/").partition("/")[0] in self._firsts
        ):
            for route in self.routes:
                match, child = route.matches(scope)
                if match is not Match.NONE:
                    yield match, child, route

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on to the route that matched."""
        await scope[_CHOSEN].handle(scope, receive, send)
