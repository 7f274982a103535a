"""The tables of what is remembered: notes, documents and their vectors.

An item is ``staged`` until its last passage is stored, then ``kept``, then ``removed`` until its
passages are deleted too (``gone``): what is not kept is never found, and what is gone keeps its id,
its key and who removed it. Numbers of vectors only grow, so that a reader can ask for what came
later; ``library`` counts the passages that are kept, and how often vectors were deleted.
"""

from __future__ import annotations

LIBRARY_TABLES = """
CREATE TABLE items(
  no INTEGER PRIMARY KEY AUTOINCREMENT, workspace TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, title TEXT NOT NULL,
  theme TEXT NOT NULL, mood TEXT NOT NULL, tags TEXT NOT NULL, media_type TEXT NOT NULL, trust TEXT NOT NULL, author TEXT NOT NULL,
  source TEXT NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, subject INTEGER, key TEXT NOT NULL, digest TEXT NOT NULL,
  size INTEGER NOT NULL, pages INTEGER NOT NULL, passages INTEGER NOT NULL, created_at INTEGER NOT NULL, removed_at INTEGER,
  removed_by TEXT, UNIQUE (workspace, id));
CREATE UNIQUE INDEX items_key ON items(workspace, key) WHERE key <> '';
CREATE INDEX items_kept ON items(workspace, kind, no) WHERE state = 'kept';
CREATE INDEX items_digest ON items(workspace, digest) WHERE state = 'kept' AND digest <> '';
CREATE INDEX items_source ON items(workspace, source) WHERE state = 'kept' AND kind = 'document';
CREATE INDEX items_themes ON items(workspace, no) WHERE state = 'kept' AND theme <> '';
CREATE INDEX items_subject ON items(subject) WHERE subject IS NOT NULL;
CREATE INDEX items_unfinished ON items(no) WHERE state = 'removed' OR state = 'staged';
CREATE TABLE passages(
  no INTEGER PRIMARY KEY, item INTEGER NOT NULL, seq INTEGER NOT NULL, page INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
  heading TEXT NOT NULL, text TEXT NOT NULL);
CREATE UNIQUE INDEX passages_item ON passages(item, seq);
CREATE TABLE vectors(
  no INTEGER PRIMARY KEY AUTOINCREMENT, workspace TEXT NOT NULL, embedder TEXT NOT NULL, passage INTEGER NOT NULL UNIQUE,
  dimension INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_of ON vectors(workspace, embedder, no);
CREATE TABLE library(workspace TEXT PRIMARY KEY, passages INTEGER NOT NULL, removals INTEGER NOT NULL) WITHOUT ROWID;
"""

LIBRARY_SEALS = """
ALTER TABLE items ADD COLUMN seal BLOB;
ALTER TABLE items ADD COLUMN words BLOB;
"""
"""What the ledger says of an item's words is under its ``seal``, which is NULL once it is removed;
``words`` is the link of its last passage.
"""
