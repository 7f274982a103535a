"""What is published about the wire: JSON Schemas, and how OpenAPI names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, TypeAdapter

from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.cortex import CortexChatRequest, CortexChatResult, HubChat, HubReply
from ordain.contracts.planner import PlannerRequest, PlannerResponse, PlannerStep
from ordain.contracts.verbs import VerbReply, VerbRequest, VerbSpec
from ordain.errors import NotFound
from ordain.server.examples import RUN
from ordain.server.face import Json
from ordain.server.problems import MEDIA_TYPE, Problem

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

_TEXT = "The library opens at nine and belongs to the town. Entry is free."
PLAN_REQUEST: dict[str, Any] = {
    "caller": "debug-shell",
    "goal": {"type": "analysis", "description": "Extract structured facts from the provided text and summarize them in 2-3 bullets."},
    "context": {
        "conversation_history": [{"role": "user", "content": f"Here's some info: {_TEXT}"}],
        "external_facts": {"text": _TEXT},
    },
    "toolset": [{"tool_id": "extract_facts"}],
    "limits": {"max_steps": 4, "timeout_seconds": 60},
    "preferences": {"style": "neutral", "allow_internal_thought_logging": True, "return_trace": True},
}
PLAN_ANSWER: dict[str, Any] = {
    "request_id": RUN,
    "run_id": RUN,
    "status": "ok",
    "error": None,
    "final_answer": {"content": "1. The library opens at nine.\n2. It belongs to the town.\n3. Entry is free.", "structured": {}},
    "trace": [{"step_index": 0, "thought": "The facts are in the text.", "action": None, "observation": None}],
    "usage": {"steps": 1, "tokens_reason": 0, "tokens_answer": 41, "tools_called": [], "duration_ms": 812, "estimated": False},
    "header": f"✓ ordain run {RUN} · planner@1 · completed · ok\n· 1 steps, 1 model calls, 0 verb calls, 512+41 tokens, $0.000000, 812 ms",
}
VERB_REQUEST: dict[str, Any] = {"verb_id": "math.evaluate", "payload": {"expression": "0.1 + 0.2"}, "caller": "planner-react"}
VERB_ANSWER: dict[str, Any] = {
    "ok": True,
    "output": {"value": "3/10"},
    "error": None,
    "request_id": None,
    "run_id": RUN,
    "header": f"✓ ordain run {RUN} · verb@1 · completed · ok",
}


def documented(
    request: type[BaseModel], answer_model: type[BaseModel], *, example: Any, answer: Any = None, status: int = 200, accepts: bool = False
) -> dict[str, Any]:
    """Route options that describe a body which the route reads by itself."""
    content: dict[str, Any] = {"schema": {"$ref": REFERENCE.format(model=answer_model.__name__)}}
    if answer is not None:
        content["example"] = answer
    answers: dict[int | str, dict[str, Any]] = {
        status: {"description": "The outcome, also where it is a failure.", "content": {"application/json": content}},
        "4XX": {"description": "Refused.", "content": {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}}},
        "503": {"description": "Not now.", "content": {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}}},
    }
    if accepts:
        answers[202] = {"description": "Accepted (Prefer: respond-async); Location is where its outcome will be."}
    body = {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": REFERENCE.format(model=request.__name__)}, "example": example}},
    }
    return {
        "response_class": Response,
        "response_model": None,
        "status_code": status,
        "responses": answers,
        "openapi_extra": {"requestBody": body},
    }


def component_schemas(more: tuple[type[BaseModel], ...]) -> dict[str, Any]:
    """The published schemas and ``more`` as OpenAPI components."""
    components: dict[str, Any] = {}
    for adapter in (*SCHEMAS.values(), *(TypeAdapter(model) for model in more)):
        schema = adapter.json_schema(ref_template=REFERENCE)
        components.update(schema.pop("$defs", {}))
        if "title" in schema and "$ref" not in schema:
            components[schema["title"]] = schema
    return components


def schemas_router() -> APIRouter:
    """The contracts as JSON Schema."""
    router = APIRouter(prefix="/schemas", tags=["schemas"])

    @router.get("", response_class=Json, response_model=None)
    async def list_schemas() -> Response:
        """Names of the published contracts."""
        return Json({"schemas": list(SCHEMAS)})

    @router.get("/{name}", response_class=Json, response_model=None)
    async def show_schema(name: str) -> Response:
        """One contract as JSON Schema (2020-12)."""
        adapter = SCHEMAS.get(name)
        if adapter is None:
            raise NotFound(f"published are {', '.join(SCHEMAS)}", code="no_such_schema")
        return Json({"$schema": "https://json-schema.org/draft/2020-12/schema", **adapter.json_schema()})

    return router
