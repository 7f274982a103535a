"""Sessions over SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.ports.sessions import Entry, EntryKind, SessionRow, Thread, Uncovered
from ordain.store.conversation import read_threads
from ordain.store.sqlite import SqliteStore

_ENTRY = (
    "SELECT t.seq, t.kind, t.at, t.thread, t.run, t.channel, t.message_id, t.attached, t.reason, t.anchor, t.size, t.through,"
    " t.timestamp_ms, t.digest, t.chain, iif(u.key IS NULL, NULL, t.body), iif(u.key IS NULL, NULL, t.decision),"
    " t.edits, t.author, t.marks, u.key IS NOT NULL"
    " FROM transcript t JOIN sessions s ON s.no = t.session JOIN subjects u ON u.no = t.subject WHERE s.workspace = ? AND s.id = ?"
)
"""Without its subject's key an entry says nothing, whether or not its row is destroyed already."""
_SESSION = (
    "SELECT s.id, s.workspace, s.head, (SELECT count(*) FROM turns t WHERE t.session = s.no AND t.state <> 'over'), s.channel, s.user,"
    " s.created_at, s.last_at, s.active, u.key, s.no,"
    " EXISTS (SELECT 1 FROM erasures e WHERE e.subject = s.subject) FROM sessions s JOIN subjects u ON u.no = s.subject WHERE s.workspace = ?"
)
_KINDS = {str(kind): kind for kind in EntryKind}
_SPOKEN = "(kind = 'message' OR kind = 'reply' OR kind = 'question' OR kind = 'said') AND body IS NOT NULL"
"""What a history is made of; what was erased is no part of it."""


_CONTENT = (bytes, str, type(None))
_TYPED = frozenset(
    (int, str, int, int, *[str] * 6, *[int] * 3, bytes, bytes, body, decision, str, str) for body in _CONTENT for decision in _CONTENT
)
"""Of an entry's columns up to its author; SQLite itself would store anything anywhere."""
_TYPED_COLUMNS = 19


def _entry(row: tuple[Any, ...]) -> Entry:
    seq, kind, *rest, keyed = row
    if kind not in _KINDS:
        raise JournalCorrupt(f"entry {seq} of a transcript is of no known kind", details={"seq": seq})
    if tuple(map(type, row[:_TYPED_COLUMNS])) not in _TYPED:
        raise JournalCorrupt(f"entry {seq}: the stored row is no entry", details={"seq": seq})
    return Entry(seq, _KINDS[kind], *rest, keyed=bool(keyed))


def _session(row: tuple[Any, ...]) -> SessionRow:
    return SessionRow(
        id=row[0],
        workspace=row[1],
        head=row[2],
        open=row[3],
        channel=row[4],
        user=row[5],
        created_at=row[6],
        last_at=row[7],
        active=row[8],
        key=row[9],
        no=row[10],
        erasing=row[9] is None and bool(row[11]),
    )


class SqliteSessions:
    """Implements ``Sessions`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        """See ``Sessions.session``."""
        rows = self._store.query(f"{_SESSION} AND s.id = ?", (workspace, session))
        return _session(rows[0]) if rows else None

    async def sessions(self, workspace: str, *, limit: int, before: str | None) -> Sequence[SessionRow]:
        """See ``Sessions.sessions``."""
        where, parameters = ("", []) if before is None else (" AND (s.last_at, s.no) < (?, ?)", [int(part) for part in before.split("-")])
        rows = self._store.query(f"{_SESSION}{where} ORDER BY s.last_at DESC, s.no DESC LIMIT ?", [workspace, *parameters, limit])
        return [_session(row) for row in rows]

    async def entries(self, workspace: str, session: str, *, after: int, limit: int) -> Sequence[Entry]:
        """See ``Sessions.entries``."""
        if after < 0:
            rows = self._store.query(f"{_ENTRY} ORDER BY t.seq DESC LIMIT ?", (workspace, session, limit))
            return [_entry(row) for row in reversed(rows)]
        rows = self._store.query(f"{_ENTRY} AND t.seq > ? ORDER BY t.seq LIMIT ?", (workspace, session, after, limit))
        return [_entry(row) for row in rows]

    async def answer(self, workspace: str, session: str, seq: int) -> tuple[Entry, Entry | None] | None:
        """See ``Sessions.answer``."""
        rows = self._store.query(f"{_ENTRY} AND t.seq = ?", (workspace, session, seq))
        if not rows:
            return None
        message = _entry(rows[0])
        if not message.run:
            return message, None
        found = self._store.query(
            f"{_ENTRY} AND t.run = ? AND t.run <> '' AND t.seq > ? AND t.kind IN ('reply', 'question') ORDER BY t.kind DESC, t.seq DESC LIMIT 1",
            (workspace, session, message.run, seq),
        )
        said = _entry(found[0]) if found else None
        if said is not None and said.kind is EntryKind.QUESTION and not self._waits(workspace, session, said.thread, said.message_id):
            said = None
        return message, said

    def _waits(self, workspace: str, session: str, thread: int, message_id: str) -> bool:
        """Whether a question still waits for its answer."""
        rows = self._store.query(
            "SELECT json_extract(t.asked, '$.message_id') FROM threads t JOIN sessions s ON s.no = t.session"
            " WHERE s.workspace = ? AND s.id = ? AND t.id = ? AND t.asked IS NOT NULL",
            (workspace, session, thread),
        )
        return bool(rows) and rows[0][0] == message_id

    async def threads(self, workspace: str, session: str, *, limit: int) -> Sequence[Thread]:
        """See ``Sessions.threads``."""
        rows = self._store.query("SELECT no FROM sessions WHERE workspace = ? AND id = ?", (workspace, session))
        return read_threads(self._store.reading, rows[0][0], recent=limit) if rows else []

    async def uncovered(self, workspace: str, session: str, *, limit: int, oldest: bool) -> Uncovered:
        """See ``Sessions.uncovered``."""
        row = self._store.query("SELECT no, head, chain, subject FROM sessions WHERE workspace = ? AND id = ?", (workspace, session))
        if not row:
            return Uncovered(entries=(), older=0, summary=None)
        no, head, link, subject = row[0]
        found = self._store.query(
            "SELECT seq, size, through FROM transcript WHERE session = ? AND kind = 'summary' AND body IS NOT NULL AND +subject = ?"
            " ORDER BY seq DESC LIMIT 1",
            (no, subject),
        )
        through = found[0][2] if found else 0
        where = f"session = ? AND seq > ? AND {_SPOKEN} AND body IS NOT NULL AND +subject = ?"  # one before it was erased
        order = "ASC" if oldest else "DESC"
        rows = self._store.query(
            f"SELECT seq, size FROM transcript WHERE {where} ORDER BY seq {order} LIMIT ?", (no, through, subject, limit)
        )
        older = 0
        if len(rows) == limit:
            older = self._store.query(f"SELECT count(*) FROM transcript WHERE {where}", (no, through, subject))[0][0] - limit
        return Uncovered(
            entries=tuple(rows if oldest else reversed(rows)),
            older=older,
            summary=(found[0][0], found[0][1]) if found else None,
            head=head,
            chain=link.hex(),
        )
