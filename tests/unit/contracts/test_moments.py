"""Moments are spelled in one way, everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.moments import EPOCH, LATEST_US, moment, moment_if, moment_of


@given(st.integers(0, 4_000_000_000_000_000))
def test_a_moment_is_rfc_3339_to_the_microsecond(micros: int) -> None:
    """It reads back as itself, has six decimals also where they are zero, and sorts as text as it
    does in time.
    """
    text = moment(micros)
    assert (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1) == micros
    assert (len(text), text[-6:]) == (32, "+00:00")
    assert moment(micros + 1) > text


def test_no_moment_is_none() -> None:
    """What has not happened has no time."""
    assert moment_if(None) is None


@given(st.integers(0, LATEST_US))
def test_a_moment_that_was_told_is_read_back(micros: int) -> None:
    """To the microsecond, and no text is more than one moment."""
    assert moment_of(moment(micros)) == micros


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-02T00:00:01Z", 86_401),
        ("1970-01-02 00:00:01", 86_401),
        ("1970-01-02T01:00:00+01:00", 86_400),
        ("19700102T000000", 86_400),
        ("0001-01-01T00:00:00+14:00", None),
        ("tomorrow", None),
        ("", None),
        ("31.12.2026", None),
        ("2026-02-30", None),
        (86_400, None),
        (None, None),
        (["1970-01-02"], None),
    ],
)
def test_a_date_is_its_beginning_and_what_is_none_is_no_moment(
    said: object, seconds: int | None
) -> None:
    """ISO 8601, with UTC where no zone stands; nothing else is guessed at."""
    found = moment_of(said)
    assert found == (None if seconds is None else seconds * 1_000_000) or (
        seconds is None and found is not None and found < 0
    )
