"""``ask``: the one way to a model. Lane, budget, attempt, settlement, fallback; every one of them a decision on record.

It returns a complete answer or a typed failure. What the answer means is for the caller to decide by a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from msgspec import UNSET

from ordain.contracts.policy import ModelErrorCode, ModelProfile
from ordain.flows.context import FlowContext
from ordain.ports.effects import Beside, Interrupted, ModelAnswer, ModelCall, ModelFailed, ModelResult, Wait, WaitFor
from ordain.rules.budget import RESERVE, SETTLE, BudgetRefused, ReserveFacts, SettleFacts, Spend, decide_reserve
from ordain.rules.fallback import FALLBACK, FallbackFacts, GiveUp, NextLane, NextProfile, Retry
from ordain.rules.hedge import HEDGE, AskSecond, HedgeFacts
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
REFUSED_EARLY = frozenset(str(code) for code in set(ModelErrorCode) - MAY_HAVE_COST)
TAGS_TOLD = 8
"""Most tags of a verb in the facts of rule ``lane``."""


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

    @property
    def left(self) -> int:
        """How many profiles of the lane come after this one."""
        return len(self.lane.profiles) - self.profile - 1


async def ask(context: FlowContext, question: Question) -> ModelAnswer | AskFailed:
    """Ask until there is an answer, policy forbids another attempt, or the budget or the time is spent."""
    lane = context.lanes.get(question.purpose)
    if lane is None:
        chosen = context.fx.decide(LANE, lane_facts(context, question.purpose, verb_of(question)), None)
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


def verb_of(question: Question) -> str:
    """The verb whose prompt plan asks; "" for every other purpose."""
    return question.contract.removeprefix("verb:") if question.purpose == "verb" else ""


def lane_facts(context: FlowContext, purpose: str, verb: str = "") -> LaneFacts:
    """What rule ``lane`` looks at. Features that only a route table can name are told where policy has one."""
    routes = context.catalog.policy.lanes.routes
    if not routes:
        return LaneFacts(purpose=purpose)
    spec = context.catalog.verbs[verb].spec if verb in context.catalog.verbs else None
    named = {route.tag for route in routes if route.tag is not None}
    return LaneFacts(
        purpose=purpose,
        verb=verb or UNSET,
        category=UNSET if spec is None else str(spec.category),
        tags=UNSET if spec is None else tuple(sorted(named.intersection(spec.tags)))[:TAGS_TOLD],
        budget_class=context.turn.budget_class or UNSET,
        ambiguous=context.turn.ambiguous if context.session else UNSET,
    )


async def _attempt(context: FlowContext, question: Question, attempts: _Attempts) -> ModelResult | AskFailed:
    name = attempts.lane.profiles[attempts.profile]
    after_ms = 0
    if attempts.lane.lane in context.catalog.policy.fallback.hedge_ms and not attempts.total:
        after_ms = _hedge(context, question, attempts)
    hedge = attempts.lane.profiles[attempts.profile + 1] if after_ms else ""
    asked = (name, hedge) if hedge else (name,)
    bound = _bound(context, question, asked)
    reserved = context.fx.decide(RESERVE, _reserve(context, bound), None)
    if isinstance(reserved.outcome, BudgetRefused):
        return AskFailed(code="budget_exceeded", message=f"{reserved.reason}: {reserved.reason.meaning}")
    call = ModelCall(
        purpose=question.purpose,
        prompt=question.prompt,
        refs=question.refs,
        args=question.args,
        contract=question.contract,
        profile=name,
        max_tokens=_max_tokens(context, question, asked),
        bound_tokens=question.prompt_tokens,
        deadline=min(context.deadline, context.now() + _profile(context, name).timeout_ms * 1000),
        keep_thoughts=context.keep_thoughts,
        narrative=question.narrative,
        hedge=hedge,
        hedge_ms=after_ms,
    )
    try:
        result = await context.fx.perform(call)
    except Interrupted as interrupted:
        if interrupted.in_flight:
            _settle(context, bound.tokens, bound)
        raise
    attempts.here += 1
    attempts.total += 1
    used = _used(context, question, result, result.profile or name)
    if hedge and isinstance(result, ModelFailed) and result.code is ModelErrorCode.LOST:
        used = bound  # nobody knows whether the second one had gone out
    if result.beside is not None:
        attempts.total += 1
        used = used.plus(_used_beside(context, question, result.beside))
        if isinstance(result, ModelFailed):  # both failed: what comes next comes after both
            attempts.profile += 1
    _settle(context, bound.tokens, used, (result.seq,))
    return result


def _hedge(context: FlowContext, question: Question, attempts: _Attempts) -> int:
    """After how many milliseconds the lane's next profile is asked too; 0: it is not."""
    both = attempts.lane.profiles[attempts.profile : attempts.profile + 2]
    covered = not isinstance(
        decide_reserve(_reserve(context, _bound(context, question, both)), None, context.catalog.policy).outcome, BudgetRefused
    )
    facts = HedgeFacts(lane=attempts.lane.lane, profiles_left=attempts.left, covered=covered, left_ms=max(0, context.left_ms()))
    outcome = context.fx.decide(HEDGE, facts, None).outcome
    return outcome.after_ms if isinstance(outcome, AskSecond) else 0


