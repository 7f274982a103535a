"""The trace of steps (PLN-20): by reference in the journal, read back for prompts and for the
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.failures import categorised
from ordain.contracts.planner import PlannerRequest, ToolRef
from ordain.effects.children import AnyEnded, Ended
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer, VerbFailed, VerbResult
from ordain.flows.acted import Acted, acted_by_child, denied
from ordain.flows.observations import observation
from ordain.flows.values import Values
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed, parse_object
from ordain.rules.step import STEP

NOTHING_LIVE = 0
"""Stands among a call's references for a step of which nothing went live: 0 is the run's input, and
no result.
"""
StepRefs = tuple[int, int | None, str]
"""A step's records: seq of the model's answer, seq of what its call gave (None: nothing went live),
reason of a refused call.
"""


def proposal_of(answer: ModelAnswer) -> Parsed | Unparsed:
    """The one JSON object of an answer; a withheld answer carries the reason it did not parse."""
    if answer.content is not None:
        return parse_object(answer.content)
    withheld = answer.withheld
    return Unparsed(
        reason=STEP.reason(withheld.reason) if withheld else ProposalReason.EMPTY,
        size_bytes=withheld.size_bytes if withheld else 0,
    )


def step_wire(
    index: int, thought: str | None, action: dict[str, Any] | None, observed: dict[str, Any] | None
) -> dict[str, Any]:
    """One trace step (PLN-20)."""
    return {"step_index": index, "thought": thought, "action": action, "observation": observed}


class OfferedTool(Struct, frozen=True, kw_only=True):
    """A tool of a request with what the registry says of it; as ``ToolRef``, and made from what
    was checked before.
    """

    tool_id: str
    description: str | None
    input_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None


def filled_tools(catalog: Catalog, request: PlannerRequest) -> tuple[OfferedTool, ...]:
    """The request's tools without repeats; the registry fills what the request leaves out
    (PLN-17).
    """
    by_id = {tool.tool_id: tool for tool in request.toolset}
    return tuple([_filled(catalog, tool) for tool in by_id.values()])


def _filled(catalog: Catalog, tool: ToolRef) -> OfferedTool:
    spec = catalog.verbs[tool.tool_id].spec
    return OfferedTool(
        tool_id=tool.tool_id,
        description=tool.description if tool.description is not None else spec.description,
        input_schema=tool.input_schema if tool.input_schema is not None else spec.input_schema,
        output_schema=tool.output_schema if tool.output_schema is not None else spec.output_schema,
    )


def trace_of(values: Values, steps: Sequence[StepRefs]) -> list[dict[str, Any]]:
    """The trace (PLN-20) from its references; to what failed it adds the category, which no prompt
    shows (C5).
    """
    return [
        _categorised(_step(index, step, values), step, values) for index, step in enumerate(steps)
    ]


def _categorised(wire: dict[str, Any], step: StepRefs, values: Values) -> dict[str, Any]:
    observed, acted = wire["observation"], step[1]
    if observed is None or observed["ok"]:
        return wire
    result = None if acted is None else values[acted]
    retryable = result.retryable if isinstance(result, VerbFailed) else None
    return {
        **wire,
        "observation": {**observed, "error": categorised(observed["error"], retryable=retryable)},
    }


def shown_steps(call: ModelCall, values: Values) -> tuple[dict[str, Any], ...]:
    """The past steps that a prompt's arguments name, in their wire form."""
    first: int = call.args.get("first", 0)
    return tuple(
        [_known_step(first + offset, item, values) for offset, item in enumerate(steps_of(call))]
    )


def steps_of(call: ModelCall) -> Sequence[StepRefs]:
    """The past steps by reference: listed in the arguments, or by twos behind the input among the
    references, before those to what stands beside them.
    """
    if "steps" in call.args:
        return call.args["steps"]
    denied: dict[str, str] = call.args.get("denied", {})
    refs = call.refs[: len(call.refs) - len(call.args.get("beside", ()))]
    pairs = zip(refs[1::2], refs[2::2], strict=True)
    return [
        (answer, acted or None, denied.get(str(at), "")) for at, (answer, acted) in enumerate(pairs)
    ]


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
        observed = observation(
            acted_in(action["tool_id"], values[acted_seq])
            if acted_seq is not None
            else denied(action["tool_id"], code)
        )
    return step_wire(index, thought if isinstance(thought, str) else None, action, observed)


def acted_in(verb: str, value: VerbResult | AnyEnded) -> Acted:
    """What became of a call, as the record has it that holds what it gave."""
    return (
        acted_by_child(verb, value)
        if isinstance(value, Ended)
        else Acted(verb=verb, result=value, seq=value.seq)
    )
