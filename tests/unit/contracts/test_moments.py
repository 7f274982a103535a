"""Moments are spelled in one way, everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.moments import EPOCH, moment, moment_if


@given(st.integers(0, 4_000_000_000_000_000))
def test_a_moment_is_rfc_3339_to_the_microsecond(micros: int) -> None:
    """It reads back as itself, has six decimals also where they are zero, and sorts as text as it does in time."""
    text = moment(micros)
    assert (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1) == micros
    assert (len(text), text[-6:]) == (32, "+00:00")
    assert moment(micros + 1) > text


def test_no_moment_is_none() -> None:
    """What has not happened has no time."""
    assert moment_if(None) is None
