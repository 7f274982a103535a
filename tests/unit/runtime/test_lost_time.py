"""Pauses are found by looking often at one clock, whatever they come of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.journal.lost_time import Pause, measure
from ordain.runtime.lost_time import SLACK_US, TICK_US, LostTime
from tests.unit.runtime.house import BEGAN, SECOND, HandClock


def watching(last_beat: int | None = None) -> tuple[LostTime, HandClock]:
    lost, clock = LostTime(), HandClock()
    lost.begin(clock.now, last_beat, ())
    return lost, clock


def test_nobody_watches_nothing_is_lost() -> None:
    """A process that drives nothing finds nothing."""
    lost = LostTime()
    assert not lost.look()
    assert lost.since(0) == ()


@given(st.integers(0, 10**9))
def test_time_between_a_beat_and_a_start_is_lost(away: int) -> None:
    """Whole, and it is to be written; where nobody ever said that he was at work nothing is
    known.
    """
    lost, clock = watching(BEGAN - away)
    assert list(lost.since(0)) == ([Pause(BEGAN - away, BEGAN)] if away else []) == lost.unsaved
    assert watching()[0].since(0) == ()
    assert clock.now() == BEGAN


@given(st.lists(st.integers(0, TICK_US + SLACK_US)))
def test_a_busy_machine_loses_nothing(steps: list[int]) -> None:
    """A look that is a little late is none that was lost."""
    lost, clock = watching()
    for step in steps:
        clock.at += step
        assert not lost.look()
    assert lost.since(0) == ()


@given(st.lists(st.integers(TICK_US + SLACK_US + 1, 10**12), min_size=1))
def test_what_passes_between_two_looks_beside_a_tick_was_lost(steps: list[int]) -> None:
    """Stopped, asleep or with a clock that was set forward: each of them once, all but the tick."""
    lost, clock = watching()
    for step in steps:
        clock.at += step
        assert lost.look()
        assert lost.last_us == step - TICK_US
    assert measure(lost.since(0), 0, clock.at) == sum(steps) - TICK_US * len(steps)
    assert lost.since(clock.at) == ()


def test_what_was_said_of_moments_to_come_is_forgotten() -> None:
    """A clock that was set forward and back: nobody who begins meanwhile has lost what was skipped
    and comes again.
    """
    lost, clock = watching()
    clock.pass_s(86_400)
    assert lost.look()
    clock.pass_s(-86_390)
    assert not lost.look()
    assert measure(lost.since(BEGAN), BEGAN, clock.at + 86_400 * SECOND) < 10 * SECOND
    assert lost.cut_at == clock.at


def test_a_start_before_the_last_beat_knows_of_no_pause() -> None:
    """The clock was set back while nobody was there."""
    lost, _ = watching(BEGAN + 10)
    assert lost.since(0) == ()
    assert lost.cut_at == BEGAN


def test_a_clock_that_somebody_moves_by_hand_loses_nothing() -> None:
    """Who says so has let time pass."""
    lost, clock = watching()
    clock.pass_s(3600)
    lost.look_anew()
    assert not lost.look()
