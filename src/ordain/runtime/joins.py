"""Children: opening them with their parent's intent, and joining them as ``Join`` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Raw, Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.failure_words import JOIN_DEADLINE as DEADLINE
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import (
    NULL,
    AnyEnded,
    Cancelled,
    Completed,
    Failed,
    Join,
    JoinMode,
    Spawn,
    Unknown,
)
from ordain.effects.effect import Children
from ordain.effects.results import Joined
from ordain.errors import CallerError, FlowFault, FlowUnavailable, Refused
from ordain.flows.act import carrier_of
from ordain.flows.kinds import Kinds
from ordain.journal.codec import Scribe, decode
from ordain.journal.digests import call_digest, derived_id
from ordain.journal.lost_time import Pause, losses
from ordain.journal.records import Body, ChildEndedBody, Record, RecordKind, Started, raw
from ordain.ports.effects import Interrupted
from ordain.ports.store import Mail, StoredRun
from ordain.ports.writes import ERASED_MAIL, MailKind, NewMail, NewRun, Write
from ordain.rules.header import EXCERPT, HeaderLine
from ordain.runtime.flow_time import FlowTime, lost_below
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.opening import check_first
from ordain.runtime.recorded_form import ENDS
from ordain.runtime.run_state import JOIN_BYTES, RunState
from ordain.runtime.services import Services
from ordain.runtime.setup import RunSetup

DECIDED = "join decided"
RESULTS_TOO_LARGE = "results_too_large"
"""Why a child that completed failed all the same for who joined it: its result and its siblings'
are more than a join hands over.
"""
NESTED_MAX = 32
"""How many runs a run may be a child below. Calls of verbs end sooner, by policy's depth; children
that carry out none have only this.
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


def new_children(parent: Parent, addr: int, effect: Children) -> Iterator[NewRun]:
    """The children's rows and started records; ids derive from (parent, address, index). Raises as
    ``started_child``, and if nested too deep.
    """
    stored, key = parent.stored, parent.stored.key or b""
    if stored.nested >= NESTED_MAX and effect.spawns:
        raise FlowFault(f"a run below {NESTED_MAX} others opens no children")
    share = runs_share(parent.state, effect)
    for index, spawn in enumerate(effect.spawns):
        started = started_child(parent.setup, parent.services.kinds, addr, index, spawn)
        # the child's time begins by the wall clock: what its parent has lost so far it has not
        authority, permit = parent.state.authority, spawn.authorized
        consent = None if permit is None else authority.given(permit.decision)
        until = started.deadline + parent.state.lost_us
        started = structs.replace(started, runs=share, deadline=until, profile=authority.held)
        started = authority.consents.begin(started, consent)
        child = derived_id(parent.id, addr, index)
        yield NewRun(
            id=child,
            key=key,
            started=started,
            record=Scribe(child, key).write(
                RecordKind.STARTED, spawn.flow, started, parent.services.clock.now()
            ),
            root=stored.root,
        )


def runs_share(parent: RunState, effect: Children) -> int:
    """How many runs each of these may open below it, now that they are counted themselves: nothing
    else is opened until the join is over.
    """
    return parent.authority.runs_left // max(1, len(effect.spawns))


