"""How long to wait before another attempt where nobody names a delay. Pure."""

from __future__ import annotations


def backoff_ms(first_ms: int, most_ms: int, attempts: int) -> int:
    """The wait after so many attempts: ``first_ms`` after one, doubled with each, never more than
    ``most_ms``; after none no wait.
    """
    return min(most_ms, first_ms << min(attempts - 1, 20)) if attempts > 0 else 0
