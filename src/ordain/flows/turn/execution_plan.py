"""The execution plan behind a mode: it branches on the mode alone (ORC-02..ORC-04, C1, D12)."""

from __future__ import annotations

from functools import lru_cache

from ordain.contracts.conversation import ExecMode
from ordain.contracts.cortex import ExecutionPlan, ExecutionStep
from ordain.contracts.read_only import read_only
from ordain.contracts.verbs import MODEL_SERVICE

AGENT_MS, PLANNER_MS = 300_000, 120_000


@lru_cache(maxsize=256)
def execution_plan(mode: ExecMode, verb: str) -> ExecutionPlan:
    """The plan of a turn, which nobody can write to; ``verb`` is what rule ``entry`` entered by."""
    return read_only(_plan(mode, verb))


def _plan(mode: ExecMode, verb: str) -> ExecutionPlan:
    if mode is ExecMode.AGENT:
        return ExecutionPlan(
            verb_name=verb,
            label="Agent",
            timeout_ms=AGENT_MS,
            steps=_agent_steps(verb),
            metadata={"mode": str(mode)},
        )
    if mode is ExecMode.COUNCIL:
        step = ExecutionStep(
            verb_name=verb, step_name="council_supervisor", order=0, services=["CouncilService"]
        )
        return ExecutionPlan(
            verb_name=verb,
            label="Council",
            interruptible=False,
            steps=[step],
            metadata={"mode": str(mode)},
        )
    step = ExecutionStep(verb_name=verb, step_name=verb, order=0, services=[MODEL_SERVICE])
    return ExecutionPlan(verb_name=verb, label=verb, steps=[step], metadata={"mode": str(mode)})


def _agent_steps(verb: str) -> list[ExecutionStep]:
    return [
        ExecutionStep(
            verb_name=verb,
            step_name="planner_react",
            order=-1,
            services=["PlannerReactService"],
            timeout_ms=PLANNER_MS,
        ),
        ExecutionStep(
            verb_name=verb, step_name="agent_chain", order=0, services=["AgentChainService"]
        ),
    ]
