"""One authorised call of a leaf verb: attempted, and again where rule ``retry`` says so."""

from __future__ import annotations

import msgspec

from ordain.effects.calls import Authorized
from ordain.effects.effect import VerbCall, Wait, WaitFor
from ordain.effects.results import (
    VerbFailed,
    VerbResult,
    VerbTimedOut,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.flows.context import FlowContext
from ordain.rules.retry import RETRY, RetryFacts, TryAgain


async def call_leaf(context: FlowContext, permit: Authorized, attempts: int) -> VerbResult:
    """What the last attempt came to; ``attempts`` lowers how many there may be, 0 leaves it.

    A repeat that failed of a call in doubt is tried again as any failure is; where that ends it,
    nobody knows.
    """
    verb = permit.call.verb
    spec = context.catalog.verbs[verb].spec
    most = min(attempts or spec.retry.max_attempts, spec.retry.max_attempts)
    attempt = rests = rested_ms = 0
    while True:
        attempt += 1
        deadline = min(context.deadline, context.now() + spec.timeout_ms * 1000)
        result = await context.fx.perform(
            VerbCall(authorized=permit, deadline=deadline, attempt=attempt)
        )
        failed = result.repeat if isinstance(result, VerbUnknown) else result
        resting = isinstance(failed, VerbFailed) and failed.apart
        rests += resting
        if not isinstance(failed, (VerbFailed, VerbTimedOut)) or (most == 1 and not resting):
            return result
        facts = RetryFacts(
            verb=verb,
            code=failed.code if isinstance(failed, VerbFailed) else "timed_out",
            retryable=isinstance(failed, VerbTimedOut) or failed.retryable,
            attempt=attempt - rests,
            max_attempts=most,
            left_ms=max(0, context.left_ms()),
            verb_calls=context.account.spent.verb_calls,
            cap_verb_calls=context.account.cap.verb_calls,
            retry_after_ms=(failed.retry_after_ms if isinstance(failed, VerbFailed) else 0)
            or msgspec.UNSET,
            rested_ms=rested_ms if resting else msgspec.UNSET,
        )
        outcome = context.fx.decide(RETRY, facts, None, (result.seq,)).outcome
        if not isinstance(outcome, TryAgain):
            return result
        rested_ms += outcome.wait_ms if resting else 0
        if outcome.wait_ms:
            await context.fx.perform(
                Wait(
                    what=WaitFor.TIMER,
                    about=f"another try of {verb}",
                    deadline=context.now() + outcome.wait_ms * 1000,
                )
            )


def held_back(result: VerbResult) -> bool:
    """Whether the call was kept from going out, since it may have happened already."""
    return isinstance(result, VerbWithdrawn) and result.in_doubt
