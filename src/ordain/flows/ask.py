"""``ask``: the one way to a model. Lane, budget, attempt, settlement, fallback; every one of them a decision on record.

It returns a complete answer or a typed failure. What the answer means is for the caller to decide by a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from ordain.contracts.policy import ModelErrorCode, ModelProfile
from ordain.flows.context import FlowContext
from ordain.ports.effects import Interrupted, ModelAnswer, ModelCall, ModelFailed, ModelResult, Wait, WaitFor
from ordain.rules.budget import RESERVE, SETTLE, BudgetRefused, ReserveFacts, SettleFacts, Spend
from ordain.rules.fallback import FALLBACK, FallbackFacts, GiveUp, NextLane, NextProfile, Retry
from ordain.rules.lane import LANE, LaneEmpty, LaneFacts

MAY_HAVE_COST = frozenset(
    {
        ModelErrorCode.TIMED_OUT,
        ModelErrorCode.CONNECTION,
        ModelErrorCode.MALFORMED,
        ModelErrorCode.TRUNCATED,
        ModelErrorCode.FILTERED,
        ModelErrorCode.LOST,
    }
)
"""Errors after which the provider may have charged: they settle at their reservation. The others were refused before work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to ask: the prompt by template and records, the answer's contract, its bounds in tokens, and what of it may be shown early."""

    purpose: str
    prompt: str
    contract: str
    refs: tuple[int, ...]
    args: dict[str, Any]
    prompt_tokens: int
    max_tokens: int
    narrative: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFailed:
    """No answer was had; ``code`` is a model error code or a budget or lane reason."""

    code: str
    message: str


@dataclass(slots=True)
class _Attempts:
    """Where the search for an answer stands."""

    lane: Any
    profile: int = 0
    here: int = 0
    total: int = 0


async def ask(context: FlowContext, question: Question) -> ModelAnswer | AskFailed:
    """Ask until there is an answer, policy forbids another attempt, or the budget or the time is spent."""
    lane = context.lanes.get(question.purpose)
    if lane is None:
        chosen = context.fx.decide(LANE, LaneFacts(purpose=question.purpose), None)
        if isinstance(chosen.outcome, LaneEmpty):
            return AskFailed(code=chosen.reason, message=f"no model behind lane {chosen.outcome.lane}")
        lane = context.lanes[question.purpose] = chosen.outcome
    attempts = _Attempts(lane)
    while True:
        result = await _attempt(context, question, attempts)
        if not isinstance(result, ModelFailed):
            return result
        outcome = _after(context, attempts, result)
        match outcome:
            case Retry():
                if outcome.wait_ms:
                    await context.fx.perform(
                        Wait(what=WaitFor.TIMER, about="the provider's retry-after", deadline=context.now() + outcome.wait_ms * 1000)
                    )
            case NextProfile():
                attempts.profile, attempts.here = attempts.profile + 1, 0
            case NextLane():
                chosen = context.fx.decide(LANE, LaneFacts(purpose=question.purpose, after=attempts.lane.lane), None)
                if isinstance(chosen.outcome, LaneEmpty):
                    return AskFailed(code=result.code, message=result.message)
                attempts = _Attempts(chosen.outcome, total=attempts.total)
            case GiveUp():
                return AskFailed(code=result.code, message=result.message)
            case _:
                assert_never(outcome)


async def _attempt(context: FlowContext, question: Question, attempts: _Attempts) -> ModelResult | AskFailed:
    name = attempts.lane.profiles[attempts.profile]
    profile = context.catalog.data.profiles[name]
    max_tokens = min(question.max_tokens, profile.max_tokens)
    bound = Spend(tokens=question.prompt_tokens + max_tokens, usd_micros=cost(profile, question.prompt_tokens, max_tokens), model_calls=1)
    cap, spent = context.account.cap, context.account.spent
    facts = ReserveFacts(
        tokens=bound.tokens,
        usd_micros=bound.usd_micros,
        left_tokens=cap.tokens - spent.tokens,
        left_usd_micros=cap.usd_micros - spent.usd_micros,
        left_calls=cap.model_calls - spent.model_calls,
    )
    reserved = context.fx.decide(RESERVE, facts, None)
    if isinstance(reserved.outcome, BudgetRefused):
        return AskFailed(code="budget_exceeded", message=f"{reserved.reason}: {reserved.reason.meaning}")
    call = ModelCall(
        purpose=question.purpose,
        prompt=question.prompt,
        refs=question.refs,
        args=question.args,
        contract=question.contract,
        profile=name,
        max_tokens=max_tokens,
        bound_tokens=question.prompt_tokens,
        deadline=min(context.deadline, context.now() + profile.timeout_ms * 1000),
        keep_thoughts=context.keep_thoughts,
        narrative=question.narrative,
    )
    try:
        result = await context.fx.perform(call)
    except Interrupted as interrupted:
        if interrupted.in_flight:
            _settle(context, bound.tokens, bound)
        raise
    attempts.here += 1
    attempts.total += 1
    _settle(context, bound.tokens, _used(profile, bound, result), (result.seq,))
    return result


def _used(profile: ModelProfile, bound: Spend, result: ModelResult) -> Spend:
    """What an attempt came to; a lost one comes to its reservation, one that sent nothing to nothing."""
    if isinstance(result, ModelAnswer):
        money = cost(profile, result.input_tokens, result.output_tokens)
        return Spend(tokens=result.input_tokens + result.output_tokens, usd_micros=money, model_calls=1)
    if not result.live:
        return Spend()
    return bound if result.code in MAY_HAVE_COST else Spend(model_calls=1)


def _settle(context: FlowContext, reserved: int, used: Spend, refs: tuple[int, ...] = ()) -> None:
    facts = SettleFacts(reserved=reserved, tokens=used.tokens, usd_micros=used.usd_micros, calls=used.model_calls)
    context.fx.decide(SETTLE, facts, None, refs)
    context.account.book(used)


def _after(context: FlowContext, attempts: _Attempts, failed: ModelFailed) -> Retry | NextProfile | NextLane | GiveUp:
    lanes = context.catalog.policy.lanes
    following = lanes.next_lane.get(attempts.lane.lane)
    facts = FallbackFacts(
        code=failed.code,
        attempts=attempts.here,
        attempts_total=attempts.total,
        profiles_left=len(attempts.lane.profiles) - attempts.profile - 1,
        lane_left=following is not None and bool(lanes.profiles.get(following)),
        left_ms=max(0, context.left_ms()),
        retry_after_ms=failed.retry_after_ms or 0,
    )
    return context.fx.decide(FALLBACK, facts, None, (failed.seq,)).outcome


def cost(profile: ModelProfile, input_tokens: int, output_tokens: int) -> int:
    """Micro-dollars at list price, rounded up."""
    total = input_tokens * profile.usd_micros_per_1k_input + output_tokens * profile.usd_micros_per_1k_output
    return -(-total // 1000)
