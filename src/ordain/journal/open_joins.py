"""The joins that a run announced, and the one that it is in by its records, also where what they
said was erased. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from ordain.journal.codec import decode
from ordain.journal.digests import derived_id
from ordain.journal.partial_bodies import CHILDREN
from ordain.journal.records import IntentBody, Record, RecordKind

_EFFECTS = frozenset({RecordKind.INTENT, RecordKind.CLAIM})


class OpenJoin(Struct, frozen=True, kw_only=True):
    """A join at effect ``addr`` of a run. ``spawned``: how many children it opened; None where
    that was erased.
    """

    run: str
    addr: int
    spawned: int | None

    def child(self, index: int) -> str:
        """The id of one of its children."""
        return derived_id(self.run, self.addr, index)

    @property
    def children(self) -> list[str]:
        """The ids of all of them; none where nobody knows how many."""
        return [self.child(index) for index in range(self.spawned or 0)]


def open_join(records: Sequence[Record], run: str) -> OpenJoin | None:
    """The join that a run is in, whether its children have settled or not; None where it is in
    none, or nobody can read which.

    Where the announcement was erased, its number is that of the effects before it: interrupts,
    which are met between effects, come after every join.
    """
    announced = next(
        (
            record
            for record in reversed(records)
            if record.kind in {RecordKind.INTENT, RecordKind.OBSERVATION}
        ),
        None,
    )
    if announced is None or announced.kind is not RecordKind.INTENT or announced.name != "children":
        return None
    if announced.body is None:
        return OpenJoin(
            run=run,
            addr=sum(record.kind in _EFFECTS and record.seq < announced.seq for record in records),
            spawned=None,
        )
    return _read(announced, run)


def joins(records: Sequence[Record], run: str) -> Iterator[OpenJoin]:
    """Every join that a run announced, in order, whatever became of it; without those that were
    erased, or that nobody can read.
    """
    for record in records:
        if record.kind is RecordKind.INTENT and record.name == "children":
            join = None if record.body is None else _read(record, run)
            if join is not None:
                yield join


def _read(announced: Record, run: str) -> OpenJoin | None:
    body = decode(announced)
    if not isinstance(body, IntentBody):
        return None
    try:
        spawned = len(CHILDREN.decode(body.effect).spawns)
    except msgspec.MsgspecError:  # whoever shows the run says that it cannot be read
        return None
    return OpenJoin(run=run, addr=body.addr, spawned=spawned)
