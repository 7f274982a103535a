"""What the three gates said of a step, as its record has it (B-40, C6): the guardrails, the
scheduler, and the review, which is the queue of approvals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ordain.contracts.roster import GateName, StepGate, StepRecord
from ordain.flows.act import Looked
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.decision import Decision
from ordain.rules.guardrail import Forbidden, GuardrailOutcome, GuardrailReason, Passed
from ordain.rules.plan_wave import PlanWaveReason

GUARDRAIL_WORDS: Mapping[str, str] = {
    GuardrailReason.PASSED: "allow",
    GuardrailReason.PROHIBITED: "deny",
    GuardrailReason.ESCALATED: "escalate",
    GuardrailReason.REVIEW: "review",
    GuardrailReason.UNMODERATED: "review",
}
"""The source's word for each of the guardrails' reasons."""
REVIEW_WORDS: Mapping[str, str] = {
    AuthorizeReason.APPROVED: "approved",
    AuthorizeReason.GRANTED: "granted",
    AuthorizeReason.NOT_APPROVED: "denied",
    AuthorizeReason.APPROVAL_EXPIRED: "expired",
    AuthorizeReason.APPROVAL_WITHDRAWN: "withdrawn",
    AuthorizeReason.NO_APPROVAL: "not_available",
    AuthorizeReason.DELEGATED: "not_wanted",
}
"""Whether somebody's yes to the handoff was wanted, and what came of it; of any other reason the
door refused it and nobody was asked.
"""
REFUSED = "refused"
SCHEDULED, NOT_RUN = "scheduled", "not_run"
ALWAYS_TOLD = (
    "planned_reason",
    "planned_tools",
    "planned_fallback_tools",
    "planned_confidence",
    "executed_agent",
    "executed_reason",
    "executed_tools",
    "fallback_applied",
)
"""What a step's record says of every step (C6)."""


def gates_passed(agent: str, looked: Looked, wave: int) -> Iterator[StepGate]:
    """What they said when a step had its turn: in the order in which they were asked."""
    if looked.guardrail is not None:
        yield _guardrail(agent, looked.guardrail)
    yield StepGate(
        gate=GateName.REVIEW,
        agent=agent,
        decision=REVIEW_WORDS.get(looked.door, REFUSED),
        reason=looked.door,
    )
    yield StepGate(
        gate=GateName.SCHEDULER,
        agent=agent,
        decision=SCHEDULED,
        reason=str(PlanWaveReason.READY),
        wave=wave,
    )


def never_scheduled(agent: str, looked: Looked | None, reason: str) -> Iterator[StepGate]:
    """What they said of a step that had no turn; ``reason`` is why the plan was over, "" where it
    was stopped.
    """
    if looked is not None:
        *before, _ = gates_passed(agent, looked, 0)
        yield from before
    yield StepGate(gate=GateName.SCHEDULER, agent=agent, decision=NOT_RUN, reason=reason)


def whole_record(record: StepRecord, worked: str) -> dict[str, Any]:
    """A step's record as C6 has it, also what is as it is of most. ``worked`` is who had it last,
    "" where nobody was handed it, whoever it was meant for.
    """
    told = record if worked else msgspec.structs.replace(record, executed_reason="")
    told = msgspec.structs.replace(told, executed_agent=worked)
    return {name: getattr(told, name) for name in ALWAYS_TOLD} | msgspec.to_builtins(told)


def _guardrail(agent: str, said: Decision[GuardrailOutcome]) -> StepGate:
    outcome, reason = said.outcome, str(said.reason)
    word = GUARDRAIL_WORDS[reason]
    if isinstance(outcome, Forbidden):
        return StepGate(
            gate=GateName.GUARDRAIL,
            agent=agent,
            decision=word,
            reason=reason,
            policy_ids=(outcome.source,),
        )
    policies = () if isinstance(outcome, Passed) else outcome.sources
    return StepGate(
        gate=GateName.GUARDRAIL,
        agent=agent,
        decision=word,
        reason=reason,
        risk_score=outcome.risk,
        policy_ids=policies,
    )
