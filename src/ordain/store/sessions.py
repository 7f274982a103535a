"""Sessions over SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ordain.errors import JournalCorrupt
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
from ordain.store.id_parts import named_by
from ordain.store.sqlite import SqliteStore
from ordain.store.thread_rows import read_threads
from ordain.store.typed_rows import (
    RowColumns,
    check_row,
    is_key,
    is_moment,
    is_number,
    is_text,
    or_none,
)

_ENTRY = (
    "SELECT t.seq, t.kind, t.at, t.thread, t.run, t.channel, t.message_id, t.attached, t.reason, "
    "t.anchor, t.size, t.through,"
    " t.timestamp_ms, t.digest, t.chain, iif(u.key IS NULL, NULL, t.body), iif(u.key IS NULL, "
    "NULL, t.decision),"
    " t.edits, t.author, t.marks, u.key IS NOT NULL"
    " FROM transcript t JOIN sessions s ON s.no = t.session JOIN subjects u ON u.no = t.subject "
    "WHERE s.workspace = ? AND s.id = ?"
)
"""Without its subject's key an entry says nothing, whether or not its row is destroyed already."""
_MESSAGE = f"SELECT s.head, {_ENTRY.removeprefix('SELECT ')} AND t.seq = ?"
_SAID_SINCE = f"{_ENTRY} AND t.run = ? AND t.run <> '' AND t.seq > ?"
_REPLY = f"{_SAID_SINCE} AND t.kind = 'reply' ORDER BY t.seq DESC LIMIT 1"
_ASKED = f"{_SAID_SINCE} AND t.kind IN ('question', 'approval') ORDER BY t.seq DESC LIMIT ?"
_TEXT = (
    "SELECT t.seq, t.kind, t.chain, iif(u.key IS NULL, NULL, t.body)"
    " FROM transcript t JOIN sessions s ON s.no = t.session JOIN subjects u ON u.no = t.subject "
    "WHERE s.workspace = ? AND s.id = ?"
    " AND t.seq BETWEEN ? AND ? ORDER BY t.seq"
)
"""As ``_ENTRY``, and a fourth of what that costs: most of it goes into columns that no prompt
shows.
"""
_HEAD = (
    "SELECT s.no, s.head, s.chain, s.subject, t.seq, t.size, coalesce(t.through, 0), t.message_id "
    "FROM sessions s LEFT JOIN transcript t ON t.no = (SELECT no FROM transcript WHERE session = "
    "s.no AND kind = 'summary' AND body IS NOT NULL AND +subject = s.subject ORDER BY seq DESC "
    "LIMIT 1) WHERE s.workspace = ? AND s.id = ?"
)
"""Where a session stands, and its latest summary: NULL where it has none; one of before it was
erased is none.
"""
_SESSION = (
    "SELECT s.id, s.workspace, s.head, (SELECT count(*) FROM turns t WHERE t.session = s.no AND "
    "t.state <> 'over'), s.channel, s.user,"
    " s.created_at, s.last_at, s.active, u.key, s.no,"
    " EXISTS (SELECT 1 FROM erasures e WHERE e.subject = s.subject), iif(u.key IS NULL, NULL, "
    "(SELECT t.body FROM transcript t"
    " WHERE t.session = s.no AND t.kind = 'message' AND t.body IS NOT NULL AND +t.subject = "
    "s.subject ORDER BY t.seq LIMIT 1)) FROM sessions s JOIN subjects u ON u.no = s.subject WHERE "
    "s.workspace = ?"
)
_KINDS = {str(kind): kind for kind in EntryKind}
_SPOKEN = (
    "(kind = 'message' OR kind = 'reply' OR kind = 'question' OR kind = 'said') AND body IS "
    "NOT NULL"
)
"""What a history is made of; what was erased is no part of it."""


