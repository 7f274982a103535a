"""``ask``: the one way to a model. Lane, budget, attempt, settlement, fallback; every one of them a decision on record.

It returns a complete answer or a typed failure. What the answer means is for the caller to decide by a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from msgspec import UNSET

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import ModelCall, Wait, WaitFor
from ordain.effects.results import Beside, ModelAnswer, ModelFailed, ModelResult
from ordain.flows.context import FlowContext
from ordain.flows.pricing import bound_of, price_of, price_of_failure
from ordain.ports.effects import Interrupted
from ordain.rules.budget import RESERVE, SETTLE, BudgetRefused, ReserveFacts, SettleFacts, decide_reserve
from ordain.rules.fallback import FALLBACK, FallbackFacts, FallbackOutcome, GiveUp, NextLane, NextProfile, Retry
from ordain.rules.hedge import HEDGE, AskSecond, HedgeFacts
from ordain.rules.lane import LANE, LaneEmpty, LaneFacts
from ordain.rules.spend import Spend

RETRY_WAIT = "the provider's retry-after"
"""What a run waits for before another attempt, policy's own waits included: journals hold these words, and they are part of the effect."""
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
    """Where the search for an answer stands: at which profile of the lane, how often each was asked, and how many attempts there were in all.

    ``waiting`` is the failure of the profile after this one, where a hedged call has asked it already: it is judged when its turn comes.
    """

    lane: Any
    profile: int = 0
    total: int = 0
    made: Counter[int] = field(default_factory=Counter[int])
    waiting: ModelFailed | None = None

    @property
    def left(self) -> int:
        """How many profiles of the lane come after this one."""
        return len(self.lane.profiles) - self.profile - 1

    def count(self, profile: int) -> None:
        """One more attempt, at this profile."""
        self.made[profile] += 1
        self.total += 1


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
        failed, outcome = _after(context, attempts, result)
        match outcome:
            case Retry():
                if outcome.wait_ms:
                    deadline = context.now() + outcome.wait_ms * 1000
                    await context.fx.perform(Wait(what=WaitFor.TIMER, about=RETRY_WAIT, deadline=deadline))
            case NextProfile():
                attempts.profile += 1
            case NextLane():
                chosen = context.fx.decide(LANE, LaneFacts(purpose=question.purpose, after=attempts.lane.lane), None)
                if isinstance(chosen.outcome, LaneEmpty):
                    return AskFailed(code=failed.code, message=failed.message)
                attempts = _Attempts(chosen.outcome, total=attempts.total)
            case GiveUp():
                return AskFailed(code=failed.code, message=failed.message)
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
    """One attempt, or two beside each other. Where both fail the first one's failure is the result, and the other's waits for its turn."""
    name, after_ms = attempts.lane.profiles[attempts.profile], 0
    if attempts.lane.lane in context.catalog.policy.fallback.hedge_ms and not attempts.total:
        after_ms = _hedge(context, question, attempts)
    hedge = attempts.lane.profiles[attempts.profile + 1] if after_ms else ""
    bound = _bound(context, question, (name, hedge) if hedge else (name,))
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
        max_tokens=_max_tokens(context, question, name),
        bound_tokens=question.prompt_tokens,
        deadline=_deadline(context, name),
        keep_thoughts=context.keep_thoughts,
        narrative=question.narrative,
        hedge=hedge,
        hedge_ms=after_ms,
        hedge_max_tokens=_max_tokens(context, question, hedge) if hedge else 0,
        hedge_deadline=_deadline(context, hedge, after_ms) if hedge else 0,
    )
    try:
        result = await context.fx.perform(call)
    except Interrupted as interrupted:
        if interrupted.in_flight:
            _settle(context, bound.tokens, bound)
        raise
    attempts.count(attempts.profile)
    used = _used(context, question, result, result.profile or name)
    if hedge and isinstance(result, ModelFailed) and result.code is ModelErrorCode.LOST:
        used = bound  # nobody knows whether the second one had gone out
    if result.beside is not None:
        attempts.count(attempts.profile + 1)
        used = used.plus(price_of_failure(result.beside, _bound(context, question, (result.beside.profile,))))
    _settle(context, bound.tokens, used, (result.seq,))
    if result.beside is None or isinstance(result, ModelAnswer):
        return result
    attempts.waiting = result
    return _first_failure(result.beside, result.seq)


def _first_failure(beside: Beside, seq: int) -> ModelFailed:
    """The failure of a hedged call's own profile, which stands beside the other one's."""
    return ModelFailed(
        seq=seq,
        code=ModelErrorCode(beside.code),
        message=beside.message,
        provider=beside.provider,
        model=beside.model,
        retry_after_ms=beside.retry_after_ms,
    )


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


def _deadline(context: FlowContext, name: str, after_ms: int = 0) -> int:
    """Each profile has its own time, from when it is asked, within the run's."""
    return min(context.deadline, context.now() + (after_ms + _profile(context, name).timeout_ms) * 1000)


def _max_tokens(context: FlowContext, question: Question, name: str) -> int:
    return min(question.max_tokens, _profile(context, name).max_tokens)


def _bound(context: FlowContext, question: Question, asked: Sequence[str]) -> Spend:
    """The most that asking each of these profiles once can come to."""
    bound = Spend()
    for name in asked:
        bound = bound.plus(bound_of(_profile(context, name), question.prompt_tokens, _max_tokens(context, question, name)))
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
    if isinstance(result, ModelAnswer):
        return price_of(_profile(context, name), result)
    return price_of_failure(result, _bound(context, question, (name,)))


def _settle(context: FlowContext, reserved: int, used: Spend, refs: tuple[int, ...] = ()) -> None:
    facts = SettleFacts(reserved=reserved, tokens=used.tokens, usd_micros=used.usd_micros, calls=used.model_calls)
    context.fx.decide(SETTLE, facts, None, refs)
    context.account.book(used)


def _after(context: FlowContext, attempts: _Attempts, failed: ModelFailed) -> tuple[ModelFailed, FallbackOutcome]:
    """What follows, and from which failure: where the next profile's turn comes and it has failed already, that is judged as well."""
    outcome = _fallback(context, attempts, failed)
    if isinstance(outcome, NextProfile) and attempts.waiting is not None:
        attempts.profile += 1
        failed, attempts.waiting = attempts.waiting, None
        outcome = _fallback(context, attempts, failed)
    return failed, outcome


def _fallback(context: FlowContext, attempts: _Attempts, failed: ModelFailed) -> FallbackOutcome:
    lanes = context.catalog.policy.lanes
    following = lanes.next_lane.get(attempts.lane.lane)
    facts = FallbackFacts(
        code=failed.code,
        attempts=attempts.made[attempts.profile],
        attempts_total=attempts.total,
        profiles_left=attempts.left,
        lane_left=following is not None and bool(lanes.profiles.get(following)),
        left_ms=max(0, context.left_ms()),
        retry_after_ms=failed.retry_after_ms or 0,
    )
    return context.fx.decide(FALLBACK, facts, None, (failed.seq,)).outcome
