"""What an approver said of what a run asked, by the run's records: who it was, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ordain.effects.results import AnyResult, Approved, Expired, NotApproved, Resubmitted
from ordain.journal.codec import decode
from ordain.journal.records import ChildEndedBody, ObservationBody, Record, RecordKind
from ordain.ports.store import JournalStore, StoredRun
from ordain.rules.header import SIGNS, plain
from ordain.runtime.recorded_form import RESULTS

WORD_CHARS = 200
"""Most of one approver's reason where others are told of it."""
RUNS_LOOKED_AT = 20
"""So many runs below one are looked at for a no, those that ended first."""


def why_decided(records: Sequence[Record], addr: int) -> str:
    """Why the approval that effect ``addr`` asked for came to what it did, in its approver's words;
    "" where nobody said, or it is gone.
    """
    found = next((result for at, result in _ended(records) if at == addr), None)
    return found.why if isinstance(found, Approved | NotApproved | Resubmitted | Expired) else ""


def noes(records: Sequence[Record]) -> Sequence[str]:
    """Each no that a run was given: who said it, and why."""
    return [_said(result) for _, result in _ended(records) if isinstance(result, NotApproved)]


async def noes_below(store: JournalStore, stored: StoredRun) -> Sequence[str]:
    """The noes that a run and the runs below it that have ended were given, of which no header
    tells why. A run that cannot be read says nothing.
    """
    told, rest, looked = list[str](), [stored], 0
    while rest:
        one = rest.pop(0)
        told += noes(one.records)
        below = [
            body.child
            for record in one.records
            if isinstance(body := _child_end(record), ChildEndedBody)
        ][: RUNS_LOOKED_AT - looked]
        looked += len(below)
        if below:
            found = await store.load(below)
            rest += [run for name in below if isinstance(run := found.get(name), StoredRun)]
    return told


def _said(no: NotApproved) -> str:
    why = plain(no.why.translate(SIGNS), WORD_CHARS)
    return f"{plain(no.by, WORD_CHARS)} said no" + (f": {why}" if why else "")


def _ended(records: Sequence[Record]) -> Iterator[tuple[int, AnyResult]]:
    """How the waits ended, by the number of the effect. Most records are none of these, and are not
    decoded.
    """
    for record in records:
        if (
            record.kind is RecordKind.OBSERVATION
            and record.name == "wait"
            and record.body is not None
        ):
            body = decode(record)
            if isinstance(body, ObservationBody):
                yield body.addr, RESULTS.decode(body.result)


def _child_end(record: Record) -> object:
    return (
        decode(record)
        if record.kind is RecordKind.CHILD_ENDED and record.body is not None
        else None
    )
