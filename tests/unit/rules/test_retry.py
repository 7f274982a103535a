"""Laws of rule ``retry``."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy, VerbsPolicy
from ordain.rules.backoff import backoff_ms
from ordain.rules.retry import RETRY, RetryFacts, RetryReason, TakeIt, TryAgain
from tests.unit.rules.given import decided, names, texts

retries = st.builds(
    RetryFacts,
    verb=names,
    code=texts,
    retryable=st.booleans(),
    attempt=st.integers(1, 20),
    max_attempts=st.integers(1, 10),
    left_ms=st.integers(-10, 1000),
    verb_calls=st.integers(0, 5),
    cap_verb_calls=st.integers(0, 5),
    retry_after_ms=st.one_of(st.just(msgspec.UNSET), st.integers(1, 2000)),
)
rests = st.builds(
    lambda facts, rested: msgspec.structs.replace(facts, rested_ms=rested),
    retries,
    st.integers(0, 3000),
)
FACTS = RetryFacts(
    verb="v",
    code="busy",
    retryable=True,
    attempt=1,
    max_attempts=3,
    left_ms=1000,
    verb_calls=0,
    cap_verb_calls=5,
)
waits = st.builds(
    VerbsPolicy, retry_wait_ms=st.integers(0, 500), retry_wait_max_ms=st.integers(0, 1500)
)


@given(retries, waits)
def test_a_verb_is_tried_as_often_as_it_declares(facts: RetryFacts, waiting: VerbsPolicy) -> None:
    """A failure is tried again only if it may pass, an attempt is left, there is time and the
    budget has a call; with less of any never.
    """
    policy = Policy(version=1, verbs=waiting)
    decision = decided(RETRY, facts, None, policy)
    again = isinstance(decision.outcome, TryAgain)
    left = (
        facts.attempt < facts.max_attempts
        and facts.left_ms > 0
        and facts.verb_calls < facts.cap_verb_calls
    )
    assert again == (facts.retryable and left and decision.reason is not RetryReason.WAIT_TOO_LONG)
    attempt = 1
    while isinstance(
        decided(RETRY, msgspec.structs.replace(facts, attempt=attempt), None, policy).outcome,
        TryAgain,
    ):
        attempt += 1
    assert attempt <= facts.max_attempts


@given(retries, waits)
def test_a_retry_waits_as_long_as_it_was_asked_to(facts: RetryFacts, waiting: VerbsPolicy) -> None:
    """Never less than the named delay, never more than policy's longest wait, never past the
    deadline.
    """
    decision = decided(RETRY, facts, None, Policy(version=1, verbs=waiting))
    named = 0 if facts.retry_after_ms is msgspec.UNSET else facts.retry_after_ms
    wait = max(named, backoff_ms(waiting.retry_wait_ms, waiting.retry_wait_max_ms, facts.attempt))
    if isinstance(decision.outcome, TryAgain):
        assert named <= decision.outcome.wait_ms == wait <= waiting.retry_wait_max_ms
        assert wait < facts.left_ms
    elif decision.reason is RetryReason.WAIT_TOO_LONG:
        assert wait > waiting.retry_wait_max_ms or wait >= facts.left_ms
    else:
        assert isinstance(decision.outcome, TakeIt)


@given(st.integers(0, 1000), st.integers(0, 100_000), st.integers(0, 40))
def test_waits_grow_up_to_a_bound(first: int, most: int, attempts: int) -> None:
    """Each wait is at least the one before, none is longer than the longest."""
    assert 0 <= backoff_ms(first, most, attempts) <= backoff_ms(first, most, attempts + 1) <= most
    assert backoff_ms(first, most, 0) == 0


@pytest.mark.parametrize(
    ("left_ms", "most_ms", "named_ms", "reason"),
    [
        (1000, 500, 501, RetryReason.WAIT_TOO_LONG),
        (1000, 500, 500, RetryReason.RETRY),
        (400, 500, 400, RetryReason.WAIT_TOO_LONG),
        (401, 500, 400, RetryReason.RETRY),
    ],
)
def test_either_bound_of_a_wait_holds_alone(
    left_ms: int, most_ms: int, named_ms: int, reason: RetryReason
) -> None:
    """What policy finds too long is not waited for although there is time, nor what policy allows
    and the time does not cover.
    """
    policy = Policy(version=1, verbs=VerbsPolicy(retry_wait_ms=0, retry_wait_max_ms=most_ms))
    facts = msgspec.structs.replace(FACTS, left_ms=left_ms, retry_after_ms=named_ms)
    assert decided(RETRY, facts, None, policy).reason is reason


@given(rests, waits)
def test_a_named_rest_is_no_attempt(facts: RetryFacts, waiting: VerbsPolicy) -> None:
    """How often the verb was tried and may be says nothing of it; time, budget and policy's longest
    wait do, which all its rests share.
    """
    policy = Policy(version=1, verbs=waiting)
    decision = decided(RETRY, facts, None, policy)
    assert decided(RETRY, msgspec.structs.replace(facts, max_attempts=1), None, policy) == decision
    if isinstance(decision.outcome, TryAgain):
        assert decision.reason is RetryReason.RESTS
        assert not isinstance(facts.rested_ms, msgspec.UnsetType)
        assert facts.rested_ms + decision.outcome.wait_ms <= waiting.retry_wait_max_ms
        assert facts.retryable
        assert decision.outcome.wait_ms < facts.left_ms
