"""The tables. ``PRAGMA user_version`` is the schema's version; a newer one than this build knows is
refused.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from functools import cache

from ordain.errors import ConfigurationError
from ordain.ports.sessions import SENT_IDS
from ordain.store.access_tables import ACCESS_TABLES
from ordain.store.approval_tables import APPROVAL_TABLES, CLAIM_COLUMNS, EMPTY_TABLES
from ordain.store.configuration_rows import CONFIGURATION_TABLES
from ordain.store.grant_rows import GRANT_COLUMNS, GRANT_TABLES
from ordain.store.ledger import LEDGER_TABLES, begin_ledger
from ordain.store.library_tables import LIBRARY_SEALS, LIBRARY_TABLES
from ordain.store.schema_shape import Shape, difference, shape_of, shown
from ordain.store.sheets import SHEET_TABLES
from ordain.store.word_index import WORD_INDEX_TABLES, index_again

LOG = logging.getLogger("ordain.store")
VERSION = 19
WORD_INDEX_EACH = 4
"""The first version with a text index for each workspace."""
WITH_SHEETS = 9
"""The first version whose journals are sheets."""
WITH_LEDGER = 13
"""The first version with a ledger, and with links of the second version in its transcripts."""
WITH_APPROVALS = 15
"""The first version with approvals, grants and records of the configuration."""
WITH_GRANT_CONTENT = 16
"""The first version whose grants keep apart what goes with a run's content."""
WITH_SEALS = 18
"""The first version whose ledger knows of what is remembered."""
WITH_CLAIMS = 19
"""The first version whose approvals say who looks at them."""
WITH_HOLDERS = 10
"""The first version that says of each run which engine holds it."""
SHAPE = "a6ceb35ba4a0305288440d0fac636b9d"
"""Digest of what ``VERSION`` makes, so that most openings need not make it."""
NO_NEWER = (
    f". Its tables are those of version {VERSION}: if no newer Ordain wrote here, another program "
    f"has changed `PRAGMA user_version`, which has to say {VERSION} again"
)
APPLICATION_ID = 0x4F72646E
"""\"Ordn\" in the file's header: a version number alone is anybody's."""

SETTLING = "reason IN ('budget.settled', 'budget.overrun')"
"""What the index of settlements holds; a query says it in the same words."""
UNSETTLED = "(status = 'ready' OR status = 'running' OR status = 'waiting')"
"""What the indices of unsettled runs hold; a query says it in the same words. No list: for one of
three, SQLite fills a table each time it writes a run.
"""
DDL = """
CREATE TABLE engine(
  one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL, holder TEXT NOT NULL, since INTEGER NOT NULL);
CREATE TABLE subjects(
  no INTEGER PRIMARY KEY, workspace TEXT NOT NULL, id TEXT NOT NULL, key BLOB, erased_at INTEGER, UNIQUE (workspace, id));
CREATE TABLE runs(
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent INTEGER, parent_addr INTEGER NOT NULL, child INTEGER NOT NULL,
  root INTEGER NOT NULL, workspace TEXT NOT NULL, session TEXT, thread TEXT, subject INTEGER NOT NULL,
  flow TEXT NOT NULL, flow_version INTEGER NOT NULL, catalog TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  wake_at INTEGER, epoch INTEGER NOT NULL, head_seq INTEGER NOT NULL, resumes INTEGER NOT NULL, resumes_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL, ended_at INTEGER);
CREATE INDEX runs_unsettled ON runs(status, no) WHERE status IN ('ready', 'running', 'waiting');
CREATE INDEX runs_parent ON runs(parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_ended ON runs(ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE records(
  pos INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
  v INTEGER NOT NULL, at INTEGER NOT NULL, digest BLOB NOT NULL, chain BLOB NOT NULL, body BLOB, payload INTEGER, reason TEXT);
CREATE UNIQUE INDEX records_run ON records(run, seq);
CREATE INDEX records_reason ON records(reason, run) WHERE reason IS NOT NULL;
CREATE TABLE payloads(
  id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, subject INTEGER NOT NULL, class TEXT NOT NULL, digest BLOB NOT NULL,
  bytes BLOB, erased_at INTEGER);
CREATE TABLE mailbox(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, kind TEXT NOT NULL, addr INTEGER NOT NULL, key TEXT NOT NULL,
  body BLOB NOT NULL, at INTEGER NOT NULL, taken INTEGER, UNIQUE (run, key));
CREATE INDEX mailbox_untaken ON mailbox(run) WHERE taken IS NULL;
CREATE TABLE requests(
  workspace TEXT NOT NULL, request_id TEXT NOT NULL, digest TEXT NOT NULL, run INTEGER NOT NULL,
  PRIMARY KEY (workspace, request_id)) WITHOUT ROWID;
CREATE TABLE catalogs(digest TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE accounts(
  workspace TEXT NOT NULL, name TEXT NOT NULL, tokens INTEGER NOT NULL, usd_micros INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)) WITHOUT ROWID;
CREATE TABLE outbox(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, addr INTEGER NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,
  delivered_at INTEGER, UNIQUE (run, addr));
"""

