"""The latest entries of a transcript inside the write transaction: what was said last, as far as a
bare answer may be about it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from ordain.errors import JournalCorrupt
from ordain.ports.further_back import Behind, further_back
from ordain.ports.halt import LATER_MAX, halts, ordered
from ordain.ports.sessions import EntryKind, Thread
from ordain.ports.shared import ENDING_CHARS, SPOKEN_MAX, LatestEntry, SessionRead
from ordain.rules.attach import Attached
from ordain.rules.attachment import AttachReason
from ordain.store.senders import sender_of_root

_OURS: Final = f"'{EntryKind.REPLY}', '{EntryKind.SAID}'"
ENDING: Final = (
    f"CASE WHEN t.kind IN ({_OURS}) AND json_valid(CAST(t.body AS TEXT))"
    f" THEN coalesce(substr(json_extract(CAST(t.body AS TEXT), '$.text'), -{ENDING_CHARS}), '') "
    "ELSE '' END"
)
"""How the text of a reply, and of what was said on the way, ends; "" of anything else."""
_KEY: Final = (
    f"CASE WHEN t.kind = '{EntryKind.QUESTION}' AND json_valid(CAST(t.body AS TEXT)) THEN "
    "coalesce(json_extract(CAST(t.body AS TEXT), '$.key'), '') ELSE '' END"
)
_UNBEGUN: Final = f"t.attached = '{Attached.TRIAGE}' OR t.reason = '{AttachReason.HALTED}'"
_ENTRY: Final = (
    "SELECT t.seq, t.at, t.thread, t.kind, t.run, t.channel, t.author, "  # noqa: S608 - our own columns
    "t.attached,"
    f" t.decision, ({_UNBEGUN}),"
    f" coalesce((SELECT r.status FROM runs r WHERE t.kind = '{EntryKind.MESSAGE}' AND r.id = "
    f"t.run), ''), {ENDING}, {_KEY},"
    f" CASE WHEN t.kind = '{EntryKind.MESSAGE}' AND (t.attached IN ('new_request', 'override') OR "
    f"{_UNBEGUN}) THEN t.body END"
    " FROM transcript t WHERE t.session = ? AND t.seq < ?"
)
_LATEST: Final = f"{_ENTRY} ORDER BY t.seq DESC LIMIT ?"
_RUNS: Final = "t.run IN (SELECT value FROM json_each(?)) AND t.run <> ''"
_OF_RUNS: Final = f"{_ENTRY} AND {_RUNS}"
"""Sorted where there are few: SQLite would make a table of them, bodies and all."""
_BY_SEQ: Final = attrgetter("seq")
_OTHERS: Final = (
    "SELECT run, touched_at FROM threads WHERE session = ? AND run <> '' ORDER BY touched_at DESC"
)
_KINDS: Final = {str(kind): kind for kind in EntryKind}


def spoken(
    db: sqlite3.Connection, session: int, head: int, read: SessionRead, threads: Sequence[Thread]
) -> tuple[LatestEntry, ...]:
    """What was said last before a message, the newest first: the latest entries, and what is found
    behind them.
    """
    latest = tuple(_entries(db, _LATEST, session, read.seq or head + 1, SPOKEN_MAX))
    first = latest[-1].seq if latest else 0
    behind = Behind(
        threads=[asked_at(db, session, thread) for thread in threads],
        others=lambda: db.execute(_OTHERS, (session,)),
        entries=lambda runs: _of_runs(db, session, first, runs),
        author=read.author,
        bare=read.bare,
    )
    return (*latest, *further_back(latest, behind))


def _of_runs(
    db: sqlite3.Connection, session: int, first: int, runs: Sequence[str]
) -> dict[str, list[LatestEntry]]:
    found: dict[str, list[LatestEntry]] = {}
    for one in _entries(db, _OF_RUNS, session, first, msgspec.json.encode(runs).decode()):
        found.setdefault(one.run, []).append(one)
    for of_run in found.values():
        of_run.sort(key=_BY_SEQ, reverse=True)
    return found


def is_halted(db: sqlite3.Connection, session: int, read: SessionRead) -> bool:
    """Whether the sender has ordered a halt since the message, which stands in the transcript
    already.
    """
    if not read.seq:
        return False
    later = db.execute(
        "SELECT decision FROM transcript WHERE session = ? AND seq > ? AND kind = 'message' AND "
        "author = ? ORDER BY seq LIMIT ?",
        (session, read.seq, read.author, LATER_MAX),
    )
    return any(halts(decision) for (decision,) in later)


def versions(db: sqlite3.Connection, session: int, read: SessionRead) -> tuple[str, ...]:
    """The runs that serve the sender's other edits of the message that is edited."""
    if not read.edits:
        return ()
    rows = db.execute(
        "SELECT run FROM transcript WHERE session = ? AND channel = ? AND edits = ? AND edits <> "
        "'' AND message_id <> ? AND author = ? AND run <> ''",
        (session, read.channel, read.edits, read.message_id, read.author),
    )
    return tuple(run for (run,) in rows)


def asked_at(db: sqlite3.Connection, session: int, thread: Thread) -> Thread:
    """The thread, with the number of the entry that its open question is, which was not known when
    it was written, and with who is asked.
    """
    if thread.asked is None:
        return thread
    entry = db.execute(
        "SELECT seq FROM transcript WHERE session = ? AND channel = '' AND message_id = ?",
        (session, thread.asked.message_id),
    ).fetchone()
    seq, of = 0 if entry is None else entry[0], sender_of_root(db, session, thread.asked.root)
    return msgspec.structs.replace(
        thread, asked=msgspec.structs.replace(thread.asked, seq=seq, of=of)
    )


def _entries(db: sqlite3.Connection, query: str, *given: int | str) -> list[LatestEntry]:
    return [_entry(row) for row in db.execute(query, given)]


def _entry(row: tuple[Any, ...]) -> LatestEntry:
    seq, at, thread, kind, run, channel, author, attached, decision, unbegun, *more = row
    status, ending, key, body = more
    known = _KINDS.get(kind)
    if known is None:
        raise JournalCorrupt(
            f"entry {seq} of a transcript is of no known kind", details={"seq": seq}
        )
    order = ordered(decision)
    return LatestEntry(
        seq=seq,
        at=at,
        thread=thread,
        kind=known,
        run=run,
        channel=channel,
        author=author,
        attached=attached,
        stops=order.stops,
        resumes=order.resumes,
        anew=order.anew,
        halts=order.halts,
        unbegun=bool(unbegun),
        status=status,
        ending=ending,
        key=key if isinstance(key, str) else "",
        body=body,
    )
