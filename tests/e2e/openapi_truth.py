"""Whether what a server answers is what its published OpenAPI document says, and how to ask again
by hand.
"""

import json
import re
import shlex
from functools import cached_property
from typing import Any

import httpx2
import jsonschema_rs

PROBLEM = "application/problem+json"


class Truth:
    """The document of a running server, and the statuses that answers were seen with."""

    def __init__(self, http: httpx2.Client) -> None:
        self.http = http
        self.document: dict[str, Any] = http.get("/openapi.json").json()
        self.seen: set[tuple[str, str]] = set()
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    @cached_property
    def _paths(self) -> list[tuple[re.Pattern[str], str]]:
        """Patterns of the paths, those without parameters first."""
        found = sorted(self.document["paths"], key=lambda path: path.count("{"))
        return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in found]

    def operation(self, method: str, raw_path: str) -> dict[str, Any] | None:
        """The operation that an address belongs to; None where the document has none."""
        for pattern, path in self._paths:
            if pattern.fullmatch(raw_path):
                return self.document["paths"][path].get(method.lower())
        return None

    def ask(self, method: str, address: str, **options: Any) -> httpx2.Response:
        """One request whose answer must be as declared."""
        response = self.http.request(method, address, **options)
        self.check(response)
        return response

    def check(self, response: httpx2.Response) -> None:
        """The answer is as declared for its operation."""
        request = response.request
        operation = self.operation(request.method, request.url.raw_path.decode().partition("?")[0])
        assert operation is not None, f"no operation: {request.method} {request.url}"
        told = f"Reproduce with:\n  {curl(request)}"
        self.judge(
            operation,
            response.status_code,
            response.headers.get("content-type", ""),
            response.content,
            told,
        )

    def judge(
        self, operation: dict[str, Any], status: int, kind: str, body: bytes, told: str
    ) -> None:
        """Status, media type and body are as declared for the operation; ``told`` is how to ask
        again.
        """
        name, media = operation["operationId"], kind.partition(";")[0]
        told = f"{status} {body[:2000]!r}\n{told}"
        assert str(status) in operation["responses"], f"{name}: the status is not declared: {told}"
        self.seen.add((name, str(status)))
        content = self.resolved(operation["responses"][str(status)]).get("content", {})
        assert media in content or (not content and not body), (
            f"{name}: the media type {media!r} is not declared: {told}"
        )
        if media in ("application/json", PROBLEM):
            errors = self.errors(content[media]["schema"], json.loads(body))
            assert not errors, f"{name}: {errors}: {told}"

    def resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        """What a reference names."""
        while "$ref" in part and len(part) == 1:
            found: Any = self.document
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            part = found
        return part

    def errors(self, schema: dict[str, Any], value: Any) -> list[str]:
        """Where a value does not fit a schema of the document."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[key] = jsonschema_rs.validator_for(whole, validate_formats=True)
        return [
            f"{list(error.instance_path)}: {error.message[:300]}"
            for error in self._validators[key].iter_errors(value)
        ]


def code_of(refusal: dict[str, Any]) -> str:
    """The code of a refusal, whichever of the two shapes it is told in."""
    return str(refusal.get("error", refusal)["code"])


def curl(request: httpx2.Request) -> str:
    """A command that sends the same request again."""
    own = {"host", "accept", "accept-encoding", "connection", "user-agent", "content-length"}
    parts = ["curl", "-i", "-X", request.method]
    for name, value in request.headers.items():
        parts += [] if name in own else ["-H", f"{name}: {value}"]
    body = request.read()
    return shlex.join(
        [
            *parts,
            *(["--data-binary", body.decode("utf-8", "backslashreplace")] if body else []),
            str(request.url),
        ]
    )