CONVERSATION = """
CREATE TABLE sessions(
  no INTEGER PRIMARY KEY, workspace TEXT NOT NULL, id TEXT NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL,
  head INTEGER NOT NULL, chain BLOB NOT NULL, threads INTEGER NOT NULL, active INTEGER NOT NULL, channel TEXT NOT NULL,
  user TEXT NOT NULL, created_at INTEGER NOT NULL, last_at INTEGER NOT NULL, UNIQUE (workspace, id));
CREATE INDEX sessions_recent ON sessions(workspace, last_at);
CREATE INDEX sessions_subject ON sessions(subject);
CREATE TABLE threads(
  session INTEGER NOT NULL, id INTEGER NOT NULL, status TEXT NOT NULL, intent TEXT NOT NULL, run TEXT NOT NULL,
  asked TEXT, slots TEXT, last_error TEXT, touched_at INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE INDEX runs_roots ON runs(status, parent) WHERE parent IS NULL AND status IN ('ready', 'running', 'waiting');
CREATE INDEX runs_subject ON runs(subject);
CREATE INDEX payloads_subject ON payloads(subject);
CREATE INDEX threads_asking ON threads(session) WHERE asked IS NOT NULL;
CREATE INDEX threads_recent ON threads(session, touched_at);
CREATE TABLE turns(
  run INTEGER PRIMARY KEY, id TEXT NOT NULL, session INTEGER NOT NULL, thread INTEGER NOT NULL, state TEXT NOT NULL,
  counts INTEGER NOT NULL);
CREATE INDEX turns_open ON turns(session, thread, run) WHERE state <> 'over';
CREATE TABLE transcript(
  no INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
  thread INTEGER NOT NULL, run TEXT NOT NULL, channel TEXT NOT NULL, message_id TEXT NOT NULL, edits TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL, attached TEXT NOT NULL, reason TEXT NOT NULL, anchor TEXT NOT NULL, size INTEGER NOT NULL,
  through INTEGER NOT NULL, author TEXT NOT NULL, subject INTEGER NOT NULL, digest BLOB NOT NULL, chain BLOB NOT NULL, body BLOB, decision BLOB);
CREATE UNIQUE INDEX transcript_seq ON transcript(session, seq);
CREATE UNIQUE INDEX transcript_message ON transcript(session, channel, message_id);
CREATE INDEX transcript_edits ON transcript(session, channel, edits) WHERE edits <> '';
CREATE INDEX transcript_run ON transcript(session, run, seq) WHERE run <> '';
CREATE INDEX transcript_summary ON transcript(session, seq) WHERE kind = 'summary';
CREATE INDEX transcript_subject ON transcript(subject);
"""
SETTLED_INDEX = f"""
DROP INDEX records_reason;
CREATE INDEX records_settled ON records(run) WHERE {SETTLING};
"""
"""Who asked models is looked up by what was settled; no other decision needs an index. Beside it
records say more since (a run's label, grant and wording), and older builds have to refuse the
folder.
"""
UNSETTLED_INDICES = f"""
DROP INDEX runs_unsettled;
CREATE INDEX runs_unsettled ON runs(status, no) WHERE {UNSETTLED};
DROP INDEX runs_roots;
CREATE INDEX runs_roots ON runs(status, parent) WHERE parent IS NULL AND {UNSETTLED};
"""
"""The same rows, found by another expression: every step of a run writes its row, and filled a
table for each such list.
"""
RESTED = "(status <> 'ready' AND status <> 'running' AND status <> 'waiting')"
"""What the index of runs at rest holds; a query says it in the same words."""
UPKEEP_TABLES = f"""
CREATE INDEX runs_rested ON runs(status, no) WHERE {RESTED};
CREATE TABLE erasures(subject INTEGER PRIMARY KEY, at INTEGER NOT NULL);
CREATE INDEX requests_run ON requests(run);
CREATE TABLE sweeps(class TEXT PRIMARY KEY, ended_at INTEGER NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX transcript_held ON transcript((kind = 'message'), at) WHERE body IS NOT NULL;
CREATE INDEX threads_said ON threads(touched_at) WHERE intent <> '' OR slots IS NOT NULL;
CREATE INDEX threads_failed ON threads(touched_at) WHERE last_error IS NOT NULL;
CREATE TABLE probes(one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL);
"""
"""What housekeeping finds its work by: runs by status, erasures that are under way, how far each
class of content is swept, what still holds content. No index of records: an old journal is brought
on in a second or two, however many records it has.
"""
LOST_TIME = """
CREATE TABLE beats(one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL);
CREATE TABLE pauses(no INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER NOT NULL);
"""
"""When an engine was last at work, and when nobody could work. Records say since what was lost of a
run's time, and older builds have to refuse the folder.
"""
HOLDERS = """
ALTER TABLE runs ADD COLUMN holder INTEGER;
CREATE INDEX runs_due ON runs(wake_at) WHERE status = 'waiting' AND wake_at IS NOT NULL;
UPDATE runs SET status = 'ready' WHERE status = 'waiting' AND EXISTS (SELECT 1 FROM mailbox m WHERE m.run = runs.no AND m.taken IS NULL);
"""
"""Which engine holds a run: 0 is nobody, NULL one of a build before, which says no more. What had
mail waits no longer: such builds left that to whoever drove it.
"""
UNSETTLED_ONCE = f"""
DROP INDEX runs_roots;
DROP INDEX runs_unsettled;
CREATE INDEX runs_unsettled ON runs(status, no, parent) WHERE {UNSETTLED};
"""
"""One index of unsettled runs, which also tells the roots among them: each change of a status wrote
into two.
"""
NEW_VALUES = ""
"""No table is another: ends say a verdict and policies have keys that builds before do not know,
and these have to refuse the folder.
"""
SENT = f"message_id >= '{SENT_IDS}' AND message_id < '{SENT_IDS[:-1]};'"
"""What the index of messages that came with a whole conversation holds; a query says it in the same
words.
"""
SENT_INDEX = f"CREATE INDEX transcript_sent ON transcript(message_id) WHERE {SENT};"
"""A conversation without a name is found by what was sent before. Transcripts hold entries since
that builds before would not look for.
"""
MIGRATIONS = {
    1: CONVERSATION,
    2: LIBRARY_TABLES + ACCESS_TABLES,
    3: WORD_INDEX_TABLES,
    4: SETTLED_INDEX,
    5: UNSETTLED_INDICES,
    6: UPKEEP_TABLES,
    7: LOST_TIME,
    8: SHEET_TABLES,
    9: HOLDERS,
    10: UNSETTLED_ONCE,
    11: NEW_VALUES,
    12: LEDGER_TABLES,
    13: NEW_VALUES,
    14: APPROVAL_TABLES + CONFIGURATION_TABLES,
    15: GRANT_TABLES,
    16: SENT_INDEX,
    17: LIBRARY_SEALS,
    18: CLAIM_COLUMNS,
}
"""What brings a schema one version on; stored records are never rewritten."""


