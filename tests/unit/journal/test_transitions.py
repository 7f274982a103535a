"""The table of a run's statuses: where it ends, how every status is reached, and what no run
does.
"""

from __future__ import annotations

from ordain.journal.records import SETTLED, STOPPED, Status
from ordain.journal.transitions import OPENED, SOURCES, TRANSITIONS


def test_a_settled_run_stays_settled() -> None:
    """Nothing leads away from an end."""
    assert all(not move.sources & SETTLED for move in TRANSITIONS)


def test_every_status_is_reached_from_a_beginning() -> None:
    """And from every status that is none there is a way to an end."""
    reached = set(OPENED)
    while (
        more := {
            target for move in TRANSITIONS if move.sources & reached for target in move.targets
        }
        - reached
    ):
        reached |= more
    assert reached == set(Status)
    ending = set(SETTLED)
    while (
        more := {source for move in TRANSITIONS if move.targets & ending for source in move.sources}
        - ending
    ):
        ending |= more
    assert ending == set(Status)


def test_nothing_waits_behind_its_thread_again() -> None:
    """A run is queued only where it begins, and what was stopped is not stopped for good."""
    assert SOURCES[Status.QUEUED] == frozenset()
    assert SOURCES[Status.READY] >= STOPPED


def test_what_leads_to_a_status_is_what_the_table_says() -> None:
    """Both ways of reading it are one."""
    assert {
        target: {source for source in Status if source in SOURCES[target]} for target in Status
    } == {
        target: {
            source for move in TRANSITIONS if target in move.targets for source in move.sources
        }
        for target in Status
    }
