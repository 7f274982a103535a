"""The circuits of endpoints and the rests of profiles: who shares one, what opens it, and what ends
it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import BreakerPolicy, ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.ports.model import Charge, ModelError
from ordain.rules.breaker import FAULTS
from ordain.runtime.breakers import (
    NAMED_A_DELAY,
    PAUSE_MS,
    Breakers,
    CircuitAdmission,
    HeldBack,
    is_answer,
    speaks_of_endpoint,
)

POLICY = BreakerPolicy(failures=2, window_s=60, open_s=10, rest_max_s=30)
NEAR = ModelProfile(provider="openai", model="small", base_url="http://near.test/v1")
LARGE = ModelProfile(provider="openai", model="large", base_url="http://near.test/v1")
FAR = ModelProfile(provider="openai", model="small", base_url="http://far.test/v1")
SECOND = 1_000_000


def call(
    breakers: Breakers, profile: ModelProfile, now: int = SECOND, name: str = ""
) -> CircuitAdmission:
    admitted = breakers.admit(name or profile.model, profile, now, POLICY)
    assert isinstance(admitted, CircuitAdmission), admitted
    return admitted


def failing(breakers: Breakers, profile: ModelProfile, times: int = 2, now: int = SECOND) -> None:
    for _ in range(times):
        breakers.ended(call(breakers, profile, now), ModelErrorCode.CONNECTION, now, POLICY)


def test_profiles_of_one_endpoint_share_its_circuit() -> None:
    """What is down is the endpoint: another model there is not asked, the same model elsewhere
    is.
    """
    breakers = Breakers()
    failing(breakers, NEAR)
    left_alone = HeldBack(ModelErrorCode.CIRCUIT_OPEN, 9000)
    assert breakers.admit("large", LARGE, 2 * SECOND, POLICY) == left_alone
    assert breakers.left_alone_ms(LARGE, 2 * SECOND, POLICY) == 9000
    assert breakers.left_alone_ms(FAR, 2 * SECOND, POLICY) == 0
    assert isinstance(breakers.admit("far", FAR, 2 * SECOND, POLICY), CircuitAdmission)
    assert dict(breakers.open()) == {"openai http://near.test/v1": SECOND}


def test_one_probe_finds_out_and_answers_let_more_out() -> None:
    """After its time one call goes out; another one when that is given up; with each answer one
    more beside it, until the circuit is closed. Whoever is held back meanwhile comes again the
    later the longer the probe takes.
    """
    breakers = Breakers()
    failing(breakers, NEAR)
    later = 11 * SECOND
    probe = call(breakers, NEAR, later)
    for since_ms, wait_ms in ((0, 200), (500, 500), (60_000, 2000)):
        now = later + since_ms * 1000
        asked = HeldBack(ModelErrorCode.CIRCUIT_OPEN, wait_ms, "probe")
        assert breakers.admit("large", LARGE, now, POLICY) == asked
    assert breakers.left_alone_ms(LARGE, later, POLICY) == 0
    breakers.abandoned(probe)
    breakers.ended(call(breakers, LARGE, later), None, later, POLICY)
    assert breakers.open()
    both = [call(breakers, LARGE, later) for _ in range(2)]
    assert isinstance(breakers.admit("large", LARGE, later, POLICY), HeldBack)
    breakers.ended(both[0], None, later, POLICY)
    assert not breakers.open()
    breakers.ended(both[1], None, later, POLICY)
    assert not breakers.open()
    assert len({call(breakers, NEAR, later).number for _ in range(3)}) == 3


@given(
    st.lists(
        st.sampled_from([None, *(code for code in ModelErrorCode if code not in FAULTS)]),
        max_size=12,
    )
)
def test_what_an_endpoint_answers_opens_nothing(codes: list[ModelErrorCode | None]) -> None:
    """Refusals show that it is there, however many of them."""
    breakers = Breakers()
    for now, code in enumerate(codes, 1):
        breakers.ended(call(breakers, NEAR, now), code, now, POLICY)
    assert not breakers.open()
    assert isinstance(breakers.admit("small", NEAR, 99, POLICY), CircuitAdmission)


@pytest.mark.parametrize("code", list(ModelErrorCode))
def test_a_rest_is_a_profiles_own_and_named_by_its_provider(code: ModelErrorCode) -> None:
    """Whoever else is behind that endpoint goes on; only a limit or an overload that names a delay
    is heeded.
    """
    breakers = Breakers()
    breakers.rest("small", code, 5000, 0, POLICY)
    refused = breakers.admit("small", NEAR, 2 * SECOND, POLICY)
    assert (refused == HeldBack(code, 3000)) == (code in NAMED_A_DELAY)
    assert isinstance(breakers.admit("large", LARGE, 2 * SECOND, POLICY), CircuitAdmission)
    assert isinstance(breakers.admit("small", NEAR, 5 * SECOND, POLICY), CircuitAdmission)


@given(st.none() | st.integers(0, 10**9), st.integers(0, 3600))
def test_no_rest_is_longer_than_policy_says(named_ms: int | None, most_s: int) -> None:
    """Whatever delay a provider names, none included, and where policy heeds none."""
    policy = POLICY.model_copy(update={"rest_max_s": most_s})
    breakers = Breakers()
    breakers.rest("small", ModelErrorCode.RATE_LIMITED, named_ms, 0, policy)
    wait = breakers.admit("small", NEAR, 0, policy)
    waits_ms = wait.wait_ms if isinstance(wait, HeldBack) else 0
    assert waits_ms == min(named_ms or 0, most_s * 1000)
    assert isinstance(breakers.admit("small", NEAR, most_s * SECOND, policy), CircuitAdmission)


def test_being_overtaken_is_counted_apart() -> None:
    """An endpoint that is left alone as the first of two is still asked by who has no other."""
    breakers = Breakers()
    for _ in range(2):
        first = breakers.admit_first(NEAR, SECOND, POLICY)
        assert isinstance(first, CircuitAdmission)
        breakers.ended(first, ModelErrorCode.TIMED_OUT, SECOND, POLICY)
    held = HeldBack(ModelErrorCode.CIRCUIT_OPEN, 10_000)
    assert breakers.admit_first(NEAR, SECOND, POLICY) == held
    assert isinstance(breakers.admit("small", NEAR, SECOND, POLICY), CircuitAdmission)


@given(st.sampled_from(list(ModelErrorCode)), st.integers(0, 100_000), st.integers(0, 100_000))
def test_our_own_pause_is_never_the_endpoints_fault(
    code: ModelErrorCode, given_ms: int, lost_ms: int
) -> None:
    """A time-out counts after the profile's whole time without what this process stood still; a
    lost connection if it did not; all else always.
    """
    counts = speaks_of_endpoint(code, NEAR, given_ms, lost_ms)
    if code is ModelErrorCode.TIMED_OUT:
        assert counts is (min(given_ms, NEAR.timeout_ms) - lost_ms >= 0.9 * NEAR.timeout_ms)
    elif code is ModelErrorCode.CONNECTION:
        assert counts is (lost_ms < PAUSE_MS)
    else:
        assert counts
    assert not (counts and not speaks_of_endpoint(code, NEAR, given_ms, 0))


def test_an_endpoint_has_answered_once_anything_was_heard_of_it() -> None:
    """An answer or a refusal; a connection that could not be made and a time-out tell nothing.
    Profiles at one address share it.
    """
    breakers = Breakers()
    refused = ModelError(code=ModelErrorCode.CONNECTION, message="", known=Charge.NOTHING_SENT)
    assert not is_answer(refused)
    assert not is_answer(ModelError(code=ModelErrorCode.TIMED_OUT, message=""))
    hung_up = ModelError(code=ModelErrorCode.CONNECTION, message="", known=Charge.POSSIBLE)
    assert not is_answer(hung_up)
    assert is_answer(ModelError(code=ModelErrorCode.AUTHENTICATION, message=""))
    assert not breakers.answered(NEAR)
    breakers.heard_from(NEAR)
    assert breakers.answered(LARGE)
    assert not breakers.answered(FAR)
