"""What is published about the wire: JSON Schemas, and how OpenAPI names them."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import msgspec
from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from ordain.contracts import events
from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.cortex import CortexChatRequest, CortexChatResult, HubChat, HubReply
from ordain.contracts.planner import PlannerRequest, PlannerResponse, PlannerStep
from ordain.contracts.struct_schemas import struct_schemas
from ordain.contracts.verbs import VerbReply, VerbRequest, VerbSpec
from ordain.errors import NotFound
from ordain.server import shapes
from ordain.server.examples import RUN
from ordain.server.face import Face, Json
from ordain.server.problems import Problem
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.sent_json import as_recorded
from ordain.server.shapes import Begun, JsonSchema, SchemaNames

SCHEMAS: Mapping[str, TypeAdapter[Any]] = {
    "planner-request": TypeAdapter(PlannerRequest),
    "planner-response": TypeAdapter(PlannerResponse),
    "planner-step": TypeAdapter(PlannerStep),
    "verb-request": TypeAdapter(VerbRequest),
    "verb-reply": TypeAdapter(VerbReply),
    "verb": TypeAdapter(VerbSpec),
    "message": TypeAdapter(Message),
    "message-answer": TypeAdapter(MessageAnswer),
    "hub-chat": TypeAdapter(HubChat),
    "hub-reply": TypeAdapter(HubReply),
    "cortex-chat-request": TypeAdapter(CortexChatRequest),
    "cortex-chat-result": TypeAdapter(CortexChatResult),
    "problem": TypeAdapter(Problem),
}
REFERENCE = "#/components/schemas/{model}"
PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": (
        "`respond-async`: answer 202 as soon as the request is durable (RFC 7240). Other "
        "preferences are ignored."
    ),
    "schema": {"type": "string"},
}
_BARE: dict[str, Any] = {"response_class": Response, "response_model": None}
"""The route encodes by itself; nothing is declared for it but what stands here."""

_TEXT = "The library opens at nine and belongs to the town. Entry is free."
PLAN_REQUEST: dict[str, Any] = {
    "caller": "debug-shell",
    "goal": {
        "type": "analysis",
        "description": (
            "Extract structured facts from the provided text and summarize them in 2-3 bullets."
        ),
    },
    "context": {
        "conversation_history": [{"role": "user", "content": f"Here's some info: {_TEXT}"}],
        "external_facts": {"text": _TEXT},
    },
    "toolset": [{"tool_id": "extract_facts"}],
    "limits": {"max_steps": 4, "timeout_seconds": 60},
    "preferences": {
        "style": "neutral",
        "allow_internal_thought_logging": True,
        "return_trace": True,
    },
}
PLAN_ANSWER: dict[str, Any] = {
    "request_id": RUN,
    "run_id": RUN,
    "status": "ok",
    "error": None,
    "final_answer": {
        "content": "1. The library opens at nine.\n2. It belongs to the town.\n3. Entry is free.",
        "structured": {},
    },
    "trace": [
        {
            "step_index": 0,
            "thought": "The facts are in the text.",
            "action": None,
            "observation": None,
        }
    ],
    "usage": {
        "steps": 1,
        "tokens_reason": 0,
        "tokens_answer": 41,
        "tools_called": [],
        "duration_ms": 812,
        "estimated": False,
    },
    "header": (
        f"✓ ok · ordain run {RUN} · planner@5 · completed · ok\n"
        "· 1 steps, 1 model calls, 0 verb calls, 512+41 tokens, 812 ms"
    ),
    "verdict": "ok",
}
VERB_REQUEST: dict[str, Any] = {
    "verb_id": "math.evaluate",
    "payload": {"expression": "0.1 + 0.2"},
    "caller": "planner-react",
}
VERB_ANSWER: dict[str, Any] = {
    "ok": True,
    "output": {"result": "3/10", "decimal": "0.3", "exact": True},
    "error": None,
    "request_id": None,
    "run_id": RUN,
    "header": f"✓ ok · ordain run {RUN} · verb@3 · completed · ok",
    "verdict": "ok",
}


def documented(
    request: type[BaseModel],
    answer_model: type[Any],
    *,
    example: Any,
    answer: Any = None,
    status: int = 200,
    accepts: bool | type[Any] = False,
) -> dict[str, Any]:
    """Route options that describe a body which the route reads by itself; ``accepts`` is the shape
    of a 202, where the caller need not wait.
    """
    body = {
        "required": True,
        "content": {"application/json": {"schema": _reference(request), "example": example}},
    }
    extra: dict[str, Any] = {"requestBody": body}
    answers = {status: _success(answer_model, answer, "The outcome, also where it is a failure.")}
    if accepts:
        later = _success(
            Begun if accepts is True else accepts,
            None,
            "Accepted; `Location` is where its outcome will be.",
        )
        answers[202] = {
            **later,
            "headers": {
                name: {"schema": {"type": "string"}} for name in ("Location", "Preference-Applied")
            },
        }
        extra["parameters"] = [PREFER]
    return {**_BARE, "status_code": status, "responses": answers, "openapi_extra": extra}


def shown(answer: type[Any], *, example: Any = None) -> dict[str, Any]:
    """Route options of an address that only shows something."""
    return {**_BARE, "responses": {200: _success(answer, example, "What there is.")}}


def streamed(event: type[Any] | str, meaning: str, *, ends: bool = False) -> dict[str, Any]:
    """Route options of a stream of server-sent events whose data are of a shape; one that ``ends``
    may have nothing left (204).
    """
    content = {
        "text/event-stream": {"schema": {"type": "string"}, "x-event-schema": _reference(event)}
    }
    nothing = {204: {"description": "Nothing is left, and nothing will follow."}} if ends else {}
    return {**_BARE, "responses": {200: {"description": meaning, "content": content}, **nothing}}


def _success(answer: type[Any], example: Any, meaning: str) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": _reference(answer)}
    if example is not None:
        content["example"] = example
    return {"description": meaning, "content": {"application/json": content}}


def _reference(shape: type[Any] | str) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(model=shape if isinstance(shape, str) else shape.__name__)}


def component_schemas(more: tuple[type[Any], ...]) -> dict[str, Any]:
    """The published schemas, the face's own shapes and ``more`` as OpenAPI components."""
    models = [one for one in more if issubclass(one, BaseModel)]
    structs = [
        *shapes_of(shapes),
        *shapes_of(events),
        *(one for one in more if not issubclass(one, BaseModel)),
    ]
    _, components = struct_schemas(structs, REFERENCE.replace("model", "name"))
    for adapter in (*SCHEMAS.values(), *(TypeAdapter(model) for model in models)):
        schema = adapter.json_schema(ref_template=REFERENCE)
        components.update(schema.pop("$defs", {}))
        if "title" in schema and "$ref" not in schema:
            components[schema["title"]] = schema
    union, _ = struct_schemas([events.SessionEvent], REFERENCE.replace("model", "name"))
    return {**components, "SessionEvent": union[0]}


def shapes_of(module: ModuleType) -> list[type[Any]]:
    """The structs that a module defines."""
    own = [
        one
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__
    ]
    return [one for one in own if issubclass(one, msgspec.Struct)]


def schemas_router(_: Face) -> Resource:
    """The contracts as JSON Schema."""
    router = resource("schemas", prefix="/schemas")

    @router.get("", **shown(SchemaNames, example={"schemas": list(SCHEMAS)}))
    async def list_schemas() -> Response:
        """Names of the published contracts."""
        return Json(SchemaNames(schemas=list(SCHEMAS)))

    @router.get("/{name}", **refusing(shown(JsonSchema), "no_such_schema"))
    async def show_schema(name: str) -> Response:
        """One contract as JSON Schema (2020-12)."""
        adapter = SCHEMAS.get(name)
        if adapter is None:
            raise NotFound(f"published are {', '.join(SCHEMAS)}", code="no_such_schema")
        return Json(
            as_recorded(
                {"$schema": "https://json-schema.org/draft/2020-12/schema", **adapter.json_schema()}
            )
        )

    return router
