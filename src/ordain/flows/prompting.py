"""From a recorded ``ModelCall`` back to the prompt's typed input: the references resolved. Pure, so that a prompt can be re-rendered.

The live handler renders what this returns; replay does the same and compares digests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.failures import categorised
from ordain.contracts.planner import CONTENT_MAX, THOUGHT_MAX, PlannerRequest, ToolRef
from ordain.effects.children import AnyEnded, Ended
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer, VerbFailed, VerbResult
from ordain.flows.act import Acted, VerbPlanInput, acted_by_child, denied
from ordain.flows.observations import observation
from ordain.flows.planner import PLANNER, StepRefs, filled_tools, step_wire
from ordain.flows.supervisor import request_of
from ordain.flows.transcript import Spoken, Transcript, resolve
from ordain.flows.triage import TriageInput
from ordain.flows.turn import TurnInput, router_prompt
from ordain.flows.verb_plan import verb_prompt
from ordain.journal.digests import content_digest
from ordain.prompts import router_step, supervisor_step, triage_step
from ordain.prompts.planner_step import PlannerPrompt, planner_base, with_progress
from ordain.prompts.renderer import Prompt
from ordain.prompts.supervisor_step import SupervisorPrompt
from ordain.prompts.triage_step import TriagePrompt
from ordain.rules.proposals import Parsed, parse_object


class Values(dict[int, Any]):
    """seq -> what that record handed to the flow; 0 is the run's input.

    ``memo`` keeps what was derived from them and cannot change within the run: the request's part of the prompt, past steps.
    """

    def __init__(self, transcript: Transcript | None = None) -> None:
        """``transcript`` reads what a reference into the run's session says."""
        super().__init__()
        self.memo: dict[object, Any] = {}
        self.transcript = transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """The template's source and input, and the schema the answer must fit."""

    source: str
    inputs: dict[str, Any]
    schema: dict[str, Any]


