"""Wording diff: which decisions would be others if messages and answers were read with another
wording?

Each decision is made again by itself, from what was recorded beside the wording: state, policy,
what a model suggested. What would have followed from another one is not played: later decisions are
judged on the state that was. A text that was erased cannot be read again, and counts as not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import Effect
from ordain.errors import JournalCorrupt, JournalError
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.flows.values import Values
from ordain.journal.records import RecordKind
from ordain.ports.sessions import Entry, EntryKind, Sessions
from ordain.ports.store import StoredRun
from ordain.rules.answer import ANSWER, AnswerInputs, ExpectedType, fits, partly
from ordain.rules.attach import ATTACH
from ordain.rules.attachment import AttachFacts, ThreadFact
from ordain.rules.decision import Decision, Rule
from ordain.runtime.beyond import Rereading
from ordain.runtime.flips import Flip, note
from ordain.runtime.flow_outcome import NothingBeyond, flow_outcome
from ordain.runtime.message_entry import MessageBody
from ordain.runtime.policy_changes import COMPARED
from ordain.runtime.replay import opened, replay
from ordain.runtime.transcript_replay import CORRUPT, PAGE, Pinned, Told
from ordain.wording.cues import Cues, Partly
from ordain.wording.wording import Wording


@dataclass(slots=True, kw_only=True)
class MessagesRead:
    """A session's messages, read with another wording. ``unjudged`` are those whose text was
    erased.
    """

    workspace: str
    session: str
    verdict: str = COMPARED
    judged: int = 0
    unjudged: int = 0
    flips: list[Flip] = field(default_factory=list[Flip])


@dataclass(slots=True, kw_only=True)
class AnswersRead:
    """A run's answers, read with another wording. ``verdict`` is that of its replay where it does
    not replay equal: then nothing was judged.
    """

    run: str
    flow: str
    verdict: str = COMPARED
    judged: int = 0
    flips: list[Flip] = field(default_factory=list[Flip])


async def messages_read(
    sessions: Sessions, workspace: str, session: str, wording: Wording, pinned: Pinned
) -> MessagesRead:
    """Decide about each message of a session again, under the policy that decided, with the cues of
    this wording.
    """
    report = MessagesRead(workspace=workspace, session=session)
    try:
        await _read_again(report, sessions, wording, pinned)
    except JournalCorrupt:
        report.verdict = CORRUPT
    return report


async def _read_again(
    report: MessagesRead, sessions: Sessions, wording: Wording, pinned: Pinned
) -> None:
    seq, workspace, session = 0, report.workspace, report.session
    while page := await sessions.entries(workspace, session, after=seq, limit=PAGE):
        for entry in page:
            seq = entry.seq
            if entry.kind is not EntryKind.MESSAGE:
                continue
            if entry.body is None or entry.decision is None:
                report.unjudged += 1
                continue
            try:
                await _decide_again(report, entry, wording, pinned)
            except (msgspec.MsgspecError, JournalError, LookupError, ValueError, TypeError):
                report.verdict = CORRUPT


async def _decide_again(
    report: MessagesRead, entry: Entry, wording: Wording, pinned: Pinned
) -> None:
    told = msgspec.json.decode(entry.decision or b"", type=Told)
    text = msgspec.json.decode(entry.body or b"", type=MessageBody).text
    recorded: Decision[Any] = Decision(
        outcome=msgspec.json.decode(told.outcome, type=ATTACH.outcome),
        reason=ATTACH.reason(told.reason),
        address=f"{entry.seq}/attach",
    )
    anew = ATTACH.apply(
        with_cues(told.facts, wording.cues(text)), None, (await pinned(told.catalog)).policy
    )
    report.judged += 1
    note(report.flips, recorded, anew, (ATTACH.name, ""), exact=False)


def with_cues(facts: AttachFacts, found: Cues) -> AttachFacts:
    """The facts as they would have been had the message been read like this; of options, whose
    labels are no facts, as it was.
    """
    if found == facts.cues:
        return facts  # what was chosen by its label, no cue tells
    threads = tuple(_read_with(thread, found) for thread in facts.threads)
    return msgspec.structs.replace(facts, cues=found, threads=threads)


def _read_with(thread: ThreadFact, found: Cues) -> ThreadFact:
    if not thread.asks or thread.barred or thread.asks == ExpectedType.OPTION:
        return thread
    expects = ExpectedType(thread.asks)
    fitting = fits(expects, found)
    return msgspec.structs.replace(
        thread,
        fits=fitting,
        partly=partly(expects, found) if thread.takes and not fitting else Partly.NO,
    )


class _ReadAnew:
    """Implements ``Judge``: the flow gets what was recorded; rule ``answer`` is asked again, with
    the other wording.
    """

    def __init__(self, wording: Wording, catalog: Catalog, report: AnswersRead) -> None:
        self._wording, self._catalog, self._report = wording, catalog, report

    def judge(
        self, decision: Decision[Any], rule: Rule[Any, Any, Any], facts: Struct, inputs: object
    ) -> Decision[Any]:
        if rule.name == ANSWER.name and isinstance(inputs, AnswerInputs):
            anew = rule.apply(
                facts, structs.replace(inputs, wording=self._wording), self._catalog.policy
            )
            self._report.judged += 1
            note(self._report.flips, decision, anew, (rule.name, ""), exact=False)
        return decision

    def rendered(self, addr: int, effect: Effect[Any], result: Any, values: Values) -> None:
        return None


def answers_read(
    stored: StoredRun,
    catalog: Catalog,
    wording: Wording,
    kinds: Kinds,
    transcript: TranscriptReader | None = None,
) -> AnswersRead:
    """Judge each answer that rule ``answer`` judged in a run again. A run without such a decision
    is not gone through.
    """
    report = AnswersRead(run=stored.id, flow=f"{stored.flow}@{stored.flow_version}")
    if not any(
        record.kind is RecordKind.DECISION and record.name == ANSWER.name
        for record in stored.records
    ):
        return report
    replayed = replay(stored, catalog, kinds, transcript)
    if not replayed.equal:
        report.verdict = replayed.verdict
        return report
    setup = opened(stored, catalog, kinds)
    reading = Rereading(judge=_ReadAnew(wording, catalog, report))
    execution = setup.execution(
        stored.records, beyond := NothingBeyond(), setup.state(stored.records[0].at), reading
    )
    # whatever it comes to is what is recorded, a fault too: it replayed equal
    flow_outcome(setup, execution, beyond)
    return report
