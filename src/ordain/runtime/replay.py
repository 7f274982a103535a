"""Replay: run a flow over its journal with no model, no verb, no event loop, and find everything
that is not as recorded.

Every fact is computed anew and compared, every rule is applied anew, every answered prompt is
rendered anew and its digest compared, and the result and the header must come out byte for byte. A
run that has not settled is replayed as far as its journal goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import AnyEffect, ModelCall
from ordain.effects.results import ModelAnswer
from ordain.errors import (
    ConfigurationError,
    Erased,
    FlowFault,
    FlowUnavailable,
    JournalCorrupt,
    JournalDiverged,
    JournalError,
)
from ordain.flows.kind import Settlement
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.flows.values import Values, advised_prompt, prompt_digest, sent_prompt
from ordain.journal.codec import ReadRecord, read_once
from ordain.journal.folds import ending
from ordain.journal.records import (
    ENCODER,
    NULL,
    SETTLED,
    EndedBody,
    FaultedBody,
    NoteBody,
    RecordKind,
    Started,
)
from ordain.ports.store import StoredRun
from ordain.prompts.prompt import render
from ordain.rules.decision import Decision, Rule
from ordain.rules.header import render_header
from ordain.runtime.beyond import Rereading
from ordain.runtime.execution import Execution
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.flow_outcome import FlowOutcome, FlowRaised, NothingBeyond, flow_outcome
from ordain.runtime.foreign_code import class_of
from ordain.runtime.headers import folded
from ordain.runtime.setup import RunSetup
from ordain.runtime.whole_journal import check_row, check_whole

_STARTED = msgspec.json.Decoder(Started)
_NOTE = RecordKind.NOTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as recorded: the place, and both values in short; place and recorded
    are empty where something is told of the whole.
    """

    place: str
    recorded: str
    now: str

    @property
    def line(self) -> str:
        """For people, on one line."""
        where = f"at {self.place}: " if self.place else ""
        return where + (f"recorded {self.recorded}; now {self.now}" if self.recorded else self.now)


@dataclass(slots=True, kw_only=True)
class Replayed:
    """What replaying one run found. ``verdict`` is equal, differs, or the code of why it cannot be
    replayed.
    """

    run: str
    flow: str
    verdict: str
    records: int = 0
    decisions: int = 0
    settled: bool = False
    differences: list[Difference] = field(default_factory=list[Difference])

    @property
    def equal(self) -> bool:
        """Whether everything came out as recorded."""
        return self.verdict == "equal"


class _Comparing:
    """Implements ``Judge``: applies every rule anew and notes what differs; the flow gets the
    recorded decision.
    """

    def __init__(self, setup: RunSetup, found: list[Difference]) -> None:
        self._kind, self._catalog = setup.kind, setup.catalog
        self._found = found

    def judge(
        self, decision: Decision[Any], rule: Rule[Any, Any, Any], facts: Struct, inputs: object
    ) -> Decision[Any]:
        again = rule.apply(facts, inputs, self._catalog.policy)
        if again.outcome != decision.outcome or again.reason != decision.reason:
            self._found.append(
                Difference(
                    place=decision.address,
                    recorded=short(decision.reason, decision.outcome),
                    now=short(again.reason, again.outcome),
                )
            )
        return decision

    def rendered(self, addr: int, effect: AnyEffect, result: Any, values: Values) -> None:
        if not isinstance(effect, ModelCall) or not isinstance(result, ModelAnswer):
            return
        try:
            prompt = self._kind.prompt(effect.purpose)
            resolved = prompt.build(self._catalog, effect, values)
            own = render(
                prompt.source_of(self._catalog, effect), resolved.inputs, values.system_parts
            )
            rendered = advised_prompt(own, resolved, values.advice)
            digest = prompt_digest(sent_prompt(rendered, resolved, result.held))
        except ConfigurationError as error:
            digest = error.code
        if digest != result.prompt_digest:
            self._found.append(
                Difference(place=f"{addr}/prompt", recorded=result.prompt_digest, now=digest)
            )


def short(reason: str, outcome: object) -> str:
    """A decision on one line, for a report of what differs."""
    return f"{reason} {ENCODER.encode(outcome).decode()[:160]}"


def replay(
    stored: StoredRun, catalog: Catalog, kinds: Kinds, transcript: TranscriptReader | None = None
) -> Replayed:
    """Replay one run; whatever is wrong with it is in the verdict. ``transcript`` reads the session
    that a conversation's run refers to.
    """
    report = Replayed(
        run=stored.id,
        flow=f"{stored.flow}@{stored.flow_version}",
        verdict="equal",
        records=len(stored.records),
        settled=stored.status in SETTLED,
    )
    try:
        _replay(stored, catalog, (kinds, transcript), report)
    except JournalError as error:
        report.verdict = error.code
        report.differences.append(
            Difference(place=str(error.details.get("seq", "")), recorded="", now=error.message)
        )
    except Exception as error:
        # a flow is foreign code, and so is what a damaged record may make of ours: it is in the
        # verdict
        report.verdict = "journal_corrupt"
        report.differences.append(
            Difference(place="", recorded="", now=f"{type(error).__name__}: {error}"[:300])
        )
    if report.differences and report.verdict == "equal":
        report.verdict = "differs"
    return report


