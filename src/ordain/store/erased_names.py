"""What names what was erased: a session by an id that says nothing of the one it had, a request by
its run's number, inside the write transaction.

The id is a digest under the key that goes in the same commit: nobody can test a guess at it, and
the id that it had is free for a new session. A link of a transcript covers the session's id, so the
links are made anew under the new one, slice by slice; until the last one nobody compares them.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.journal.digests import DIGEST_BYTES, GENESIS, digest, entry_cover, entry_link
from ordain.journal.ledger_items import erased_item
from ordain.journal.records import STOPPED
from ordain.ports.sessions import ERASED_SESSION
from ordain.store.configuration_rows import drop_pin
from ordain.store.ledger import LedgerDraft
from ordain.store.schema import RESTED

_STOPPED = ", ".join(f"'{status}'" for status in sorted(STOPPED))
_AT_ONCE = (
    f"UPDATE runs INDEXED BY runs_rested SET session = ?1 WHERE {RESTED}"  # noqa: S608 - constants
    f" AND status IN ({_STOPPED}) AND subject = ?2 RETURNING no"
)
"""A run that has stopped may still say something, and not in a session that begins under the old
id.
"""
_PERIOD = re.compile(r"(?::\d{4}-\d{2}(?:-\d{2})?)?")
ENTRIES = (
    "SELECT t.no, coalesce(length(t.body), 0) + coalesce(length(t.decision), 0), t.body IS NOT "
    "NULL, u.key IS NULL, t.seq,"
    " t.kind, t.message_id, t.at, t.digest, t.marks, t.thread, t.run, t.channel, t.edits, "
    "t.timestamp_ms, t.attached, t.reason, t.anchor, t.size, t.through"
    " FROM transcript t JOIN subjects u ON u.no = t.subject WHERE t.session = ? AND t.seq > ? "
    "ORDER BY t.seq LIMIT ?"
)
"""Of each entry behind one: its row's number, the size of its content, whether it has any, whether
it is erased, its number, and what its link covers.
"""


class ErasedSession(Struct, frozen=True):
    """The row of a session whose subject is being erased, and how it is named now."""

    no: int
    workspace: str
    id: str


def session_of(db: sqlite3.Connection, subject: int) -> ErasedSession | None:
    """The session whose content the subject's key kept; None of a run outside of any."""
    row = db.execute(
        "SELECT no, workspace, id FROM sessions WHERE subject = ?", (subject,)
    ).fetchone()
    if row is None:  # somebody has spoken in it since
        row = db.execute(
            "SELECT no, workspace, id FROM sessions WHERE no = (SELECT session FROM transcript "
            "WHERE subject = ? LIMIT 1)",
            (subject,),
        ).fetchone()
    return None if row is None else ErasedSession(*row)


def rename_session(db: sqlite3.Connection, ledger: LedgerDraft, subject: int) -> None:
    """Give the session of a subject another id, with whom its content was under; the ledger says
    what stands no more. Its key is still there.
    """
    row = db.execute(
        "SELECT s.no, s.workspace, s.id, s.generation, u.key FROM sessions s JOIN subjects u ON "
        "u.no = s.subject WHERE s.subject = ?",
        (subject,),
    ).fetchone()
    if row is None or (row[4] is None and row[2].startswith(ERASED_SESSION)):
        return
    no, workspace, was, generation, key = row
    name = (
        ERASED_SESSION
        + (
            secrets.token_bytes(DIGEST_BYTES)
            if key is None
            else digest(key, was.encode(errors="surrogatepass"))
        ).hex()
    )
    for number in range(1, generation + 1):
        found = db.execute(
            "SELECT no FROM subjects WHERE workspace = ? AND id = ?",
            (workspace, subject_name(was, number)),
        ).fetchone()
        if found is None:
            continue
        ledger.item(erased_item(workspace, subject_name(was, number), 0).no_more)
        db.execute(
            "UPDATE subjects SET id = ? WHERE no = ?", (subject_name(name, number), found[0])
        )
        ledger.subject(found[0])
        if found[0] != subject:  # erased before by a build that left the id
            _renamed(
                ledger,
                db.execute(
                    "UPDATE runs SET session = ? WHERE subject = ? RETURNING no", (name, found[0])
                ),
            )
    db.execute("UPDATE sessions SET id = ? WHERE no = ?", (name, no))
    ledger.session_renamed(workspace, was, name, no)
    _renamed(ledger, db.execute(_AT_ONCE, (name, subject)))
    _drop_accounts(db, ledger, workspace, was)
    for version in drop_pin(db, workspace, was):
        ledger.item(version.no_more)


