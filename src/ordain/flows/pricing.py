"""What asking a model can come to, and what it came to: tokens, and money at the profile's list price. Pure; money is integer micro-dollars."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, PriceTier
from ordain.effects.results import Beside, ModelAnswer, ModelFailed
from ordain.rules.spend import Spend

UNTOLD_REFUSALS = frozenset(
    set(ModelErrorCode)
    - {
        ModelErrorCode.TIMED_OUT,
        ModelErrorCode.CONNECTION,
        ModelErrorCode.MALFORMED,
        ModelErrorCode.TRUNCATED,
        ModelErrorCode.FILTERED,
        ModelErrorCode.LOST,
    }
)
"""Codes that were booked without tokens before records said what is known of a failed attempt's cost: journals of that time keep their meaning."""


def bound_of(profile: ModelProfile, prompt_tokens: int, max_tokens: int) -> Spend:
    """The most that asking once can come to: at the dearest of the prices that a prompt of up to this size may have."""
    # All of it may come out of the provider's cache, go into it where that is asked for, or do neither.
    ways = ((0, 0), (prompt_tokens, 0), (0, prompt_tokens if profile.cache else 0))
    money = max(_at(prices, prompt_tokens, max_tokens, *way) for prices in _possible(profile, prompt_tokens) for way in ways)
    return Spend(tokens=prompt_tokens + max_tokens, usd_micros=money, model_calls=1)


def price_of(profile: ModelProfile, answer: ModelAnswer) -> Spend:
    """What an answer came to."""
    money = cost(profile, answer.input_tokens, answer.output_tokens, answer.cached_tokens, answer.written_tokens)
    return Spend(tokens=answer.input_tokens + answer.output_tokens, usd_micros=money, model_calls=1)


def price_of_failure(failed: ModelFailed | Beside, bound: Spend) -> Spend:
    """What an attempt without an answer is booked at: nothing if nothing was sent, a call if it was refused before work, else its bound."""
    if not failed.live:
        return Spend()
    charged = failed.code not in UNTOLD_REFUSALS if failed.charged is None else failed.charged
    return bound if charged else Spend(model_calls=1)


def cost(profile: ModelProfile, input_tokens: int, output_tokens: int, cached_tokens: int = 0, written_tokens: int = 0) -> int:
    """Micro-dollars at list price, rounded up; of the input, ``cached_tokens`` were read from the provider's cache and ``written_tokens`` written.

    The whole call has the prices of the highest of the profile's tiers that its input is above.
    """
    return _at(_possible(profile, input_tokens)[-1], input_tokens, output_tokens, cached_tokens, written_tokens)


def _possible(profile: ModelProfile, input_tokens: int) -> Sequence[ModelProfile | PriceTier]:
    """The prices that calls with so much input or less may have, those of the longest last."""
    above = sorted((tier for tier in profile.tiers if tier.above_tokens < input_tokens), key=lambda tier: tier.above_tokens)
    return [profile, *above]


def _at(prices: ModelProfile | PriceTier, input_tokens: int, output_tokens: int, cached_tokens: int, written_tokens: int) -> int:
    base = prices.usd_micros_per_1k_input
    cached = min(cached_tokens, input_tokens)
    written = min(written_tokens, input_tokens - cached)
    read_price = base if prices.usd_micros_per_1k_cached is None else prices.usd_micros_per_1k_cached
    write_price = base if prices.usd_micros_per_1k_cache_write is None else prices.usd_micros_per_1k_cache_write
    total = (input_tokens - cached - written) * base + cached * read_price + written * write_price
    return -(-(total + output_tokens * prices.usd_micros_per_1k_output) // 1000)
