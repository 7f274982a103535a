"""List prices by provider and model: the data that ``genai-prices`` ships, read when a profile is
set up or the environment makes one, never at run time.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, Decimal
from importlib.metadata import version
from typing import Any

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import Provider, StartDateConstraint
from msgspec import Struct

from ordain.contracts.profiles import ModelProfile, PriceTier

HOUSES = {"anthropic": "anthropic", "gemini": "google", "openai": "openai"}
"""A provider's own endpoint in the list's words."""
PRICES = frozenset(
    {
        "usd_micros_per_1k_input",
        "usd_micros_per_1k_output",
        "usd_micros_per_1k_cached",
        "usd_micros_per_1k_cache_write",
        "tiers",
        "priced_on",
    }
)
"""A profile's fields that say what it costs."""


class ListPrice(Struct, frozen=True, kw_only=True):
    """What a model costs, in micro-dollars per 1,000 tokens; ``cached`` and ``written`` (the
    provider's cache, read and filled) None where the list does not say.

    ``tiers`` are the prices of calls with long prompts, where the provider charges more for them.
    ``priced_on`` is the last day on which the list is known to have been kept: its youngest entry.
    ``context_tokens`` is the model's window, if known.
    """

    model: str
    input: int
    output: int
    cached: int | None
    written: int | None
    tiers: tuple[PriceTier, ...]
    priced_on: str
    source: str
    context_tokens: int | None

    @property
    def fields(self) -> dict[str, object | None]:
        """As a profile has them."""
        return {
            "usd_micros_per_1k_input": self.input,
            "usd_micros_per_1k_output": self.output,
            "usd_micros_per_1k_cached": self.cached,
            "usd_micros_per_1k_cache_write": self.written,
            "tiers": [tier.model_dump(exclude_none=True) for tier in self.tiers] or None,
            "priced_on": self.priced_on,
        }


def priced(profile: ModelProfile) -> ModelProfile:
    """The profile at its model's list price, and with its window where the profile says none;
    without a price where the list has none.
    """
    found = list_price(profile.provider, profile.model, profile.base_url)
    said = profile.model_dump(exclude_unset=True)
    rest = {name: value for name, value in said.items() if name not in PRICES}
    if found is not None:
        rest |= {name: value for name, value in found.fields.items() if value is not None}
        if found.context_tokens is not None:
            rest.setdefault("context_tokens", found.context_tokens)
    return ModelProfile.model_validate(rest)


def list_price(provider: str, model: str, base_url: str | None) -> ListPrice | None:
    """The price of a model at a provider's own endpoint, or at one that the list knows; None where
    it knows none.
    """
    if provider not in HOUSES:
        return None
    snapshot = get_snapshot()
    try:
        _, found = snapshot.find_provider_model(
            model, None, None if base_url else HOUSES[provider], base_url
        )
    except LookupError:
        return None
    today = datetime.now(UTC)
    prices: Any = found.get_prices(today)
    given, answered = _per_1k(prices.input_mtok), _per_1k(prices.output_mtok)
    if given is None or answered is None:
        return None
    return ListPrice(
        model=found.id,
        input=given,
        output=answered,
        cached=_per_1k(prices.cache_read_mtok),
        written=_per_1k(prices.cache_write_mtok),
        tiers=_tiers(prices),
        priced_on=_kept_until(snapshot.providers, today.date()).isoformat(),
        source=f"genai-prices {version('genai-prices')}",
        context_tokens=found.context_window,
    )


def per_1k(usd_per_million: Decimal) -> int:
    """Dollars per million tokens as micro-dollars per thousand, rounded up."""
    return int((usd_per_million * 1000).to_integral_value(ROUND_CEILING))


def _per_1k(price: Any, above: int = 0) -> int | None:
    """A price, or what it becomes for a prompt longer than this."""
    dollars = getattr(price, "base", price)
    for tier in getattr(price, "tiers", ()):
        if tier.start <= above:
            dollars = tier.price
    return None if dollars is None else per_1k(Decimal(dollars))


def _tiers(prices: Any) -> tuple[PriceTier, ...]:
    kinds = (prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok)
    starts = sorted({tier.start for price in kinds for tier in getattr(price, "tiers", ())})
    return tuple(
        PriceTier(
            above_tokens=start,
            usd_micros_per_1k_input=_per_1k(prices.input_mtok, start) or 0,
            usd_micros_per_1k_output=_per_1k(prices.output_mtok, start) or 0,
            usd_micros_per_1k_cached=_per_1k(prices.cache_read_mtok, start),
            usd_micros_per_1k_cache_write=_per_1k(prices.cache_write_mtok, start),
        )
        for start in starts
    )


def _kept_until(providers: list[Provider], today: date) -> date:
    """The youngest day that any of the list's prices begins on."""
    days = [
        entry.constraint.start_date
        for provider in providers
        for model in provider.models
        if isinstance(model.prices, list)
        for entry in model.prices
        if isinstance(entry.constraint, StartDateConstraint)
        and entry.constraint.start_date <= today
    ]
    return max(days, default=today)
