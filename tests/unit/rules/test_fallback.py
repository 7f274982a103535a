"""Rule ``fallback``: how long the last model is kept at, what a time-out leads to, and how long one
is waited for that is not reached.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import FallbackPolicy, ModelErrorCode, OnModelError
from ordain.contracts.policy import Policy
from ordain.rules.fallback import (
    FALLBACK,
    FallbackFacts,
    FallbackOutcome,
    FallbackReason,
    GiveUp,
    NextLane,
    NextProfile,
    RetryProfile,
)
from ordain.settings import load_settings
from tests.unit.rules.given import decided

CONNECTION, OPEN = ModelErrorCode.CONNECTION, ModelErrorCode.CIRCUIT_OPEN


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """The shipped policy."""
    home: Path = tmp_path_factory.mktemp("home")
    return load_settings({}, home).policy


def after(
    policy: Policy, code: ModelErrorCode, attempts: int, **facts: object
) -> tuple[FallbackOutcome, FallbackReason]:
    """What follows the failure, and why, where nothing else is said: one model, and time."""
    given = {
        "attempts_total": attempts,
        "profiles_left": 0,
        "lane_left": False,
        "left_ms": 60_000,
        **facts,
    }
    made = decided(FALLBACK, FallbackFacts(code=code, attempts=attempts, **given), None, policy)
    return made.outcome, made.reason


@pytest.mark.parametrize(
    "code", ["server_error", "overloaded", "rate_limited", "timed_out", "connection"]
)
def test_the_only_model_is_kept_at_for_some_seconds(shipped: Policy, code: str) -> None:
    """What its endpoint gets over by itself: five waits, each twice as long, then it is given
    up.
    """
    made = [after(shipped, ModelErrorCode(code), attempts) for attempts in range(1, 7)]
    assert [outcome.wait_ms for outcome, _ in made if isinstance(outcome, RetryProfile)] == [
        200,
        400,
        800,
        1600,
        3200,
    ]
    assert made[-1] == (GiveUp(), FallbackReason.EXHAUSTED)


@pytest.mark.parametrize(
    "code", ["malformed", "truncated", "authentication", "quota_exceeded", "context_too_long"]
)
def test_what_does_not_pass_by_itself_is_not_paid_for_again_and_again(
    shipped: Policy, code: str
) -> None:
    """The table's answer, within the attempts of any profile."""
    assert after(shipped, ModelErrorCode(code), 2) == (GiveUp(), FallbackReason.EXHAUSTED)


GIVES_WAY = {
    *("timed_out", "quota_exceeded", "authentication", "not_found", "context_too_long"),
    *("truncated", "adapter_bug", "withdrawn"),
}
KEPT_AT = {
    *("rate_limited", "overloaded", "server_error", "connection", "lost", "malformed"),
    "circuit_open",
}


@pytest.mark.parametrize("code", sorted(map(str, ModelErrorCode)))
def test_what_follows_each_error_as_shipped(shipped: Policy, code: str) -> None:
    """While another model is left: it comes at once where this one is known not to answer, this one
    is asked again where that may help, and a request that is itself at fault is asked nowhere.
    """
    outcome, _ = after(shipped, ModelErrorCode(code), 1, profiles_left=1)
    assert (outcome == NextProfile(), isinstance(outcome, RetryProfile)) == (
        code in GIVES_WAY,
        code in KEPT_AT,
    )


def test_where_another_model_is_left_it_comes_after_as_few_attempts_as_ever(
    shipped: Policy,
) -> None:
    """A time-out gives way at once, an error that may pass after two attempts."""
    assert after(shipped, ModelErrorCode.TIMED_OUT, 1, profiles_left=1)[0] == NextProfile()
    assert isinstance(
        after(shipped, ModelErrorCode.SERVER_ERROR, 1, profiles_left=1)[0], RetryProfile
    )
    assert after(shipped, ModelErrorCode.SERVER_ERROR, 2, lane_left=True)[0] == NextLane()


def test_a_circuit_that_opened_in_the_midst_takes_no_attempt_away(shipped: Policy) -> None:
    """After five attempts the last model is waited for, and has its sixth; so it has after its call
    was lost with the process.
    """
    assert isinstance(
        after(shipped, OPEN, 5, held=1, waited_ms=0, retry_after_ms=5000)[0], RetryProfile
    )
    assert after(shipped, ModelErrorCode.LOST, 5, lost=1) == (RetryProfile(0), FallbackReason.LOST)


def test_a_policy_of_before_decides_as_before() -> None:
    """Without the new keys: so many attempts at each profile, and nothing but another one follows a
    time-out.
    """
    table = FallbackPolicy(
        on_error={
            ModelErrorCode.SERVER_ERROR: OnModelError.RETRY,
            ModelErrorCode.TIMED_OUT: OnModelError.NEXT,
        }
    )
    policy = Policy(version=1, fallback=table)
    assert after(policy, ModelErrorCode.SERVER_ERROR, 1)[0] == RetryProfile(0)
    assert after(policy, ModelErrorCode.SERVER_ERROR, 2) == (GiveUp(), FallbackReason.EXHAUSTED)
    assert after(policy, ModelErrorCode.TIMED_OUT, 1) == (GiveUp(), FallbackReason.EXHAUSTED)


