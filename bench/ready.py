"""What a system shows to the measurement: a turn, and what it counts of itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


def _nothing() -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """``turn`` does the whole piece of work once and returns the answer; ``counted`` are running
    totals.
    """

    turn: Callable[[], Awaitable[str]]
    counted: Callable[[], Mapping[str, float]] = _nothing
