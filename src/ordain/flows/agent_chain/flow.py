"""Flow ``agent_chain``: verb ``agent_chain``. A planner works through its steps, and only a
validated final answer ends them well (ACH-01..ACH-03).

It is entered by a router's path, a supervisor's escalation or a council's word, and by nothing that
a model or a sender names as a tool.
"""

from __future__ import annotations

from ordain.contracts.chain import AgentChainResult
from ordain.contracts.verbs import Trust
from ordain.flows.agent_chain.prompt import CHAIN_PROMPT
from ordain.flows.agent_chain.request import chain_request, planner_request
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.steps.chain import chain_fault
from ordain.flows.steps.work import Worked, Working, work
from ordain.flows.transcript import HistoryRef

ROLE = "agent_chain"
TRUST: dict[str, Trust] = dict.fromkeys(
    ("mode", "text", "structured", "planner_raw"), Trust.FOREIGN
)


async def run_chain(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Work on what was asked until there is a validated answer, or say exactly why there is
    none.
    """
    return await _run(context, call, counts=True)


async def run_chain_1(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 1, where a directive that was refused for its shape was no proposed call."""
    return await _run(context, call, counts=False)


async def _run(context: FlowContext, call: VerbPlanInput, *, counts: bool) -> VerbPlanOutput:
    asked = chain_request(call)
    if asked.session_id is not None and asked.session_id != context.session:
        return VerbPlanOutput(
            ok=False,
            error="foreign_session",
            message="a chain works in the session of who asks for it alone",
        )
    how = Working(
        role=ROLE,
        history=call.history or HistoryRef(session=context.session),
        narrative="final_answer.content" if call.narrate else "",
        counts=counts,
    )
    worked = await work(
        context.told(turn_kind(call)), planner_request(context.catalog, asked), CHAIN_PROMPT, how
    )
    if not worked.ok or worked.output is None:
        return VerbPlanOutput(
            ok=False, error=worked.error, message=worked.message, step_results=worked.steps
        )
    result = _result(asked.mode, worked)
    if (fault := chain_fault(context, result, (worked.planner_raw["answer"],))) is not None:
        return VerbPlanOutput(
            ok=False, error=fault.code, message=fault.detail, step_results=worked.steps
        )
    return VerbPlanOutput(ok=True, output=result, trust=TRUST, step_results=worked.steps)


def _result(mode: str, worked: Worked) -> dict[str, object]:
    answer = worked.output or {}
    result = AgentChainResult(
        mode=mode,
        text=answer["content"],
        structured=answer["structured"],
        planner_raw=worked.planner_raw,
    )
    return result.model_dump(mode="json")
