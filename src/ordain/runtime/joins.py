"""Joining children as ``Join`` says: who is waited for, who is stopped, and what each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Raw, Struct, structs

from ordain.contracts.failure_words import JOIN_DEADLINE as DEADLINE
from ordain.effects.children import (
    NULL,
    AnyEnded,
    Cancelled,
    Completed,
    Failed,
    Join,
    JoinMode,
    Unknown,
)
from ordain.effects.effect import Children
from ordain.effects.results import Joined
from ordain.journal.codec import decode
from ordain.journal.digests import derived_id
from ordain.journal.lost_time import Pause, losses
from ordain.journal.records import Body, ChildEndedBody, Record, RecordKind, raw
from ordain.ports.effects import Interrupted
from ordain.ports.store import Mail, StoredRun
from ordain.ports.writes import (
    ERASED_MAIL,
    PARENT_INTERRUPTED,
    MailKind,
    Write,
    interrupt_of,
)
from ordain.rules.header import EXCERPT, HeaderLine
from ordain.runtime.flow_time import FlowTime, lost_below
from ordain.runtime.recorded_form import ENDS
from ordain.runtime.run_state import JOIN_BYTES, RunState
from ordain.runtime.services import Services
from ordain.runtime.setup import RunSetup

DECIDED = "join decided"
RESULTS_TOO_LARGE = "results_too_large"
"""Why a child that completed failed all the same for who joined it: its result and its siblings'
are more than a join hands over.
"""
GRACE_US = 1_000_000
"""A child whose own time is over with its join's, or before, ends by itself and says of what; one
that has not by so long after is interrupted.
"""


class _Lost(Struct):
    """What an end says of lost time, of whatever kind it is."""

    lost_us: int = 0


_LOST = msgspec.json.Decoder(_Lost)


class Booking(Protocol):
    """A run whose journal is written, whether its flow goes on or not."""

    id: str
    services: Services
    records: list[Record]

    def write(self, kind: RecordKind, name: str, body: Body, *, at: int | None = None) -> Record:
        """Append a record."""
        ...

    def take(self, mail: Mail, seq: int) -> None:
        """Mark mail as taken by a record."""
        ...


class Parent(Booking, Protocol):
    """The live run whose children these are."""

    stored: StoredRun
    setup: RunSetup
    state: RunState
    time: FlowTime

    def book_lost(self) -> None:
        """Put on record what was lost."""
        ...

    def beside(self, *writes: Write) -> None:
        """Write this in the same commit as the records around it."""
        ...

    async def look(self) -> list[Mail]:
        """All untaken mail."""
        ...

    def interrupt(self) -> Mail | None:
        """An interrupt that no record has taken."""
        ...

    def deliver(self, mail: Mail, addr: int) -> Interrupted:
        """Record an interrupt for the flow."""
        ...

    def observe(
        self, addr: int, name: str, result: Any, *, at: int | None = None, mail: Mail | None = None
    ) -> Any:
        """Record what became of an effect."""
        ...

    async def suspend(
        self, addr: int, wake_at: int | None, waits_for: str, *, deaf: bool = False
    ) -> None:
        """Wait; returns only if mail is there already."""
        ...


def why_over(until: Join, spawned: int, ended: dict[int, AnyEnded]) -> str | None:
    """Why the join is over by count, or None: all have ended, enough have completed, or too few
    still can.
    """
    if len(ended) == spawned:
        return "all ended"
    if until.mode is JoinMode.ALL:
        return None
    wanted = 1 if until.mode is JoinMode.FIRST else until.quorum
    completed = sum(isinstance(end, Completed) for end in ended.values())
    if completed >= wanted:
        return f"{completed} completed"
    return "cannot be reached" if completed + spawned - len(ended) < wanted else None


class HandedOver(NamedTuple):
    """How many bytes a join has handed over: of results, and of what its children's ends tell
    besides them.
    """

    results: int = 0
    told: int = 0

    def plus(self, record: Record, end: AnyEnded) -> HandedOver:
        """With one more, as its ``child_ended`` record has it."""
        results = result_bytes(end)
        return HandedOver(self.results + results, self.told + len(record.body or b"") - results)


def result_bytes(end: AnyEnded) -> int:
    """How much of a result a child's end hands over."""
    return len(bytes(end.value)) if isinstance(end, Completed | Failed) else 0


