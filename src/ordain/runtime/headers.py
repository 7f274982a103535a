"""The header of any run as it stands: what it has done so far, as durable now, with what the runs
have done that it waits for, and the run before it that it takes the place of.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordain.contracts.verdict import RunVerdict
from ordain.effects.effect import Wait
from ordain.errors import JournalCorrupt
from ordain.flows.kinds import Kinds
from ordain.journal.acts import cleared
from ordain.journal.codec import ReadRecord, decode
from ordain.journal.digests import approval_id
from ordain.journal.folds import Fold
from ordain.journal.records import (
    STOPPED,
    EndedBody,
    IntentBody,
    Record,
    RecordKind,
    Started,
    Status,
)
from ordain.ports.store import JournalStore, StoredRun
from ordain.rules.acts import Act, ActEnd
from ordain.rules.header import MARKS, HeaderFacts, HeaderLine, plain, title_line, with_verdict
from ordain.runtime.approval_words import titled
from ordain.runtime.asking_run import Looking, asked_before_anywhere
from ordain.runtime.foreign_code import sent_by_signal
from ordain.runtime.joined_runs import joined_runs
from ordain.runtime.whole_journal import check_end

BEFORE = 20
"""How many interrupted runs in a row are looked back at."""
NOTE = 200
"""Most characters of what was noted of a run after its end."""


class Headers:
    """Makes the header of any run as durable now, whether it has ended or not. Reads only."""

    def __init__(self, store: JournalStore, kinds: Kinds) -> None:
        """``kinds`` say what the runs' records mean; ``at_work`` are the runs that are driven in
        this process, of which no call was cut off when they were taken up.
        """
        self._store, self._kinds = store, kinds
        self.at_work = set[str]()

    async def so_far(self, stored: StoredRun, stopped: StoredRun | None = None) -> HeaderFacts:
        """The header's facts of a run as durable now, with what the children it waits for have
        done.

        ``stopped`` is a run below it as it is from now on, which is not durable yet.
        """
        records = readable(stored.records)
        facts = await self._with_before(self.own(stored), stored)
        for run, found in (await joined_runs(self._store, stored.id, records)).items():
            child = stopped if stopped is not None and stopped.id == run else found
            if isinstance(child, JournalCorrupt):
                facts = msgspec.structs.replace(facts, lines=(*facts.lines, unreadable(run)))
            else:
                facts = _with_child(facts, child, await self.so_far(child, stopped))
        return facts

    def own(self, stored: StoredRun) -> HeaderFacts:
        """What the run's own records say, as far as they can be read; where that is not all of
        them, it says so.
        """
        records = readable(stored.records)
        facts = self.fold_of(stored.id, records).header(
            stored.status, stored.reason or "unfinished"
        )
        if len(records) == len(stored.records) and _ends_as_it_should(stored):
            return facts
        nobody_knows = Act(verb="", call="", end=ActEnd.UNKNOWN, run=stored.id)
        told = msgspec.structs.replace(
            facts, lines=(*facts.lines, unreadable(stored.id)), acts=(*facts.acts, nobody_knows)
        )
        return with_verdict(told)

    async def since(self, stored: StoredRun, end: EndedBody) -> tuple[str, str]:
        """The header of a run that has settled, and its verdict: as recorded, unless a person has
        said since what became of what was unknown.

        Nothing that is recorded changes: the first line is made anew, and what was said stands
        below.
        """
        if end.verdict != RunVerdict.UNKNOWN or stored.key is None:
            return end.header, end.verdict
        facts = self.fold(stored).header(end.status, end.reason)
        notes = [line.what for line in self._noted(stored)]
        acts = facts.acts
        for run in dict.fromkeys(
            act.run for act in acts if act.end is ActEnd.UNKNOWN and act.run not in ("", stored.id)
        ):
            below = await loaded(run, self._store)
            if isinstance(below, StoredRun):
                acts = tuple(cleared(acts, run, self.fold(below).acts.cleared))
                notes += [f"run {run}: {line.what}" for line in self._noted(below)]
        now = with_verdict(msgspec.structs.replace(facts, acts=acts))
        if now.verdict == end.verdict:
            return end.header, end.verdict
        told = "".join(f"\n{MARKS['info']} {plain(note, NOTE)}" for note in notes)
        return f"{title_line(now)}\n{end.header.partition(chr(10))[2]}{told}", now.verdict

    def _noted(self, stored: StoredRun) -> Sequence[HeaderLine]:
        """What was noted of a run since it settled."""
        records = readable(stored.records)
        settled = next(
            (at for at, record in enumerate(records) if record.kind is RecordKind.ENDED),
            len(records),
        )
        return self.fold_of(stored.id, records[settled + 1 :]).lines

    def fold(self, stored: StoredRun) -> Fold:
        """Everything that the run's own records say, as far as they can be read."""
        return self.fold_of(stored.id, readable(stored.records))

    def fold_of(self, run: str, records: Sequence[Record], read: ReadRecord = decode) -> Fold:
        """Everything that these records of a run say."""
        return folded(run, records, self._kinds, read)

    async def _with_before(self, facts: HeaderFacts, stored: StoredRun) -> HeaderFacts:
        """A run that was interrupted before it had read what the run before it did: that is not
        lost, whoever asks next sees it here.
        """
        lines: list[HeaderLine] = []
        for _ in range(BEFORE):
            before = self._unread(stored)
            if before is None or (found := await loaded(before, self._store)) is None:
                break
            if isinstance(found, HeaderLine):
                lines = [found, *lines]
                break
            stored = found
            told = [
                msgspec.structs.replace(line, depth=line.depth + 1)
                for line in self.own(stored).lines
            ]
            lines = [
                HeaderLine(mark="info", what=f"run {stored.id} · {stored.status}"),
                *told,
                *lines,
            ]
        return facts if not lines else msgspec.structs.replace(facts, lines=(*lines, *facts.lines))

    def _unread(self, stored: StoredRun) -> str | None:
        """The run before, if this one has not looked at it."""
        first = stored.records[0].body if readable(stored.records[:1]) else None
        looked = any(
            record.kind is RecordKind.OBSERVATION
            and record.name == "read"
            and b'"result":"read"' in (record.body or b"")
            for record in stored.records  # one that was abandoned has seen nothing
        )
        return (
            None
            if looked or first is None
            else self._kinds.label(msgspec.json.decode(first, type=Started)).after or None
        )

    async def open_question(self, stored: StoredRun) -> str:
        """The open question of a run or of a child it waits for."""
        return next(
            (
                wait.about
                for _, _, wait in reversed(await self._waits(stored))
                if wait.question is not None
            ),
            "",
        )

    async def open_approvals(self, stored: StoredRun) -> Sequence[tuple[str, str]]:
        """The approvals that a run or a child it waits for asks for: the id of each, and what it is
        of on one line.
        """
        told: list[tuple[str, str]] = []
        for run, addr, wait in await self._waits(stored):
            if wait.approval is not None:
                looking = Looking(at_work=self.at_work)
                before = await asked_before_anywhere(
                    self._store, run, addr, wait.approval.calls, looking
                )
                told.append((approval_id(run.id, addr), titled(wait.approval, before)))
        return told

    async def _waits(self, stored: StoredRun) -> Sequence[tuple[StoredRun, int, Wait]]:
        """The waits that a run and the children it waits for stand at: the run as far as it can be
        read, the effect's number, the effect.
        """
        found: list[tuple[StoredRun, int, Wait]] = []
        for seen in await self._tree(stored):
            records = readable(seen.records)
            intents = [record for record in records if record.kind is RecordKind.INTENT]
            if seen.status is not Status.WAITING or not intents or intents[-1].name != "wait":
                continue
            body = decode(intents[-1])
            if isinstance(body, IntentBody):
                try:
                    wait = msgspec.json.decode(body.effect, type=Wait)
                except msgspec.MsgspecError:
                    continue
                found.append(
                    (msgspec.structs.replace(seen, records=tuple(records)), body.addr, wait)
                )
        return found

    async def stopped_below(self, stored: StoredRun) -> Sequence[StoredRun]:
        """The runs that this one waits for and that have stopped: it goes on when they are resumed,
        and not before.
        """
        return [run for run in (await self._tree(stored))[1:] if run.status in STOPPED]

    async def _tree(self, stored: StoredRun) -> list[StoredRun]:
        found: list[StoredRun] = []
        rest = [stored]
        while rest:
            one = rest.pop()
            found.append(one)
            children = await joined_runs(self._store, one.id, readable(one.records))
            rest += [child for child in children.values() if isinstance(child, StoredRun)]
        return found


