"""The moments at which a process may die, counted by kind; who listens decides what happens
there.
"""

from __future__ import annotations


class Moments:
    """Lets everybody live. ``counts`` has how often each kind of moment came."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.counts: dict[str, int] = {}

    def pass_by(self, kind: str) -> None:
        """One of these moments is here."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
