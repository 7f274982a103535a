"""Requests that tell the wire server what to do, and the answers it gives."""

import base64
import json
from typing import Any

from ordain.contracts.policy import ModelProfile
from ordain.ports.model import ModelRequest

API_KEY = "sk-hush-0123456789"
SYSTEM = "system words that stay private"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def request(user: str, *, system: str = SYSTEM, timeout_s: float = 20.0, **profile: Any) -> ModelRequest:
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
        key="run/0",
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
