"""Whether what is stored of a run is the whole of it: a chain shows what was changed in it, and
nothing of what was cut off its end.

How long the journal is and how it ends the run's own row says, which every commit writes with its
records. A run that stopped without its flow (``journal_diverged``, ``quarantined``, …) has no
record of that, and goes on from whatever its last record is.
"""

from __future__ import annotations

from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode, verify
from ordain.journal.records import (
    SETTLED,
    STOPPED,
    EndedBody,
    Record,
    RecordKind,
    Started,
    Status,
    SuspendedBody,
)
from ordain.ports.store import StoredRun


def check_whole(stored: StoredRun) -> None:
    """Check digests, chain, length and end of a stored run. Of erased content the shape alone is
    checked.

    Raises:
        JournalCorrupt: with the first seq that is wrong.
    """
    verify(stored.id, stored.key, stored.records)
    check_end(stored)


def check_end(stored: StoredRun) -> None:
    """Check that the journal is as long as the run's row says, and ends as that says: cheap,
    nothing is digested.

    Where no row says how long it is (a journal that was kept by itself), there is nothing to hold
    it to.

    Raises:
        JournalCorrupt: with the seq of the record that is missing, or that the row contradicts.
    """
    head, length = stored.head, len(stored.records)
    if head is None:
        return
    if head != length - 1:
        seq = min(length, head + 1)
        what = f"record {seq} is missing" if seq == length else f"record {seq} is one too many"
        raise JournalCorrupt(
            f"{what}: the run's row counts {head + 1}, its journal holds {length}",
            details={"seq": seq},
        )
    last = next(
        (record for record in reversed(stored.records) if record.kind is not RecordKind.NOTE), None
    )
    if last is not None and not _agree(stored, last):
        message = (
            f"the run's row says {stored.status}, its last record {last.seq} is {last.kind} "
            f"{last.name}"
        )
        raise JournalCorrupt(message, details={"seq": last.seq})


_OF_ANY = frozenset({"workspace", "subject", "parent", "child"})


def check_row(stored: StoredRun, started: Started) -> None:
    """Check that the run's row repeats what its first and its last record say, column by column.

    Raises:
        JournalCorrupt: with the columns that say something else.
    """
    first, last = stored.records[0], stored.records[-1]
    pairs = {
        "workspace": (stored.workspace, started.workspace),
        "subject": (stored.subject, started.subject),
        "parent": (stored.parent, started.parent),
        "parent_addr": (
            stored.parent_addr,
            -1 if started.parent_addr is None else started.parent_addr,
        ),
        "child": (stored.index, started.index),
        "flow": ((stored.flow, first.name), (started.flow, started.flow)),
        "flow_version": (stored.flow_version, started.flow_version),
        "catalog": (stored.catalog, started.catalog),
        "session": (stored.session, started.session),
        "thread": (stored.thread, started.thread),
        "created_at": (stored.created_at, first.at),
        "ended_at": (
            stored.ended_at,
            next((record.at for record in stored.records if record.kind is RecordKind.ENDED), None),
        ),
    }
    by_itself = stored.head is None  # a journal that was kept without its row
    other = [
        name
        for name, (row, recorded) in pairs.items()
        if row != recorded and (not by_itself or name in _OF_ANY)
    ]
    if stored.status is Status.WAITING and not by_itself:
        other += _waits_otherwise(stored, last)
    if other:
        message = f"the run's row says otherwise than its records: {', '.join(other)}"
        raise JournalCorrupt(message, details={"seq": 0, "columns": other})


def _waits_otherwise(stored: StoredRun, last: Record) -> list[str]:
    """A run that waits says so at its end, with the time that it waits until: an earlier one is
    that of a clock that was set back.
    """
    if last.kind is not RecordKind.SUSPENDED:
        return ["where it stands"]
    body = None if last.body is None else decode(last)
    if not isinstance(body, SuspendedBody) or body.wake_at == stored.wake_at:
        return []
    return (
        ["wake_at"]
        if body.wake_at is None or stored.wake_at is None or stored.wake_at > body.wake_at
        else []
    )


def _agree(stored: StoredRun, last: Record) -> bool:
    """Whether the row's status can stand after this record, notes aside. The name of an end is its
    status, and the chain covers it.
    """
    if last.kind is RecordKind.ENDED:
        return last.name == stored.status and _reason_of(last) in (None, stored.reason)
    if last.kind is RecordKind.FAULTED:
        return stored.status in STOPPED
    return stored.status not in SETTLED and stored.status is not Status.FAULTED


def _reason_of(ended: Record) -> str | None:
    if ended.body is None:
        return None
    body = decode(ended)
    return body.reason if isinstance(body, EndedBody) else None
