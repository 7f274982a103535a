"""Transcripts of sessions: what a message's decision reads of them, and entries put behind them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ordain.errors import FlowFault, JournalCorrupt, RunLost
from ordain.journal.digests import GENESIS, MARKS_BYTES, digest, entry_link, entry_marks
from ordain.ports.further_back import Behind, further_back
from ordain.ports.halt import LATER_MAX, halts, ordered
from ordain.ports.sessions import Entry, EntryKind, NewEntry, Thread
from ordain.ports.shared import (
    ENDING_CHARS,
    SPOKEN_MAX,
    LatestEntry,
    Place,
    SessionOpening,
    SessionRead,
    SessionState,
)
from ordain.ports.store import WITHOUT_PLACE, MessageKey, Outcome
from ordain.ports.writes import EntryPlaced
from ordain.rules.attach import POSTPONED, UNPLACED, Attached
from ordain.rules.attachment import AttachReason
from ordain.runtime.streams import SessionKey
from ordain.testing.memory.configuration_rows import is_profiled
from ordain.testing.memory.rows import EntryRow, KeptSession, MemoryRows
from ordain.testing.memory.threads import read_threads


def read_state(rows: MemoryRows, workspace: str, read: SessionRead) -> SessionState:
    """The session as a message's decision sees it; made first where it does not exist and the
    message opens it.
    """
    name = workspace, read.session
    if read.opening is not None and name not in rows.sessions:
        rows.sessions[name] = _opened(rows, read, read.opening)
    session = rows.sessions[name]
    replied, edited = (
        _place(rows, name, read.channel, read.reply_to),
        _place(rows, name, read.channel, read.edits),
    )
    anchor = edited or replied
    seq = read.seq or session.head + 1
    named = (read.thread, 0 if anchor is None else anchor.thread)
    said = _spoken(rows, name, seq, read) if read.bare or _asks(rows, name) else ()
    threads = read_threads(rows, name, also=(*named, *(one.thread for one in said)))
    open_turns = [
        turn
        for turn in sorted(rows.turns.get(name, {}).values(), key=lambda turn: turn.no)
        if turn.state != "over"
    ]
    asking = [thread.asked.run for thread in threads if thread.asked is not None]
    return SessionState(
        workspace=workspace,
        session=read.session,
        subject=session.subject,
        key=session.key,
        seq=seq,
        next_thread=session.threads + 1,
        active=session.active,
        threads=tuple(_asked_at(rows, name, thread) for thread in threads),
        at_work=tuple(dict.fromkeys(turn.thread for turn in open_turns if turn.counts)),
        open=len(open_turns),
        replied=replied,
        edited=edited,
        newer_edit=_newer_edit(rows, name, read),
        profiled=is_profiled(rows, workspace, read.session),
        halted=_is_halted(rows, name, read),
        versions=_versions(rows, name, read),
        pinned={run: rows.runs[run].run.catalog for run in asking if run in rows.runs},
        spoken=said,
    )


def _asks(rows: MemoryRows, name: SessionKey) -> bool:
    return any(thread.asked is not None for thread in rows.threads.get(name, {}).values())


def _spoken(
    rows: MemoryRows, name: SessionKey, before: int, read: SessionRead
) -> tuple[LatestEntry, ...]:
    """What was said last before a number, the newest first: the latest entries, and what is found
    behind them.
    """
    entries = [row for row in rows.transcript.get(name, ()) if row.entry.seq < before][::-1]
    latest, older = tuple(_said(rows, row) for row in entries[:SPOKEN_MAX]), entries[SPOKEN_MAX:]
    touched = sorted(rows.threads.get(name, {}).values(), key=lambda thread: -thread.touched_at)
    behind = Behind(
        threads=[_asked_at(rows, name, thread) for thread in read_threads(rows, name)],
        others=lambda: [(thread.run, thread.touched_at) for thread in touched if thread.run],
        entries=lambda runs: {
            run: [_said(rows, row) for row in older if row.entry.run == run] for run in runs
        },
        author=read.author,
        bare=read.bare,
    )
    return (*latest, *further_back(latest, behind))


def _said(rows: MemoryRows, row: EntryRow) -> LatestEntry:
    entry = row.entry
    is_message, order = entry.kind is EntryKind.MESSAGE, ordered(entry.decision)
    unbegun = entry.attached == Attached.TRIAGE or entry.reason == str(AttachReason.HALTED)
    return LatestEntry(
        seq=entry.seq,
        at=entry.at,
        thread=entry.thread,
        kind=entry.kind,
        run=entry.run,
        channel=entry.channel,
        author=row.author,
        attached=entry.attached,
        stops=order.stops,
        resumes=order.resumes,
        anew=order.anew,
        halts=order.halts,
        unbegun=unbegun,
        status=str(rows.runs[entry.run].run.status)
        if is_message and entry.run in rows.runs
        else "",
        ending=_ending(entry),
        key=_key(entry),
        body=entry.body
        if is_message and (unbegun or entry.attached in ("new_request", "override"))
        else None,
    )


def _ending(entry: Entry) -> str:
    """How the text of a reply, and of what was said on the way, ends."""
    if entry.body is None or entry.kind not in (EntryKind.REPLY, EntryKind.SAID):
        return ""
    return str(msgspec.json.decode(entry.body).get("text", ""))[-ENDING_CHARS:]


def _key(entry: Entry) -> str:
    """The slot that a question fills."""
    asks = entry.body is not None and entry.kind is EntryKind.QUESTION
    return str(msgspec.json.decode(entry.body or b"").get("key", "")) if asks else ""


def _opened(rows: MemoryRows, read: SessionRead, opening: SessionOpening) -> KeptSession:
    return KeptSession(
        no=rows.number("sessions"),
        subject=f"session:{read.session}#1",
        key=opening.key,
        head=0,
        chain=GENESIS,
        threads=0,
        active=0,
        channel=read.channel,
        user=opening.user,
        created_at=opening.at,
        last_at=opening.at,
    )


def _newer_edit(rows: MemoryRows, name: SessionKey, read: SessionRead) -> int:
    edited = read.edits or read.message_id
    found = [
        row.entry.timestamp_ms
        for row in rows.transcript.get(name, ())
        if row.entry.channel == read.channel
        and row.edits
        and row.edits == edited
        and row.author == read.author
        if row.entry.message_id != read.message_id
    ]
    return max(0, *found, 0)


def _is_halted(rows: MemoryRows, name: SessionKey, read: SessionRead) -> bool:
    """Whether the sender has ordered a halt since the message, which stands in the transcript
    already.
    """
    entries = rows.transcript.get(name, ()) if read.seq else ()
    later = [
        row
        for row in entries
        if row.entry.seq > read.seq
        and row.entry.kind is EntryKind.MESSAGE
        and row.author == read.author
    ]
    return any(halts(row.entry.decision) for row in later[:LATER_MAX])


def _versions(rows: MemoryRows, name: SessionKey, read: SessionRead) -> tuple[str, ...]:
    """The runs that serve the sender's other edits of the message that is edited."""
    return tuple(
        row.entry.run
        for row in rows.transcript.get(name, ())
        if read.edits
        and row.edits == read.edits
        and row.entry.channel == read.channel
        and row.author == read.author
        if row.entry.run and row.entry.message_id != read.message_id
    )


