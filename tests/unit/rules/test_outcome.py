"""Laws of rule ``outcome``: exactly one of five, and a mode that was named fixes a direct turn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import ExecMode
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.outcome import OUTCOME, OutcomeFacts, TurnOutcome
from tests.unit.rules.given import POLICY, decided, texts

states = st.builds(OutcomeFacts, mode=st.sampled_from(ExecMode), workflow=texts, delegates=st.integers(0, 20))


def outcome_of(facts: OutcomeFacts) -> TurnOutcome:
    """The rule applied, and held to what every rule owes."""
    return decided(OUTCOME, facts, None, POLICY).outcome.outcome


@given(states)
def test_agent_and_council_are_direct(facts: OutcomeFacts) -> None:
    """B-41 "an explicit mode agent or council fixes direct", whatever is hinted at."""
    if facts.mode is not ExecMode.BRAIN:
        assert outcome_of(facts) is TurnOutcome.DIRECT


@given(states)
def test_a_workflow_is_never_run_unasked(facts: OutcomeFacts) -> None:
    """A template that somebody hints at is at most proposed."""
    assert outcome_of(facts) is not TurnOutcome.WORKFLOW_RUN


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
def test_a_brain_turn_by_what_is_hinted_at(workflow: str, delegates: int, expected: TurnOutcome) -> None:
    """One outcome for each hint; one target is a delegation, several are a fan-out."""
    assert outcome_of(OutcomeFacts(mode=ExecMode.BRAIN, workflow=workflow, delegates=delegates)) is expected


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB for the longest template name that a message may carry."""
    facts = OutcomeFacts(mode=ExecMode.COUNCIL, workflow="\x00" * 128, delegates=20)
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
