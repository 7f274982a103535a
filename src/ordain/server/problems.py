"""Refusals on the wire: RFC 9457 problem+json with a stable ``code`` (B-45); never a stack trace,
never a value of the caller's.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.contracts.planner import Strict
from ordain.errors import OrdainError, Refused, StorageUnavailable
from ordain.server.resource import ResourceRoute
from ordain.server.sent_json import spelled

LOG = logging.getLogger("ordain.http")
RETRY_S = "2"
MEDIA_TYPE = "application/problem+json"
USED_UP = "out_of_resources"
NOTHING_LEFT = (
    "this server has no memory or no descriptor left for it; send the request again later"
)
_USED_UP = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}
CODES = {404: "no_such_address", 405: "method_not_allowed"}
NOTHING_HERE = "there is nothing at this address; GET /openapi.json has every one that there is"
"""For whoever opens the server in a browser as for whoever mistyped an address."""


class Misfit(Strict):
    """A place that does not fit, as a JSON pointer, and why."""

    place: str
    code: str
    message: str


class Problem(Strict):
    """A refusal (RFC 9457). ``errors`` tells what does not fit, of a body the first place;
    ``run_id`` and ``location`` name what is kept; ``seq`` is of a record.

    ``claimed_by`` is who looks at an approval.
    """

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[Misfit] | None = None
    run_id: str | None = None
    location: str | None = None
    checks: dict[str, bool] | None = None
    seq: int | None = None
    retry_after_s: int | None = None
    claimed_by: str | None = None


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    more: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One refusal as a response."""
    body = problem_body(status, code, detail, more)
    return Response(
        spelled(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {})
    )


def unavailable(code: str, detail: str, more: Mapping[str, object] | None = None) -> Response:
    """503: not now, and when to try again."""
    return problem(503, code, detail, more=more, headers={"Retry-After": RETRY_S})


def problem_body(
    status: int, code: str, detail: str, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """One refusal as a value."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **(more or {}),
    }


async def refuse(_: Request, error: Exception) -> Response:
    """Any error of ours: its own status, code and details."""
    if not isinstance(error, OrdainError):
        return await internal(_, error)
    headers = (
        {"Retry-After": str(error.retry_after_s)}
        if isinstance(error, Refused) and error.retry_after_s is not None
        else {}
    )
    if error.status == 503:
        headers["Retry-After"] = RETRY_S
    if error.status == 408:
        headers["Connection"] = "close"
    if error.status >= 500:
        # a disk, a lock: no defect, and the message says it
        cause = None if isinstance(error, StorageUnavailable) else error.__cause__
        LOG.error("refused code=%s %s", error.code, error.message, exc_info=cause)
    return problem(error.status, error.code, error.message, more=error.details, headers=headers)


async def no_route(request: Request, error: Exception) -> Response:
    """Unknown addresses and methods."""
    if not isinstance(error, HTTPException):
        return await internal(request, error)
    status, headers, detail = error.status_code, error.headers, str(error.detail)
    if status == 404:
        detail = NOTHING_HERE
    elif status == 405:
        allowed = ", ".join(sorted(_methods_of(request)))
        headers, detail = {"Allow": allowed}, f"this address takes {allowed} alone"
    return problem(status, CODES.get(status, "refused"), detail, headers=headers)


def _methods_of(request: Request) -> set[str]:
    """The methods of the address that a request is for: those of every route with the path of the
    first one that matches.
    """
    found: set[str] = set()
    path = None
    for route in request.app.routes:
        for one in route.answering(request.scope) if isinstance(route, ResourceRoute) else (route,):
            methods = getattr(one, "methods", None)
            if (
                methods
                and path in {None, one.path}
                and one.matches(request.scope)[0] is not Match.NONE
            ):
                path = one.path
                found |= methods
    return found | {"HEAD"} if "GET" in found else found


async def gone(_: Request, __: Exception) -> Response:
    """The client went away before its request was read: nobody reads this answer."""
    return Response(status_code=400)


async def internal(_: Request, error: Exception) -> Response:
    """Whatever nobody foresaw."""
    return unforeseen(error)


def out_of_resources(error: BaseException | None) -> bool:
    """Whether the process has no memory or no descriptor left; also of what came of that."""
    while error is not None:
        if isinstance(error, MemoryError) or (
            isinstance(error, OSError) and error.errno in _USED_UP
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def unforeseen(error: Exception) -> Response:
    """A bug: the log has the details, the wire has none. Where the process has no memory or no
    descriptor left nothing is wrong with the request, and it may be sent again.
    """
    if out_of_resources(error):
        LOG.error("out of resources: %s", type(error).__name__, exc_info=error)
        return unavailable(USED_UP, NOTHING_LEFT)
    LOG.error("internal error: %s", type(error).__name__, exc_info=error)
    return problem(500, "internal", "something went wrong in Ordain; its log says what")


_BEGUN = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})


class BugsAnswered:
    """Answers what nobody behind it foresaw, of a handshake too, so that whoever stands in front of
    it has that answer go through him like any other: Starlette's own answer to a bug goes past all.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on; of an answer that has begun nothing can be said any more."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] in _BEGUN
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            # the face's boundary: a bug ends one request, with a word to the log and a code to the
            # wire
            if begun or scope["type"] not in {"http", "websocket"}:
                raise
            await unforeseen(error)(scope, receive, send)


def install(app: Starlette) -> None:
    """Every way out of the app that is no success becomes a problem."""
    app.add_exception_handler(OrdainError, refuse)
    app.add_exception_handler(HTTPException, no_route)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, internal)