def _asked_at(rows: MemoryRows, name: SessionKey, thread: Thread) -> Thread:
    """The thread, with the number of the entry that its open question is, which was not known when
    it was written, and with who is asked.
    """
    asked = thread.asked
    if asked is None:
        return thread
    entries = rows.transcript.get(name, ())
    seq = next(
        (
            row.entry.seq
            for row in entries
            if not row.entry.channel and row.entry.message_id == asked.message_id
        ),
        0,
    )
    of = next(
        (
            row.author
            for row in entries
            if row.entry.run and row.entry.run == asked.root and row.entry.kind is EntryKind.MESSAGE
        ),
        "",
    )
    return replace(thread, asked=replace(asked, seq=seq, of=of))


def _place(rows: MemoryRows, name: SessionKey, channel: str, message_id: str) -> Place | None:
    """A message by its id: of its own channel, or one of ours, whose ids no channel gives."""
    if not message_id:
        return None
    for row in rows.transcript.get(name, ()):
        entry = row.entry
        if entry.channel in (channel, "") and entry.message_id == message_id:
            return Place(
                seq=entry.seq,
                thread=entry.thread,
                kind=entry.kind,
                run=entry.run,
                message_id=entry.message_id,
                author=row.author,
                attached=entry.attached,
                ending=_ending(entry),
            )
    return None


