"""What a run's journal says of time that was not the run's: nobody could work, or a person had the
word (B-23).

A run's flow time is ``at`` less all that was lost so far. Journals of builds before say nothing of
it: there the two are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from ordain.journal.codec import ReadRecord, decode
from ordain.journal.records import Body, Record, RecordKind, ResumedBody

_RESUMED = RecordKind.RESUMED
MOVING = frozenset(
    {
        RecordKind.STARTED,
        RecordKind.CLAIM,
        RecordKind.INTENT,
        RecordKind.OBSERVATION,
        RecordKind.DELIVERED,
    }
)
"""Where a new window begins. A child's end is none of them: a join is one wait, and the parts of it
that were lost overlap.
"""


class Pause(NamedTuple):
    """From when to when, in microseconds since 1970 by the wall clock."""

    began: int
    ended: int


class Loss(NamedTuple):
    """Time that a record says was lost before it."""

    seq: int
    at: int
    lost_us: int


class Reckoning(Struct, frozen=True, gc=False):
    """Since when (microseconds since 1970) a run's time has not been accounted for, and how much of
    that, up to when, is on record as lost all the same.
    """

    since: int
    booked: int = 0
    through: int = 0

    @classmethod
    def of(cls, records: Sequence[Record]) -> Reckoning:
        """Where a run stands. Raises as ``decode``."""
        first = next(
            (index for index in range(len(records) - 1, 0, -1) if records[index].kind in MOVING), 0
        )
        window = cls(records[first].at)
        for record in records[first + 1 :]:
            if record.kind is _RESUMED:
                window = window.after(record, decode(record))
        return window

    def after(self, record: Record, body: Body) -> Reckoning:
        """With one more record that is none of those where a new window begins."""
        if isinstance(body, ResumedBody):
            # a run that somebody resumed begins a new one: the time of its stop was accounted for
            # there
            return (
                Reckoning(record.at)
                if body.by
                else Reckoning(self.since, self.booked + body.lost_us, record.at)
            )
        return self

    def beyond(self, spans: Sequence[Pause], until: int) -> int:
        """What was lost until then by these pauses and is on no record, in microseconds.

        A clock that was set back takes the pauses with it that lay beyond, and runs through their
        moments again: what is on record of those counts for nothing that is lost after them.
        """
        booked = self.booked and min(self.booked, measure(spans, self.since, self.through))
        return max(0, measure(spans, self.since, until) - booked)


def losses(records: Iterable[Record], read: ReadRecord = decode) -> list[Loss]:
    """What the records say was lost, in order. Raises as ``read``."""
    found: list[Loss] = []
    for record in [
        record for record in records if record.kind is _RESUMED and record.body is not None
    ]:
        body = read(record)
        if isinstance(body, ResumedBody) and body.lost_us:
            found.append(Loss(record.seq, record.at, body.lost_us))
    return found


def lost_in_all(records: Iterable[Record], read: ReadRecord = decode) -> int:
    """How much of a run's time was lost, in microseconds."""
    return sum(loss.lost_us for loss in losses(records, read))


def spans_of(lost: Sequence[Loss]) -> list[Pause]:
    """When it was lost: each ends with its record, and none reaches into another, so that together
    they are what was lost.
    """
    spans: list[Pause] = []
    until: int | None = None
    for loss in reversed(lost):
        ended = loss.at if until is None else min(loss.at, until)
        until = ended - loss.lost_us
        spans.append(Pause(until, ended))
    return spans[::-1]


def measure(spans: Iterable[Pause], since: int, until: int) -> int:
    """How much of the time between these moments the spans cover together, in microseconds."""
    covered, reached = 0, since
    for began, ended in sorted(spans):
        begins, ends = max(began, reached), min(ended, until)
        if ends > begins:
            covered, reached = covered + ends - begins, ends
    return covered
