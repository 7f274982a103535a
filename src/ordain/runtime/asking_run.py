"""What the records of a run say of what it asks an approver: the wait itself, who proposed that
call instead of another, and what may have happened already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import EFFECT, Children, VerbCall, Wait
from ordain.effects.results import Resubmitted
from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest
from ordain.journal.partial_bodies import RESOLVED, SEEN
from ordain.journal.records import (
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


class AskedBefore(Struct, frozen=True, kw_only=True):
    """What came before a wait: ``unknown`` are the calls that went out and of whose end nobody
    knows, in its run, ``elsewhere`` those of its conversation's other runs.

    ``alike`` is what those elsewhere amount to, each under the catalog that it was made under: a
    verb may have another name by now, or another default. ``proposed_by``: who proposed its call
    anew.
    """

    unknown: tuple[Call, ...] = ()
    proposed_by: tuple[str, ...] = ()
    elsewhere: tuple[Call, ...] = ()
    alike: frozenset[str] = frozenset()

    def very(self, call: Call, catalog: Catalog) -> bool:
        """Whether exactly this, however it was spelled, may have happened by the run itself."""
        said = likeness(call, catalog)
        return any(said & likeness(one, catalog) for one in self.unknown)

    def very_elsewhere(self, call: Call, catalog: Catalog) -> bool:
        """The same by another run, as the verb is by now or was then."""
        said = likeness(call, catalog)
        return bool(said & self.alike) or any(
            said & likeness(one, catalog) for one in self.elsewhere
        )

    def perhaps_done(self, calls: Sequence[Call]) -> bool:
        """Whether one of these, or one of the same verb, may have happened already."""
        verbs = {call.verb for call in (*self.unknown, *self.elsewhere)}
        return any(call.verb in verbs for call in calls)


NOTHING_BEFORE = AskedBefore()


def wait_at(stored: StoredRun, addr: int) -> Wait | None:
    """The wait that effect ``addr`` of a run is; None where it is none, or its content is gone."""
    for record in stored.records:
        if record.kind is RecordKind.INTENT and record.name == "wait" and record.body is not None:
            body = decode(record)
            if isinstance(body, IntentBody) and body.addr == addr:
                effect = EFFECT.decode(body.effect)
                return effect if isinstance(effect, Wait) else None
    return None


def asked_before(records: Sequence[Record], addr: int, asked: Sequence[Call]) -> AskedBefore:
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
    return AskedBefore(unknown=unknown.calls(records), proposed_by=tuple(dict.fromkeys(by)))


async def asked_before_anywhere(
    store: JournalStore,
    stored: StoredRun,
    addr: int,
    asked: Sequence[Call],
    *,
    until: int | None = None,
    pinned: Pinned | None = None,
) -> AskedBefore:
    """As ``asked_before``, and what the other runs of its root and conversation say, as durable now
    or (``until``) up to a moment. ``pinned``: also what their calls amounted to when they went out.

    A run that cannot be read says nothing.
    """
    before, elsewhere = asked_before(stored.records, addr, asked), dict[str, Call]()
    alike = set[str]()
    if beside := await store.unknown_beside(stored.id):
        runs = await store.load(beside)
        for run in beside:
            if isinstance(found := runs.get(run), StoredRun):
                calls = _unknown_in(found, until)
                elsewhere |= {call_digest(call): call for call in calls}
                alike |= await _amounts(calls, found, pinned)
    return structs.replace(before, elsewhere=tuple(elsewhere.values()), alike=frozenset(alike))


async def _amounts(calls: Sequence[Call], made_by: StoredRun, pinned: Pinned | None) -> set[str]:
    if not calls or pinned is None:
        return set()
    try:
        catalog = await pinned(made_by.catalog)
    except JournalCorrupt:
        return set()
    return {said for call in calls for said in likeness(call, catalog)}


def _unknown_in(stored: StoredRun, until: int | None) -> tuple[Call, ...]:
    records = [
        record
        for record in stored.records
        if record.body is not None and (until is None or record.at <= until)
    ]
    unknown = _Unknown()
    try:
        for record in records:
            unknown.follow(record)
        return unknown.calls(records)
    except JournalCorrupt:
        return ()


class _Unknown:
    """The effects, by number, of whose end nobody knows; a child's with its place in the join."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], None] = {}
        self._repeats: set[tuple[int, int]] = set()

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
        """Somebody has found out that it did not happen."""
        told = RESOLVED.decode(body.details) if isinstance(body, NoteBody) else None
        if told is not None and told.addr is not None and told.happened is False:
            self._found.pop((told.addr, 0), None)

    def calls(self, records: Sequence[Record]) -> tuple[Call, ...]:
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
            called[place].call
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
