"""The latest entries of a transcript inside the write transaction: what was said last, as far as a bare answer may be about it."""

from __future__ import annotations

import sqlite3
from typing import Final

from ordain.errors import JournalCorrupt
from ordain.ports.sessions import EntryKind
from ordain.ports.shared import ENDING_CHARS, SPOKEN_MAX, LatestEntry

_OURS: Final = f"'{EntryKind.REPLY}', '{EntryKind.SAID}'"
ENDING: Final = (
    f"CASE WHEN t.kind IN ({_OURS}) AND json_valid(CAST(t.body AS TEXT))"
    f" THEN coalesce(substr(json_extract(CAST(t.body AS TEXT), '$.text'), -{ENDING_CHARS}), '') ELSE '' END"
)
"""How the text of a reply, and of what was said on the way, ends; "" of anything else."""
_LATEST: Final = (
    "SELECT t.seq, t.thread, t.kind, t.run, t.channel, t.author, t.attached,"  # noqa: S608 - our own columns
    " CASE WHEN json_valid(CAST(t.decision AS TEXT)) THEN coalesce(json_extract(CAST(t.decision AS TEXT), '$.outcome.stop'), 0) ELSE 0 END,"
    f" coalesce((SELECT r.status FROM runs r WHERE t.kind = '{EntryKind.MESSAGE}' AND r.id = t.run), ''), {ENDING},"
    f" CASE WHEN t.kind = '{EntryKind.MESSAGE}' AND t.attached IN ('new_request', 'override') THEN t.body END"
    " FROM transcript t WHERE t.session = ? AND t.seq < ? ORDER BY t.seq DESC LIMIT ?"
)
_KINDS: Final = frozenset(map(str, EntryKind))


def spoken(db: sqlite3.Connection, session: int, before: int) -> tuple[LatestEntry, ...]:
    """The latest entries before a number, the newest first."""
    found: list[LatestEntry] = []
    for seq, thread, kind, run, channel, author, attached, stops, status, ending, body in db.execute(
        _LATEST, (session, before, SPOKEN_MAX)
    ):
        if kind not in _KINDS:
            raise JournalCorrupt(f"entry {seq} of a transcript is of no known kind", details={"seq": seq})
        found.append(
            LatestEntry(
                seq=seq,
                thread=thread,
                kind=EntryKind(kind),
                run=run,
                channel=channel,
                author=author,
                attached=attached,
                stops=bool(stops),
                status=status,
                ending=ending,
                body=body,
            )
        )
    return tuple(found)