def subject_name(session: str, generation: int) -> str:
    """Under what name a session's content has its key."""
    return f"session:{session}#{generation}"


def _renamed(ledger: LedgerDraft, runs: sqlite3.Cursor) -> None:
    for (run,) in runs.fetchall():
        ledger.run(run)


def _drop_accounts(
    db: sqlite3.Connection, ledger: LedgerDraft, workspace: str, session: str
) -> None:
    """What the session had spent goes with its name, which no other session's account may be
    mistaken for.
    """
    name = f"session:{session}"
    near = db.execute(
        "SELECT name FROM accounts WHERE workspace = ? AND name >= ? AND name < ?",
        (workspace, name, name + ";"),
    ).fetchall()
    for (account,) in near:
        another = (
            account != name
            and db.execute(
                "SELECT 1 FROM sessions WHERE workspace = ? AND id = ?",
                (workspace, account.removeprefix("session:")),
            ).fetchone()
        )
        if not another and _PERIOD.fullmatch(account.removeprefix(name)):
            db.execute(
                "DELETE FROM accounts WHERE workspace = ? AND name = ?", (workspace, account)
            )
            ledger.account(workspace, account)


def rename_run(
    db: sqlite3.Connection, ledger: LedgerDraft, run: int, session: ErasedSession | None
) -> int:
    """Take a run's session's old name and its request id from it, and from what it asked to have
    approved; returns how many rows that were.
    """
    rows = 0
    for (workspace,) in db.execute(
        "SELECT workspace FROM requests WHERE run = ? AND digest <> ''", (run,)
    ).fetchall():
        ledger.request(workspace, f"erased:{run}")
        rows += 1
    db.execute(
        "UPDATE requests SET digest = '', request_id = 'erased:' || run WHERE run = ? AND "
        "digest <> ''",
        (run,),
    )
    ledger.ended(run)
    if session is not None:
        rows += db.execute(
            "UPDATE runs SET session = ? WHERE no = ? AND session <> ?",
            (session.id, run, session.id),
        ).rowcount
        ledger.run(run)
    for (approval,) in db.execute("SELECT id FROM approvals WHERE run = ?", (run,)).fetchall():
        ledger.approval(approval)
        rows += 1
    return rows


def link_before(db: sqlite3.Connection, session: ErasedSession, seq: int) -> bytes:
    """The link that the entry behind this one follows."""
    row = db.execute(
        "SELECT chain FROM transcript WHERE session = ? AND seq = ?", (session.no, seq)
    ).fetchone()
    return GENESIS if row is None else row[0]


def link_of(session: ErasedSession, previous: bytes, seq: int, linked: Sequence[Any]) -> bytes:
    """An entry's link under the session's name of now; ``linked`` is what it covers, as ``ENTRIES``
    has it.
    """
    kind, message_id, at, body, marks, *columns = linked
    return entry_link(
        previous,
        f"{session.workspace}/{session.id}",
        seq,
        (kind, message_id, at),
        (body, marks, entry_cover(tuple(columns))),
    )


def link_again(db: sqlite3.Connection, ledger: LedgerDraft, session: ErasedSession) -> None:
    """Every link is made anew: the session's head is the last of them."""
    db.execute(
        "UPDATE sessions SET chain = coalesce((SELECT chain FROM transcript t WHERE t.session = "
        "sessions.no AND t.seq = sessions.head), chain) WHERE no = ?",
        (session.no,),
    )
    ledger.session(session.workspace, session.id)
