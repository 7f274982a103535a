"""Laws of the execution plan behind a mode."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import ExecMode
from ordain.contracts.cortex import ExecutionPlan
from ordain.flows.turn.execution_plan import execution_plan

modes = st.sampled_from(ExecMode)
verbs = st.one_of(
    st.sampled_from(["chat_general", "agent_runtime", "council_runtime", "planner_react"]),
    st.text(min_size=1, max_size=20),
)


def shape(plan: ExecutionPlan, verb: str) -> dict[str, Any]:
    """A plan with the entered verb, wherever it stands, blanked."""
    found = plan.model_dump()
    assert found.pop("verb_name") == verb
    for step in found["steps"]:
        assert step.pop("verb_name") == verb
    return found


@given(modes, verbs, verbs)
def test_only_the_mode_chooses_the_plan(mode: ExecMode, verb: str, other: str) -> None:
    """No verb, not even another mode's, changes the plan of an agent or council turn, and a brain
    turn's is the verb's own step.

    ORC-02 "Plan builder branches on mode only: agent→agent plan(verb), council→council plan(verb),
    else plan-for-verb(verb, mode)"
    """
    plan = execution_plan(mode, verb)
    assert plan.metadata == {"mode": str(mode)}
    if mode is ExecMode.BRAIN:
        assert [(step.verb_name, step.step_name) for step in plan.steps] == [(verb, verb)]
    else:
        assert shape(plan, verb) == shape(execution_plan(mode, other), other)
        assert verb in {"planner_react", "agent_chain"} or verb not in {
            step.step_name for step in plan.steps
        }


@given(verbs)
def test_the_agent_plan(verb: str) -> None:
    """Two steps in this order and nothing else, with the sources' times.

    ORC-03 “Agent plan = steps `planner_react`(services `PlannerReactService`) then
    `agent_chain`(services `AgentChainService`), `metadata.mode="agent"`”
    """
    plan = execution_plan(ExecMode.AGENT, verb)
    steps = sorted(plan.steps, key=lambda step: step.order)
    assert [(step.step_name, step.services) for step in steps] == [
        ("planner_react", ["PlannerReactService"]),
        ("agent_chain", ["AgentChainService"]),
    ]
    assert steps == plan.steps
    assert ([step.order for step in steps], steps[0].timeout_ms, plan.timeout_ms) == (
        [-1, 0],
        120_000,
        300_000,
    )
    assert plan.metadata == {"mode": "agent"}


@given(verbs)
def test_the_council_plan(verb: str) -> None:
    """One step, which nothing interrupts.

    ORC-04 “Council plan = one step `council_supervisor`(services `CouncilService`),
    `metadata.mode="council"`”
    """
    plan = execution_plan(ExecMode.COUNCIL, verb)
    assert [(step.step_name, step.services, step.order) for step in plan.steps] == [
        ("council_supervisor", ["CouncilService"], 0)
    ]
    assert (plan.metadata, plan.interruptible) == ({"mode": "council"}, False)
