"""Moments: inside they are microseconds since 1970 UTC, outside RFC 3339 in one spelling."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LATEST_US = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
"""The last moment that can be said: the end of the year 9999."""

DAY_US = 86_400_000_000
"""Of a day without a change of clocks."""


def moment(micros: int) -> str:
    """Microseconds since 1970 UTC as RFC 3339, exact: ``2026-11-02T09:30:00.000000+00:00``."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds")


def moment_if(micros: int | None) -> str | None:
    """A moment, where there is one."""
    return None if micros is None else moment(micros)


def moment_of(said: object) -> int | None:
    """A date or a moment in ISO 8601 as microseconds since 1970 UTC: a date is its beginning, and
    where no zone stands UTC is meant; None of anything else.
    """
    if not isinstance(said, str):
        return None
    try:
        found = datetime.fromisoformat(said)
        return (
            (found if found.tzinfo is not None else found.replace(tzinfo=UTC)) - EPOCH
        ) // MICROSECOND
    except (ValueError, OverflowError):
        return None
