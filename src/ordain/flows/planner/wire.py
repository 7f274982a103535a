"""``POST /plan/react``: how a request is taken, and what it is answered (PLN-06, PLN-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import SESSION_ID
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.remedies import remedy_of
from ordain.contracts.roster import WHATEVER_IS_SAID, by_agents
from ordain.contracts.text_links import each_linked
from ordain.contracts.verdict import FAILED_BY, RunVerdict
from ordain.effects.children import NULL, Completed
from ordain.errors import ConfigurationError, Erased, InvalidRequest
from ordain.flows.acted import acted_by_child
from ordain.flows.kind import Ending, Taken, Wire
from ordain.flows.observations import error_of
from ordain.flows.planner.outcome import salvaged
from ordain.flows.planner.prompt import CRITIC
from ordain.flows.steps.trace import StepRefs, trace_of
from ordain.journal.digests import content_digest
from ordain.rules.second_look import SECOND_LOOK, SecondLookReason

SCHEMA_BYTES = 16_384
TOOLSET_BYTES = 131_072
NOT_CRITICISED = "not_criticised"
_CRITIQUE = SecondLookReason.CRITIQUE.value
REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
NO_USAGE: dict[str, Any] = {
    "steps": 0,
    "tokens_reason": 0,
    "tokens_answer": 0,
    "tools_called": [],
    "duration_ms": 0,
    "estimated": False,
}


def _refuse_references(tool_id: str, schema: object) -> None:
    """A caller's schema refers to nothing: a few references that double at each level would hold a
    validator for hours.
    """
    if isinstance(schema, dict):
        members = cast("dict[str, object]", schema)
        if REFERENCES & members.keys():
            raise InvalidRequest(
                f"tool {tool_id}: a schema in a request may not use references",
                code="invalid_schema",
            )
        for value in members.values():
            _refuse_references(tool_id, value)
    elif isinstance(schema, list):
        for value in cast("list[object]", schema):
            _refuse_references(tool_id, value)


def _check_answer_schema(schema: dict[str, Any], catalog: Catalog) -> None:
    _refuse_references("answer_schema", schema)
    if len(msgspec.json.encode(schema)) > SCHEMA_BYTES:
        raise InvalidRequest(f"answer_schema exceeds {SCHEMA_BYTES} bytes", code="schema_too_large")
    if schema.get("type") != "object":
        raise InvalidRequest("answer_schema is of an object", code="invalid_schema")
    try:
        catalog.schema(schema)
    except ConfigurationError as error:
        raise InvalidRequest(f"answer_schema: {error.message}", code="invalid_schema") from error


def _check_narrowed(request: PlannerRequest) -> None:
    """What earlier builds took and still read: the contract itself refuses none of it."""
    if (misfit := request.preferences.misfit) is not None:
        place = {
            "place": f"/preferences/{misfit}",
            "code": "bool_type",
            "message": "Input should be a valid boolean",
        }
        raise InvalidRequest(f"preferences.{misfit} is true or false", details={"errors": [place]})
    if request.no_session:
        message = f"String should match pattern '{SESSION_ID}'"
        place = {"place": "/session_id", "code": "string_pattern_mismatch", "message": message}
        raise InvalidRequest("session_id is no session's id", details={"errors": [place]})
    if request.preferences.council is True and request.answer_schema is not None:
        place = {
            "place": "/preferences/council",
            "code": "value_error",
            "message": "A council answers in words: nothing holds those to answer_schema",
        }
        raise InvalidRequest(
            "preferences.council and answer_schema do not go together: a council answers in words",
            details={"errors": [place]},
        )


def take_plan(request: PlannerRequest, catalog: Catalog, run: str) -> Taken:
    """Check what only the catalog and compilers can check.

    Raises:
        InvalidRequest: a tool's schema is none, or too large; an experiment is asked for with
            something else than a truth value, a council to answer in a schema, or a session's id
            is none.
    """
    _check_narrowed(request)
    total = 0
    for tool in request.toolset:
        known = catalog.verbs.get(tool.tool_id)
        for schema in (tool.input_schema, tool.output_schema):
            if schema and (
                known is None or schema not in (known.spec.input_schema, known.spec.output_schema)
            ):
                _refuse_references(tool.tool_id, schema)
                size = len(msgspec.json.encode(schema))
                total += size
                if total > TOOLSET_BYTES:
                    raise InvalidRequest(
                        f"the toolset's schemas exceed {TOOLSET_BYTES} bytes",
                        code="toolset_too_large",
                    )
                if size > SCHEMA_BYTES:
                    raise InvalidRequest(
                        f"tool {tool.tool_id}: a schema exceeds {SCHEMA_BYTES} bytes",
                        code="schema_too_large",
                    )
                try:
                    catalog.schema(schema)
                except ConfigurationError as error:
                    raise InvalidRequest(
                        f"tool {tool.tool_id}: {error.message}", code="invalid_schema"
                    ) from error
    if request.answer_schema is not None:
        _check_answer_schema(request.answer_schema, catalog)
    body = request.model_dump(mode="json", exclude_unset=True)
    named = {**body, "request_id": request.request_id or run}
    return Taken(
        input=Raw(msgspec.json.encode(named, order="sorted")),
        request_id=request.request_id,
        # nobody asks for the digest of what comes without an id: it is another request each time
        digest=""
        if request.request_id is None
        else content_digest(msgspec.json.encode(body, order="sorted")),
        keep_thoughts=request.preferences.allow_internal_thought_logging,
    )


def planner_response(ending: Ending) -> dict[str, Any]:
    """The source's response with ``run_id`` and ``header``; a stopped run answers with a typed
    error.
    """
    if ending.output != NULL:
        body: dict[str, Any] = msgspec.json.decode(ending.output)
        steps = body.pop("steps")
        body |= _judged(ending, body, steps)
        wanted = ending.given.get("preferences", {}).get("return_trace", True)
        trace = _trace(ending, steps) if wanted else None
        body["trace"] = trace and each_linked(trace)
        if body["error"] is not None:
            body["error"] = ending.with_meant(
                body["error"], body["error"]["message"].removeprefix("toolset: ")
            )
        if (
            body["error"] is not None
            and (remedy := ending.remedies.get(code := body["error"]["code"], remedy_of(code)))
            is not None
        ):
            body["error"] = {**body["error"], "remedy": remedy}
    else:
        message = "the run's content was erased" if ending.erased else f"the run is {ending.status}"
        body = {
            "request_id": ending.given.get("request_id") or ending.run,
            "status": "error",
            "error": {"code": ending.why, "message": message},
            "final_answer": None,
            "trace": None,
            "usage": NO_USAGE,
        }
    return {
        **body,
        "run_id": ending.run,
        "header": ending.header,
        "verdict": ending.verdict or None,
    }


def _judged(ending: Ending, body: Mapping[str, Any], steps: Sequence[StepRefs]) -> dict[str, Any]:
    """What a plan is answered that had agents at work and says that it is done, where the verdict
    is not ok: an error, the answer marked as none (B-34, B-01).
    """
    if body["status"] != "ok":
        return {}
    if (uncriticised := _uncriticised(ending)) is not None:
        return {
            "status": "error",
            "error": uncriticised,
            "final_answer": salvaged(body["final_answer"], NOT_CRITICISED),
        }
    if not ending.verdict or not any(
        by_agents(tool["tool_id"]) for tool in ending.given.get("toolset", ())
    ):
        return {}
    code = FAILED_BY.get(RunVerdict(ending.verdict))
    if code is None:
        return {}
    trace = _trace(ending, steps)
    if trace is not None and not any(
        by_agents(step["action"]["tool_id"]) for step in trace if step["action"] is not None
    ):
        return {}
    return {
        "status": "error",
        "error": {"code": code, "message": WHATEVER_IS_SAID},
        "final_answer": salvaged(body["final_answer"], code),
    }


def _uncriticised(ending: Ending) -> dict[str, Any] | None:
    """Of an answer that was to be criticised before it counts and whose critic gave nothing to go
    by: the error. As a council that comes to none, it is no answer (FUT-04).
    """
    if _CRITIQUE not in ending.reasons(SECOND_LOOK.name):
        return None
    ended = ending.carried(CRITIC, SECOND_LOOK.name)
    if isinstance(ended, Completed):
        return None
    why = (
        "was not carried out"
        if ended is None
        else f"failed: {error_of(acted_by_child(CRITIC, ended))['code']}"
    )
    return {
        "code": NOT_CRITICISED,
        "message": f"the answer was to be criticised before it counts, and {CRITIC} {why}",
    }


def _trace(ending: Ending, steps: Sequence[StepRefs]) -> Sequence[dict[str, Any]] | None:
    """The trace, read from the records it refers to; None once one of them was erased or swept."""
    try:
        trace = trace_of(
            ending.handed(
                seq for answer, acted, _ in steps for seq in (answer, acted) if seq is not None
            ),
            steps,
        )
    except Erased:
        return None
    return [_debugged(step, ending.raw_cortex) for step in trace] if ending.raw_cortex else trace


def _debugged(step: dict[str, Any], raw: Mapping[str, str]) -> dict[str, Any]:
    """A step with what its verb replied, where somebody asked for it."""
    observed: dict[str, Any] | None = step["observation"]
    reply = None if observed is None else raw.get(observed["step_meta"].get("run_id", ""))
    return (
        step
        if observed is None or reply is None
        else {**step, "observation": {**observed, "raw_cortex": reply}}
    )


EXACT = frozenset({"final_answer.structured"})
"""Held to the schema that the request gave, so that it stays what was held to it."""
PLAN_WIRE: Wire[PlannerRequest] = Wire(
    contract=PlannerRequest,
    take=take_plan,
    response=planner_response,
    other="not_a_plan",
    said=("final_answer",),
    exact=EXACT,
)
