"""The tables of approvals and grants."""

from __future__ import annotations

APPROVAL_TABLES = """
CREATE TABLE approvals(
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, run INTEGER NOT NULL, root INTEGER NOT NULL, addr INTEGER NOT NULL,
  session INTEGER NOT NULL, thread INTEGER NOT NULL, subject TEXT NOT NULL, tier TEXT NOT NULL, digest TEXT NOT NULL, workflow TEXT NOT NULL,
  asked_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, state TEXT NOT NULL, decided_at INTEGER NOT NULL, decided_by TEXT NOT NULL,
  granted TEXT NOT NULL);
CREATE TABLE grants(
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, principal TEXT NOT NULL, expires_at INTEGER NOT NULL,
  uses_left INTEGER, revoked_at INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX approvals_run ON approvals(run);
CREATE INDEX approvals_listed ON approvals(workspace, state, no);
CREATE INDEX approvals_open ON approvals(root) WHERE state = 'open';
CREATE INDEX approvals_thread ON approvals(session, thread) WHERE state = 'open' AND session <> 0;
CREATE INDEX grants_of ON grants(workspace, principal, expires_at) WHERE revoked_at = 0;
"""
"""``session`` is a session's row, 0 outside of any; ``body`` of a grant is its C5 shape, but for
its uses and who took it back when.
"""
CLAIM_COLUMNS = """
ALTER TABLE approvals ADD COLUMN claimed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN claimed_at INTEGER NOT NULL DEFAULT 0;
"""
"""Who looks at an open approval, or did when it ended, and since when; "" and 0 of one that nobody
has claimed.
"""
EMPTY_TABLES = ";".join(APPROVAL_TABLES.split(";")[:2])
"""The tables alone, for a database of a build before that may not be written."""