def opened(stored: StoredRun, catalog: Catalog, kinds: Kinds) -> RunSetup:
    """Check the record as a whole, and set the run up.

    Raises:
        JournalCorrupt, Erased, FlowUnavailable: it cannot be run again.
    """
    if not stored.records:
        raise JournalCorrupt(f"run {stored.id} has no records")
    check_whole(stored)
    if stored.key is None or stored.records[0].body is None:
        raise Erased(f"run {stored.id} was erased")
    started = _STARTED.decode(stored.records[0].body)
    check_row(stored, started)
    kind = kinds.get(started.flow, started.flow_version)
    if kind is None:
        raise FlowUnavailable(f"this build has no flow {started.flow}@{started.flow_version}")
    if started.catalog != catalog.digest:
        raise JournalCorrupt("the run pins another catalog", details={"seq": 0})
    return RunSetup.of(stored.id, kind, started, catalog, kinds)


def _replay(
    stored: StoredRun,
    catalog: Catalog,
    world: tuple[Kinds, TranscriptReader | None],
    report: Replayed,
) -> None:
    kinds, transcript = world
    setup = opened(stored, catalog, kinds)
    recorded = _Recorded.of(stored, kinds)
    state = setup.state(stored.records[0].at, transcript)
    beyond = NothingBeyond()
    execution = setup.execution(
        stored.records,
        beyond,
        state,
        Rereading(read=recorded.read, judge=_Comparing(setup, report.differences)),
    )
    end, closed = recorded.end, recorded.closed
    came = flow_outcome(setup, execution, beyond)
    report.decisions = execution.decisions
    if isinstance(came, FlowRaised):
        _check_fault(recorded, came.error, execution)
    report.settled = end is not None
    if end is not None and closed:
        _compare_header(
            recorded,
            end,
            FlowEnd(settlement=Settlement(status=end.status, reason=end.reason)),
            report,
        )
    elif end is not None:
        _compare_end(recorded, end, came, execution, report)
    elif isinstance(came, FlowEnd) and not (execution.exhausted and recorded.going_on):
        raise JournalDiverged(f"run {stored.id}: the flow ends, its journal does not")


_FAULTS = (
    FlowFault,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
    AssertionError,
    RecursionError,
)
"""What a bug in a flow raises; the journal knows it as ``faulted``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A run as its journal has it, each body decoded once; ``closed`` says that an operator
    cancelled it while it was stopped.
    """

    stored: StoredRun
    kinds: Kinds
    read: ReadRecord
    end: EndedBody | None
    closed: bool

    @classmethod
    def of(cls, stored: StoredRun, kinds: Kinds) -> _Recorded:
        read = read_once(stored.records)
        notes = [read(record) for record in stored.records if record.kind is _NOTE]
        closed = any(
            isinstance(note, NoteBody)
            and note.action == "cancel"
            and b'"was"' in bytes(note.details)
            for note in notes
        )
        return cls(
            stored=stored, kinds=kinds, read=read, end=ending(stored.records, read), closed=closed
        )

    @property
    def going_on(self) -> bool:
        """Whether the run may have been left just before its end: a claim, a wait's end and a
        drained verb's result are durable by themselves.
        """
        return (
            self.stored.status not in SETTLED
            and self.stored.records[-1].kind is not RecordKind.FAULTED
        )

    def faulted_so(self, error: BaseException) -> bool:
        """Whether the run's last word is this very fault."""
        faults = [
            self.read(record) for record in self.stored.records if record.kind is RecordKind.FAULTED
        ]
        return (
            bool(faults)
            and isinstance(faults[-1], FaultedBody)
            and faults[-1].error == class_of(error)
        )


def _check_fault(recorded: _Recorded, error: BaseException, execution: Execution) -> None:
    """As live: whatever a flow raises is its fault, where its journal says so; else it is raised,
    as divergence where live would fault.
    """
    if (recorded.faulted_so(error) and execution.exhausted) or (
        recorded.closed and isinstance(error, _FAULTS)
    ):
        return
    if isinstance(error, FlowFault) or not isinstance(error, Exception):
        raise JournalDiverged(
            f"run {recorded.stored.id}: the flow raises {type(error).__name__}: {error}"[:300]
        ) from error
    raise error


def _compare_header(recorded: _Recorded, end: EndedBody, came: FlowEnd, report: Replayed) -> None:
    stored = recorded.stored
    at_end = next(index for index, record in enumerate(stored.records) if record.kind == "ended")
    fold = folded(stored.id, stored.records[:at_end], recorded.kinds, recorded.read)
    fold.lines += came.lines
    header = render_header(fold.header(came.settlement.status, came.settlement.reason))
    if end.header != header:
        report.differences.append(
            Difference(place="ended/header", recorded=end.header[:300], now=header[:300])
        )


def _compare_end(
    recorded: _Recorded, end: EndedBody, came: FlowOutcome, execution: Execution, report: Replayed
) -> None:
    if not isinstance(came, FlowEnd) or not execution.exhausted:
        raise JournalDiverged(f"run {recorded.stored.id}: the journal ends, the flow does not")
    if end.result == NULL and end.result_digest:
        raise Erased(f"run {recorded.stored.id}: its result was swept")
    _compare_header(recorded, end, came, report)
    pairs = (
        ("ended/status", str(end.status), str(came.settlement.status)),
        ("ended/reason", end.reason, came.settlement.reason),
        ("ended/result", bytes(end.result).decode(), bytes(came.output).decode()),
    )
    report.differences += [
        Difference(place=place, recorded=was[:300], now=now[:300])
        for place, was, now in pairs
        if was != now
    ]
