"""Requests that tell the wire server what to do, and the answers it gives."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from ordain.contracts.profiles import ModelProfile
from ordain.ports.model import ModelRequest

API_KEY = "sk-hush-0123456789"
SYSTEM = "system words that stay private"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def request(
    user: str, *, system: str = SYSTEM, timeout_s: float = 20.0, **profile: Any
) -> ModelRequest:
    values = {"provider": "openai", "model": "wire", **profile}
    return ModelRequest(
        profile=ModelProfile(**values),
        purpose="planner",
        system=system,
        user=user,
        schema_name="planner_step",
        schema=SCHEMA,
        max_tokens=300,
        timeout_s=timeout_s,
        inputs={},
        index=0,
    )


def playing(*operations: dict[str, Any], **options: Any) -> ModelRequest:
    """A request that makes the wire server do this."""
    return request(json.dumps(operations), **options)


def send(data: bytes) -> dict[str, Any]:
    return {"send": base64.b64encode(data).decode()}


def http(body: bytes, status: str = "200 OK", *headers: str) -> dict[str, Any]:
    """An answer with a right length."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers]
    return send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def http_json(value: Any, status: str = "200 OK", *headers: str) -> dict[str, Any]:
    return http(json.dumps(value).encode(), status, "content-type: application/json", *headers)


@dataclass(frozen=True)
class Protocol:
    """One wire as llmock and aimock serve it."""

    name: str
    provider: str
    path: str
    aimock_path: str
    model: str
    more: tuple[tuple[str, Any], ...] = ()


PROTOCOLS = (
    Protocol("chat", "openai", "/v1", "/v1", "gpt-4o"),
    Protocol("responses", "openai", "/v1", "/v1", "gpt-4o", (("api", "responses"),)),
    Protocol("anthropic", "anthropic", "/anthropic", "", "claude-sonnet-4-6"),
    Protocol("gemini", "gemini", "/gemini", "", "gemini-2.5-pro"),
)


def profile(protocol: Protocol, url: str, **more: Any) -> ModelProfile:
    values = {
        "provider": protocol.provider,
        "model": protocol.model,
        "base_url": url + protocol.path,
        "structured": "tool",
    }
    return ModelProfile.model_validate({**values, **dict(protocol.more), **more})


def asking(protocol: Protocol, url: str, user: str = "Give a.", **more: Any) -> ModelRequest:
    """A request in this wire; ``timeout_s`` and ``narrative`` are the request's, all else the
    profile's.
    """
    own = {
        name: more.pop(name)
        for name in ("timeout_s", "narrative", "system", "schema")
        if name in more
    }
    return structs.replace(request(user), profile=profile(protocol, url, **more), **own)
