"""What bounds a loop of steps, asked after each of them: rule ``proceed`` on what the limits
leave.
"""

from __future__ import annotations

from ordain.contracts.planner import Limits
from ordain.contracts.work_bounds import WorkBounds
from ordain.flows.context import FlowContext
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.rules.proceed import PROCEED, Bound, ProceedFacts, Stop


def bound_met(context: FlowContext, progress: Progress, *, answered: bool = False) -> Bound | None:
    """The bound that ends the loop here; ``answered``: the last step was a final answer. None: it
    goes on, or the answer stands.
    """
    facts = ProceedFacts(
        steps=progress.limits.max_steps - len(progress.steps),
        ms=context.left_ms(),
        tokens=left_reason(progress),
        answer_tokens=left_answer(progress) if answered else None,
    )
    outcome = context.fx.decide(PROCEED, facts, None).outcome
    return outcome.bound if isinstance(outcome, Stop) else None


def lowered(limits: Limits, bounds: WorkBounds | None) -> Limits:
    """A worker's limits within those of the message that it works for."""
    if bounds is None:
        return limits
    return Limits(
        max_steps=min(limits.max_steps, bounds.max_steps or limits.max_steps),
        max_tokens_reason=min(
            limits.max_tokens_reason, bounds.max_tokens_reason or limits.max_tokens_reason
        ),
        max_tokens_answer=min(
            limits.max_tokens_answer, bounds.max_tokens_answer or limits.max_tokens_answer
        ),
        timeout_seconds=min(
            limits.timeout_seconds, bounds.timeout_ms / 1000 or limits.timeout_seconds
        ),
    )