def started_child(
    parent: RunSetup, kinds: Kinds, addr: int, index: int, spawn: Spawn[Any]
) -> Started:
    """What a child begins with: its parent's own, as far as the spawn lets it have that.

    Raises:
        FlowUnavailable: this build has no such flow.
        FlowFault: it would carry out a verb call that its permit does not name, or a verb that
            another kind carries out, or its kind cannot read or label the input.
        ConfigurationError: its kind says of it what its first record cannot hold.
    """
    kind, began, permit = kinds.newest.get(spawn.flow), parent.started, spawn.authorized
    if kind is None:
        raise FlowUnavailable(f"this build has no flow {spawn.flow}")
    try:
        given = asked_of(kind, "decode_input", kind.decode_input, spawn.input)
        carries = None if kind.carries is None else asked_of(kind, "carries", kind.carries, given)
        label = asked_of(kind, "label", kind.label, given)
    except (CallerError, Refused) as error:  # without its text, which may hold values of the input
        cause = type(error.__cause__ or error).__name__
        raise FlowFault(
            f"a child run of {spawn.flow}@{kind.version} with an input that its kind cannot read "
            f"or label: {cause}"
        ) from error
    if carries is None and permit is not None:
        raise FlowFault(
            f"a child run of {spawn.flow} by a permit for {permit.call.verb}: it carries out no "
            "verb's call"
        )
    if carries is not None:
        if permit is None or call_digest(permit.call) != call_digest(carries):
            raise FlowFault(f"a child run of {spawn.flow} for a verb call that no decision allowed")
        verb = parent.catalog.verbs.get(permit.call.verb)
        if verb is None or not verb.spec.composite or carrier_of(verb.spec) != spawn.flow:
            raise FlowFault(
                f"a child run of {spawn.flow} for {permit.call.verb}, which it does not carry out"
            )
    started = Started(
        flow=spawn.flow,
        flow_version=kind.version,
        catalog=began.catalog,
        input=spawn.input,
        workspace=began.workspace,
        principal=began.principal,
        scopes=began.scopes,
        may_ask=began.may_ask,
        asks_again=True,
        reserves_apart=True,
        subject=began.subject,
        parent=parent.run,
        parent_addr=addr,
        index=index,
        depth=began.depth + _nests(parent.catalog, spawn, nests=kind.nests),
        grant=CapabilityScope(allowed=spawn.scope, constraints=parent.scope.constraints),
        deadline=spawn.deadline,
        allowance=spawn.allowance,
        keep_thoughts=spawn.keep_thoughts,
        session=began.session,
        thread=began.thread,
        label=label,
        wording=parent.catalog.wording_id,
        chain=_chain(parent, spawn),
        root=parent.root,
    )
    check_first(kind, started)
    return started


def _nests(catalog: Catalog, spawn: Spawn[Any], *, nests: bool) -> bool:
    """Whether the child counts as a verb call inside a verb call: what a turn enters by is no
    nesting of verbs (B-32), nor what its kind says is none.
    """
    return (
        nests
        and spawn.authorized is not None
        and not catalog.verbs[spawn.authorized.call.verb].spec.entry
    )


def _chain(parent: RunSetup, spawn: Spawn[Any]) -> tuple[str, ...]:
    """The cards that the child's work was handed through."""
    card = None if spawn.authorized is None else parent.catalog.card_of(spawn.authorized.call.verb)
    return parent.started.chain if card is None else (*parent.started.chain, card.name)


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

    def _note_deadline(self, now: int, ended: dict[int, AnyEnded]) -> None:
        deadline = self.effect.until.deadline
        if self.why is None and deadline is not None and now >= deadline:
            self.why = DEADLINE
            self.counted = tuple(sorted(ended))

    def interrupt_rest(self, why: str) -> None:
        """Ask the children that still run to stop; asking twice is harmless."""
        parent = self.parent
        for index in range(len(self.effect.spawns)):
            if index not in self.ended:
                child = derived_id(parent.id, self.addr, index)
                body = raw({"what": "cancel", "by": f"run:{parent.id}", "why": why})
                now = parent.services.clock.now()
                parent.beside(
                    NewMail(
                        run=child,
                        kind=MailKind.INTERRUPT,
                        key=f"join:{parent.id}:{self.addr}",
                        body=bytes(body),
                        at=now,
                    )
                )

    def results(self) -> tuple[AnyEnded, ...]:
        """One end each, in spawn order."""
        return tuple(self.ended[index] for index in range(len(self.effect.spawns)))


async def join_children(
    parent: Parent, addr: int, effect: Children, ended: dict[int, AnyEnded]
) -> tuple[AnyEnded, ...]:
    """Wait, costing nothing, until every child has settled; interrupt the rest once the join is
    over or the parent is.
    """
    joining = _Joining(parent, addr, effect, ended)
    await joining.begin()
    while True:
        mail = await parent.look()
        await joining.collect(mail)
        interrupt = parent.interrupt() if not parent.state.masked else None
        if len(joining.ended) == len(effect.spawns):
            parent.observe(
                addr, "children", Joined(counted=joining.counted, why=joining.why or "all ended")
            )
            if interrupt is not None:
                raise parent.deliver(interrupt, addr)
            return joining.results()
        wake_at = await joining.note_deadline()
        deaf = interrupt is not None
        if deaf or joining.why is not None:
            joining.interrupt_rest(
                DEADLINE if joining.why == DEADLINE else "parent interrupted" if deaf else DECIDED
            )
        parent.book_lost()
        await parent.suspend(addr, wake_at, "children", deaf=deaf)
