"""Timers: one time for each run, and nothing kept of what does not hold any more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.engines.timers import SPARE, Timers

STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "forget", "due"]), st.integers(0, 9), st.integers(0, 50)),
    max_size=60,
)


def test_what_ended_is_forgotten() -> None:
    """Many runs that had a far time and ended leave no more than a bounded rest."""
    timers = Timers()
    timers.put(7, "waits")
    for number in range(10_000):
        timers.put(10**15 + number, f"run {number}")
        timers.forget(f"run {number}")
    assert len(timers) <= SPARE + 3
    assert (timers.first(), timers.due(7), timers.first()) == (7, ["waits"], None)


def test_a_run_that_is_put_again_and_again_is_kept_once() -> None:
    """The last time counts, and those before it do not pile up."""
    timers = Timers()
    for at in range(10_000, 0, -1):
        timers.put(at, "one")
    assert len(timers) <= SPARE + 3
    assert timers.due(10_000) == ["one"]
    assert len(timers) == 0


@given(STEPS)
def test_timers_are_a_table_of_times(steps: list[tuple[str, int, int]]) -> None:
    """Whatever is put, forgotten and due, it is as if every run had one time in a table."""
    timers, table = Timers(), dict[str, int]()
    for what, number, at in steps:
        run = str(number)
        if what == "put":
            timers.put(at, run)
            table[run] = at
        elif what == "forget":
            timers.forget(run)
            table.pop(run, None)
        else:
            due = sorted((when, one) for one, when in table.items() if when <= at)
            assert timers.due(at) == [one for _, one in due]
            table = {one: when for one, when in table.items() if when > at}
        assert timers.first() == min(table.values(), default=None)


def test_all_times_can_come_earlier() -> None:
    """By as much; what was forgotten stays so."""
    timers = Timers()
    for at, run in ((10, "a"), (20, "b"), (30, "c")):
        timers.put(at, run)
    timers.forget("b")
    timers.sooner(10)
    assert timers.first() == 0
    assert timers.due(20) == ["a", "c"]
    assert timers.first() is None