def check(connection: sqlite3.Connection) -> int:
    """The schema's version, 0 of an empty database.

    Raises:
        ConfigurationError: the database was written by a newer build (``newer_schema``), is not
            ours (``foreign_database``), or ``foreign_schema``: it holds a trigger or a view, of
            which no build makes one, and a trigger would write whenever we do; or its tables are
            not those of its version.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if (
        application != APPLICATION_ID
        and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    ):
        raise ConfigurationError("the database is not one of Ordain's", code="foreign_database")
    if version > VERSION:
        others = _held_to(shape_of(connection), VERSION)
        raise ConfigurationError(
            f"the database has schema version {version}, this build knows {VERSION}: use a newer "
            f"Ordain{'' if others else NO_NEWER}",
            code="newer_schema",
        )
    for kind, name in connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1"
    ):
        raise ConfigurationError(
            f"the database holds {kind} {shown(name)}, and Ordain makes none: `ordain restore` "
            f"copies its rows, and no {kind}, into another folder",
            code="foreign_schema",
        )
    if application == APPLICATION_ID and (told := _told_of(connection, version)):
        if (version,) != connection.execute("PRAGMA user_version").fetchone():
            return check(connection)  # somebody else has brought it up meanwhile
        raise ConfigurationError(told, code="foreign_schema")
    return int(version)


def _told_of(connection: sqlite3.Connection, version: int) -> str:
    """What is wrong where a database's tables are not those of its version; "" where they are."""
    found = shape_of(connection)
    if version == VERSION and found.digest == SHAPE:
        return ""
    if not (other := _held_to(found, version)):
        return ""
    said = f"the database says that it has schema version {version}, and holds {other}"
    if of := next((one for one in range(VERSION, 0, -1) if not _held_to(found, one)), 0):
        return (
            f"{said}: its tables are those of version {of}, so another program has changed `PRAGMA "
            f"user_version`, which has to say {of} again"
        )
    return (
        f"{said}: another program has changed its tables; keep it as it is, and put a backup into "
        "another folder (`ordain restore FILE --data-dir FOLDER`)"
    )


