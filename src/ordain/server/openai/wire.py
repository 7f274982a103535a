"""Refusals below the OpenAI address in the shape that its clients know: one place, behind which every refusal is Ordain's own problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.contracts.openai import OpenAIRefusal, RefusalBody
from ordain.server.problems import MEDIA_TYPE

ADDRESSES = ("/v1/models", "/v1/chat", "/v1/responses")
TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
"""What a status is called there; others below 500 are ``invalid_request_error``, from there on ``server_error``."""


def is_openai(path: str) -> bool:
    """Whether an address is one of OpenAI's."""
    return any(path == one or path.startswith(f"{one}/") for one in ADDRESSES)


def refusal_of(problem: Mapping[str, Any]) -> OpenAIRefusal:
    """A problem in their shape; ``param`` is the first place, as they write it."""
    status = int(problem["status"])
    errors = problem.get("errors") or ()
    param = str(errors[0]["place"]).removeprefix("/").replace("/", ".") if errors else None
    message = str(problem["detail"])
    if errors and errors[0]["message"] not in message:
        message = f"{message}: {errors[0]['place']}: {errors[0]['message']}"
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return OpenAIRefusal(error=RefusalBody(message=message, type=kind, param=param or None, code=str(problem["code"])))


class OpenAIErrors:
    """Says problems in the other shape, with status and headers as they are."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on; a problem's body is held back until it is whole, everything else passes."""
        if scope["type"] != "http" or not is_openai(scope["path"]):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def saying(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _say(start, bytes(body), send)

        await self._app(scope, receive, saying)


def _is_problem(start: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(MEDIA_TYPE.encode()) for name, value in start.get("headers", ()))


async def _say(start: Message, body: bytes, send: Send) -> None:
    said = refusal_of(json.loads(body)).model_dump_json().encode() if body else b""  # HEAD has none
    headers = [(name, value) for name, value in start["headers"] if name.lower() not in (b"content-type", b"content-length")]
    length = [(b"content-length", str(len(said)).encode())] if body else []
    await send({**start, "headers": [*headers, (b"content-type", b"application/json"), *length]})
    await send({"type": "http.response.body", "body": said})