def earlier(rows: MemoryRows, workspace: str, once: MessageKey) -> Outcome | None:
    """What became of an earlier delivery of the same message."""
    for row in rows.transcript.get((workspace, once.session), ()):
        entry = row.entry
        if (entry.channel, entry.message_id) == (once.channel, once.message_id):
            if entry.body != once.body:
                return Outcome(seq=entry.seq, refused="message_id_reused")
            if entry.attached != UNPLACED:
                return Outcome(seq=entry.seq, refused="same")
            return (
                None
                if entry.run == once.anew
                else Outcome(seq=entry.seq, run=entry.run, refused=WITHOUT_PLACE)
            )
    return None


def add_entry(rows: MemoryRows, workspace: str, entry: NewEntry) -> int:
    """Append to a transcript; returns the entry's number.

    Raises:
        JournalCorrupt: there is no such session.
        RunLost: an entry of that id stands in it already.
    """
    name = workspace, entry.session
    session = rows.sessions.get(name)
    if session is None:
        raise JournalCorrupt(f"session {entry.session} does not exist")
    before = rows.transcript.get(name, ())
    if any(
        (row.entry.channel, row.entry.message_id) == (entry.channel, entry.message_id)
        for row in before
    ):
        raise RunLost(
            f"the journal has moved on: entry {entry.message_id} stands in session {entry.session}"
        )
    seq, made, placed = session.head + 1, digest(session.key, entry.body), entry.placed
    added = Entry(
        seq=seq,
        kind=entry.kind,
        at=entry.at,
        thread=entry.thread if placed is None else placed.thread,
        run=entry.run if placed is None else placed.serves,
        channel=entry.channel,
        message_id=entry.message_id,
        attached="" if placed is None else placed.attached,
        reason="" if placed is None else placed.reason,
        anchor="" if placed is None else placed.anchor,
        size=entry.size,
        through=entry.through,
        timestamp_ms=entry.timestamp_ms,
        digest=made,
        chain=b"",
        body=entry.body,
        decision=None if placed is None else placed.decision,
        edits=entry.edits,
        author=entry.author,
        marks=entry_marks(session.key, entry.author, None if placed is None else placed.decision),
    )
    heading, covered = (entry.kind, entry.message_id, entry.at), (made, added.marks, added.cover)
    added = replace(
        added,
        chain=(
            link := entry_link(session.chain, f"{workspace}/{entry.session}", seq, heading, covered)
        ),
    )
    rows.transcript[name] = (*before, EntryRow(entry=added, edits=entry.edits, author=entry.author))
    rows.sessions[name] = replace(
        session, head=seq, chain=link, last_at=max(session.last_at, entry.at)
    )
    return seq


def place_again(rows: MemoryRows, workspace: str, again: EntryPlaced) -> None:
    """A message whose class was postponed, or which found no place, has it now; whoever waited for
    the run that kept it waits for the run that serves it.

    Raises:
        FlowFault: that run does not keep the message, or has placed it.
    """
    name, placed, kept = (workspace, again.session), again.placed, False
    changed: list[EntryRow] = []
    for row in rows.transcript.get(name, ()):
        entry = row.entry
        waits = (
            entry.kind is EntryKind.MESSAGE and entry.run == again.instead_of and entry.run != ""
        )
        if waits and entry.seq == again.seq and entry.attached in (*POSTPONED, UNPLACED):
            kept = True
            entry = replace(
                entry,
                attached=placed.attached,
                reason=placed.reason,
                decision=placed.decision,
                thread=placed.thread,
                run=placed.serves,
                anchor=placed.anchor,
            )
        elif waits:
            entry = replace(entry, run=placed.serves)
        if waits and entry.marks is not None and len(entry.marks) == MARKS_BYTES:
            entry = replace(entry, marks=entry.marks + row.entry.cover)
        changed.append(replace(row, entry=entry))
    if not kept:
        raise FlowFault(
            f"run {again.instead_of} claims a place for message {again.seq}, which it does not "
            "keep or has placed"
        )
    rows.transcript[name] = tuple(changed)
