"""The kinds of this build, and of the builds before it as far as runs that began under them can go
on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from ordain.errors import ConfigurationError
from ordain.flows.agent_chain.kind import AGENT_CHAIN, AGENT_CHAIN_1
from ordain.flows.council.kind import COUNCIL_KIND
from ordain.flows.handoff.kind import HANDOFF_RUN, HANDOFF_RUN_1, HANDOFF_RUN_2
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER, PLANNER_1, PLANNER_2, PLANNER_3, PLANNER_4
from ordain.flows.question.kind import QUESTION, QUESTION_1, QUESTION_2, QUESTION_3
from ordain.flows.roster.kind import ROSTER, ROSTER_1, ROSTER_2, ROSTER_3, ROSTER_4, ROSTER_5
from ordain.flows.seat.kind import SEAT, SEAT_1, SEAT_2
from ordain.flows.status.kind import STATUS, STATUS_1
from ordain.flows.subgoal.kind import SUBGOAL, SUBGOAL_1, SUBGOAL_2
from ordain.flows.supervisor.kind import (
    SUPERVISOR,
    SUPERVISOR_1,
    SUPERVISOR_2,
    SUPERVISOR_3,
    SUPERVISOR_4,
    SUPERVISOR_5,
    SUPERVISOR_6,
    SUPERVISOR_7,
    SUPERVISOR_8,
)
from ordain.flows.synthesis.kind import SYNTHESIS, SYNTHESIS_1
from ordain.flows.triage.kind import TRIAGE, TRIAGE_1, TRIAGE_2, TRIAGE_3, TRIAGE_4, TRIAGE_5
from ordain.flows.turn.kind import (
    TURN,
    TURN_1,
    TURN_2,
    TURN_3,
    TURN_4,
    TURN_5,
    TURN_6,
    TURN_7,
    TURN_8,
    TURN_9,
)
from ordain.flows.verb.kind import VERB, VERB_1, VERB_2
from ordain.flows.verb_plan.kind import VERB_PLAN_1, VERB_PLAN_KIND
from ordain.flows.workflow.kind import WORKFLOW_RUN

SHIPPED: tuple[Kind[Any, Any], ...] = (
    *(PLANNER, VERB_PLAN_KIND, VERB),
    *(TURN, WORKFLOW_RUN, SUPERVISOR, QUESTION, STATUS, TRIAGE),
    *(AGENT_CHAIN, HANDOFF_RUN, ROSTER, SYNTHESIS, COUNCIL_KIND, SEAT, SUBGOAL),
    *(AGENT_CHAIN_1, HANDOFF_RUN_2, HANDOFF_RUN_1, SUBGOAL_2, SUBGOAL_1),
    *(
        PLANNER_4,
        PLANNER_3,
        PLANNER_2,
        PLANNER_1,
        VERB_PLAN_1,
        VERB_2,
        VERB_1,
        QUESTION_3,
        QUESTION_2,
        QUESTION_1,
        SEAT_2,
        SEAT_1,
        SYNTHESIS_1,
        ROSTER_5,
        ROSTER_3,
        ROSTER_4,
        ROSTER_2,
        ROSTER_1,
    ),
    *(
        SUPERVISOR_8,
        SUPERVISOR_7,
        SUPERVISOR_6,
        SUPERVISOR_5,
        SUPERVISOR_4,
        SUPERVISOR_3,
        SUPERVISOR_2,
        SUPERVISOR_1,
        STATUS_1,
    ),
    *(
        TURN_9,
        TURN_8,
        TURN_7,
        TURN_6,
        TURN_5,
        TURN_4,
        TURN_3,
        TURN_2,
        TURN_1,
        TRIAGE_5,
        TRIAGE_4,
        TRIAGE_3,
        TRIAGE_2,
        TRIAGE_1,
    ),
)


def shipped_kinds(more: Iterable[Kind[Any, Any]] = ()) -> Kinds:
    """Every kind of this build and ``more``, which have names of their own: a newer version of a
    shipped one would be what conversations begin.

    Raises:
        ConfigurationError: one of ``more`` has a shipped kind's name (``reserved_kind``). Whatever
            ``Kinds`` raises.
    """
    added = tuple(kind for kind in more if not any(kind is one for one in SHIPPED))
    if not added:
        return _shipped()
    shipped = sorted({kind.name for kind in SHIPPED})
    for kind in added:
        if kind.name in shipped:
            found = (
                f"kind {kind.name}@{kind.version} has a name of Ordain's own, which are "
                f"{', '.join(shipped)}: give it another"
            )
            raise ConfigurationError(found, code="reserved_kind")
    return Kinds((*SHIPPED, *added))


@cache
def _shipped() -> Kinds:
    """Nobody can write to them, so that all of a process may share them."""
    return Kinds(SHIPPED)