def _held_to(found: Shape, version: int) -> str:
    """The first thing in which tables are not those of a version; "" where there is none."""
    if version < 1:
        return "the tables of another, as no build wrote this one"
    return difference(found, _shape(version), _shape(VERSION))


@cache  # of what is foreign every version is made, to say which one it is
def _shape(version: int) -> Shape:
    with closing(sqlite3.connect(":memory:")) as db:
        make(db, version)
        return shape_of(db)


@cache
def _empty() -> bytes:
    """A database of this version with no row in it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        make(db, VERSION)
        return db.serialize()


def _copy_empty(connection: sqlite3.Connection) -> None:
    """The tables of a database in memory, which nobody else sees half made. Tests open thousands in
    one process: a copy is a tenth of making them.
    """
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(_empty())
        made.backup(connection)
    connection.execute("BEGIN")
    begin_ledger(connection, time.time_ns() // 1000)
    connection.execute("COMMIT")


def make(connection: sqlite3.Connection, version: int) -> None:
    """The tables of one version, 1 to ``VERSION``, in an empty database: for rows that are copied
    from a file of that version.
    """
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # before there is a table, or never
    statements = DDL + "".join(MIGRATIONS[step] for step in range(1, version))
    connection.executescript(
        f"BEGIN;{statements}PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = "
        f"{version};COMMIT"
    )


def read_only(connection: sqlite3.Connection) -> None:
    """As ``check``, for a database that may not be written: an older one gets for this connection
    alone, and empty, what it has not.
    """
    version = check(connection)
    if version < WITH_HOLDERS:
        connection.execute("CREATE TEMP VIEW runs AS SELECT *, NULL AS holder FROM main.runs")
    if version < WITH_LEDGER:
        connection.execute(
            "CREATE TEMP VIEW transcript AS SELECT *, NULL AS marks FROM main.transcript"
        )
        connection.execute(
            LEDGER_TABLES.partition(";")[0].replace("CREATE TABLE", "CREATE TEMP TABLE")
        )
    if version < WITH_APPROVALS:
        connection.executescript(
            f"{EMPTY_TABLES};{CONFIGURATION_TABLES};{GRANT_COLUMNS}{CLAIM_COLUMNS}".replace(
                "CREATE TABLE", "CREATE TEMP TABLE"
            )
        )
    elif version < WITH_CLAIMS:
        connection.execute(
            "CREATE TEMP VIEW approvals AS SELECT *, '' AS claimed_by, 0 AS claimed_at FROM "
            "main.approvals"
        )
    if WITH_APPROVALS <= version < WITH_GRANT_CONTENT:
        connection.execute(
            "CREATE TEMP VIEW grants AS SELECT *, NULL AS subject, NULL AS content FROM main.grants"
        )
    if version < WITH_SEALS:
        connection.execute(
            "CREATE TEMP VIEW items AS SELECT *, NULL AS seal, NULL AS words FROM main.items"
        )
    if version < WITH_SHEETS:
        connection.execute(
            SHEET_TABLES.partition(";")[0].replace("CREATE TABLE", "CREATE TEMP TABLE")
        )


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, or those that a later version added; raises as
    ``check``.
    """
    version = check(connection)
    if version == VERSION:
        return
    if version == 0 and not connection.execute("PRAGMA database_list").fetchone()[2]:
        _copy_empty(connection)
        return
    if version == 0:
        connection.execute(
            "PRAGMA auto_vacuum=INCREMENTAL"
        )  # before there is a table, or never: one that is older gets it by being compacted
    else:
        LOG.warning(
            "the database is brought from schema version %s to %s; a large one takes some seconds",
            version,
            VERSION,
        )
    statements = DDL if version == 0 else ""
    statements += "".join(MIGRATIONS[step] for step in range(max(version, 1), VERSION))
    connection.executescript(
        f"BEGIN IMMEDIATE;{statements}PRAGMA application_id = {APPLICATION_ID};PRAGMA "
        f"user_version = {VERSION};"
    )
    if version < WORD_INDEX_EACH:
        # later ones have their indices, and whoever is added twice is found twice
        index_again(connection)
    if version < WITH_LEDGER:
        begin_ledger(connection, time.time_ns() // 1000)
    connection.execute("COMMIT")
