"""Rule ``outcome``: exactly one of the five things a turn can be (RTE-02, B-41).

An explicit mode agent or council fixes a direct turn. What a sender or a model hints at is a suggestion; the other four outcomes
need what later work brings and end as typed ``path_unavailable``, never as chat.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class OutcomeReason(Reason):
    """Why a turn has its outcome (RTE-02, B-41)."""

    BY_MODE = "outcome.by_mode", "An explicit mode agent or council is a direct turn."
    DIRECT = "outcome.direct", "Nothing but an answer is asked for."
    WORKFLOW = "outcome.workflow", "A workflow template is suggested; it needs approval before it runs."
    DELEGATES = "outcome.delegates", "Other agents are suggested."


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
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DIRECT), reason=OutcomeReason.BY_MODE)
    if facts.workflow:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.WORKFLOW_PROPOSAL), reason=OutcomeReason.WORKFLOW)
    if facts.delegates > 1:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.FAN_OUT), reason=OutcomeReason.DELEGATES)
    if facts.delegates == 1:
        return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DELEGATE), reason=OutcomeReason.DELEGATES)
    return Decision(outcome=OutcomeChosen(outcome=TurnOutcome.DIRECT), reason=OutcomeReason.DIRECT)


_CHOSEN = msgspec.json.Decoder(OutcomeChosen)
_HINTED = msgspec.json.Decoder(OutcomeFacts)


def _tells(recorded: Recorded) -> HeaderShare:
    """An outcome that is not carried out, and hints that the mode passes over."""
    outcome = _CHOSEN.decode(recorded.outcome).outcome
    if outcome is not TurnOutcome.DIRECT:
        return HeaderShare(lines=(HeaderLine(mark="fail", what=f"outcome {outcome}", reason=recorded.reason),))
    hinted = _HINTED.decode(recorded.facts)
    if not hinted.workflow and not hinted.delegates:
        return SILENT
    what = f"hints at a workflow or delegates are not followed in mode {hinted.mode}"
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


OUTCOME: Rule[OutcomeFacts, None, Any] = Rule(
    name="outcome", outcome=OutcomeChosen, apply=decide_outcome, reasons=(OutcomeReason,), tells=_tells
)
