"""Laws of rule ``supervise``: nothing is executed without a valid action, nothing finishes without
a valid answer.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy, StepPolicy
from ordain.flows.shipped import shipped_kinds
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed, parse_object
from ordain.rules.reasons import Reason
from ordain.rules.supervise import (
    SUPERVISE,
    Move,
    NextMove,
    Pending,
    SuperviseFacts,
    SuperviseFailed,
    SuperviseInputs,
    SuperviseReason,
)
from tests.unit.rules.given import POLICY, counts, decided, json_values, objects, texts

policies = st.builds(
    Policy, version=st.just(1), step=st.builds(StepPolicy, reask=st.integers(0, 10))
)
states = st.builds(
    SuperviseFacts,
    step=st.integers(1, 20),
    max_steps=st.integers(1, 20),
    pending=st.sampled_from(Pending),
    code=st.one_of(st.just(""), texts),
    replans=st.integers(0, 12),
    asked=st.booleans(),
)
said = st.one_of(
    objects,
    st.fixed_dictionaries(
        {"decision": st.one_of(st.sampled_from([*map(str, Move), "accept"]), json_values)}
    ),
    st.just({"decision": []}),
)
proposals = st.one_of(
    st.none(),
    st.builds(Unparsed, reason=st.just(ProposalReason.PROSE), size_bytes=counts),
    st.builds(Parsed, value=said, size_bytes=counts),
)


def supervise(
    facts: SuperviseFacts, proposal: Parsed | Unparsed | None, policy: Policy = POLICY
) -> tuple[Any, Reason]:
    """The rule applied, and held to what every rule owes."""
    decision = decided(SUPERVISE, facts, SuperviseInputs(proposal=proposal), policy)
    return decision.outcome, decision.reason


@given(states, proposals, policies)
def test_every_move_has_its_ground(facts: SuperviseFacts, proposal: Any, policy: Policy) -> None:
    """EXE-05 "An action executes only when it exists": execute needs an action, finish an answer,
    and neither comes from anything else.
    """
    outcome, _ = supervise(facts, proposal, policy)
    if isinstance(outcome, NextMove):
        if outcome.move is Move.EXECUTE_ACTION:
            assert facts.pending is Pending.ACTION
        if outcome.move is Move.FINISH:
            assert facts.pending is Pending.FINAL
        if (
            outcome.move in (Move.ESCALATE_AGENT_CHAIN, Move.CHECKPOINT_COUNCIL)
            and facts.pending is not Pending.COUNCIL
        ):
            assert facts.asked
            assert facts.pending in (Pending.ACTION, Pending.FINAL)
    else:
        assert outcome.code


@given(states, proposals, policies)
def test_neither_action_nor_answer_ends_softly(
    facts: SuperviseFacts, proposal: Any, policy: Policy
) -> None:
    """EXE-06 "must not end the loop softly": a planner that gave neither is asked again or fails
    the turn; it never slides on into prose.
    """
    outcome, _ = supervise(facts, proposal, policy)
    if facts.pending is Pending.FAILED:
        assert isinstance(outcome, SuperviseFailed)
    if facts.pending is Pending.REFUSED:
        assert outcome == NextMove(move=Move.REQUEST_REPLAN) or isinstance(outcome, SuperviseFailed)


@given(states, proposals, policies)
def test_only_an_exact_decision_counts(
    facts: SuperviseFacts, proposal: Any, policy: Policy
) -> None:
    """EXE-12 "hard schema validation": where a model was asked, a move stands only on one of the
    five decisions and nothing beside it.
    """
    outcome, reason = supervise(facts, proposal, policy)
    if reason is SuperviseReason.SUGGESTED:
        assert isinstance(proposal, Parsed)
        assert proposal.value == {"decision": outcome.move}
    elif facts.asked and facts.pending in (Pending.ACTION, Pending.FINAL):
        assert isinstance(outcome, SuperviseFailed)
        assert outcome.code == "supervisor_invalid"


@given(states, policies)
def test_replanning_is_bounded(facts: SuperviseFacts, policy: Policy) -> None:
    """Monotone: what is not asked again is not asked again later, either; every loop ends."""
    refused = msgspec.structs.replace(facts, pending=Pending.REFUSED)
    if isinstance(supervise(refused, None, policy)[0], SuperviseFailed):
        for later in (
            msgspec.structs.replace(refused, replans=refused.replans + 1),
            msgspec.structs.replace(refused, step=refused.step + 1),
        ):
            assert isinstance(supervise(later, None, policy)[0], SuperviseFailed)
    said = Parsed(value={"decision": "request_replan"}, size_bytes=1)
    last = msgspec.structs.replace(facts, asked=True, step=facts.max_steps)
    assert facts.pending is Pending.COUNCIL or isinstance(
        supervise(last, said, policy)[0], SuperviseFailed
    )


@given(states, proposals, policies)
def test_mode_council_begins_with_a_checkpoint(
    facts: SuperviseFacts, proposal: Any, policy: Policy
) -> None:
    """Whatever a model says, and nothing else begins so: no other state is moved by the mode."""
    outcome, reason = supervise(facts, proposal, policy)
    assert (reason is SuperviseReason.COUNCIL_MODE) == (facts.pending is Pending.COUNCIL)
    if facts.pending is Pending.COUNCIL:
        assert outcome == NextMove(move=Move.CHECKPOINT_COUNCIL)


@pytest.mark.parametrize("pending", [Pending.ACTION, Pending.FINAL])
@pytest.mark.parametrize(
    "answer",
    [
        "maybe",
        '"finish"',
        '{"decision":"maybe"}',
        '{"decision":"finish","text":"all done"}',
        "{}",
        '{"decision":null}',
    ],
)
def test_a_bad_decision_of_a_supervisor_model(pending: Pending, answer: str) -> None:
    """D13: a decision outside the contract fails the turn."""
    facts = SuperviseFacts(step=1, max_steps=3, pending=pending, asked=True)
    assert supervise(facts, parse_object(answer)) == (
        SuperviseFailed(code="supervisor_invalid"),
        SuperviseReason.INVALID,
    )


@pytest.mark.parametrize(
    ("pending", "move"), [(Pending.ACTION, "finish"), (Pending.FINAL, "execute_action")]
)
def test_a_decision_that_is_not_possible(pending: Pending, move: str) -> None:
    """A model cannot finish without an answer, nor execute without an action."""
    facts = SuperviseFacts(step=1, max_steps=3, pending=pending, asked=True)
    said = Parsed(value={"decision": move}, size_bytes=1)
    assert supervise(facts, said) == (
        SuperviseFailed(code="supervisor_invalid"),
        SuperviseReason.NOT_POSSIBLE,
    )


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB for the longest reason code."""
    code = max(
        (
            reason
            for rule in shipped_kinds().rules.values()
            for reasons in rule.reasons
            for reason in reasons
        ),
        key=len,
    )
    facts = SuperviseFacts(
        step=1000, max_steps=1000, pending=Pending.REFUSED, code=str(code), replans=10, asked=True
    )
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
