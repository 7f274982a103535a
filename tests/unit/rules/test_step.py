"""Laws of rule ``step``, of the re-ask and of a prompt-plan step's output."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from ordain.contracts.planner import PlannerStep
from ordain.contracts.policy import Policy
from ordain.contracts.schema import Schema
from ordain.rules.decision import Decision
from ordain.rules.output import OUTPUT, OutputAccepted, OutputFacts, OutputInputs, OutputReason
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed
from ordain.rules.step import (
    REASK,
    STEP,
    CallTool,
    Fail,
    Finish,
    Invalid,
    Reask,
    ReaskFacts,
    StepFacts,
    StepInputs,
    StepReason,
)
from tests.unit.rules.given import NAMES, counts, decided, json_values, objects, policies, texts

SCHEMAS = [
    Schema({"type": "object"}),
    Schema({"type": "object", "required": ["x"]}),
    Schema(
        {
            "type": "object",
            "properties": {"x": {"type": "integer", "maximum": 9}},
            "additionalProperties": False,
        }
    ),
    Schema({"not": {}}),
]
CONTRACT: TypeAdapter[Any] = TypeAdapter(PlannerStep)

tools = st.dictionaries(
    st.sampled_from(NAMES), st.lists(st.sampled_from(SCHEMAS), min_size=1, max_size=2).map(tuple)
)
actions = st.one_of(
    st.none(),
    json_values,
    st.fixed_dictionaries(
        {},
        optional={
            "tool_id": st.one_of(st.sampled_from(NAMES), json_values),
            "input": st.one_of(objects, json_values),
            "z": st.just(1),
        },
    ),
)
answers = st.one_of(
    st.none(),
    json_values,
    st.fixed_dictionaries(
        {},
        optional={
            "content": st.one_of(texts, json_values),
            "structured": json_values,
            "z": st.just(1),
        },
    ),
)
directives = st.one_of(
    objects,
    st.fixed_dictionaries(
        {},
        optional={
            "thought": st.one_of(texts, json_values),
            "finish": st.one_of(st.booleans(), json_values),
            "action": actions,
            "final_answer": answers,
            "extra": st.just(None),
        },
    ),
    st.fixed_dictionaries(
        {"thought": texts, "finish": st.booleans(), "action": actions, "final_answer": answers}
    ),
)
unparsed = st.builds(
    Unparsed,
    reason=st.sampled_from([r for r in ProposalReason if r.startswith("step.syntax.")]),
    size_bytes=counts,
)
parsed = st.builds(Parsed, value=directives, size_bytes=st.integers(0, 40_000))
facts = st.builds(
    StepFacts,
    step_index=st.integers(0, 1000),
    size_bytes=counts,
    tools=st.integers(0, 100),
    toolset=texts,
)


def step(
    proposal: Parsed | Unparsed, offered: Any, policy: Policy, registered: Any = frozenset(NAMES)
) -> Decision[Any]:
    given_facts = StepFacts(
        step_index=0, size_bytes=proposal.size_bytes, tools=len(offered), toolset="d"
    )
    return decided(
        STEP,
        given_facts,
        StepInputs(proposal=proposal, tools=offered, registered=registered),
        policy,
    )


@given(facts, st.one_of(parsed, unparsed), tools, st.sets(st.sampled_from(NAMES)), policies)
def test_every_directive_is_decided(
    facts: StepFacts, proposal: Any, offered: Any, registered: Any, policy: Policy
) -> None:
    """EXE-13 "every iteration emits a validated step directive": any value is a call, a finish or a
    typed failure, with the reason to match.
    """
    decision = decided(
        STEP, facts, StepInputs(proposal=proposal, tools=offered, registered=registered), policy
    )
    match decision.outcome:
        case Finish():
            assert decision.reason is StepReason.FINISH
        case CallTool():
            assert decision.reason is StepReason.CALL
        case Invalid(detail=detail):
            assert decision.reason.startswith("step.")
            assert decision.reason not in {StepReason.FINISH, StepReason.CALL}
            assert len(detail) <= 200


@given(st.one_of(parsed, unparsed), tools, texts, policies)
def test_counting_what_was_meant_decides_nothing(
    proposal: Any, offered: Any, text: str, policy: Policy
) -> None:
    """A refused directive that means a call is told to, where that counts; what is executable, and
    why it is not, stays as it is.
    """
    inputs = StepInputs(proposal=proposal, tools=offered, registered=frozenset(NAMES), text=text)
    uncounted = StepFacts(step_index=0, size_bytes=proposal.size_bytes, tools=len(offered))
    plain = decided(STEP, uncounted, inputs, policy)
    counted = decided(STEP, msgspec.structs.replace(uncounted, counts=True), inputs, policy)
    assert counted.reason is plain.reason
    if not isinstance(plain.outcome, Invalid):
        assert counted == plain
        return
    assert plain.outcome.calls is msgspec.UNSET
    assert counted.outcome == msgspec.structs.replace(plain.outcome, calls=counted.outcome.calls)


@given(parsed, tools, policies)
def test_what_is_executable_fits_the_contract(
    proposal: Parsed, offered: Any, policy: Policy
) -> None:
    """PLN-30 "`finish==true` ⇒ `final_answer` non-null and `action` null": nothing is executable
    that the published contract refuses.

    PLN-31 "`finish==false` ⇒ `action` non-null, `tool_id` in toolset, `final_answer` null"
    """
    decision = step(proposal, offered, policy)
    value = proposal.value
    if isinstance(decision.outcome, Invalid):
        return
    CONTRACT.validate_python({**value, "thought": value["thought"] or ""})
    if isinstance(decision.outcome, Finish):
        assert value["finish"] is True
        assert value.get("action") is None
        assert value["final_answer"]["content"].strip()
    else:
        assert value["finish"] is False
        assert value.get("final_answer") is None
        assert value["action"]["tool_id"] == decision.outcome.tool_id
        assert all(
            schema.accepts(value["action"]["input"]) for schema in offered[decision.outcome.tool_id]
        )
    assert proposal.size_bytes <= policy.step.max_bytes
    assert proposal.depth <= policy.step.max_depth


@given(directives, tools)
def test_what_fits_the_contract_is_refused_for_tools_only(value: Any, offered: Any) -> None:
    """A directive of the published contract, within size, is executable or refused for its tool,
    its input or an empty text.
    """
    try:
        CONTRACT.validate_python(value)
    except ValidationError:
        return
    reason = step(Parsed(value=value, size_bytes=10), offered, Policy(version=1)).reason
    allowed = {
        StepReason.CALL,
        StepReason.FINISH,
        StepReason.UNKNOWN_TOOL,
        StepReason.TOOL_OUTSIDE,
        StepReason.INPUT_INVALID,
    }
    assert reason in {*allowed, StepReason.EMPTY_TEXT}


@given(parsed, tools, policies, st.data())
def test_fewer_tools_and_tighter_bounds_never_allow_more(
    proposal: Parsed, offered: Any, policy: Policy, data: st.DataObject
) -> None:
    """With part of the toolset, more schemas on a tool, or smaller bounds, what was refused stays
    refused.
    """
    narrower = {
        tool: (*schemas, *data.draw(st.lists(st.sampled_from(SCHEMAS), max_size=1)))
        for tool, schemas in offered.items()
        if data.draw(st.booleans())
    }
    bounds = policy.step.model_copy(
        update={
            "max_bytes": max(256, policy.step.max_bytes - data.draw(st.integers(0, 20_000))),
            "max_depth": max(4, policy.step.max_depth - data.draw(st.integers(0, 20))),
        }
    )
    after = step(proposal, narrower, policy.model_copy(update={"step": bounds}))
    if not isinstance(after.outcome, Invalid):
        assert after == step(proposal, offered, policy)


def test_size_and_depth_are_bounds() -> None:
    """Exactly what policy permits is read; one byte or one level more is refused by what it is, and
    never taken for a step.
    """
    bounds = Policy(version=1).step

    def answer(depth: int, size: int) -> Decision[Any]:
        structured: dict[str, Any] = {}
        for _ in range(depth - 3):  # the directive, the answer, and what is in it
            structured = {"in": structured}
        value = {
            "thought": "",
            "finish": True,
            "action": None,
            "final_answer": {"content": "Yes.", "structured": structured},
        }
        return step(Parsed(value=value, size_bytes=size), {}, Policy(version=1))

    assert answer(bounds.max_depth, bounds.max_bytes).reason is StepReason.FINISH
    for told, reason in (
        (answer(bounds.max_depth, bounds.max_bytes + 1), ProposalReason.TOO_LARGE),
        (answer(bounds.max_depth + 1, bounds.max_bytes), ProposalReason.TOO_DEEP),
    ):
        assert isinstance(told.outcome, Invalid)
        assert told.reason is reason


@given(parsed, st.sets(st.sampled_from(NAMES)))
def test_no_tools_no_call(proposal: Parsed, registered: set[str]) -> None:
    """PLN-26 "Only tools in this run's `toolset` may be used": with an empty toolset nothing is
    called, whatever is registered.
    """
    decision = step(proposal, {}, Policy(version=1), registered)
    assert not isinstance(decision.outcome, CallTool)
    if decision.reason in {StepReason.TOOL_OUTSIDE, StepReason.UNKNOWN_TOOL}:
        assert (decision.reason is StepReason.TOOL_OUTSIDE) == (
            proposal.value["action"]["tool_id"] in registered
        )


@given(st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=30, max_size=60))
def test_a_refusal_names_places_and_no_values(private: str) -> None:
    """The detail of a refused input is where it is wrong, not what stood there."""
    value = {
        "thought": private,
        "finish": False,
        "action": {"tool_id": "a", "input": {"x": private}},
        "final_answer": None,
    }
    decision = step(Parsed(value=value, size_bytes=10), {"a": (SCHEMAS[2],)}, Policy(version=1))
    assert decision.reason is StepReason.INPUT_INVALID
    assert "/x" in decision.outcome.detail
    assert private not in decision.outcome.detail


@given(st.builds(ReaskFacts, used=st.integers(0, 20), reason=texts), policies)
def test_a_run_asks_again_as_often_as_policy_grants(facts: ReaskFacts, policy: Policy) -> None:
    """B-25 "policy `step.reask`, default 1, 0 forbids": exactly that many re-asks are granted, and
    a lower number grants no more.
    """
    again = isinstance(decided(REASK, facts, None, policy).outcome, Reask)
    assert again == (facts.used < policy.step.reask)
    none = policy.model_copy(update={"step": policy.step.model_copy(update={"reask": 0})})
    assert isinstance(decided(REASK, facts, None, none).outcome, Fail)
    used = 0
    while isinstance(
        decided(REASK, msgspec.structs.replace(facts, used=used), None, policy).outcome, Reask
    ):
        used += 1
    assert used == policy.step.reask


@given(st.one_of(parsed, unparsed), st.sampled_from(SCHEMAS), policies)
def test_an_output_counts_if_it_fits(proposal: Any, schema: Schema, policy: Policy) -> None:
    """A prompt-plan step's answer is its output exactly if it was read and fits the verb's schema;
    else the reason says which.
    """
    decision = decided(
        OUTPUT,
        OutputFacts(verb="v", step="s", size_bytes=proposal.size_bytes),
        OutputInputs(proposal=proposal, schema=schema),
        policy,
    )
    if isinstance(proposal, Unparsed):
        assert decision.reason is OutputReason.UNPARSED
    else:
        assert isinstance(decision.outcome, OutputAccepted) == schema.accepts(proposal.value)
        assert decision.reason is (
            OutputReason.VALID if schema.accepts(proposal.value) else OutputReason.SCHEMA
        )
