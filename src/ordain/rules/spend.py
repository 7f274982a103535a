"""Amounts: what a run may use or has used, and what it took out of accounts that others use too.
Money is integer micro-dollars.
"""

from __future__ import annotations

from msgspec import Struct


class Spend(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """An amount of everything that is budgeted: what a run may use, or has used."""

    tokens: int = 0
    usd_micros: int = 0
    model_calls: int = 0
    verb_calls: int = 0

    def plus(self, more: Spend) -> Spend:
        """Both together."""
        return Spend(
            tokens=self.tokens + more.tokens,
            usd_micros=self.usd_micros + more.usd_micros,
            model_calls=self.model_calls + more.model_calls,
            verb_calls=self.verb_calls + more.verb_calls,
        )

    def less(self, other: Spend) -> Spend:
        """What is left once ``other`` is taken away; less than nothing after an overrun."""
        return Spend(
            tokens=self.tokens - other.tokens,
            usd_micros=self.usd_micros - other.usd_micros,
            model_calls=self.model_calls - other.model_calls,
            verb_calls=self.verb_calls - other.verb_calls,
        )

    def covers(self, other: Spend) -> bool:
        """Whether ``other`` is within this amount, kind by kind."""
        return (
            other.tokens <= self.tokens
            and other.usd_micros <= self.usd_micros
            and other.model_calls <= self.model_calls
            and other.verb_calls <= self.verb_calls
        )


class Carved(Struct, frozen=True, kw_only=True, tag="carved"):
    """All accounts were charged with this much."""

    tokens: int
    usd_micros: int
    accounts: tuple[str, ...]
