"""What attempts come to: between nothing and their bound, by what is known; older records keep the
meaning that their codes had.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, PriceTier
from ordain.effects.results import Beside, ModelAnswer, ModelFailed
from ordain.flows.pricing import affords, bound_of, cost, price_of, price_of_failure, reserve_facts
from ordain.ports.model import REFUSALS, Charge, ModelError
from ordain.rules.budget import Reserved, decide_reserve
from ordain.rules.spend import Spend
from ordain.testing import shipped_policy

prices = st.integers(0, 10_000)
counts = st.integers(0, 100_000)
profiles = st.builds(
    ModelProfile,
    provider=st.just("scripted"),
    model=st.just("m"),
    usd_micros_per_1k_input=prices,
    usd_micros_per_1k_output=prices,
    usd_micros_per_1k_cached=st.none() | prices,
    usd_micros_per_1k_cache_write=st.none() | prices,
    tiers=st.lists(
        st.builds(
            PriceTier,
            above_tokens=st.integers(1, 100_000),
            usd_micros_per_1k_input=prices,
            usd_micros_per_1k_output=prices,
            usd_micros_per_1k_cached=st.none() | prices,
            usd_micros_per_1k_cache_write=st.none() | prices,
        ),
        max_size=3,
    ),
)
few = st.integers(0, 4)
amounts = st.builds(Spend, tokens=few, usd_micros=few, model_calls=few, verb_calls=few)
BOUND = Spend(tokens=100, usd_micros=7, model_calls=1)
CALL = Spend(model_calls=1)
PLAIN = ModelProfile(
    provider="scripted", model="m", usd_micros_per_1k_input=1000, usd_micros_per_1k_output=2000
)
CHARGED_OF_OLD = {"timed_out", "connection", "malformed", "truncated", "filtered", "lost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """An account."""

    cap: Spend
    spent: Spend


def failed(
    code: ModelErrorCode, *, live: bool = True, charged: bool | None = None
) -> tuple[ModelFailed, Beside]:
    """The same failure as a call's own and as one beside another."""
    own = ModelFailed(code=code, message="", provider="p", model="m", live=live, charged=charged)
    return own, Beside(
        profile="n", provider="p", model="m", code=str(code), live=live, charged=charged
    )


@given(profiles, counts, counts, st.tuples(counts, counts, counts, counts))
def test_an_answer_within_its_limits_costs_no_more_than_its_bound(
    profile: ModelProfile, prompt: int, limit: int, counted: tuple[int, int, int, int]
) -> None:
    """What was reserved covers every answer that keeps to the prompt's size and the limit."""
    given_tokens, said, cached, written = counted
    answer = ModelAnswer(
        content="",
        provider="p",
        model="m",
        input_tokens=min(given_tokens, prompt),
        output_tokens=min(said, limit),
        cached_tokens=cached,
        written_tokens=written if profile.cache else 0,
        prompt_digest="",
    )
    used, bound = price_of(profile, answer), bound_of(profile, prompt, limit)
    assert used.tokens <= bound.tokens
    assert used.usd_micros <= bound.usd_micros
    assert used.model_calls == bound.model_calls == 1


@pytest.mark.parametrize(
    ("given_tokens", "micros"),
    [(1000, 1100), (200_000, 200_100), (200_001, 400_202), (300_000, 900_300)],
)
def test_a_long_prompt_has_its_tiers_prices(given_tokens: int, micros: int) -> None:
    """Above a tier the whole call is dearer, its answer too; at the tier itself it is not."""
    tiers = [
        PriceTier(
            above_tokens=250_000, usd_micros_per_1k_input=3000, usd_micros_per_1k_output=3000
        ),
        PriceTier(
            above_tokens=200_000, usd_micros_per_1k_input=2000, usd_micros_per_1k_output=2000
        ),
    ]
    profile = ModelProfile(
        provider="scripted",
        model="m",
        usd_micros_per_1k_input=1000,
        usd_micros_per_1k_output=1000,
        tiers=tiers,
    )
    assert cost(profile, given_tokens, 100) == micros


@pytest.mark.parametrize("code", ModelErrorCode)
def test_records_that_do_not_say_keep_their_meaning(code: ModelErrorCode) -> None:
    """Before a failed attempt told what is known of its cost, its code did: those journals come to
    the same for ever.
    """
    for one in failed(code):
        assert price_of_failure(PLAIN, one, BOUND) == (BOUND if code in CHARGED_OF_OLD else CALL)
    for one in failed(code, live=False):
        assert price_of_failure(PLAIN, one, BOUND) == Spend()


@pytest.mark.parametrize("code", ModelErrorCode)
def test_what_is_known_stands_above_the_code(code: ModelErrorCode) -> None:
    """Where a record says it, the code counts for nothing."""
    for charged, booked in ((True, BOUND), (False, CALL)):
        assert [price_of_failure(PLAIN, one, BOUND) for one in failed(code, charged=charged)] == [
            booked,
            booked,
        ]


@given(prompt=st.integers(1, 200), limit=st.integers(0, 200), cached=st.integers(0, 200))
def test_an_answer_that_was_none_costs_what_it_told(prompt: int, limit: int, cached: int) -> None:
    """Its use is booked as an answer's would be, whatever else is known of the attempt; of one that
    was not sent nothing is.
    """
    use = {"input_tokens": prompt, "output_tokens": limit, "cached_tokens": cached}
    answer = ModelAnswer(content="", provider="p", model="m", prompt_digest="", **use)
    for charged in (None, False, True):
        for one in failed(ModelErrorCode.MALFORMED, charged=charged):
            assert price_of_failure(PLAIN, structs.replace(one, **use), BOUND) == price_of(
                PLAIN, answer
            )
    for one in failed(ModelErrorCode.MALFORMED, live=False):
        assert price_of_failure(PLAIN, structs.replace(one, **use), BOUND) == Spend()


def test_what_told_of_no_use_is_recorded_as_before() -> None:
    """Records of failed attempts have counts only where there are some: older ones are of the same
    bytes.
    """
    for one in failed(ModelErrorCode.MALFORMED):
        assert b"tokens" not in msgspec.json.encode(one)


def test_an_attempt_that_was_given_up_may_have_cost_all() -> None:
    """Nobody knows what became of it."""
    assert (
        price_of_failure(
            PLAIN, Beside(profile="n", provider="p", model="m", code="abandoned"), BOUND
        )
        == BOUND
    )


@pytest.mark.parametrize("code", ModelErrorCode)
def test_an_error_says_what_is_known(code: ModelErrorCode) -> None:
    """An adapter's word goes before the code's; a code that is no refusal leaves the cost open."""
    assert ModelError(code=code, message="").charge is (
        Charge.REFUSED if code in REFUSALS else Charge.POSSIBLE
    )
    for known in Charge:
        assert ModelError(code=code, message="", known=known).charge is known
    assert {
        ModelErrorCode.SERVER_ERROR,
        ModelErrorCode.ADAPTER_BUG,
        *map(ModelErrorCode, CHARGED_OF_OLD),
    }.isdisjoint(REFUSALS)


@given(amounts, amounts, amounts)
def test_what_an_account_affords_is_what_would_be_reserved(
    cap: Spend, spent: Spend, bound: Spend
) -> None:
    """Before a call is built it is known whether rule `reserve` will let it out: by every amount
    but verb calls, after an overrun too.
    """
    account = Left(cap=cap, spent=spent)
    reserved = decide_reserve(reserve_facts(account, bound), None, shipped_policy())
    assert affords(account, bound) is isinstance(reserved.outcome, Reserved)
