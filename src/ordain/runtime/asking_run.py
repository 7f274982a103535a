"""What the records of a run say of what it asks an approver: the wait itself, who proposed that
call instead of another, and what may have happened already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterator, Sequence

from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import EFFECT, Children, VerbCall, Wait
from ordain.effects.results import Resubmitted
from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest, content_digest
from ordain.journal.partial_bodies import RESOLVED, SEEN
from ordain.journal.records import (
    SETTLED,
    ChildEndedBody,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
)
from ordain.ports.store import JournalStore, StoredRun
from ordain.runtime.likeness import likeness
from ordain.runtime.recorded_form import RESULTS

Pinned = Callable[[str], Awaitable[Catalog]]
"""The catalog that a run began under, by digest; ``JournalCorrupt`` where it is stored nowhere."""
_UNKNOWN = {"outcome_unknown", "unknown"}


class DoubtedCall(Struct, frozen=True, kw_only=True):
    """A call that went out and of whose end nobody knows, or knew. ``place`` names the attempt
    among all runs, and whether it is ``sure``: then somebody has found out since that it did
    happen.

    ``said`` is what it amounts to under the catalog that it was made under, where that is to be
    had: its verb may have another name by now, or another default.
    """

    place: str
    call: Call
    said: frozenset[str] = frozenset()
    sure: bool = False

    def is_of(self, said: frozenset[str], catalog: Catalog) -> bool:
        """Whether it is a call that amounts to this, as its verb is by now or was then."""
        return bool(said & self.said or said & likeness(self.call, catalog))


class AskedBefore(Struct, frozen=True, kw_only=True):
    """What came before a wait: ``unknown`` are the calls that went out and of whose end nobody
    knows, in its run, ``elsewhere`` those of its conversation's other runs. ``proposed_by``: who
    proposed its call anew.
    """

    unknown: tuple[DoubtedCall, ...] = ()
    proposed_by: tuple[str, ...] = ()
    elsewhere: tuple[DoubtedCall, ...] = ()

    def very(self, calls: Sequence[Call], catalog: Catalog) -> tuple[DoubtedCall, ...]:
        """Those of all that are exactly one of these, however it was spelled."""
        known = (*self.unknown, *self.elsewhere)
        said = [likeness(call, catalog) for call in calls] if known else []
        return tuple(one for one in known if any(one.is_of(each, catalog) for each in said))

    def places(self, calls: Sequence[Call], catalog: Catalog) -> tuple[str, ...]:
        """Where exactly these may have happened: what an approver of them is told of."""
        return tuple(sorted({one.place for one in self.very(calls, catalog)}))

    def perhaps_done(self, calls: Sequence[Call]) -> bool:
        """Whether one of these, or one of the same verb, may have happened already."""
        verbs = {one.call.verb for one in (*self.unknown, *self.elsewhere)}
        return any(call.verb in verbs for call in calls)


NOTHING_BEFORE = AskedBefore()
NOBODY: frozenset[str] = frozenset()
"""No run is at work here."""


def told_digest(digest: str, places: Sequence[str]) -> str:
    """The digest of what an approver looks at: of what is asked for, and of where it may have
    happened already, so that no yes is to more than was told. Of what never went out as asked.
    """
    return content_digest("\n".join((digest, *places)).encode()) if places else digest


def wait_at(stored: StoredRun, addr: int) -> Wait | None:
    """The wait that effect ``addr`` of a run is; None where it is none, or its content is gone."""
    for record in stored.records:
        if record.kind is RecordKind.INTENT and record.name == "wait" and record.body is not None:
            body = decode(record)
            if isinstance(body, IntentBody) and body.addr == addr:
                effect = EFFECT.decode(body.effect)
                return effect if isinstance(effect, Wait) else None
    return None


def asked_before(
    records: Sequence[Record], addr: int, asked: Sequence[Call], run: str = ""
) -> AskedBefore:
    """What a run's records before effect ``addr`` say, which asks for these calls."""
    unknown, proposed = _Unknown(), dict[str, list[str]]()
    for record in records:
        if record.body is None:
            continue
        if record.kind is RecordKind.INTENT and record.name == "wait" and _addr(record) == addr:
            break
        unknown.follow(record)
        for instead in _resubmitted(record):
            proposed.setdefault(call_digest(instead.call), []).append(instead.by)
    by = (name for call in asked for name in proposed.get(call_digest(call), ()))
    return AskedBefore(unknown=unknown.doubts(records, run), proposed_by=tuple(dict.fromkeys(by)))


class Looking(Struct, frozen=True, kw_only=True):
    """How the runs beside one are read. ``until``: as they were at a moment, else as durable now;
    ``pinned``: also what their calls amounted to when they went out.

    ``at_work`` are the runs whose calls are under way in this process: any other that has one
    without an end was cut off.
    """

    until: int | None = None
    pinned: Pinned | None = None
    at_work: Container[str] = NOBODY


