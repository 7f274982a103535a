"""Moments as people name them: a span that lies back, or a date."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ordain.errors import ConfigurationError

_SPAN = re.compile(r"([0-9]{1,6})\s?(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment_us(text: str, now: datetime, option: str) -> int:
    """The moment that ``30d`` (ago), ``2026-11-01`` or ``2026-11-01T08:00+01:00`` names, in
    microseconds since 1970; UTC where no zone is said.

    Raises:
        ConfigurationError: it names none; ``option`` is what it was given for.
    """
    try:
        if (span := _SPAN.fullmatch(text.strip())) is not None:
            found = now - timedelta(**{_UNITS[span[2]]: int(span[1])})
        else:
            read = datetime.fromisoformat(text.strip())
            found = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        message = (
            f"{option} is a span that lies back (30d, 12h, 90m) or a date (2026-11-01, "
            "2026-11-01T08:00+01:00)"
        )
        raise ConfigurationError(message, code="usage") from None
    return int((found - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
