"""The flows of this build, by (name, version). Passed in as a value; a run whose flow is not here is ``flow_unavailable``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ordain.flows.context import Flow, Flows
from ordain.flows.planner import PLANNER_FLOW
from ordain.flows.question import QUESTION_FLOW
from ordain.flows.status import STATUS_FLOW
from ordain.flows.supervisor import SUPERVISOR_FLOW, UNTOLD_SUPERVISOR
from ordain.flows.triage import TRIAGE_FLOW, UNCHARGED_FLOW
from ordain.flows.turn import TURN_FLOW, UNTOLD_TURN
from ordain.flows.verb_plan import VERB_FLOW, VERB_PLAN_FLOW

SHIPPED: tuple[Flow[Any, Any], ...] = (
    *(PLANNER_FLOW, VERB_PLAN_FLOW, VERB_FLOW),
    *(TURN_FLOW, SUPERVISOR_FLOW, QUESTION_FLOW, STATUS_FLOW, TRIAGE_FLOW),
    *(UNTOLD_TURN, UNTOLD_SUPERVISOR, UNCHARGED_FLOW),  # of earlier builds, for what was begun under them
)


def shipped_flows(more: Iterable[Flow[Any, Any]] = ()) -> Flows:
    """Every flow of this build and ``more``."""
    return Flows((*SHIPPED, *more))
