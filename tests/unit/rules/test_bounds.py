"""Laws of the rules that bound a run: limits, scope, lane, budget and fallback."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from ordain.contracts.model_policy import ModelErrorCode, OnModelError
from ordain.contracts.policy import Lane, Policy
from ordain.rules.budget import (
    RESERVE,
    SETTLE,
    Reserved,
    ReserveFacts,
    ReserveReason,
    SettleFacts,
    SettleReason,
)
from ordain.rules.fallback import (
    FALLBACK,
    UNCOUNTED_MS,
    FallbackFacts,
    FallbackReason,
    GiveUp,
    NextLane,
    NextProfile,
    RetryProfile,
)
from ordain.rules.lane import LANE, LaneChosen, LaneFacts, LaneInputs, LaneReason
from ordain.rules.limits import LIMITS, LimitsFacts, LimitsReason, LimitsSet
from ordain.rules.scope import SCOPE, Scope, ScopeFacts, ScopeInputs, ScopeReason
from tests.unit.rules.given import (
    NAMES,
    catalog,
    catalogs,
    counts,
    decided,
    lanes,
    names,
    policies,
    texts,
)

# --- limits ---------------------------------------------------------------------------------------

asked_limits = st.builds(
    LimitsFacts,
    max_steps=st.integers(1, 1000),
    max_tokens_reason=st.integers(1, 10**7),
    max_tokens_answer=st.integers(1, 10**7),
    timeout_ms=st.integers(0, 86_400_000),
)
FIELDS = ("max_steps", "max_tokens_reason", "max_tokens_answer", "timeout_ms")


def caps(policy: Policy) -> LimitsFacts:
    limits = policy.limits
    return LimitsFacts(
        max_steps=limits.max_steps,
        max_tokens_reason=limits.max_tokens_reason,
        max_tokens_answer=limits.max_tokens_answer,
        timeout_ms=round(limits.timeout_seconds * 1000),
    )


def limits(facts: LimitsFacts, policy: Policy) -> LimitsSet:
    return decided(LIMITS, facts, None, policy).outcome


@given(asked_limits, policies)
def test_a_limit_is_neither_above_the_request_nor_above_the_cap(
    facts: LimitsFacts, policy: Policy
) -> None:
    """A cap lowers, nothing raises: each limit is one of the two, and what was lowered is named,
    exactly that.
    """
    held, cap = limits(facts, policy), caps(policy)
    for field in FIELDS:
        value = getattr(held, field)
        assert value in {getattr(facts, field), getattr(cap, field)}
        assert value <= getattr(facts, field)
        assert value <= getattr(cap, field)
        assert (field in held.clamped) == (value < getattr(facts, field))
    reason = decided(LIMITS, facts, None, policy).reason
    assert reason is (LimitsReason.CLAMPED if held.clamped else LimitsReason.AS_ASKED)


@given(asked_limits, policies, st.sampled_from(FIELDS), st.integers(0, 1000))
def test_a_lower_cap_or_request_raises_no_limit(
    facts: LimitsFacts, policy: Policy, field: str, less: int
) -> None:
    """Lowering one cap, or asking for less of one thing, leaves every limit where it was or lowers
    it.
    """
    before = limits(facts, policy)
    lowered = msgspec.structs.replace(facts, **{field: max(0, getattr(facts, field) - less)})
    name = "timeout_seconds" if field == "timeout_ms" else field
    cap = getattr(policy.limits, name)
    lower: Any = max(0.001, cap - less / 1000) if field == "timeout_ms" else max(1, cap - less)
    tighter = policy.model_copy(update={"limits": policy.limits.model_copy(update={name: lower})})
    for after in (limits(lowered, policy), limits(facts, tighter)):
        assert all(getattr(after, each) <= getattr(before, each) for each in FIELDS)


# --- scope ----------------------------------------------------------------------------------------


@given(st.lists(names, max_size=6), catalogs())
def test_scope_is_what_was_asked_or_nothing(asked: list[str], found: Any) -> None:
    """All asked verbs are in scope, once each and in order; or, where one is unknown or switched
    off, none and it is named.
    """
    decision = decided(
        SCOPE,
        ScopeFacts(asked=len(asked), digest="d"),
        ScopeInputs(asked=tuple(asked), catalog=found),
        found.policy,
    )
    bad = [
        verb
        for verb in asked
        if verb not in found.verbs or found.inactive_reason(verb, found.policy.verbs) is not None
    ]
    if bad:
        assert decision.outcome.verb == bad[0]
        unknown = bad[0] not in found.verbs
        assert decision.reason is (
            ScopeReason.UNKNOWN_VERB if unknown else ScopeReason.INACTIVE_VERB
        )
        assert decision.outcome.code.partition(":")[0] == (
            "unknown_verb" if unknown else "inactive_verb"
        )
    else:
        assert decision.outcome == Scope(tuple(dict.fromkeys(asked)))


@given(st.lists(st.sampled_from(NAMES), max_size=5), catalogs(), st.data())
def test_asking_for_less_or_denying_more_never_widens_the_scope(
    asked: list[str], found: Any, data: st.DataObject
) -> None:
    """A part of what was granted is granted; a longer deny list or fewer verbs grant nothing that
    was not granted before.
    """
    inputs = ScopeInputs(asked=tuple(asked), catalog=found)
    granted = decided(SCOPE, ScopeFacts(asked=len(asked), digest="d"), inputs, found.policy).outcome
    part = [verb for verb in asked if data.draw(st.booleans())]
    less = decided(
        SCOPE,
        ScopeFacts(asked=len(part), digest="d"),
        ScopeInputs(asked=tuple(part), catalog=found),
        found.policy,
    ).outcome
    if isinstance(granted, Scope):
        assert isinstance(less, Scope)
        assert set(less.verbs) <= set(granted.verbs)
    verbs = found.policy.verbs
    deny = [*verbs.default.deny, data.draw(st.sampled_from([*NAMES, "*", "b.*"]))]
    tighter = found.policy.model_copy(
        update={
            "verbs": verbs.model_copy(
                update={"default": verbs.default.model_copy(update={"deny": deny})}
            )
        }
    )
    narrower = catalog(
        {name: verb.spec for name, verb in found.verbs.items() if data.draw(st.booleans())}, tighter
    )
    narrowed = decided(
        SCOPE,
        ScopeFacts(asked=len(asked), digest="d"),
        ScopeInputs(asked=tuple(asked), catalog=narrower),
        tighter,
    ).outcome
    assert not isinstance(narrowed, Scope) or narrowed == granted


# --- lane -----------------------------------------------------------------------------------------


@given(
    st.builds(
        LaneFacts,
        purpose=st.one_of(st.sampled_from(["planner", "verb"]), texts),
        after=st.one_of(st.none(), lanes),
    ),
    policies,
)
def test_a_lane_is_the_policys(facts: LaneFacts, policy: Policy) -> None:
    """The lane is the purpose's, or the one that policy names after the failed one; its profiles
    are policy's in order, or it is empty.
    """

    def of_purpose(policy: Policy) -> Lane:
        return policy.lanes.planner if facts.purpose == "planner" else policy.lanes.verb

    decision = decided(LANE, facts, LaneInputs(by_purpose=of_purpose), policy)
    table, own = policy.lanes, of_purpose(policy)
    assert decision.outcome.lane is (
        own if facts.after is None else table.next_lane.get(facts.after, facts.after)
    )
    profiles = table.profiles.get(decision.outcome.lane, [])
    if isinstance(decision.outcome, LaneChosen):
        assert list(decision.outcome.profiles) == profiles != []
    else:
        assert (decision.reason, profiles) == (LaneReason.EMPTY, [])


# --- budget ---------------------------------------------------------------------------------------

rests = st.integers(-1000, 1000)  # less than nothing after an overrun
spends = st.builds(
    ReserveFacts,
    tokens=counts,
    usd_micros=counts,
    left_tokens=rests,
    left_usd_micros=rests,
    left_calls=rests,
)


@given(spends, policies)
def test_a_call_that_might_not_fit_does_not_start(facts: ReserveFacts, policy: Policy) -> None:
    """With what is reserved nothing exceeds what is left; otherwise the reason names what is
    short.
    """
    decision = decided(RESERVE, facts, None, policy)
    if isinstance(decision.outcome, Reserved):
        assert facts.tokens <= facts.left_tokens
        assert facts.usd_micros <= facts.left_usd_micros
        assert facts.left_calls > 0
    else:
        short = {
            ReserveReason.MODEL_CALLS: facts.left_calls <= 0,
            ReserveReason.TOKENS: facts.tokens > facts.left_tokens,
            ReserveReason.MONEY: facts.usd_micros > facts.left_usd_micros,
        }
        assert short[decision.reason]


@given(
    spends,
    policies,
    st.sampled_from([name for name in ReserveFacts.__struct_fields__ if name != "calls"]),
    counts,
)
def test_less_budget_never_allows_more(
    facts: ReserveFacts, policy: Policy, field: str, by: int
) -> None:
    """A larger call, or less that is left: what was refused stays refused."""
    sign = -1 if field.startswith("left_") else 1
    worse = msgspec.structs.replace(facts, **{field: getattr(facts, field) + sign * by})
    if isinstance(decided(RESERVE, worse, None, policy).outcome, Reserved):
        assert isinstance(decided(RESERVE, facts, None, policy).outcome, Reserved)


@given(st.lists(st.tuples(counts, counts, st.integers(0, 5)), max_size=8), counts, policies)
def test_a_run_overspends_by_no_more_than_its_last_overrun(
    calls: list[tuple[int, int, int]], cap: int, policy: Policy
) -> None:
    """Whatever calls come to, the tokens booked exceed the cap at most by overruns, and after one
    that did nothing more starts.
    """
    spent = overruns = 0
    for made, (bound, used, more) in enumerate(calls):
        reserved = decided(
            RESERVE,
            ReserveFacts(
                tokens=bound,
                usd_micros=0,
                left_tokens=cap - spent,
                left_usd_micros=0,
                left_calls=100 - made,
            ),
            None,
            policy,
        )
        if not isinstance(reserved.outcome, Reserved):
            continue
        assert spent <= cap
        really = min(used, bound) + more
        settled = decided(
            SETTLE, SettleFacts(reserved=bound, tokens=really, usd_micros=0, calls=1), None, policy
        )
        assert settled.outcome.overrun_tokens == max(0, really - bound)
        assert (settled.reason is SettleReason.OVERRUN) == (really > bound)
        spent, overruns = spent + really, overruns + settled.outcome.overrun_tokens
        assert spent <= cap + overruns


# --- fallback -------------------------------------------------------------------------------------

failures = st.builds(
    FallbackFacts,
    code=st.sampled_from(ModelErrorCode),
    attempts=st.integers(1, 20),
    attempts_total=st.integers(1, 60),
    profiles_left=st.integers(0, 5),
    lane_left=st.booleans(),
    left_ms=st.integers(0, 10_000),
    retry_after_ms=st.integers(0, 20_000),
    held=st.integers(1, 9) | st.just(UNSET),
    waited_ms=st.integers(0, 9_000) | st.just(UNSET),
    lost=st.integers(1, 9) | st.just(UNSET),
    unanswered=st.just(True) | st.just(UNSET),
    rests=st.just(True) | st.just(UNSET),
)


@given(failures, policies)
def test_fallback_stays_within_policy_and_time(facts: FallbackFacts, policy: Policy) -> None:
    """Another attempt needs an error that policy lists, an attempt left and time; it goes only
    where there is something left.
    """
    outcome = decided(FALLBACK, facts, None, policy).outcome
    if isinstance(outcome, GiveUp):
        return
    assert facts.code in policy.fallback.on_error
    assert facts.attempts_total < policy.fallback.attempts_total
    assert facts.left_ms > 0
    if isinstance(outcome, RetryProfile):
        table, last = policy.fallback, not (facts.profiles_left or facts.lane_left)
        turned_away = (
            facts.held is not UNSET
            and not last
            and (facts.code is ModelErrorCode.CONNECTION or facts.rests is True)
        )
        # what was held back is counted by itself
        made = facts.held if turned_away and facts.held is not UNSET else facts.attempts
        assert made < max(table.attempts_per_profile, table.attempts_at_last if last else 0)
        assert outcome.wait_ms < facts.left_ms
        assert outcome.wait_ms >= facts.retry_after_ms or facts.unanswered is True
        if facts.unanswered is True and facts.waited_ms is not UNSET:
            assert facts.waited_ms + outcome.wait_ms <= table.unanswered_max_ms
    assert not isinstance(outcome, NextProfile) or facts.profiles_left
    assert not isinstance(outcome, NextLane) or facts.lane_left


@given(policies, st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_rests_that_a_provider_names_use_up_time_alone(policy: Policy, delays: list[int]) -> None:
    """The only model is asked after each delay it names until the time is over, however often that
    is; none is shorter than the floor, so they come to an end.
    """
    left, waited = 60_000, 0
    for held, named in enumerate(delays, 1):
        facts = FallbackFacts(
            code=ModelErrorCode.RATE_LIMITED,
            attempts=0,
            attempts_total=0,
            profiles_left=0,
            lane_left=False,
            left_ms=left,
            retry_after_ms=named,
            held=held,
            waited_ms=waited,
            rests=True,
        )
        made = decided(FALLBACK, facts, None, policy)
        if policy.fallback.on_error.get(ModelErrorCode.RATE_LIMITED) not in {
            OnModelError.RETRY,
            OnModelError.NEXT_OR_RETRY,
        }:
            assert made.outcome == GiveUp()
            return
        if isinstance(made.outcome, GiveUp):
            assert made.reason is FallbackReason.NO_TIME
            assert max(named, policy.fallback.backoff_max_ms, UNCOUNTED_MS) >= left
            return
        assert isinstance(made.outcome, RetryProfile)
        assert made.reason is FallbackReason.RESTS
        assert max(named, UNCOUNTED_MS) <= made.outcome.wait_ms < left
        left, waited = left - made.outcome.wait_ms, waited + made.outcome.wait_ms


@given(failures, policies, st.integers(0, 5), st.integers(0, 5))
def test_fewer_attempts_or_less_time_never_go_on_longer(
    facts: FallbackFacts, policy: Policy, attempts: int, left_ms: int
) -> None:
    """With less time, more attempts made or a lower total, what was given up stays given up."""
    worse = msgspec.structs.replace(
        facts,
        attempts_total=facts.attempts_total + attempts,
        left_ms=max(0, facts.left_ms - left_ms),
        profiles_left=0,
        lane_left=False,
    )
    table = policy.fallback
    lower = policy.model_copy(
        update={
            "fallback": table.model_copy(
                update={"attempts_total": max(1, table.attempts_total - attempts)}
            )
        }
    )
    for again, under in ((worse, policy), (facts, lower)):
        if not isinstance(decided(FALLBACK, again, None, under).outcome, GiveUp):
            assert not isinstance(decided(FALLBACK, facts, None, policy).outcome, GiveUp)


@given(
    policies,
    st.integers(1, 4),
    st.lists(
        st.tuples(st.sampled_from(ModelErrorCode), st.integers(0, 3000)), min_size=60, max_size=60
    ),
)
def test_a_call_is_never_tried_more_often_than_policy_permits(
    policy: Policy, profiles: int, errors: list[tuple[ModelErrorCode, int]]
) -> None:
    """Driven as ``ask`` drives it, whatever fails: attempts stay within the total and within those
    of each profile, lanes in circles included.
    """
    table, lane = policy.fallback, Lane.WORKER
    profile = here = total = waited = 0
    for code, retry_after_ms in errors:
        here, total = here + 1, total + 1
        assert here <= max(table.attempts_per_profile, table.attempts_at_last)
        assert here <= table.attempts_per_profile or (
            profile == profiles - 1 and lane not in policy.lanes.next_lane
        )
        assert total <= table.attempts_total
        facts = FallbackFacts(
            code=code,
            attempts=here,
            attempts_total=total,
            profiles_left=profiles - profile - 1,
            lane_left=lane in policy.lanes.next_lane,
            left_ms=max(0, 5000 - waited),
            retry_after_ms=retry_after_ms,
        )
        match decided(FALLBACK, facts, None, policy).outcome:
            case RetryProfile(wait_ms=wait_ms):
                waited += wait_ms
                assert waited < 5000
            case NextProfile():
                profile, here = profile + 1, 0
                assert profile < profiles
            case NextLane():
                lane = policy.lanes.next_lane[lane]
                profile = here = 0
            case _:
                return
    raise AssertionError("it never gave up")
