"""Laws of rule ``outcome``: exactly one of five, and a mode that was named fixes a direct turn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import ExecMode
from ordain.contracts.policy import Policy
from ordain.contracts.workflow import OutcomePolicy
from ordain.rules.decision import FACTS_BYTES, Recorded
from ordain.rules.outcome import (
    OUTCOME,
    Expansion,
    OutcomeChosen,
    OutcomeFacts,
    OutcomeRefused,
    TurnOutcome,
)
from tests.unit.rules.given import POLICY, decided, texts

states = st.builds(
    OutcomeFacts,
    mode=st.sampled_from(ExecMode),
    workflow=texts,
    delegates=st.integers(0, 20),
    suggested=st.booleans(),
    expansion=st.sampled_from(Expansion),
    why=st.sampled_from(["missing_argument", "tool_unavailable"]),
    verb=st.booleans(),
)
DIRECTLY = POLICY.model_copy(update={"outcome": OutcomePolicy(on_refusal="direct")})


def outcome_of(facts: OutcomeFacts, policy: Policy = POLICY) -> TurnOutcome | None:
    """The rule applied, and held to what every rule owes; None where it refuses."""
    found = decided(OUTCOME, facts, None, policy).outcome
    return found.outcome if isinstance(found, OutcomeChosen) else None


@given(states)
def test_the_outcome_is_one_of_five(facts: OutcomeFacts) -> None:
    """B-41 "`rules/outcome` picks one of RTE-02's five (direct, workflow proposal, workflow execution,
    delegation, fan-out)": whatever is asked for there is exactly one, or a typed refusal.
    """
    assert {str(one) for one in TurnOutcome} == {
        "direct",
        "workflow_proposal",
        "workflow_run",
        "delegate",
        "fan_out",
    }
    found = decided(OUTCOME, facts, None, POLICY).outcome
    assert isinstance(found, OutcomeChosen | OutcomeRefused)
    assert isinstance(found, OutcomeRefused) or found.outcome in set(TurnOutcome)


@given(states)
def test_agent_and_council_are_direct(facts: OutcomeFacts) -> None:
    """B-41 "an explicit mode agent or council fixes direct", whatever is hinted at."""
    if facts.mode is not ExecMode.BRAIN:
        assert outcome_of(facts) is TurnOutcome.DIRECT


@given(states)
def test_a_workflow_is_never_run_unasked(facts: OutcomeFacts) -> None:
    """It is run at once only where rule ``workflow`` says that nobody has to be asked; otherwise it
    is at most proposed.
    """
    if facts.expansion is not Expansion.UNASKED:
        assert outcome_of(facts) is not TurnOutcome.WORKFLOW_RUN
        assert outcome_of(facts, DIRECTLY) is not TurnOutcome.WORKFLOW_RUN


@given(states)
def test_a_refusal_ends_the_turn_or_leaves_it_as_it_was(facts: OutcomeFacts) -> None:
    """What a sender names is refused by its code; of a model's suggestion policy says whether the
    turn is answered directly then.
    """
    refused = (
        facts.mode is ExecMode.BRAIN
        and facts.expansion is Expansion.REFUSED
        and (bool(facts.workflow) or facts.suggested)
    )
    assert (outcome_of(facts) is None) == refused
    if refused:
        assert decided(OUTCOME, facts, None, POLICY).outcome == OutcomeRefused(code=facts.why)
        assert outcome_of(facts, DIRECTLY) is (TurnOutcome.DIRECT if facts.suggested else None)


@given(states)
def test_agents_are_handed_nothing_beside_a_verb(facts: OutcomeFacts) -> None:
    """A message that names the verb that answers it is answered by it, and its header says that the
    agents it names are not followed.
    """
    facts = msgspec.structs.replace(
        facts,
        mode=ExecMode.BRAIN,
        workflow="",
        suggested=False,
        verb=True,
        hands_on=True,
        delegates=1,
    )
    facts = msgspec.structs.replace(facts, delegated_by_model=False)
    decision = decided(OUTCOME, facts, None, POLICY)
    assert outcome_of(facts) is TurnOutcome.DIRECT
    recorded = Recorded(
        facts=msgspec.Raw(msgspec.json.encode(facts)),
        outcome=msgspec.Raw(msgspec.json.encode(decision.outcome)),
        reason=decision.reason,
    )
    (line,) = OUTCOME.tells(recorded).lines
    assert line.what == "hints not followed, the message names the verb that answers it: delegates"


@pytest.mark.parametrize(
    ("workflow", "delegates", "expected"),
    [
        ("", 0, TurnOutcome.DIRECT),
        ("send_email", 0, TurnOutcome.WORKFLOW_PROPOSAL),
        ("send_email", 3, TurnOutcome.WORKFLOW_PROPOSAL),
        ("", 1, TurnOutcome.DELEGATE),
        ("", 2, TurnOutcome.FAN_OUT),
        ("", 20, TurnOutcome.FAN_OUT),
    ],
)
def test_a_brain_turn_by_what_is_hinted_at(
    workflow: str, delegates: int, expected: TurnOutcome
) -> None:
    """One outcome for each hint; one target is a delegation, several are a fan-out.

    RTE-02 "The orchestrator deterministically picks exactly one of 5 outcomes: direct response (no
    tools) · workflow proposal (approval required) · workflow execution (tools) · single-agent
    delegation · multi-agent fan-out/fan-in."
    """
    assert (
        outcome_of(OutcomeFacts(mode=ExecMode.BRAIN, workflow=workflow, delegates=delegates))
        is expected
    )
    unasked = OutcomeFacts(mode=ExecMode.BRAIN, workflow="draft_email", expansion=Expansion.UNASKED)
    assert outcome_of(unasked) is TurnOutcome.WORKFLOW_RUN


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB for the longest template name that a message may carry."""
    facts = OutcomeFacts(
        mode=ExecMode.COUNCIL,
        workflow="\x00" * 128,
        delegates=20,
        suggested=True,
        expansion=Expansion.REFUSED,
        why="malformed_suggestion",
    )
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
