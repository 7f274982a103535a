"""A driven run's own time: the clock less what was lost and less what a person takes to answer
(B-23). The one place that says what was lost.

What is lost is found by the pauses of this folder's engines, by what its children lost, and by a
wait for a person, which is lost whole. It is put on record as ``resumed`` before the next record
that gives time to the flow, in the same unit: by itself it is no progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import ModelCall, Read, VerbCall, Wait, WaitFor
from ordain.errors import JournalError
from ordain.journal.codec import Scribe, decode
from ordain.journal.lost_time import MOVING, Pause, Reckoning, losses, spans_of
from ordain.journal.open_joins import open_join
from ordain.journal.records import Body, Record, RecordKind, Status, SuspendedBody
from ordain.ports.store import JournalStore, StoredRun, load_run
from ordain.runtime.run_state import RunState
from ordain.runtime.services import Services

PERSONS = frozenset({WaitFor.ANSWER, WaitFor.APPROVAL})
"""What only a person can end: a run's time stands still meanwhile, and such a wait's own moment is
one by the wall clock.
"""
_RESUMED = RecordKind.RESUMED
TIME_LOST, WAITED = "time lost", "waited for a person"


OneAttempt = ModelCall | VerbCall | Read


def time_out_us(effect: OneAttempt, catalog: Catalog) -> int | None:
    """An attempt's own time-out in microseconds, as its declaration has it; None of a read."""
    match effect:
        case ModelCall():
            return catalog.data.profiles[effect.profile].timeout_ms * 1000
        case VerbCall():
            return catalog.verbs[effect.authorized.call.verb].spec.timeout_ms * 1000
        case _:
            return None


class FlowTime:
    """What was lost of a run's time since its last record that accounts for it. ``still``: a person
    has the word.
    """

    def __init__(
        self, services: Services, stored: StoredRun, state: RunState, scribe: Scribe
    ) -> None:
        """Of a run as it is stored."""
        self._services, self._state, self._scribe = services, state, scribe
        self._reckoning = Reckoning.of(stored.records)
        self._wakes = None if stored.wake_at is None else (stored.wake_at, services.lost.back_us)
        self._below: list[Pause] = []
        self.still = False

    def also(self, spans: Sequence[Pause]) -> None:
        """Children have lost this, or stand still."""
        self._below += spans

    def wrote(self, record: Record, body: Body) -> None:
        """A record was written."""
        kind = record.kind
        if kind in MOVING:
            self._reckoning, self.still, self._wakes = Reckoning(record.at), False, None
            if self._below:
                self._below = []
        elif kind is _RESUMED:
            self._reckoning = self._reckoning.after(record, body)
        elif isinstance(body, SuspendedBody) and body.wake_at is not None:
            self._wakes = body.wake_at, self._services.lost.back_us

    def unbooked(self, until: int, now: int | None = None) -> int:
        """What is lost until then and on no record, in microseconds; ``now`` of whoever has just
        asked the clock.
        """
        reckoning = self._reckoning
        if self.still:
            return max(0, until - reckoning.since - reckoning.booked)
        lost = self._services.lost
        lost.look(now)
        if lost.last_at <= reckoning.since and not self._below:
            return 0  # as nearly always, and every record asks
        return reckoning.beyond((*lost.since(reckoning.since), *self._below), until)

    def now(self) -> int:
        """The run's time now, in microseconds: the clock, which steps back for no run, less what
        was lost.
        """
        return self._at(self._services.clock.now())

    def _at(self, clock: int) -> int:
        now = max(self._scribe.at, clock)
        return now - self._state.lost_us - self.unbooked(now, clock)

    def on_the_clock(self, moment: int) -> int:
        """When a moment of the run's time comes by the wall clock, if nothing more is lost."""
        clock = self._services.clock.now()
        return moment + clock - self._at(clock)

    def until(self, wait: Wait) -> int:
        """When a wait is over by the wall clock: a person's own moment lies where it lay when the
        wait began.

        Where the clock was set back below the run's last record its time stands: a wait that has
        begun is over when that was to be, as much earlier as the clock was set back since.
        """
        if self.still:
            return wait.deadline + self._state.lost_us - self._reckoning.booked
        moment = self.on_the_clock(wait.deadline)
        if self._wakes is None or self._scribe.at <= self._services.clock.now():
            return moment
        wakes, back_us = self._wakes
        return min(moment, wakes - (self._services.lost.back_us - back_us))

    def expired_at(self, wait: Wait) -> int:
        """The record's time of a wait that is over, by which the flow's is past its moment whatever
        the clock says.
        """
        now = self._services.clock.now()
        return max(
            now,
            self.until(wait),
            0 if self.still else wait.deadline + max(self._scribe.at, now) - self.now(),
        )

    def timed(self, effect: OneAttempt, catalog: Catalog) -> OneAttempt:
        """The effect with its moments by the wall clock. Its own time-out begins with the attempt;
        the run's deadline is where it was.
        """
        clock, deadline = self._services.clock.now(), effect.deadline
        now = self._at(clock)
        late, own_us = now - self._state.flow_at, time_out_us(effect, catalog)
        if late > 0 and own_us is not None and deadline - self._state.flow_at >= own_us:
            deadline = min(self._state.authority.deadline, deadline + late)
        ahead = clock - now
        changes = {"deadline": deadline + ahead}
        if isinstance(effect, ModelCall) and effect.hedge:
            changes["hedge_deadline"] = effect.hedge_deadline + ahead
        return structs.replace(effect, **changes)

    def mark(self) -> tuple[Any, ...]:
        """To go back to, if what follows is refused."""
        return self._reckoning, self._below, self.still, self._wakes

    def back_to(self, mark: tuple[Any, ...]) -> None:
        """As it was."""
        self._reckoning, self._below, self.still, self._wakes = mark


async def lost_below(store: JournalStore, run: str, now: int) -> tuple[list[Pause], int | None]:
    """What a child has lost so far, and where a person has the word in it now: by when that is over
    at the latest, None where nobody waits for one.

    A child that cannot be read says nothing.
    """
    try:
        stored = await load_run(store, run)
        return ([], None) if stored is None else await _lost_below(store, stored, now)
    except JournalError:
        return [], None


def _waits(stored: StoredRun) -> bool:
    """Whether the run waits: also where mail for it has come that nobody has looked at yet."""
    if stored.status is Status.READY:
        said = (
            record.kind for record in reversed(stored.records) if record.kind is not RecordKind.NOTE
        )
        return next(said, None) is RecordKind.SUSPENDED
    return stored.status is Status.WAITING


async def _lost_below(
    store: JournalStore, stored: StoredRun, now: int
) -> tuple[list[Pause], int | None]:
    spans = spans_of(losses(stored.records))
    if not _waits(stored):
        return spans, None
    until: int | None = None
    for record in reversed(stored.records):
        if record.kind is RecordKind.SUSPENDED:
            body = decode(record)
            if isinstance(body, SuspendedBody) and body.waits_for in PERSONS:
                return [
                    *spans,
                    Pause(Reckoning.of(stored.records).since, now),
                ], stored.wake_at or now
            break
    join = open_join(stored.records, stored.id)
    for child in () if join is None else join.children:
        below, waits = await lost_below(store, child, now)
        spans += below
        until = waits if until is None else max(until, waits or until)
    return spans, until