_CONTENT = (bytes, str, type(None))
_TYPED = frozenset(
    (int, str, int, int, *[str] * 6, *[int] * 3, bytes, bytes, body, decision, str, str)
    for body in _CONTENT
    for decision in _CONTENT
)
"""Of an entry's columns up to its author; SQLite itself would store anything anywhere."""
_TYPED_COLUMNS = 19
_TEXT_TYPED = frozenset((int, str, bytes, body) for body in _CONTENT)
_ENTRY_TIMES: RowColumns = (("at", is_moment),)


def _entry(row: tuple[Any, ...]) -> Entry:
    kind = _checked(row, _TYPED_COLUMNS, _TYPED)
    check_row(f"entry {row[0]}", _ENTRY_TIMES, (row[2],))
    *rest, keyed = row[2:]
    return Entry(row[0], kind, *rest, keyed=bool(keyed))


def _texts(rows: Sequence[tuple[Any, ...]]) -> list[EntryText]:
    """A history has dozens of them: only where one is no entry each is looked at by itself."""
    if (
        _TEXT_TYPED.issuperset([tuple(map(type, row)) for row in rows])
        and {row[1] for row in rows} <= _KINDS.keys()
    ):
        return [EntryText(seq, _KINDS[kind], chain, body) for seq, kind, chain, body in rows]
    return [EntryText(row[0], _checked(row, len(row), _TEXT_TYPED), *row[2:]) for row in rows]


def _checked(row: tuple[Any, ...], columns: int, typed: Collection[tuple[type, ...]]) -> EntryKind:
    """The kind of an entry whose first columns are of one of these types."""
    seq, kind = row[:2]
    if kind not in _KINDS:
        raise JournalCorrupt(
            f"entry {seq} of a transcript is of no known kind", details={"seq": seq}
        )
    if tuple(map(type, row[:columns])) not in typed:
        raise JournalCorrupt(f"entry {seq}: the stored row is no entry", details={"seq": seq})
    return _KINDS[kind]


_SESSION_COLUMNS: RowColumns = (
    *(
        ("id", is_text),
        ("workspace", is_text),
        ("head", is_number),
        ("turns", is_number),
        ("channel", is_text),
        ("user", is_text),
    ),
    *(
        ("created_at", is_moment),
        ("last_at", is_moment),
        ("active", is_number),
        ("subject", or_none(is_key)),
        ("no", is_number),
    ),
)


def _session(row: tuple[Any, ...]) -> SessionRow:
    check_row(f"session number {row[10]}", _SESSION_COLUMNS, row)
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
        first=row[12] if isinstance(row[12], bytes | str) else None,
    )


ASKED_LOOKED_AT = 50
"""How many of a run's questions and approvals are looked at for one that is open, the latest
first.
"""


