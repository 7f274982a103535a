"""What followed what in a list of themes: counts, exact probabilities, and choices by seed.
Pure.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Smoothing = Literal["none", "add_one"]
_SEED_BITS = 256


@dataclass(frozen=True, slots=True)
class Chance:
    """One theme that may come next: how often it did after this state, and its probability."""

    theme: str
    count: int
    probability: Fraction


@dataclass(frozen=True, slots=True)
class Chances:
    """Every theme that may come next, the likeliest first. ``order``: of how many last themes;
    ``support``: how often that was seen.
    """

    order: int
    support: int
    chances: tuple[Chance, ...]


class Chain:
    """Transition counts of a history, oldest theme first."""

    def __init__(self, history: Sequence[str], order: int, smoothing: Smoothing) -> None:
        """Count once; ``order`` is the most last themes that are looked at."""
        self._smoothing: Smoothing = smoothing
        self._order = order
        self._themes = sorted(set(history))
        self._after: dict[tuple[str, ...], Counter[str]] = {}
        for length in range(order + 1):
            for at in range(length, len(history)):
                self._after.setdefault(tuple(history[at - length : at]), Counter())[
                    history[at]
                ] += 1

    def following(self, state: Sequence[str]) -> Chances:
        """What may follow the state; where its last themes were never followed by anything, fewer
        of them are looked at.

        With smoothing ``add_one`` every known theme counts once more than it was seen.
        """
        for length in range(min(self._order, len(state)), -1, -1):
            counts = self._after.get(tuple(state[len(state) - length :]))
            if counts is not None:
                return self._chances(length, counts)
        return Chances(0, 0, ())

    def _chances(self, order: int, counts: Counter[str]) -> Chances:
        more = 1 if self._smoothing == "add_one" else 0
        support = counts.total()
        total = support + more * len(self._themes)
        known = self._themes if more else sorted(counts)
        chances = [
            Chance(theme, counts[theme], Fraction(counts[theme] + more, total)) for theme in known
        ]
        return Chances(
            order, support, tuple(sorted(chances, key=lambda one: (-one.probability, one.theme)))
        )


def choose(chances: Sequence[Chance], seed: str, step: int) -> Chance:
    """One of the chances, each as often as it is probable over all seeds; the same seed and step
    choose the same.
    """
    drawn = int.from_bytes(
        hashlib.sha256(f"{step}\x1f{seed}".encode(errors="surrogatepass")).digest()
    )
    reached, point = Fraction(0), Fraction(drawn, 1 << _SEED_BITS)
    for one in chances:
        reached += one.probability
        if point < reached:
            return one
    return chances[-1]
