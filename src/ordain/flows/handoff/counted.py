"""Whether what a specialist says counts: rule ``tool_first`` on the calls that its loop made
(PLAN-15, C6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordain.contracts.agent_verbs import WhyHanded
from ordain.contracts.cards import AgentCard, ToolFirst
from ordain.contracts.handoff import Envelope
from ordain.effects.calls import Call
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.steps.work import Worked
from ordain.rules.decision import Decision
from ordain.rules.tool_first import (
    TOOL_FIRST,
    CalledTool,
    ToolFirstFacts,
    ToolFirstInputs,
    ToolFirstOutcome,
)

VIOLATION = "tool_first_violation"
PASSED: dict[str, Any] = {"content": "passed", "structured": {"passed": True, "confidence": 0}}
"""What is handed back of an agent that passes, whatever else it says."""


def counted(
    context: FlowContext, call: Call, card: AgentCard, worked: Worked, *, substitute: bool
) -> Decision[ToolFirstOutcome]:
    """Whether it counts; one who takes another's place is not held to that one's tools (B-16)."""
    planned, fallback = _named(call, "tools"), _named(call, "fallback_tools")
    made = [CalledTool(verb=step.step_name, ok=step.ok) for step in worked.steps]
    facts = ToolFirstFacts(
        agent=card.name,
        enforced=card.tool_first is ToolFirst.ENFORCED,
        planned=len(planned),
        fallback=len(fallback),
        calls=len(made),
        substitute=substitute,
        refused=worked.refused,
    )
    said = None if worked.output is None else worked.output.get("structured")
    inputs = ToolFirstInputs(
        catalog=context.catalog,
        calls=made,
        planned=planned,
        fallback=fallback,
        preferred=card.tool_preference,
        structured=said,
    )
    return context.fx.decide(TOOL_FIRST, facts, inputs, (0,))


def takes_a_place(call: VerbPlanInput, envelope: Envelope, worked: Worked) -> bool:
    """Whether a plan hands it the step of another: its time is told by that alone, where a reason
    may be a model's. Whoever proposed calls of which none was made is held like anybody.
    """
    return (
        envelope.reason == WhyHanded.FALLBACK
        and call.within_ms > 0
        and not (worked.refused and not worked.steps)
    )


def _named(call: Call, name: str) -> Sequence[str]:
    return call.args.get(name, ())
