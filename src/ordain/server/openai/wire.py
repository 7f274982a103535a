"""Refusals below the OpenAI address in the shape that its clients know: one place, behind which
every refusal is Ordain's own problem.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.contracts.nearest import nearest
from ordain.contracts.openai_refusal import OpenAIRefusal, RefusalBody
from ordain.server.problems import CODES, MEDIA_TYPE

NO_MODEL_ANSWERED = 502
BELOW, CORTEX = "/v1", "/v1/cortex"
"""Whatever is below the first is OpenAI's, but for the sources' own gateway."""
SERVED = ("/v1/models", "/v1/chat/completions", "/v1/responses")
UNSERVED: Mapping[str, str] = {
    "embeddings": "vectors come from your own endpoint, which [embedder] in ordain.toml names",
    "completions": "a prompt without messages is not completed: send it to /v1/chat/completions",
    "audio": "sound is neither heard nor made",
    "images": "pictures are not made; one that a model is to see goes with a message",
    "files": "a file goes with a message, as a part of it",
    "moderations": "what may be done is policy's, not a model's",
}
"""OpenAI's addresses that are not served, and what there is instead."""
TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
"""What a status is called there; others below 500 are ``invalid_request_error``, from there on
``server_error``.
"""


def is_openai(path: str) -> bool:
    """Whether an address is one of OpenAI's."""
    return _within(path, BELOW) and not _within(path, CORTEX)


def _within(path: str, address: str) -> bool:
    return path == address or path.startswith(f"{address}/")


def unserved(path: str) -> str:
    """What there is instead of an address that is not: where it is none that is known, the nearest
    one and all of them.
    """
    named = path.removeprefix(f"{BELOW}/")
    instead = UNSERVED.get(named.partition("/")[0], "")
    meant = nearest(named, [one.removeprefix(f"{BELOW}/") for one in SERVED])
    there = f"there are {', '.join(SERVED)}"
    if instead:
        return f"this address is not served here: {instead}; {there}"
    hint = f"; did you mean {BELOW}/{meant}?" if meant else ""
    return f"this address is not served here; {there}{hint}"


def refusal_of(problem: Mapping[str, Any], path: str = "") -> OpenAIRefusal:
    """A problem in their shape; ``param`` is the first place, as they write it. Of an unknown
    address it says what there is instead.
    """
    status = int(problem["status"])
    errors = problem.get("errors") or ()
    param = str(errors[0]["place"]).removeprefix("/").replace("/", ".") if errors else None
    message = unserved(path) if problem["code"] == CODES[404] else str(problem["detail"])
    if errors and errors[0]["message"] not in message:
        message = f"{message}: {errors[0]['place'] or '/'}: {errors[0]['message']}"
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return OpenAIRefusal(
        error=RefusalBody(
            message=message, type=kind, param=param or None, code=str(problem["code"])
        )
    )


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
                    await _say(start, bytes(body), scope["path"], send)

        await self._app(scope, receive, saying)


def _is_problem(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(MEDIA_TYPE.encode())
        for name, value in start.get("headers", ())
    )


async def _say(start: Message, body: bytes, path: str, send: Send) -> None:
    # HEAD has none
    said = refusal_of(json.loads(body), path).model_dump_json().encode() if body else b""
    headers = [
        (name, value)
        for name, value in start["headers"]
        if name.lower() not in (b"content-type", b"content-length")
    ]
    length = [(b"content-length", str(len(said)).encode())] if body else []
    if start["status"] == NO_MODEL_ANSWERED:
        # the turn is over and was paid for: what a client sends again by itself would be another
        # one
        length.append((b"x-should-retry", b"false"))
    await send({**start, "headers": [*headers, (b"content-type", b"application/json"), *length]})
    await send({"type": "http.response.body", "body": said})
