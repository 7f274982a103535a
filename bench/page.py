"""What the pages of figures are made of."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One target: its words, what was measured, whether that meets it, and what is said where it
    does not.
    """

    words: str
    measured: str
    met: bool
    missed: str


def spread(values: list[float], digits: int = 1) -> str:
    """The median, and between which values it lies."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def table(heading: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is words and whose others are numbers."""
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