def handed_over(taken: HandedOver, ended: bytes) -> Raw:
    """A child's end for a join that has ``taken`` so much: without its own result, or the text it
    tells, where that would be more than a join hands over.
    """
    if max(taken) + len(ended) <= JOIN_BYTES:
        return Raw(ended)
    end = ENDS.decode(ended)
    results = result_bytes(end)
    too_large, too_long = (
        taken.results + results > JOIN_BYTES,
        taken.told + len(ended) - results > JOIN_BYTES,
    )
    if too_large and isinstance(end, Completed):
        end = Failed(
            child=end.child,
            spent=end.spent,
            runs=end.runs,
            header=end.header,
            reason=RESULTS_TOO_LARGE,
        )
    elif too_large:
        end = structs.replace(end, value=NULL)
    if too_long:
        end = _in_few_words(end)
    return raw(end) if too_large or too_long else Raw(ended)


def _in_few_words(end: AnyEnded) -> AnyEnded:
    """The end with its figures, and of its header that there is more in the child's own."""
    if isinstance(end, Failed | Cancelled | Unknown):
        end = structs.replace(end, reason=end.reason[:EXCERPT])
    if (header := end.header) is None:
        return end
    line = HeaderLine(
        mark="info", what=f"{len(header.lines)} lines are left out here: run {end.child} has them"
    )
    return structs.replace(
        end,
        header=structs.replace(
            header, reason=header.reason[:EXCERPT], models=(), notices=(), lines=(line,)
        ),
    )


def book_ends(closed: Booking, mail: Sequence[Mail]) -> None:
    """Record what children came to, by the run's untaken ``mail``, that the run has not met and
    will not meet, since it is settled without its flow: what they spent was spent below it.
    """
    taken: Counter[int] = Counter()
    met: set[tuple[int, int]] = set()
    for record in closed.records:
        if (
            record.kind is RecordKind.CHILD_ENDED
            and record.body is not None
            and isinstance(body := decode(record), ChildEndedBody)
        ):
            met.add((body.addr, body.index))
            taken[body.addr] += len(body.ended)
    for row in mail:
        if (
            row.kind is MailKind.CHILD
            and row.body != ERASED_MAIL
            and (row.addr, index := _index(row)) not in met
        ):
            # nobody is handed the results any more: no end needs to be taken apart
            whole = taken[row.addr]
            _, ended = _record_end(closed, row, row.addr, index, HandedOver(whole, whole))
            taken[row.addr] += len(ended)


def _index(row: Mail) -> int:
    """Which of a join's children it tells of."""
    return int(row.key.rpartition(":")[2])


def _record_end(
    parent: Booking, row: Mail, addr: int, index: int, taken: HandedOver
) -> tuple[Record, Raw]:
    """Turn a child's mail into its ``child_ended`` record: at when it ended, not when that was
    noticed.
    """
    ended = handed_over(taken, row.body)
    body = ChildEndedBody(
        addr=addr, index=index, child=derived_id(parent.id, addr, index), ended=ended, mail=row.id
    )
    record = parent.write(RecordKind.CHILD_ENDED, "child", body, at=row.at)
    parent.take(row, record.seq)
    return record, ended


