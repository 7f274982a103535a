"""What asking a model can come to, and what it came to: tokens, and money at the profile's list
price. Pure; money is integer micro-dollars.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, PriceTier
from ordain.effects.effect import ModelCall
from ordain.effects.results import Beside, ModelAnswer, ModelFailed
from ordain.flows.context import Account
from ordain.rules.budget import ReserveFacts
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
"""Codes that were booked without tokens before records said what is known of a failed attempt's
cost: journals of that time keep their meaning.
"""


def bound_of(profile: ModelProfile, prompt_tokens: int, max_tokens: int) -> Spend:
    """The most that asking once can come to: at the dearest of the prices that a prompt of up to
    this size may have.
    """
    money = 0
    for prices in _possible(profile, prompt_tokens):
        base, read, written = _input_prices(prices)
        # All of it may come out of the provider's cache, go into it where that is asked for, or do
        # neither.
        dearest = max(base, read, written if profile.cache else 0)
        money = max(
            money,
            _rounded_up(prompt_tokens * dearest + max_tokens * prices.usd_micros_per_1k_output),
        )
    return Spend(tokens=prompt_tokens + max_tokens, usd_micros=money, model_calls=1)


def call_bound(catalog: Catalog, asked: Iterable[tuple[str, int]], prompt_tokens: int) -> Spend:
    """The most that asking each of these profiles once, each for so many tokens, can come to."""
    bound = Spend()
    for name, max_tokens in asked:
        bound = bound.plus(bound_of(catalog.data.profiles[name], prompt_tokens, max_tokens))
    return bound


def bound_of_call(catalog: Catalog, call: ModelCall) -> Spend:
    """The most that a model call can come to, its hedge included."""
    own = bound_of(catalog.data.profiles[call.profile], call.bound_tokens, call.max_tokens)
    if not call.hedge:
        return own
    hedge = catalog.data.profiles[call.hedge]
    return own.plus(bound_of(hedge, call.bound_tokens, call.hedge_max_tokens))


def reserve_facts(account: Account, bound: Spend) -> ReserveFacts:
    """What rule ``reserve`` looks at: the bound, and what the account has left."""
    left = account.cap.less(account.spent)
    return ReserveFacts(
        tokens=bound.tokens,
        usd_micros=bound.usd_micros,
        left_tokens=left.tokens,
        left_usd_micros=left.usd_micros,
        left_calls=left.model_calls,
        calls=UNSET if bound.model_calls == 1 else bound.model_calls,
    )


def affords(account: Account, bound: Spend) -> bool:
    """Whether the account has as much left: what rule ``reserve`` will find, reckoned without
    asking it. Verb calls are no part of that.
    """
    left = account.cap.less(account.spent)
    return left.covers(structs.replace(bound, verb_calls=left.verb_calls))


def price_of_call(catalog: Catalog, call: ModelCall, result: ModelAnswer | ModelFailed) -> Spend:
    """What a model call came to, both of its attempts where it had two."""
    if call.hedge and isinstance(result, ModelFailed) and result.code is ModelErrorCode.LOST:
        return bound_of_call(catalog, call)  # nobody knows whether the second one had gone out
    name = result.profile or call.profile
    used = (
        price_of(catalog.data.profiles[name], result)
        if isinstance(result, ModelAnswer)
        else _price_of_failure(catalog, call, name, result)
    )
    if (beside := result.beside) is None:
        return used
    return used.plus(_price_of_failure(catalog, call, beside.profile, beside))


def _price_of_failure(
    catalog: Catalog, call: ModelCall, name: str, failed: ModelFailed | Beside
) -> Spend:
    """The same of one of a call's attempts, at the profile ``name``."""
    limits = {call.profile: call.max_tokens} | (
        {call.hedge: call.hedge_max_tokens} if call.hedge else {}
    )
    profile = catalog.data.profiles[name]
    return price_of_failure(profile, failed, bound_of(profile, call.bound_tokens, limits[name]))


def price_of(profile: ModelProfile, answer: ModelAnswer | ModelFailed | Beside) -> Spend:
    """What an answer came to by its counts, also one that was none."""
    money = cost(
        profile,
        answer.input_tokens,
        answer.output_tokens,
        answer.cached_tokens,
        answer.written_tokens,
    )
    return Spend(tokens=answer.input_tokens + answer.output_tokens, usd_micros=money, model_calls=1)


def price_of_failure(profile: ModelProfile, failed: ModelFailed | Beside, bound: Spend) -> Spend:
    """What an attempt without an answer is booked at: nothing if nothing was sent, its use where
    that was told, a call if it was refused before work, else its bound.
    """
    if not failed.live:
        return Spend()
    if failed.input_tokens:
        return price_of(profile, failed)
    charged = failed.code not in UNTOLD_REFUSALS if failed.charged is None else failed.charged
    return bound if charged else Spend(model_calls=1)


def cost(
    profile: ModelProfile,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> int:
    """Micro-dollars at list price, rounded up; of the input, ``cached_tokens`` were read from the
    provider's cache and ``written_tokens`` written.

    The whole call has the prices of the highest of the profile's tiers that its input is above.
    """
    return _at(
        _possible(profile, input_tokens)[-1],
        input_tokens,
        output_tokens,
        cached_tokens,
        written_tokens,
    )


def _possible(profile: ModelProfile, input_tokens: int) -> Sequence[ModelProfile | PriceTier]:
    """The prices that calls with so much input or less may have, those of the longest last."""
    if not profile.tiers:
        return (profile,)
    above = sorted(
        (tier for tier in profile.tiers if tier.above_tokens < input_tokens),
        key=lambda tier: tier.above_tokens,
    )
    return [profile, *above]


def _at(
    prices: ModelProfile | PriceTier,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int,
    written_tokens: int,
) -> int:
    base, read_price, write_price = _input_prices(prices)
    output = output_tokens * prices.usd_micros_per_1k_output
    if not cached_tokens and not written_tokens:  # as where nothing was said of a cache
        return _rounded_up(input_tokens * base + output)
    cached = min(cached_tokens, input_tokens)
    written = min(written_tokens, input_tokens - cached)
    total = (input_tokens - cached - written) * base + cached * read_price + written * write_price
    return _rounded_up(total + output)


def cheaper_part(cached: int, given: int | None) -> int:
    """Tokens of the input that a provider says cost less: more than there are, or fewer than none,
    are no count, and nothing is taken off for them.
    """
    return cached if given is not None and 0 <= cached <= given else 0


def _input_prices(prices: ModelProfile | PriceTier) -> tuple[int, int, int]:
    """Of a thousand tokens of input: as it is, read from the provider's cache, written into it."""
    base, read, written = (
        prices.usd_micros_per_1k_input,
        prices.usd_micros_per_1k_cached,
        prices.usd_micros_per_1k_cache_write,
    )
    return base, base if read is None else read, base if written is None else written


def _rounded_up(thousandths: int) -> int:
    return -(-thousandths // 1000)
