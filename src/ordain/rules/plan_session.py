"""Rule ``plan_session``: which earlier plans does a planning request go on from (FUT-01)? A shared
decision: the requests of a session stand in one row.

The row holds ids of runs. What they came to the run reads, once, and only of runs of its own
principal.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason

SESSION_RUNS = 4
"""The latest plans of a session that the next one sees."""


class PlanSessionReason(Reason):
    """From what a planning request goes on (FUT-01)."""

    BEGUN = "plan_session.begun", "The first request of its planning session."
    GOES_ON = (
        "plan_session.goes_on",
        "The request goes on from earlier ones of its planning session.",
    )


class PlanSessionFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The session by the digest of principal and id, the run that asks, and the session's latest
    runs, the oldest first.
    """

    session: str
    run: str
    before: tuple[str, ...] = ()


class GoesOn(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="goes_on"):
    """The runs to go on from, and those that the session's next one is to go on from; the oldest
    first.
    """

    before: tuple[str, ...] = ()
    latest: tuple[str, ...] = ()


def decide_plan_session(facts: PlanSessionFacts, inputs: None, policy: Policy) -> Decision[GoesOn]:
    """From the latest, and never from itself: a claim may be made again."""
    before = tuple(run for run in facts.before if run != facts.run)[-SESSION_RUNS:]
    outcome = GoesOn(before=before, latest=(*before, facts.run)[-SESSION_RUNS:])
    return Decision(
        outcome=outcome, reason=PlanSessionReason.GOES_ON if before else PlanSessionReason.BEGUN
    )


PLAN_SESSION: Rule[PlanSessionFacts, None, Any] = Rule(
    name="plan_session",
    outcome=GoesOn,
    apply=decide_plan_session,
    reasons=(PlanSessionReason,),
    tells=tells_of("planning session", PlanSessionReason),
)
