"""Refusals on the wire: RFC 9457 problem+json with a stable ``code`` (B-45); never a stack trace, never a value of the caller's."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ordain.contracts.planner import Strict
from ordain.errors import OrdainError, Refused
from ordain.server.bodies import pointer

LOG = logging.getLogger("ordain.http")
MEDIA_TYPE = "application/problem+json"
CODES = {404: "no_such_address", 405: "method_not_allowed"}


class Problem(Strict):
    """A refusal (RFC 9457). ``errors`` lists places where a body does not fit; ``run_id`` and ``location`` name a run that is kept."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[dict[str, str]] | None = None
    run_id: str | None = None
    location: str | None = None


def problem(
    status: int, code: str, detail: str, *, more: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """One refusal as a response."""
    body = problem_body(status, code, detail, more)
    return Response(msgspec.json.encode(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def problem_body(status: int, code: str, detail: str, more: Mapping[str, object] | None = None) -> dict[str, object]:
    """One refusal as a value."""
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "code": code, "detail": detail, **(more or {})}


async def refuse(_: Request, error: Exception) -> Response:
    """Any error of ours: its own status, code and details."""
    if not isinstance(error, OrdainError):
        return await internal(_, error)
    headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, Refused) and error.retry_after_s is not None else {}
    if error.status == 503:
        headers["Retry-After"] = "2"
    if error.status >= 500:
        LOG.error("refused code=%s %s", error.code, error.message)
    return problem(error.status, error.code, error.message, more=error.details, headers=headers)


async def no_route(_: Request, error: Exception) -> Response:
    """Unknown addresses and methods."""
    if not isinstance(error, HTTPException):
        return await internal(_, error)
    status = error.status_code
    return problem(status, CODES.get(status, "refused"), str(error.detail), headers=error.headers)


async def bad_parameters(_: Request, error: Exception) -> Response:
    """Query parameters that do not fit."""
    found: list[Any] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    errors = [{"place": pointer(tuple(one["loc"])), "code": str(one["type"]), "message": str(one["msg"])} for one in found]
    return problem(422, "invalid_request", "a parameter does not fit", more={"errors": errors})


async def gone(_: Request, __: Exception) -> Response:
    """The client went away before its request was read: nobody reads this answer."""
    return Response(status_code=400)


async def internal(_: Request, error: Exception) -> Response:
    """A bug: the log has the details, the wire has none."""
    LOG.error("internal error: %s", type(error).__name__, exc_info=error)
    return problem(500, "internal", "something went wrong in Ordain; its log says what")


def install(app: FastAPI) -> None:
    """Every way out of the app that is no success becomes a problem."""
    app.add_exception_handler(OrdainError, refuse)
    app.add_exception_handler(HTTPException, no_route)
    app.add_exception_handler(RequestValidationError, bad_parameters)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, internal)
