"""The published OpenAPI document: what the routes declare, completed by what is the same for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any

from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from ordain.server.documents import REFERENCE
from ordain.server.doors import Door, door_of
from ordain.server.openai.wire import is_openai
from ordain.server.problems import MEDIA_TYPE
from ordain.server.refusals import GUARDED, KEY, REFUSALS, refusal_codes
from ordain.server.resource import operation_id

PROBLEM, OPENAI = REFERENCE.format(model="Problem"), REFERENCE.format(model="OpenAIRefusal")
RETRY = {429, 503}
BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "ordain_ID_SECRET"}
ANY_JSON = {"description": "Any JSON value. Its integers have at most 64 bits with sign, and a body nests at most 64 levels deep."}
_RUN, _SESSION = {"run": "$response.body#/run_id"}, {"session": "$response.body#/sessionId", "seq": "$response.body#/sessionSeq"}
_ON_RUN = ("show_run", "show_journal", "cancel_run", "erase_run")
LINKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "plan_react": dict.fromkeys(_ON_RUN, _RUN),
    "execute_verb": dict.fromkeys(_ON_RUN, _RUN),
    "hub_chat": dict.fromkeys(_ON_RUN, _RUN),
    "cancel_run": dict.fromkeys(("show_run", "resume_run", "erase_run"), _RUN),
    "post_message": {
        "show_message": _SESSION,
        "show_session": {"session": _SESSION["session"]},
        "show_run": {"run": "$response.body#/runId"},
    },
}
"""What a success leads to: operation → next operation → its parameters."""


def completed(document: dict[str, Any], schemas: Mapping[str, Any], routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """Add ``schemas``, refusals, links and summaries; drop the framework's own shape of a refusal, which is never sent."""
    components = document.setdefault("components", {})
    known = {**components.get("schemas", {}), **schemas, "JsonValue": ANY_JSON}
    components["schemas"] = {name: known[name] for name in known if name not in {"HTTPValidationError", "ValidationError"}}
    for route in iter_route_contexts(routes):
        for operation in document["paths"].get(route.path, {}).values():
            _restore_examples(operation, route.original_route)
    components["securitySchemes"] = {"bearer": BEARER}
    responses = _Responses()
    for path, method, operation in operations(document):
        answers = operation["responses"]
        answers.pop("422", None)
        door = door_of(method.upper(), path)
        answers.update(responses.of((*refusal_codes(operation, method), *(() if door.public else GUARDED)), openai=is_openai(path)))
        operation["security"] = _security(door)
        operation.pop(KEY, None)
        operation["summary"] = operation["description"].partition("\n")[0].removesuffix(".")
        _link(operation["operationId"], answers)
    components["responses"] = responses.named
    return document


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, method, operation) of every operation."""
    for path, found in document["paths"].items():
        for method, operation in found.items():
            yield path, method, operation


def _security(door: Door) -> list[dict[str, list[str]]]:
    """Nothing, where nobody is asked for a token; else a token with any one of the scopes."""
    if door.public:
        return []
    scoped: list[dict[str, list[str]]] = [{"bearer": [str(scope)]} for scope in door.scopes]
    return [{}, *(scoped or [{"bearer": []}])]


def _restore_examples(operation: dict[str, Any], route: BaseRoute) -> None:
    """Examples as the route gave them: the framework leaves out whatever is null."""
    if not isinstance(route, APIRoute) or operation["operationId"] != operation_id(route):
        return
    bodies: list[tuple[dict[str, Any], Mapping[str, Any]]] = [
        (operation.get("requestBody", {}), (route.openapi_extra or {}).get("requestBody", {}))
    ]
    bodies += [(operation["responses"][str(status)], response) for status, response in route.responses.items()]
    for published, given in bodies:
        for kind, content in given.get("content", {}).items():
            if "example" in content:
                published["content"][kind]["example"] = content["example"]


def _link(operation: str, answers: dict[str, Any]) -> None:
    for target, parameters in LINKS.get(operation, {}).items():
        for status in ("200", "202"):
            if status in answers:
                answers[status].setdefault("links", {})[target] = {"operationId": target, "parameters": dict(parameters)}


class _Responses:
    """Refusals as shared components: one per status and set of codes."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self._names: dict[tuple[bool, tuple[str, ...]], str] = {}

    def of(self, codes: tuple[str, ...], *, openai: bool) -> dict[str, Any]:
        """One response per status; ``openai``: in the shape of OpenAI's clients."""
        found: dict[str, Any] = {}
        by_status = sorted(codes, key=lambda code: (REFUSALS[code].status, code))
        for status, group in groupby(by_status, key=lambda code: REFUSALS[code].status):
            found[str(status)] = {"$ref": f"#/components/responses/{self._name(status, tuple(group), openai)}"}
        return found

    def _name(self, status: int, codes: tuple[str, ...], openai: bool) -> str:
        known = (openai, codes)
        if known not in self._names:
            stem = f"{'OpenAI' if openai else ''}Refused{status}"
            name = next(name for n in count(1) if (name := stem + (f"_{n}" if n > 1 else "")) not in self.named)
            self._names[known] = name
            self.named[name] = _refusal(status, codes, openai)
        return self._names[known]


def _refusal(status: int, codes: tuple[str, ...], openai: bool) -> dict[str, Any]:
    code: dict[str, Any] = {"code": {"enum": list(codes)}}
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": PROBLEM, "properties": {"status": {"const": status}, **code}}}}
    if openai:
        content = {"application/json": {"schema": {"$ref": OPENAI, "properties": {"error": {"properties": code}}}}}
    found: dict[str, Any] = {
        "description": "; ".join(f"`{code}`: {REFUSALS[code].meaning}" for code in codes) + ".",
        "content": content,
    }
    if status == 401:
        found["headers"] = {"WWW-Authenticate": {"description": "How to say who asks (RFC 6750).", "schema": {"type": "string"}}}
    if status in RETRY:
        seconds = {"type": "integer", "minimum": 0}
        found["headers"] = {"Retry-After": {"description": "Seconds after which to try again.", "schema": seconds}}
    return found
