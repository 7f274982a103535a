"""What a server asks of whoever comes again: how long it wants to be left alone. One reading for
models and for verbs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DELAY_MAX_MS = 24 * 3600 * 1000
"""What a longer delay counts as: nobody waits for it."""
REST_LEAST_MS = 1000
"""What a delay counts as that is over when it is named: whoever names it is to be left alone, and
does not say for how long.
"""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]{1,6})?")


def named_delay_ms(header: Callable[[str], str | None]) -> int | None:
    """The delay that an answer's headers name, in milliseconds: ``retry-after-ms``, or
    ``Retry-After`` in seconds or as a date; None where they name none. ``header`` gives one by its
    name in small letters. Total.

    A date counts from the answer's own ``Date``, so that it does not depend on two clocks; without
    one it is the least rest: whoever names it is to be left alone, and nobody knows for how long.
    """
    milliseconds = _number(header("retry-after-ms"))
    if milliseconds is None:
        seconds = _number(header("retry-after"))
        milliseconds = _until(header) if seconds is None else seconds * 1000
    return None if milliseconds is None else bounded_ms(milliseconds)


def bounded_ms(milliseconds: float) -> int:
    """A delay that can be waited for: ahead, at most a day. One of nothing, less, or in the past is
    the least rest.
    """
    if milliseconds <= 0:
        return REST_LEAST_MS
    return max(1, int(min(milliseconds, DELAY_MAX_MS)))


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text := text.strip()) else None


def _until(header: Callable[[str], str | None]) -> float | None:
    later, now = _moment(header("retry-after")), _moment(header("date"))
    if later is None:
        return None
    return 0 if now is None else (later - now).total_seconds() * 1000


def _moment(text: str | None) -> datetime | None:
    """A date of HTTP, which is one of UTC; None of what is none."""
    try:
        found = parsedate_to_datetime(text or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