def unreached(policy: Policy, *, until_ms: int, **facts: object) -> tuple[int, int, FallbackReason]:
    """How long was waited for a model that cannot be reached, how often it was asked, and why that
    ended.
    """
    waited = 0
    for held in range(1, 10_000):
        outcome, why = after(
            policy,
            CONNECTION,
            0,
            **{"left_ms": until_ms - waited, "held": held, "waited_ms": waited, **facts},
        )
        if not isinstance(outcome, RetryProfile):
            return waited, held, why
        assert outcome.wait_ms > 0
        waited += outcome.wait_ms
    raise AssertionError("it never gave up")


def test_a_model_that_was_never_there_is_waited_for_so_long_and_no_longer(shipped: Policy) -> None:
    """Until policy's bound exactly, and then it is said why; policy's own wait of zero is no
    storm.
    """
    assert unreached(shipped, until_ms=600_000, unanswered=True) == (
        10_000,
        7,
        FallbackReason.UNANSWERED,
    )
    at_once = shipped.model_copy(
        update={
            "fallback": shipped.fallback.model_copy(update={"backoff_ms": 0, "backoff_max_ms": 0})
        }
    )
    assert unreached(at_once, until_ms=600_000, unanswered=True) == (
        10_000,
        51,
        FallbackReason.UNANSWERED,
    )
    never = shipped.model_copy(
        update={"fallback": shipped.fallback.model_copy(update={"unanswered_max_ms": 0})}
    )
    assert unreached(never, until_ms=600_000, unanswered=True) == (0, 1, FallbackReason.UNANSWERED)


def test_a_model_that_has_answered_before_is_waited_for_within_the_runs_time(
    shipped: Policy,
) -> None:
    """As a rest is: the attempts are not touched by it."""
    waited, _, why = unreached(shipped, until_ms=120_000)
    assert why is FallbackReason.NO_TIME
    assert 110_000 <= waited < 120_000


def test_where_another_model_is_left_one_that_is_not_reached_gives_way(shipped: Policy) -> None:
    """As soon as one that fails."""
    assert unreached(shipped, until_ms=600_000, profiles_left=1) == (
        200,
        2,
        FallbackReason.NEXT_PROFILE,
    )


def test_an_open_circuit_of_a_model_that_was_never_there_has_the_same_bound(
    shipped: Policy,
) -> None:
    """A run that others have spared the attempts hears of it no later."""
    held = {"held": 3, "unanswered": True, "retry_after_ms": 5000}
    assert after(shipped, OPEN, 0, waited_ms=8_000, **held)[0] == RetryProfile(2_000)
    assert after(shipped, OPEN, 0, waited_ms=10_000, **held) == (
        GiveUp(),
        FallbackReason.UNANSWERED,
    )


def test_what_is_not_held_so_is_asked_for_in_the_next_way(shipped: Policy) -> None:
    """At once and without a wait, of the same model, whatever else the table says of the code;
    within all attempts and the time.
    """
    for code, left in ((ModelErrorCode.REJECTED, 0), (ModelErrorCode.MALFORMED, 1)):
        assert after(shipped, code, 3, lower=True, profiles_left=left) == (
            RetryProfile(0),
            FallbackReason.LOWER,
        )
    assert after(shipped, ModelErrorCode.REJECTED, 1) == (GiveUp(), FallbackReason.NOT_RETRYABLE)
    spent = shipped.fallback.attempts_total
    assert after(shipped, ModelErrorCode.MALFORMED, spent, lower=True)[0] == GiveUp()
    assert after(shipped, ModelErrorCode.MALFORMED, 1, lower=True, left_ms=0)[0] == GiveUp()


@given(st.integers(0, 5000), st.integers(1, 3000), st.sampled_from(["rest", "probe"]))
def test_no_turn_is_asked_for_without_end(bound_ms: int, ms: int, turn: str) -> None:
    """Of a model that never answered, whatever policy's wait is: no wait is none, and all of them
    come to twice that and a turn at most.
    """
    table = FallbackPolicy(
        on_error={OPEN: OnModelError.RETRY}, unanswered_max_ms=bound_ms, wait_max_ms=0
    )
    policy, waited, why = Policy(version=1, fallback=table), 0, FallbackReason.HELD
    facts = {"turn": turn, "retry_after_ms": ms, "unanswered": True, "left_ms": 10**9}
    for held in range(1, 20_000):
        outcome, why = after(policy, OPEN, 0, held=held, waited_ms=waited, **facts)
        if not isinstance(outcome, RetryProfile):
            break
        assert outcome.wait_ms > 0
        waited += outcome.wait_ms
    assert why is FallbackReason.UNANSWERED
    assert waited <= 2 * bound_ms + max(ms, 1000)