def prompt_inputs(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    """Resolve a model call's references."""
    return BUILDERS[call.purpose](catalog, call, values)


def trace_of(values: Values, steps: Sequence[StepRefs]) -> list[dict[str, Any]]:
    """The trace (PLN-20) from its references; to what failed it adds the category, which no prompt shows (C5)."""
    return [_categorised(_step(index, step, values), step, values) for index, step in enumerate(steps)]


def _categorised(wire: dict[str, Any], step: StepRefs, values: Values) -> dict[str, Any]:
    observed, acted = wire["observation"], step[1]
    if observed is None or observed["ok"]:
        return wire
    result = None if acted is None else values[acted]
    retryable = result.retryable if isinstance(result, VerbFailed) else None
    return {**wire, "observation": {**observed, "error": categorised(observed["error"], retryable=retryable)}}


def prompt_digest(prompt: Prompt) -> str:
    """Content address of a rendered prompt."""
    return content_digest(f"{prompt.system}\x1e{prompt.user}".encode())


def _planner(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    known = values.memo.get(PLANNER)
    if known is None:
        given: PlannerRequest | VerbPlanInput = values[0]
        request = given if isinstance(given, PlannerRequest) else request_of(given)
        tools = filled_tools(catalog, request)
        base = planner_base(request, tools)
        if isinstance(given, VerbPlanInput):
            base = _in_session(base, request.goal.description, resolve(values.transcript, given.history))
        known = values.memo[PLANNER] = (base, planner_step_schema(tools))
    base, schema = known
    prompt = with_progress(base, _trace(call, values), call.args["left"], call.args.get("reask"))
    return PromptInputs(source=catalog.data.prompts[call.prompt], inputs=msgspec.structs.asdict(prompt), schema=schema)


def _in_session(base: PlannerPrompt, message: str, spoken: Spoken) -> PlannerPrompt:
    """The planner's prompt in a conversation: its history stands whole, as rule ``history`` chose it."""
    before = () if spoken.summary is None else ({"role": "system", "content": f"What was said before, summed up: {spoken.summary}"},)
    return msgspec.structs.replace(base, history=(*before, *spoken.history), message=message)


def _trace(call: ModelCall, values: Values) -> tuple[dict[str, Any], ...]:
    first: int = call.args["first"]
    return tuple(_known_step(first + offset, item, values) for offset, item in enumerate(call.args["steps"]))


def _known_step(index: int, item: StepRefs, values: Values) -> dict[str, Any]:
    """A past step never changes: it is read from its records once."""
    found = values.memo.get(item[0])
    if found is None:
        found = values.memo[item[0]] = _step(index, item, values)
    return found


def _step(index: int, item: StepRefs, values: Values) -> dict[str, Any]:
    answer_seq, acted_seq, code = item
    answer: ModelAnswer = values[answer_seq]
    proposal = parse_object(answer.content) if answer.content is not None else None
    directive = proposal.value if isinstance(proposal, Parsed) else {}
    thought = directive.get("thought")
    action = directive.get("action") if acted_seq is not None or code else None
    observed = None
    if action is not None:
        observed = observation(_acted(action["tool_id"], values[acted_seq]) if acted_seq is not None else denied(action["tool_id"], code))
    return step_wire(index, thought if isinstance(thought, str) else None, action, observed)


def _acted(verb: str, value: VerbResult | AnyEnded) -> Acted:
    return acted_by_child(verb, value) if isinstance(value, Ended) else Acted(verb=verb, result=value, seq=value.seq)


def _verb(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    plan: VerbPlanInput = values[0]
    previous: dict[str, Any] | None = None
    if len(call.refs) > 1:
        answer: ModelAnswer = values[call.refs[1]]
        proposal = parse_object(answer.content or "")
        previous = proposal.value if isinstance(proposal, Parsed) else None
    prompt = verb_prompt(catalog, plan, call.args["step"], previous, resolve(values.transcript, plan.history))
    schema: dict[str, Any] = dict(catalog.verbs[plan.verb].spec.output_schema)
    return PromptInputs(source=catalog.data.prompts[call.prompt], inputs=msgspec.structs.asdict(prompt), schema=schema)


def _router(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    given: TurnInput = values[0]
    prompt = router_prompt(given, call.args["verb"])
    return PromptInputs(source=catalog.data.prompts[call.prompt], inputs=msgspec.structs.asdict(prompt), schema=router_step.SCHEMA)


def _supervisor(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    answer: ModelAnswer = values[call.args["answer"]]
    found = parse_object(answer.content or "")
    value = found.value if isinstance(found, Parsed) else {}
    proposal: dict[str, Any] = value.get("action") or value.get("final_answer") or {}
    prompt = SupervisorPrompt(trace=_trace(call, values), pending=call.args["pending"], proposal=proposal, steps_left=call.args["left"])
    return PromptInputs(source=catalog.data.prompts[call.prompt], inputs=msgspec.structs.asdict(prompt), schema=supervisor_step.SCHEMA)


def _triage(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    given: TriageInput = values[0]
    threads: Any = getattr(values[call.refs[1]], "value", None) or []
    prompt = TriagePrompt(message=given.text, threads=tuple(threads))
    return PromptInputs(source=catalog.data.prompts[call.prompt], inputs=msgspec.structs.asdict(prompt), schema=triage_step.SCHEMA)


Builder = Callable[[Catalog, ModelCall, Values], PromptInputs]
BUILDERS: Mapping[str, Builder] = {PLANNER: _planner, "verb": _verb, "router": _router, "supervisor": _supervisor, "triage": _triage}
"""How the prompt of each purpose is put together."""


def planner_step_schema(tools: tuple[ToolRef, ...]) -> dict[str, Any]:
    """The directive's JSON Schema for this toolset: ``oneOf`` on ``finish``, every string bounded, each tool with its own input.

    A tool schema with references of its own is shown as a plain object; rule ``step`` judges the input either way.
    """
    return _step_schema(json.dumps([[tool.tool_id, tool.input_schema] for tool in tools], sort_keys=True))


@lru_cache(maxsize=32)
def _step_schema(tools: str) -> dict[str, Any]:
    thought = {"type": "string", "maxLength": THOUGHT_MAX}
    null = {"type": "null"}
    finish = _object(
        thought=thought,
        finish={"const": True},
        action=null,
        final_answer=_object(content={"type": "string", "minLength": 1, "maxLength": CONTENT_MAX}, structured={"type": "object"}),
    )
    actions = [
        _object(tool_id={"const": tool_id}, input={"type": "object"} if "$ref" in json.dumps(schema) else schema)
        for tool_id, schema in json.loads(tools)
    ]
    if not actions:
        return finish
    act = _object(
        thought=thought, finish={"const": False}, action=actions[0] if len(actions) == 1 else {"oneOf": actions}, final_answer=null
    )
    return {"oneOf": [act, finish]}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