def _profile(context: FlowContext, name: str) -> ModelProfile:
    return context.catalog.data.profiles[name]


def _max_tokens(context: FlowContext, question: Question, asked: Sequence[str]) -> int:
    return min(question.max_tokens, *(_profile(context, name).max_tokens for name in asked))


def _bound(context: FlowContext, question: Question, asked: Sequence[str]) -> Spend:
    """The most that asking each of these profiles once can come to."""
    max_tokens, bound = _max_tokens(context, question, asked), Spend()
    for name in asked:
        written = question.prompt_tokens if _profile(context, name).cache else 0  # all of it may go into the provider's cache
        money = cost(_profile(context, name), question.prompt_tokens, max_tokens, 0, written)
        bound = bound.plus(Spend(tokens=question.prompt_tokens + max_tokens, usd_micros=money, model_calls=1))
    return bound


def _reserve(context: FlowContext, bound: Spend) -> ReserveFacts:
    cap, spent = context.account.cap, context.account.spent
    return ReserveFacts(
        tokens=bound.tokens,
        usd_micros=bound.usd_micros,
        left_tokens=cap.tokens - spent.tokens,
        left_usd_micros=cap.usd_micros - spent.usd_micros,
        left_calls=cap.model_calls - spent.model_calls,
        calls=UNSET if bound.model_calls == 1 else bound.model_calls,
    )


def _used(context: FlowContext, question: Question, result: ModelResult, name: str) -> Spend:
    """What an attempt came to; a lost one comes to its reservation, one that sent nothing to nothing."""
    if isinstance(result, ModelAnswer):
        money = cost(_profile(context, name), result.input_tokens, result.output_tokens, result.cached_tokens, result.written_tokens)
        return Spend(tokens=result.input_tokens + result.output_tokens, usd_micros=money, model_calls=1)
    if not result.live:
        return Spend()
    return _bound(context, question, (name,)) if result.code in MAY_HAVE_COST else Spend(model_calls=1)


def _used_beside(context: FlowContext, question: Question, beside: Beside) -> Spend:
    """What the attempt that did not count came to: nothing if it was not sent, else at most its bound, which is what is booked."""
    if not beside.live:
        return Spend()
    return _bound(context, question, (beside.profile,)) if beside.code not in REFUSED_EARLY else Spend(model_calls=1)


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
        profiles_left=attempts.left,
        lane_left=following is not None and bool(lanes.profiles.get(following)),
        left_ms=max(0, context.left_ms()),
        retry_after_ms=failed.retry_after_ms or 0,
    )
    return context.fx.decide(FALLBACK, facts, None, (failed.seq,)).outcome


def cost(profile: ModelProfile, input_tokens: int, output_tokens: int, cached_tokens: int = 0, written_tokens: int = 0) -> int:
    """Micro-dollars at list price, rounded up; of the input, ``cached_tokens`` were read from the provider's cache and ``written_tokens`` written."""
    base = profile.usd_micros_per_1k_input
    cached = min(cached_tokens, input_tokens)
    written = min(written_tokens, input_tokens - cached)
    read_price = base if profile.usd_micros_per_1k_cached is None else profile.usd_micros_per_1k_cached
    write_price = base if profile.usd_micros_per_1k_cache_write is None else profile.usd_micros_per_1k_cache_write
    total = (input_tokens - cached - written) * base + cached * read_price + written * write_price
    return -(-(total + output_tokens * profile.usd_micros_per_1k_output) // 1000)