def folded(run: str, records: Sequence[Record], kinds: Kinds, read: ReadRecord = decode) -> Fold:
    """Everything that these records of a run say. That a rule or a kind raises
    ``KeyboardInterrupt`` while it tells of one is no signal.
    """
    try:
        return Fold(run, records, kinds, read)
    except KeyboardInterrupt as error:
        if sent_by_signal(error):
            raise
        return Fold(run, records, kinds, read, uninterrupted=True)


def _ends_as_it_should(stored: StoredRun) -> bool:
    try:
        check_end(stored)
    except JournalCorrupt:
        return False
    return True


def _with_child(facts: HeaderFacts, child: StoredRun, inner: HeaderFacts) -> HeaderFacts:
    lines = tuple(msgspec.structs.replace(line, depth=line.depth + 1) for line in inner.lines)
    stopped = child.status in STOPPED
    mark, stands = ("fail", "has stopped") if stopped else ("info", "at work")
    at_work = HeaderLine(
        mark=mark, what=f"{inner.flow} (run {child.id}) {stands}", reason=str(child.status)
    )
    merged = msgspec.structs.replace(
        facts,
        # what waits for its own children is at work
        status=str(Status.WAITING if stopped else Status.RUNNING),
        models=tuple(dict.fromkeys((*facts.models, *inner.models))),
        notices=tuple(dict.fromkeys((*facts.notices, *inner.notices))),
        lines=(*facts.lines, at_work, *lines),
        steps=facts.steps + inner.steps,
        model_calls=facts.model_calls + inner.model_calls,
        verb_calls=facts.verb_calls + inner.verb_calls,
        tokens_in=facts.tokens_in + inner.tokens_in,
        tokens_out=facts.tokens_out + inner.tokens_out,
        estimated=facts.estimated or inner.estimated,
        usd_micros=facts.usd_micros + inner.usd_micros,
        acts=(*facts.acts, *inner.acts),
        proposed=facts.proposed + inner.proposed,
        answered=facts.answered or inner.answered,
        reserved_tokens=facts.reserved_tokens + inner.reserved_tokens,
        reserved_usd_micros=facts.reserved_usd_micros + inner.reserved_usd_micros,
    )
    return with_verdict(merged)


def readable(records: Sequence[Record]) -> Sequence[Record]:
    """The records as far as they can be read: a header tells what it can of a corrupt run."""
    for index, record in enumerate(records):
        try:
            if record.body is not None:
                decode(record)
        except JournalCorrupt:
            return records[:index]
    return records


async def loaded(run: str, store: JournalStore) -> StoredRun | HeaderLine | None:
    """A run that another one tells of. One that cannot be read is no fault of the one that tells,
    and is told as what nobody knows.
    """
    found = (await store.load((run,))).get(run)
    return unreadable(run) if isinstance(found, JournalCorrupt) else found


def unreadable(run: str) -> HeaderLine:
    """Nobody knows what a run has done whose records cannot be read."""
    return HeaderLine(mark="unknown", what=f"run {run}, whose records cannot be read")
