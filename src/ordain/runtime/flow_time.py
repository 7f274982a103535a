"""A driven run's own time: the clock less what was lost and less what a person takes to answer (B-23). The one place that says what was lost.

What is lost is found by the pauses of this folder's engines, by what its children lost, and by a wait for a person, which is lost whole. It
is put on record as ``resumed`` before the next record that gives time to the flow, in the same unit: by itself it is no progress.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.effects.effect import WaitFor
from ordain.errors import JournalError
from ordain.journal.codec import decode
from ordain.journal.folds import open_children
from ordain.journal.lost_time import Span, Window, losses, measure, spans_of
from ordain.journal.records import Body, Record, RecordKind, Status, SuspendedBody
from ordain.ports.store import JournalStore, StoredRun
from ordain.runtime.lost_time import LostTime

PERSONS = frozenset({WaitFor.ANSWER, WaitFor.APPROVAL})
"""What only a person can end: a run's time stands still meanwhile, and such a wait's own moment is one by the wall clock."""
TIME_LOST, WAITED = "time lost", "waited for a person"


class FlowTime:
    """What was lost of a run's time since its last record that accounts for it. ``still``: a person has the word."""

    def __init__(self, lost: LostTime, records: Sequence[Record]) -> None:
        """Of a run with these records."""
        self._lost = lost
        self._window = Window.of(records)
        self._below: list[Span] = []
        self.still = False

    def also(self, spans: Sequence[Span]) -> None:
        """Children have lost this, or stand still."""
        self._below += spans

    def wrote(self, record: Record, body: Body) -> None:
        """A record was written."""
        window = self._window.after(record, body)
        if window.since != self._window.since:
            self._below, self.still = [], False
        self._window = window

    def unbooked(self, until: int) -> int:
        """What is lost until then and on no record, in microseconds."""
        since, booked = self._window
        if self.still:
            return max(0, until - since - booked)
        self._lost.look()
        spans = self._lost.since(since)
        return max(0, measure((*spans, *self._below), since, until) - booked) if spans or self._below else 0

    @property
    def booked(self) -> int:
        """What of the effect under way is on record as lost."""
        return self._window.booked

    def mark(self) -> tuple[Window, list[Span], bool]:
        """To go back to, if what follows is refused."""
        return self._window, self._below, self.still

    def back_to(self, mark: tuple[Window, list[Span], bool]) -> None:
        """As it was."""
        self._window, self._below, self.still = mark


def lost_below(store: JournalStore, run: str, now: int) -> tuple[list[Span], int | None]:
    """What a child has lost so far, and where a person has the word in it now: by when that is over at the latest, None where nobody waits for one.

    A child that cannot be read says nothing.
    """
    try:
        stored = store.load(run)
        return ([], None) if stored is None else _lost_below(store, stored, now)
    except JournalError:
        return [], None


def _lost_below(store: JournalStore, stored: StoredRun, now: int) -> tuple[list[Span], int | None]:
    spans = spans_of(losses(stored.records))
    if stored.status is not Status.WAITING:
        return spans, None
    until: int | None = None
    for record in reversed(stored.records):
        if record.kind is RecordKind.SUSPENDED:
            body = decode(record)
            if isinstance(body, SuspendedBody) and body.waits_for in PERSONS:
                return [*spans, Span(Window.of(stored.records).since, now)], stored.wake_at or now
            break
    for child in open_children(stored.records, stored.id):
        below, waits = lost_below(store, child, now)
        spans += below
        until = waits if until is None else max(until, waits or until)
    return spans, until
