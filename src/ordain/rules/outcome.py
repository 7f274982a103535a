"""Rule ``outcome``: exactly one of the five things a turn can be (RTE-02, B-41).

An explicit mode agent or council fixes a direct turn. What a sender or a model hints at is a suggestion; the other four outcomes
need what later work brings and end as typed ``path_unavailable``, never as chat.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class TurnOutcome(StrEnum):
    """The five outcomes (RTE-02)."""

    DIRECT = "direct"
    WORKFLOW_PROPOSAL = "workflow_proposal"
    WORKFLOW_RUN = "workflow_run"
    DELEGATE = "delegate"
    FAN_OUT = "fan_out"


class OutcomeChosen(Struct, frozen=True, kw_only=True, tag="outcome"):
    """What the turn is."""

    outcome: TurnOutcome


class OutcomeFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The mode, the workflow template hinted at, and how many delegates are."""

    mode: ExecMode
    workflow: str = ""
    delegates: int = 0


def decide_outcome(facts: OutcomeFacts, inputs: None, policy: Policy) -> Decision[OutcomeChosen]:
    """Mode first, then what is hinted at; a workflow is proposed and never run unasked (WFL-01)."""
    if facts.mode is not ExecMode.BRAIN:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DIRECT), reason=Reason.OUTCOME_BY_MODE)
    if facts.workflow:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.WORKFLOW_PROPOSAL), reason=Reason.OUTCOME_WORKFLOW)
    if facts.delegates > 1:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.FAN_OUT), reason=Reason.OUTCOME_DELEGATES)
    if facts.delegates == 1:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DELEGATE), reason=Reason.OUTCOME_DELEGATES)
    return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DIRECT), reason=Reason.OUTCOME_DIRECT)


OUTCOME: Rule[OutcomeFacts, None, Any] = Rule(name="outcome", outcome=OutcomeChosen, apply=decide_outcome)
