"""Kind ``planner`` as a value, and its versions before for what was begun under them."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.planner import KNOWN_CALLERS, PlannerRequest
from ordain.contracts.scope import CapabilityScope
from ordain.flows.accounts import known_agent
from ordain.flows.deliberation.prompt import COUNCIL_PROMPTS
from ordain.flows.kind import Kind
from ordain.flows.planner.flow import run_planner, run_planner_4
from ordain.flows.planner.outcome import PlannerOutcome, settle_plan
from ordain.flows.planner.prompt import CRITIC, PROMPT, PROMPT_3
from ordain.flows.planner.session import GOING_ON, recounted
from ordain.flows.planner.v1 import run_planner as run_planner_1
from ordain.flows.planner.v2 import run_planner as run_planner_2
from ordain.flows.planner.v3 import run_planner as run_planner_3
from ordain.flows.planner.wire import PLAN_WIRE
from ordain.journal.records import Label
from ordain.rules.second_look import SECOND_LOOK


def _decode(data: Raw) -> PlannerRequest:
    return PlannerRequest.model_validate_json(bytes(data))


def _label(request: PlannerRequest) -> Label:
    return Label(agent=known_agent(request.caller, KNOWN_CALLERS))


def _label_2(request: PlannerRequest) -> Label:
    return Label(agent=request.caller)


def _words(request: PlannerRequest) -> str:
    return request.goal.description


def _grant(request: PlannerRequest, catalog: Catalog) -> CapabilityScope:
    """As of the toolset; and where the request asks for that, the critic of its answer, or the
    chain that a council may hand over to. No model calls these, whatever its toolset names
    (ACH-03).
    """
    asked = request.preferences
    tools = _lendable(request, catalog) - {CHAIN_VERB}
    if asked.self_critique is True and CRITIC in catalog.verbs:
        tools |= {CRITIC}
    if asked.council is True and CHAIN_VERB in catalog.verbs:
        tools |= {CHAIN_VERB}
    return CapabilityScope(allowed=tuple(sorted(tools)))


def _grant_3(request: PlannerRequest, catalog: Catalog) -> CapabilityScope:
    """The request's toolset, of which rule ``scope`` finds what can be had; and what the cards in
    it are for, which those alone may use.
    """
    return CapabilityScope(allowed=tuple(sorted(_lendable(request, catalog))))


def _lendable(request: PlannerRequest, catalog: Catalog) -> frozenset[str]:
    return catalog.lendable([tool.tool_id for tool in request.toolset])


PLANNER: Kind[PlannerRequest, PlannerOutcome] = Kind(
    name="planner",
    version=5,
    run=run_planner,
    decode_input=_decode,
    settle=settle_plan,
    label=_label,
    words=_words,
    grant=_grant,
    prompts=(PROMPT, *COUNCIL_PROMPTS),
    rules=(SECOND_LOOK,),
    claims=(GOING_ON,),
    escalates=frozenset({CHAIN_VERB}),
    recounts=recounted,
    wire=PLAN_WIRE,
    judged=True,
)
PLANNER_4 = replace(PLANNER, version=4, run=run_planner_4)
PLANNER_3 = replace(
    PLANNER_4,
    version=3,
    run=run_planner_3,
    grant=_grant_3,
    prompts=(PROMPT_3,),
    rules=(),
    claims=(),
    escalates=frozenset(),
)
PLANNER_2 = replace(PLANNER_3, version=2, run=run_planner_2, label=_label_2, judged=False)
PLANNER_1 = replace(PLANNER_2, version=1, run=run_planner_1)
