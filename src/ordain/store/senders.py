"""Whom a run of a session works for: whoever sent the message that its root serves, and nobody else
who speaks there.

A run serves the message that it was opened for, which is the first of its session that it serves;
answers to what it asked come after. The transcript says who sent it, so nothing else does. Of what
is erased nobody knows.
"""

from __future__ import annotations

import sqlite3

_OF_ROOT = (
    "SELECT t.author FROM transcript t WHERE t.session = {session} AND t.run = {root} AND t.run "
    "<> '' AND t.kind = 'message' ORDER BY t.seq LIMIT 1"
)
_ASKER = _OF_ROOT.format(session="?", root="?")
_OF_RUN = (
    f"(SELECT ({_OF_ROOT.format(session='s.no', root='o.id')}) FROM runs r JOIN runs o ON o.no = "  # noqa: S608 - constants of the module
    "r.root"
    " JOIN sessions s ON s.workspace = r.workspace AND s.id = r.session WHERE r.id = {run} AND "
    "r.workspace = {workspace})"
)
"""NULL of a run in no session, and of one that is not there."""
_SENDER = f"SELECT {_OF_RUN.format(run='?', workspace='?')}"


def of_run(run: str, workspace: str) -> str:
    """SQL for the sender, of expressions for the run's id and the workspace; NULL or '' where there
    is none that is known.
    """
    return _OF_RUN.format(run=run, workspace=workspace)


def sender(db: sqlite3.Connection, workspace: str, run: str) -> str:
    """Whom a run works for, "" where that is nobody in particular."""
    (found,) = db.execute(_SENDER, (run, workspace)).fetchone()
    return found or ""


def sender_of_root(db: sqlite3.Connection, session: int, root: str) -> str:
    """The same of a root, in the session by its row's number."""
    row = db.execute(_ASKER, (session, root)).fetchone()
    return "" if row is None else row[0]
