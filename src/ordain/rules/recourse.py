"""Rule ``recourse``: what is done about a step of a plan that failed (B-16, C6)?

What may pass by itself is tried again, later each time. Else the card's fallback agent takes it,
once, then ``general_agent``, then it has failed; nobody takes it twice. Nothing of this where a
person said no, to the handoff or to anything below it, where nobody knows what happened, or where
something beyond reads was done already: it would be done again.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.failures import FailureCategory, failure_category
from ordain.contracts.policy import Policy
from ordain.contracts.roster import GENERAL_AGENT
from ordain.rules.backoff import backoff_ms
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class RecourseReason(Reason):
    """What is done about a step that failed, and why (B-16)."""

    AGAIN = "recourse.again", "The failure may pass: the same agent is handed the step again."
    FALLBACK_AGENT = (
        "recourse.fallback_agent",
        (
            "The agent failed or is not to be had: the fallback agent of its card takes the "
            "step, once."
        ),
    )
    GENERAL_AGENT = (
        "recourse.general_agent",
        "No fallback agent is left: general_agent takes the step.",
    )
    NOBODY_LEFT = "recourse.nobody_left", "Nobody is left to take the step: it has failed."
    RULED = (
        "recourse.ruled",
        (
            "A rule about what counts failed it, or a bound of the work itself: nobody else takes "
            "the step."
        ),
    )
    FINAL = "recourse.final", "What it failed with nobody else would change: it has failed."
    ACTED = (
        "recourse.acted",
        (
            "Something beyond reads was done for the step, or nobody knows what was: it is done by "
            "nobody else."
        ),
    )
    TIME = "recourse.time", "The plan's time is over: the step has failed."


class TryStepAgain(Struct, frozen=True, tag="again"):
    """The same agent once more, after ``wait_ms``."""

    wait_ms: int


class HandToFallback(Struct, frozen=True, tag="fallback"):
    """Another agent takes the step."""

    agent: str


class StepFails(Struct, frozen=True, tag="fails"):
    """The step has failed."""


RecourseOutcome = TryStepAgain | HandToFallback | StepFails
FINAL_CODES = frozenset(
    {
        "not_approved",
        "approval_denied",
        "approval_expired",
        "approval_withdrawn",
        "approval_not_available",
        "withdrawn",
        "cancelled",
        "cancellation_requested",
        "interrupted",
        "budget",
        "budget_exceeded",
    }
)
"""What a step fails with that another agent changes nothing of: somebody's no, a bound of the
run.
"""
RULED_CODES = frozenset({"safety_limit_exceeded", "tool_first_violation"})
"""What a step fails with by a rule about what counts (C6): the step has failed, and is no agent's
failure that another makes good.
"""
UNAVAILABLE_CODES = frozenset({"inactive", "not_configured"})
"""What a handoff is denied with because the agent is not to be had here; every other denial is a no
to the handoff itself.
"""


class RecourseFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which step failed (from 0), at whom, with which code, how often that one had it, and who had
    it in all.

    ``fallback`` is the fallback agent of whom it was handed first ("": none), ``general``: there is
    a ``general_agent``. ``acted``: something beyond reads was done for it, or nobody knows what
    was. ``denied``: it was not handed on at all.
    """

    step: int
    agent: str
    code: str
    attempt: int
    left_ms: int
    tried: tuple[str, ...] = ()
    fallback: str = ""
    general: bool = False
    acted: bool = False
    denied: bool = False


def decide_recourse(
    facts: RecourseFacts, inputs: None, policy: Policy
) -> Decision[RecourseOutcome]:
    """Never twice what may have happened; then again, then somebody else."""
    if facts.acted:
        return Decision(outcome=StepFails(), reason=RecourseReason.ACTED)
    if facts.code in RULED_CODES:
        return Decision(outcome=StepFails(), reason=RecourseReason.RULED)
    if facts.code in FINAL_CODES or (facts.denied and facts.code not in UNAVAILABLE_CODES):
        return Decision(outcome=StepFails(), reason=RecourseReason.FINAL)
    if facts.left_ms <= 0:
        return Decision(outcome=StepFails(), reason=RecourseReason.TIME)
    wait = backoff_ms(policy.roster.backoff_ms, policy.roster.backoff_max_ms, facts.attempt)
    may_pass = failure_category(facts.code) is FailureCategory.TRANSIENT
    if may_pass and facts.attempt < policy.roster.attempts and wait < facts.left_ms:
        return Decision(outcome=TryStepAgain(wait), reason=RecourseReason.AGAIN)
    tried = {facts.agent, *facts.tried}
    if facts.fallback and facts.fallback not in tried and tried == {facts.agent}:
        return Decision(
            outcome=HandToFallback(facts.fallback), reason=RecourseReason.FALLBACK_AGENT
        )
    if facts.general and GENERAL_AGENT not in tried:
        return Decision(outcome=HandToFallback(GENERAL_AGENT), reason=RecourseReason.GENERAL_AGENT)
    return Decision(outcome=StepFails(), reason=RecourseReason.NOBODY_LEFT)


_FACTS = msgspec.json.Decoder(RecourseFacts)
_RULED = str(RecourseReason.RULED)
_OUTCOME: msgspec.json.Decoder[RecourseOutcome] = msgspec.json.Decoder(RecourseOutcome)


def _tells(recorded: Recorded) -> HeaderShare:
    """A step that is tried again, or that another agent takes; what has failed shows as that."""
    outcome, facts = _OUTCOME.decode(recorded.outcome), _FACTS.decode(recorded.facts)
    match outcome:
        case TryStepAgain(wait_ms=wait_ms):
            what = f"plan step {facts.step + 1} again, with {facts.agent}, after {wait_ms} ms"
        case HandToFallback(agent=agent):
            what = f"plan step {facts.step + 1}, fallback applied: {agent} instead of {facts.agent}"
        case StepFails() if recorded.reason == _RULED:
            what = f"plan step {facts.step + 1}: nobody else takes it"
        case StepFails():
            return SILENT
    return HeaderShare(
        lines=(HeaderLine(mark="info", what=what, reason=recorded.reason, excerpt=facts.code),)
    )


RECOURSE: Rule[RecourseFacts, None, Any] = Rule(
    name="recourse",
    outcome=RecourseOutcome,
    apply=decide_recourse,
    reasons=(RecourseReason,),
    tells=_tells,
)
