"""Runs as the store's contract needs them: a scribe that opens one and continues it, and shorthand
for what goes into a unit.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.journal.codec import Scribe
from ordain.journal.records import (
    Body,
    EndedBody,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    Started,
    Status,
    SuspendedBody,
    raw,
)
from ordain.ports.sessions import NewEntry, Placed
from ordain.ports.shared import Ruling, SessionOpening, SessionRead, Shared
from ordain.ports.store import Append, Arrive, MessageKey, RequestKey
from ordain.ports.writes import KeptCatalogs, MailKind, NewMail, NewRun, Write
from ordain.rules.spend import Spend
from ordain.runtime.mail import posted

KEY = bytes(range(32))
WORKSPACE = "test"
DAY = 86_400_000_000
NOISE = Placed(attached="noise", reason="test", decision=b"{}")


class Run:
    """One run as its driver sees it. Times are the numbers of its records, in days since 1970."""

    def __init__(
        self,
        run: str,
        *,
        parent: Run | None = None,
        addr: int = -1,
        index: int = 0,
        given: Any = "input",
    ) -> None:
        self.id = run
        self.subject = parent.subject if parent else run
        self.scribe = Scribe(run, KEY)
        started = Started(
            flow="planner",
            flow_version=1,
            catalog="c" * 64,
            input=raw(given),
            workspace=WORKSPACE,
            principal="test",
            subject=self.subject,
            parent=parent.id if parent else None,
            parent_addr=addr if parent else None,
            index=index,
            deadline=10**15,
            allowance=Spend(tokens=1),
        )
        self.records: list[Record] = []
        self.new = NewRun(
            id=run,
            key=KEY,
            started=started,
            record=self.write(RecordKind.STARTED, "planner", started),
            root=parent.id if parent else None,
        )

    def write(self, kind: RecordKind, name: str, body: Body) -> Record:
        record = self.scribe.write(kind, name, body, DAY * (len(self.records) + 1))
        self.records.append(record)
        return record

    def open(
        self,
        request_id: str | None = None,
        digest: str = "d",
        *,
        accepted: int = 1000,
        catalog: bytes | None = None,
    ) -> Arrive:
        kept = KeptCatalogs(
            stored=() if catalog is None else ((self.new.started.catalog, catalog),)
        )
        once = None if request_id is None else RequestKey(request_id=request_id, digest=digest)
        opened = Ruling(writes=(kept, self.new), run=self.id, accepted=accepted)
        return Arrive(
            workspace=WORKSPACE, once=once, shared=Shared(reads=(), decide=lambda: opened)
        )

    def note(self, why: str = "") -> Record:
        return self.write(RecordKind.NOTE, "note", NoteBody(by="test", action="note", why=why))

    def intent(self, name: str = "verb_call", effect: Any = None) -> Record:
        return self.write(RecordKind.INTENT, name, IntentBody(addr=0, effect=raw(effect)))

    def observation(self, name: str = "verb_call", result: Any = None) -> Record:
        return self.write(RecordKind.OBSERVATION, name, ObservationBody(addr=0, result=raw(result)))

    def step(self, **fields: Any) -> Append:
        """The next note, stored."""
        return Append(run=self.id, epoch=1, records=(self.note(),), **fields)

    def suspend(self, addr: int, **fields: Any) -> Append:
        record = self.write(
            RecordKind.SUSPENDED, "wait", SuspendedBody(addr=addr, waits_for="answer")
        )
        return Append(
            run=self.id, epoch=1, records=(record,), status=Status.WAITING, suspend=addr, **fields
        )

    def end(self, result: Any = None, status: Status = Status.COMPLETED) -> Append:
        body = EndedBody(status=status, reason="ok", header="✓ the header", result=raw(result))
        return Append(
            run=self.id,
            epoch=1,
            records=(self.write(RecordKind.ENDED, "end", body),),
            status=status,
            reason="ok",
        )

    def mail(
        self, key: str = "k", kind: MailKind = MailKind.ANSWER, addr: int = 0, body: bytes = b"{}"
    ) -> NewMail:
        return NewMail(run=self.id, kind=kind, key=key, body=body, at=1, addr=addr)

    def post(
        self, key: str = "k", kind: MailKind = MailKind.ANSWER, addr: int = 0, body: bytes = b"{}"
    ) -> Arrive:
        return posted(WORKSPACE, self.mail(key, kind, addr, body))


def message(entry: NewEntry, *writes: Write, placed: Placed = NOISE) -> Arrive:
    """A message of user ``ada`` that is taken for this, and what follows from it."""
    opening = SessionOpening(user="ada", key=KEY, at=entry.at)
    read = SessionRead(
        session=entry.session,
        channel=entry.channel,
        message_id=entry.message_id,
        author=entry.author,
        edits=entry.edits,
        opening=opening,
    )
    written = (msgspec.structs.replace(entry, placed=placed), *writes)
    key = MessageKey(
        session=entry.session, channel=entry.channel, message_id=entry.message_id, body=entry.body
    )
    shared = Shared(reads=(read,), decide=lambda _: Ruling(writes=written, run=placed.serves))
    return Arrive(workspace=WORKSPACE, once=key, shared=shared)
