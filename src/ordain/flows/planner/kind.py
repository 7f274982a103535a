"""Kind ``planner`` as a value, and its versions before for what was begun under them."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import KNOWN_CALLERS, PlannerRequest
from ordain.contracts.scope import CapabilityScope
from ordain.flows.accounts import known_agent
from ordain.flows.kind import Kind
from ordain.flows.planner.flow import run_planner
from ordain.flows.planner.outcome import PlannerOutcome, settle_plan
from ordain.flows.planner.prompt import PROMPT
from ordain.flows.planner.v1 import run_planner as run_planner_1
from ordain.flows.planner.v2 import run_planner as run_planner_2
from ordain.flows.planner.wire import PLAN_WIRE
from ordain.journal.records import Label


def _decode(data: Raw) -> PlannerRequest:
    return PlannerRequest.model_validate_json(bytes(data))


def _label(request: PlannerRequest) -> Label:
    return Label(agent=known_agent(request.caller, KNOWN_CALLERS))


def _label_2(request: PlannerRequest) -> Label:
    return Label(agent=request.caller)


def _grant(request: PlannerRequest, _: Catalog) -> CapabilityScope:
    """The request's toolset: rule ``scope`` finds what of it can be had."""
    return CapabilityScope(allowed=tuple(sorted({tool.tool_id for tool in request.toolset})))


PLANNER: Kind[PlannerRequest, PlannerOutcome] = Kind(
    name="planner",
    version=3,
    run=run_planner,
    decode_input=_decode,
    settle=settle_plan,
    label=_label,
    grant=_grant,
    prompts=(PROMPT,),
    wire=PLAN_WIRE,
    judged=True,
)
PLANNER_2 = replace(PLANNER, version=2, run=run_planner_2, label=_label_2, judged=False)
PLANNER_1 = replace(PLANNER_2, version=1, run=run_planner_1)