async def asked_before_anywhere(
    store: JournalStore,
    stored: StoredRun,
    addr: int,
    asked: Sequence[Call],
    looking: Looking,
) -> AskedBefore:
    """As ``asked_before``, and what the other runs of its root and conversation say. A run that
    cannot be read says nothing.
    """
    before, elsewhere = asked_before(stored.records, addr, asked, stored.id), list[DoubtedCall]()
    if beside := await store.unknown_beside(stored.id):
        runs = await store.load(beside)
        for run in beside:
            if isinstance(found := runs.get(run), StoredRun):
                elsewhere += await _amounting(_doubts_in(found, looking), found, looking.pinned)
    return structs.replace(before, elsewhere=tuple(elsewhere))


async def _amounting(
    doubts: Sequence[DoubtedCall], made_by: StoredRun, pinned: Pinned | None
) -> Sequence[DoubtedCall]:
    if not doubts or pinned is None:
        return doubts
    try:
        catalog = await pinned(made_by.catalog)
    except JournalCorrupt:
        return doubts
    return [structs.replace(one, said=likeness(one.call, catalog)) for one in doubts]


def _doubts_in(stored: StoredRun, looking: Looking) -> tuple[DoubtedCall, ...]:
    until = looking.until
    records = [
        record
        for record in stored.records
        if record.body is not None and (until is None or record.at <= until)
    ]
    unknown = _Unknown()
    try:
        for record in records:
            unknown.follow(record)
        if stored.status not in SETTLED and stored.id not in looking.at_work:
            unknown.cut_off(records)
        return unknown.doubts(records, stored.id)
    except JournalCorrupt:
        return ()


def cut_off_call(records: Sequence[Record]) -> int | None:
    """The number of the effect that is a run's latest verb call, where no record says how it ended
    and its content is there: its process died, unless it is under way.
    """
    for record in reversed(records):
        if record.name != "verb_call":
            continue
        if record.kind is RecordKind.OBSERVATION:
            return None
        if record.kind is RecordKind.INTENT:
            return None if record.body is None else _addr(record)
    return None


class _Unknown:
    """The effects, by number, of whose end nobody knows; a child's with its place in the join."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], None] = {}
        self._repeats: set[tuple[int, int]] = set()
        self._sure: set[tuple[int, int]] = set()

    def follow(self, record: Record) -> None:
        """Most records are none of these, and are not decoded."""
        kind, content = record.kind, record.body or b""
        if (
            kind is RecordKind.OBSERVATION
            and record.name == "verb_call"
            and b'"outcome_unknown"' in content
        ):
            body = decode(record)
            seen = SEEN.decode(body.result) if isinstance(body, ObservationBody) else None
            if isinstance(body, ObservationBody) and seen and seen.result in _UNKNOWN:
                self._found[body.addr, 0] = None
                self._repeats |= {(body.addr, 0)} if seen.repeat is not None else set()
        elif kind is RecordKind.CHILD_ENDED and b'"unknown"' in content:
            body = decode(record)
            if isinstance(body, ChildEndedBody) and SEEN.decode(body.ended).ended in _UNKNOWN:
                self._found[body.addr, body.index] = None
        elif kind is RecordKind.NOTE:
            self._resolved(decode(record))

    def _resolved(self, body: object) -> None:
        """Somebody has found out that it did not happen, or that it did."""
        told = RESOLVED.decode(body.details) if isinstance(body, NoteBody) else None
        if told is None or told.addr is None:
            return
        if told.happened is False:
            self._found.pop((told.addr, 0), None)
        elif told.happened:
            self._sure.add((told.addr, 0))

    def cut_off(self, records: Sequence[Record]) -> None:
        """The latest call too, where it was."""
        if (addr := cut_off_call(records)) is not None:
            self._found[addr, 0] = None

    def doubts(self, records: Sequence[Record], run: str) -> tuple[DoubtedCall, ...]:
        """What was called there. Of a call in doubt that was repeated the last attempt counts."""
        if not self._found:
            return ()
        called: dict[tuple[int, int], Authorized] = {}
        for record in records:
            if (
                record.kind is RecordKind.INTENT
                and record.body is not None
                and record.name in {"verb_call", "children"}
            ):
                body = decode(record)
                called.update(_calls(body) if isinstance(body, IntentBody) else ())
        last = {one.decision: place for place, one in called.items()}
        return tuple(
            DoubtedCall(
                place=f"{run}:{place[0]}:{place[1]}{'!' if place in self._sure else ''}",
                call=called[place].call,
                sure=place in self._sure,
            )
            for place in self._found
            if place in called
            and (place not in self._repeats or last[called[place].decision] == place)
        )


def _calls(body: IntentBody) -> Iterator[tuple[tuple[int, int], Authorized]]:
    effect = EFFECT.decode(body.effect)
    if isinstance(effect, VerbCall):
        yield (body.addr, 0), effect.authorized
    elif isinstance(effect, Children):
        for index, spawn in enumerate(effect.spawns):
            if spawn.authorized is not None:
                yield (body.addr, index), spawn.authorized


def _addr(record: Record) -> int:
    body = decode(record)
    return body.addr if isinstance(body, IntentBody) else -1


def _resubmitted(record: Record) -> Iterator[Resubmitted]:
    if (
        record.kind is not RecordKind.OBSERVATION
        or record.name != "wait"
        or b'"resubmitted"' not in (record.body or b"")
    ):
        return
    body = decode(record)
    result = RESULTS.decode(body.result) if isinstance(body, ObservationBody) else None
    if isinstance(result, Resubmitted):
        yield result
