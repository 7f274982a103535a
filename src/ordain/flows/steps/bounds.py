"""What bounds a loop of steps, asked after each of them: rule ``proceed`` on what the limits leave."""

from __future__ import annotations

from ordain.flows.context import FlowContext
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.rules.proceed import PROCEED, Bound, ProceedFacts, Stop


def bound_met(context: FlowContext, progress: Progress, *, answered: bool = False) -> Bound | None:
    """The bound that ends the loop here; ``answered``: the last step was a final answer. None: it goes on, or the answer stands."""
    facts = ProceedFacts(
        steps=progress.limits.max_steps - len(progress.steps),
        ms=context.left_ms(),
        tokens=left_reason(progress),
        answer_tokens=left_answer(progress) if answered else None,
    )
    outcome = context.fx.decide(PROCEED, facts, None).outcome
    return outcome.bound if isinstance(outcome, Stop) else None
