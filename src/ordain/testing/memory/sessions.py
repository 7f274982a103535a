"""Sessions over a shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.ports.sessions import (
    IMPORTED_IDS,
    Entry,
    EntryKind,
    EntryText,
    SessionRow,
    Thread,
    Uncovered,
    approval_named,
)
from ordain.rules.approve import ApprovalState
from ordain.runtime.streams import SessionKey
from ordain.testing.memory.shared import SharedMemory, is_named
from ordain.testing.memory.threads import read_threads

_SPOKEN = (EntryKind.MESSAGE, EntryKind.REPLY, EntryKind.QUESTION, EntryKind.SAID)
"""What a history is made of."""


class MemorySessions:
    """Implements ``Sessions``."""

    def __init__(self, shared: SharedMemory) -> None:
        """Reads only."""
        self._rows = shared.rows

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        """See ``Sessions.session``."""
        return (
            self._row((workspace, session)) if (workspace, session) in self._rows.sessions else None
        )

    def _row(self, name: SessionKey) -> SessionRow:
        row = self._rows.sessions[name]
        return SessionRow(
            id=name[1],
            workspace=name[0],
            head=row.head,
            open=sum(turn.state != "over" for turn in self._rows.turns.get(name, {}).values()),
            channel=row.channel,
            user=row.user,
            created_at=row.created_at,
            last_at=row.last_at,
            active=row.active,
            key=row.key,
            no=row.no,
            first=next(
                (
                    one.body
                    for one in self._entries(name)
                    if one.kind is EntryKind.MESSAGE and one.body is not None
                ),
                None,
            ),
        )

    async def sessions(
        self, workspace: str, *, limit: int, before: str | None, named: str = ""
    ) -> Sequence[SessionRow]:
        """See ``Sessions.sessions``."""
        rows = sorted(
            (self._row(name) for name in self._rows.sessions if name[0] == workspace),
            key=lambda row: (row.last_at, row.no),
            reverse=True,
        )
        if before is not None:
            at, number = (int(part) for part in before.split("-"))
            rows = [row for row in rows if (row.last_at, row.no) < (at, number)]
        return [row for row in rows if is_named(row.id, named)][:limit]

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        """See ``Sessions.entries``."""
        entries = self._entries((workspace, session))
        if after < 0:
            return entries[max(len(entries) - limit, 0) :]
        return [entry for entry in entries if entry.seq > after][:limit]

    async def texts(
        self, workspace: str, session: str, *, first: int, last: int
    ) -> Sequence[EntryText]:
        """See ``Sessions.texts``."""
        entries = self._entries((workspace, session))
        return [
            EntryText(entry.seq, entry.kind, entry.chain, entry.body)
            for entry in entries
            if first <= entry.seq <= last
        ]

    def _entries(self, name: SessionKey) -> list[Entry]:
        return [row.entry for row in self._rows.transcript.get(name, ())]

    async def answer(
        self, workspace: str, session: str, seq: int
    ) -> tuple[Entry, Entry | None] | None:
        """See ``Sessions.answer``."""
        entries = self._entries((workspace, session))
        message = next((entry for entry in entries if entry.seq == seq), None)
        if message is None or not message.run:
            return None if message is None else (message, None)
        since = [
            entry for entry in reversed(entries) if entry.run == message.run and entry.seq > seq
        ]
        replies = [entry for entry in since if entry.kind is EntryKind.REPLY]
        asked = [entry for entry in since if entry.kind in (EntryKind.QUESTION, EntryKind.APPROVAL)]
        waits = [entry for entry in asked if self._waits((workspace, session), entry)]
        return message, next(iter(replies or waits), None)

    def _waits(self, name: SessionKey, asked: Entry) -> bool:
        """Whether a question still waits for its answer, or an approval for its approver."""
        if asked.kind is EntryKind.APPROVAL:
            row = self._rows.approvals.get(approval_named(asked))
            return row is not None and row.state == ApprovalState.OPEN
        thread = self._rows.threads.get(name, {}).get(asked.thread)
        return (
            thread is not None
            and thread.asked is not None
            and thread.asked.message_id == asked.message_id
        )

    async def threads(self, workspace: str, session: str, *, limit: int) -> Sequence[Thread]:
        """See ``Sessions.threads``."""
        return read_threads(self._rows, (workspace, session), recent=limit)

    async def uncovered(
        self, workspace: str, session: str, *, limit: int, oldest: bool
    ) -> Uncovered:
        """See ``Sessions.uncovered``."""
        row = self._rows.sessions.get((workspace, session))
        if row is None:
            return Uncovered(entries=(), older=0, summary=None)
        entries = self._entries((workspace, session))
        summary = next(
            (entry for entry in reversed(entries) if entry.kind is EntryKind.SUMMARY), None
        )
        through = 0 if summary is None else summary.through
        found = [
            (entry.seq, entry.size)
            for entry in entries
            if entry.kind in _SPOKEN and entry.seq > through
        ]
        named = found[:limit] if oldest else found[max(len(found) - limit, 0) :]
        return Uncovered(
            entries=tuple(named),
            older=len(found) - len(named),
            summary=None if summary is None else (summary.seq, summary.size),
            head=row.head,
            chain=row.chain.hex(),
            imported=summary is not None and summary.message_id.startswith(IMPORTED_IDS),
        )