class SqliteSessions:
    """Implements ``Sessions`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        """See ``Sessions.session``."""
        rows = self._store.query(f"{_SESSION} AND s.id = ?", (workspace, session))
        return _session(rows[0]) if rows else None

    async def sessions(
        self, workspace: str, *, limit: int, before: str | None, named: str = ""
    ) -> Sequence[SessionRow]:
        """See ``Sessions.sessions``."""
        where, parameters = (
            ("", [])
            if before is None
            else (" AND (s.last_at, s.no) < (?, ?)", [int(part) for part in before.split("-")])
        )
        condition, parts = named_by(named, "s.id")
        sql = f"{_SESSION}{where} AND {condition} ORDER BY s.last_at DESC, s.no DESC LIMIT ?"
        rows = self._store.query(sql, [workspace, *parameters, *parts, limit])
        return [_session(row) for row in rows]

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        """See ``Sessions.entries``."""
        if after < 0:
            rows = self._store.query(
                f"{_ENTRY} ORDER BY t.seq DESC LIMIT ?", (workspace, session, limit)
            )
            return [_entry(row) for row in reversed(rows)]
        rows = self._store.query(
            f"{_ENTRY} AND t.seq > ? ORDER BY t.seq LIMIT ?", (workspace, session, after, limit)
        )
        return [_entry(row) for row in rows]

    async def texts(
        self, workspace: str, session: str, *, first: int, last: int
    ) -> Sequence[EntryText]:
        """See ``Sessions.texts``."""
        return self.texts_here(workspace, session, first, last)

    def texts_here(
        self, workspace: str, session: str, first: int, last: int
    ) -> Sequence[EntryText]:
        """The same without waiting: the file is on this machine. For whoever does nothing else
        meanwhile. Raises as ``Sessions.texts``.
        """

        def read(first: int, last: int) -> list[EntryText]:
            return _texts(self._store.query(_TEXT, (workspace, session, first, last)))

        if (spoken := self._store.spoken) is None:
            return read(first, last)
        with self._store.reads() as db:
            return spoken.of(db, (workspace, session), (first, last), read)

    async def answer(
        self, workspace: str, session: str, seq: int
    ) -> tuple[Entry, Entry | None] | None:
        """See ``Sessions.answer``."""
        rows = self._store.query(_MESSAGE, (workspace, session, seq))
        if not rows:
            return None
        message, head = _entry(rows[0][1:]), rows[0][0]
        if not message.run or head == seq:
            # nothing was said since, as whenever somebody has just begun to wait
            return message, None
        since = (workspace, session, message.run, seq)
        for row in self._store.query(_REPLY, since):
            return message, _entry(row)
        asked = map(_entry, self._store.query(_ASKED, (*since, ASKED_LOOKED_AT)))
        return message, next((one for one in asked if self._waits(workspace, session, one)), None)

    def _waits(self, workspace: str, session: str, asked: Entry) -> bool:
        """Whether a question still waits for its answer, or an approval for its approver."""
        if asked.kind is EntryKind.APPROVAL:
            return bool(
                self._store.query(
                    "SELECT 1 FROM approvals WHERE id = ? AND state = 'open'",
                    (approval_named(asked),),
                )
            )
        thread, message_id = asked.thread, asked.message_id
        rows = self._store.query(
            "SELECT json_extract(t.asked, '$.message_id') FROM threads t JOIN sessions s ON s.no "
            "= t.session"
            " WHERE s.workspace = ? AND s.id = ? AND t.id = ? AND t.asked IS NOT NULL",
            (workspace, session, thread),
        )
        return bool(rows) and rows[0][0] == message_id

    async def threads(self, workspace: str, session: str, *, limit: int) -> Sequence[Thread]:
        """See ``Sessions.threads``."""
        rows = self._store.query(
            "SELECT no FROM sessions WHERE workspace = ? AND id = ?", (workspace, session)
        )
        if not rows:
            return []
        with self._store.reads() as db:
            return read_threads(db, rows[0][0], recent=limit)

    async def uncovered(
        self, workspace: str, session: str, *, limit: int, oldest: bool
    ) -> Uncovered:
        """See ``Sessions.uncovered``."""
        rows = self._store.query(_HEAD, (workspace, session))
        if not rows:
            return Uncovered(entries=(), older=0, summary=None)
        no, head, link, subject, summary, size, through, named = rows[0]
        where = f"session = ? AND seq > ? AND {_SPOKEN} AND +subject = ?"
        order = "ASC" if oldest else "DESC"
        rows = self._store.query(
            f"SELECT seq, size FROM transcript WHERE {where} ORDER BY seq {order} LIMIT ?",
            (no, through, subject, limit),
        )
        older = 0
        if len(rows) == limit:
            older = (
                self._store.query(
                    f"SELECT count(*) FROM transcript WHERE {where}", (no, through, subject)
                )[0][0]
                - limit
            )
        return Uncovered(
            entries=tuple(rows if oldest else reversed(rows)),
            older=older,
            summary=None if summary is None else (summary, size),
            head=head,
            chain=link.hex(),
            imported=summary is not None and named.startswith(IMPORTED_IDS),
        )