class _Joining:
    """The state of one join, rebuilt from the records at every wake."""

    def __init__(
        self, parent: Parent, addr: int, effect: Children, ended: dict[int, AnyEnded]
    ) -> None:
        self.parent, self.addr, self.effect, self.ended = parent, addr, effect, ended
        self.counted: tuple[int, ...] = ()
        self.why: str | None = None
        self._taken = HandedOver()
        seen: dict[int, AnyEnded] = {}
        lost = losses(parent.records)
        for index, end in sorted(ended.items(), key=lambda item: item[1].seq):
            record = parent.records[end.seq]
            self._taken = self._taken.plus(record, end)
            self._note_deadline(
                record.at - sum(loss.lost_us for loss in lost if loss.seq < record.seq), seen
            )
            seen[index] = end
            self._weigh(seen)

    def _weigh(self, seen: dict[int, AnyEnded]) -> None:
        if self.why is None:
            self.why = why_over(self.effect.until, len(self.effect.spawns), seen)
            self.counted = tuple(sorted(seen))

    async def begin(self) -> None:
        """What its ended children have lost, it lost."""
        for end in list(self.ended.values()):
            await self._lose(end.child, self.parent.records[end.seq].at, end.lost_us)

    async def collect(self, mail: list[Mail]) -> None:
        """Turn children's mail into ``child_ended`` records."""
        parent = self.parent
        for row in mail:
            if row.kind is not MailKind.CHILD or row.addr != self.addr:
                continue
            index = _index(row)
            if index in self.ended:
                continue
            await self._lose(
                derived_id(parent.id, self.addr, index), row.at, _LOST.decode(row.body).lost_us
            )
            record, ended = _record_end(parent, row, self.addr, index, self._taken)
            parent.state.handed(record)
            self._note_deadline(parent.state.flow_at, self.ended)
            end: AnyEnded = parent.state.remember(ENDS.decode(ended), record.seq)
            self._taken = self._taken.plus(record, end)
            self.ended[index] = end
            self._weigh(self.ended)

    async def _lose(self, child: str, at: int, lost_us: int) -> None:
        """What a child has lost by its end, its parent lost, and once where several did."""
        if lost_us:
            spans, _ = await lost_below(self.parent.services.store, child, at)
            self.parent.time.also(spans or [Pause(at - lost_us, at)])

    async def note_deadline(self) -> int | None:
        """The join is over for whoever has not ended by its deadline; returns when that is by the
        wall clock, None where it is over or has none.

        Only where it seems to have come the children that are at work are asked what they have
        lost, or whether a person has the word.
        """
        parent, deadline, waits = self.parent, self.effect.until.deadline, 0
        if self.why is not None or deadline is None:
            return None
        if parent.time.now() >= deadline:
            for index in range(len(self.effect.spawns)):
                if index not in self.ended:
                    child = derived_id(parent.id, self.addr, index)
                    spans, until = await lost_below(
                        parent.services.store, child, parent.services.clock.now()
                    )
                    parent.time.also(spans)
                    waits = max(waits, until or 0)
        self._note_deadline(parent.time.now(), self.ended)
        return None if self.why is not None else max(parent.time.on_the_clock(deadline), waits)

    def about_to_end(self) -> tuple[set[int], int | None]:
        """The children that end by themselves now that the join's time is over, theirs being over
        too; and until when they may by the wall clock.
        """
        time, deadline = self.parent.time, self.effect.until.deadline
        if self.why != DEADLINE or deadline is None or time.now() >= deadline + GRACE_US:
            return set(), None
        over = {
            index
            for index, spawn in enumerate(self.effect.spawns)
            if index not in self.ended and spawn.deadline <= deadline
        }
        return over, time.on_the_clock(deadline + GRACE_US) if over else None

    def _note_deadline(self, now: int, ended: dict[int, AnyEnded]) -> None:
        deadline = self.effect.until.deadline
        if self.why is None and deadline is not None and now >= deadline:
            self.why = DEADLINE
            self.counted = tuple(sorted(ended))

    def interrupt_rest(self, why: str, sparing: Set[int]) -> None:
        """Ask the children that still run to stop; asking twice is harmless."""
        parent = self.parent
        for index in range(len(self.effect.spawns)):
            if index not in self.ended and index not in sparing:
                child = derived_id(parent.id, self.addr, index)
                now = parent.services.clock.now()
                parent.beside(interrupt_of(parent.id, self.addr, child, now, why))

    def results(self) -> tuple[AnyEnded, ...]:
        """One end each, in spawn order."""
        return tuple(self.ended[index] for index in range(len(self.effect.spawns)))


async def join_children(
    parent: Parent, addr: int, effect: Children, ended: dict[int, AnyEnded], *, begun: bool = False
) -> tuple[AnyEnded, ...]:
    """Wait, costing nothing, until every child has settled; interrupt the rest once the join is
    over or the parent is. ``begun``: the children are a moment old.
    """
    joining = _Joining(parent, addr, effect, ended)
    await joining.begin()
    # there is hardly mail of them yet, and where there is any the wait is refused
    look = not begun or not effect.spawns
    while True:
        if look:
            await joining.collect(await parent.look())
        look = True
        interrupt = parent.interrupt() if not parent.state.masked else None
        if len(joining.ended) == len(effect.spawns):
            parent.observe(
                addr, "children", Joined(counted=joining.counted, why=joining.why or "all ended")
            )
            if interrupt is not None:
                raise parent.deliver(interrupt, addr).bringing(joining.results())
            return joining.results()
        wake_at = await joining.note_deadline()
        deaf = interrupt is not None
        if deaf or joining.why is not None:
            sparing, until = (frozenset[int](), None) if deaf else joining.about_to_end()
            wake_at = until if wake_at is None else wake_at
            joining.interrupt_rest(
                DEADLINE if joining.why == DEADLINE else PARENT_INTERRUPTED if deaf else DECIDED,
                sparing,
            )
        parent.book_lost()
        await parent.suspend(addr, wake_at, "children", deaf=deaf)
