"""``ordain replay --all`` over a store that somebody has written into with another program: each
changed column is found and named, without a traceback.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest

from ordain.cli.archive import open_archive
from ordain.cli.connection import Connection, connect
from ordain.cli.entry import main
from ordain.cli.exit_codes import FAILED, OK, USAGE
from ordain.cli.options import Everything
from ordain.cli.replay import Compared, replay_runs
from ordain.contracts.library import NoteRequest
from ordain.contracts.planner import PlannerRequest
from ordain.journal.digests import KEY_BYTES
from ordain.runtime.approvals import ApproverWord, GrantWanted
from ordain.runtime.configuration import Applied, RecordChange
from ordain.runtime.grants import GrantOffer
from ordain.server import Face, build_app
from ordain.store.leases import SqliteLeases
from ordain.store.schema import prepare
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.commands import run_command
from tests.lanes import sampled
from tests.replay.folder_file import SOON, packed, statement, unpack
from tests.replay.folder_going_on import go_on
from tests.replay.folder_house import folder_house
from tests.shapes.columns import COLUMNS, WHILE, Apart, Held, Unseen
from tests.shapes.ledger import Ledger, ledger_process
from tests.shapes.talk import PRINCIPAL, WORKSPACE
from tests.shapes.workflows import LEDGER, write_templates

DATABASE = "ordain.db"
CHANGED = [
    (table, column)
    for table, columns in COLUMNS.items()
    for column, held in columns.items()
    if isinstance(held, Held)
]
SAMPLED = sampled(
    [(*one, typed) for one in CHANGED for typed in (True, False)], 10, "changed columns"
)
PASSING = {"equal", "erased"}
ROWS_ALONE = {"records"}
"""Tables that no build of this schema writes: a folder of an earlier one has them."""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of a schema before, gone on with to the end of everything, with a request, an
    approval and a grant, a payload and an erased session; and one of rows.
    """
    home, old = tmp_path_factory.mktemp("first") / "home", tmp_path_factory.mktemp("old") / "home"
    unpack(packed("killed"), old)
    kept = statement("killed_ledgerless")
    unpack(packed("killed_ledgerless"), home)
    with ledger_process() as port:
        asyncio.run(_gone_on(home, Ledger(port, "tampering"), kept))
    assert told(home) == told(old) == (OK, "")
    return {"sheets": home, "rows": old}


async def _gone_on(home: Path, ledger: Ledger, kept: Any) -> None:
    await go_on(home, kept, ledger, SOON)
    write_templates(home, LEDGER)
    async with folder_house(home, ledger) as house:
        goal = {"type": "analysis", "description": "a lamp " + "of wood " * 600}
        asked = PlannerRequest.model_validate({"request_id": "offer", "goal": goal, "toolset": []})
        await house.ordain.runtime.accept(asked, PRINCIPAL)
        await house.say("hello there", "erased")
        await house.say("hello there", "spoken")
        await house.say("thanks", "spoken")
        await house.send(
            "tell everybody", "spoken", workflow={"template": "tell_all", "args": {"text": "tea"}}
        )
        await house.send(
            "tell them all", "waiting", workflow={"template": "tell_all", "args": {"text": "cake"}}
        )
        await house.quiet()
        desk = house.ordain.runtime.approvals
        for view in await desk.listed(WORKSPACE):
            await desk.claim(WORKSPACE, view.row.id, "local:cleo")
            grant = GrantWanted(ttl_s=3600, uses=2, reason="for tea")
            await desk.decide(
                WORKSPACE,
                view.row.id,
                ApproverWord(approve=True, digest=view.row.digest, grant=grant),
                "local:ben",
            )
        await house.quiet()
        offer = GrantOffer(
            principal=PRINCIPAL,
            capabilities=("mail.send",),
            ttl_s=3600,
            targets=("ada@example.org",),
        )
        await house.ordain.runtime.grants.give(WORKSPACE, offer, "local:ben")
        for config in ({"systemPrompt": "Be brief."}, None, {"skills": ["chat_general"]}):
            written = RecordChange(place="default", resource="profile", id="writer", config=config)
            assert isinstance(
                await house.ordain.runtime.control.change(written, by=PRINCIPAL), Applied
            )
        library = house.ordain.runtime.library
        lamps = "\n\n".join(
            f"# Lamp {number}\n\n" + "It is made of wood. " * 60 for number in range(5)
        )
        await library.add_document(WORKSPACE, "lamps.md", lamps.encode())
        for text in ("Ben drinks his tea with milk.", "Nobody drinks it cold."):
            noted = await library.add_note(
                WORKSPACE, NoteRequest(text=text, user_id="ben"), by=PRINCIPAL
            )
        await library.forget(WORKSPACE, noted.id, by=PRINCIPAL)
        await house.ordain.runtime.operators.erase_session(
            "erased", by="test", why="asked", workspace="default"
        )
        waiting = await house.say("find out which place it is in", "waiting", mode="agent")
        assert waiting.question is not None
    await _died_with(home)


async def _died_with(home: Path) -> None:
    """Engines die with the run that waits, and somebody cancels it meanwhile: there is mail that
    nobody has taken.
    """
    for _ in range(2):
        store = SqliteStore(home, StoreOptions(holder="dies"))
        ((run,),) = store.query(
            "SELECT id FROM runs WHERE status = 'waiting' AND wake_at IS NOT NULL AND session = "
            "'waiting' LIMIT 1"
        )
        leases = SqliteLeases(store, lambda: 0)
        await leases.hold(await leases.join("dies"), limit=1, flows=None, only=[run])
        store.close()
    with open_archive(home) as archive:
        await archive.runtime.operators.answer(run, 0, "Oslo", by="local:test")


def told(home: Path, **more: Any) -> tuple[int, str]:
    """What replaying everything says in this process: the exit code, and every difference it
    names.
    """
    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordain.cli.replay.print_json", found.append)
        code = replay_runs(
            home, None, Compared(), Everything(every=True, jobs=1, **more), as_json=True
        )
    said = (*found[0]["runs"], *found[0]["sessions"], found[0]["ledger"])
    return code, "\n".join(
        json.dumps(one["differences"], default=vars)
        for one in said
        if one["verdict"] not in PASSING
    )


@pytest.fixture
def tampered(homes: dict[str, Path], tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Runs statements over a copy of a folder, and replays everything in it."""

    def tampering(*statements: str, of: str = "sheets") -> tuple[int, str]:
        home = shutil.copytree(homes[of], tmp_path / "copy")
        with closing(sqlite3.connect(home / DATABASE, isolation_level=None)) as db:
            before = db.total_changes
            for statement_ in statements:
                db.execute(statement_)
            assert db.total_changes > before, "nothing was changed"
        return told(home)

    return tampering


def other(db: sqlite3.Connection, table: str, column: str) -> str:
    """An expression that gives another value of the same type for a column."""
    kinds = {
        name: (kind, notnull)
        for _, name, kind, notnull, *_ in db.execute(f"PRAGMA table_info({table})")
    }
    kind, _ = kinds[column]
    if kind == "INTEGER":
        return f"coalesce({column}, 0) + 1000003"
    if kind == "BLOB":
        return (
            f"CASE WHEN {column} IS NULL THEN x'00' ELSE CAST(substr({column}, 1, "
            f"length({column}) - 1) || x'7f7e' AS BLOB) END"
        )
    return f"coalesce({column}, '') || 'x'"


def is_row_number(db: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether SQLite keeps the column as the number of the row itself, of one type and each
    once.
    """
    (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return (
        re.search(rf"\b{column} INTEGER PRIMARY KEY", made) is not None
        and "WITHOUT ROWID" not in made
    )


def strange(db: sqlite3.Connection, table: str, column: str) -> str:
    """A value of a type that the column never has, which SQLite stores all the same; the number of
    a row it refuses to have other than as one.
    """
    kind = next(
        kind for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})") if name == column
    )
    return (
        other(db, table, column)
        if is_row_number(db, table, column)
        else "'strange'"
        if kind == "BLOB"
        else "x'ff00'"
    )


def test_every_column_is_classified() -> None:
    """What a face shows is under a chain or derived and compared: whoever adds a column says by
    which, or why it is neither.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        prepare(db)
        made = [
            name
            for (name,) in db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        columns = {
            table: {name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")}
            for table in made
        }
    assert {table: set(known) for table, known in COLUMNS.items()} == columns
    assert [
        held
        for known in COLUMNS.values()
        for held in known.values()
        if not isinstance(held, Held) and len(held.why) < 20
    ] == []


@pytest.mark.parametrize(
    ("table", "column", "typed"),
    SAMPLED,
    ids=[f"{table}.{column}-{'value' if typed else 'type'}" for table, column, typed in SAMPLED],
)
def test_a_changed_column_is_named(
    homes: dict[str, Path], tmp_path: Path, table: str, column: str, typed: bool
) -> None:
    """Whichever column of whichever table holds another value in one row, replay says so and fails;
    so it does of each row that can be changed.
    """
    of = "rows" if table in ROWS_ALONE else "sheets"
    with closing(sqlite3.connect(homes[of] / DATABASE)) as db:
        value = other(db, table, column) if typed else strange(db, table, column)
        keys = [
            name for _, name, _, _, _, key in db.execute(f"PRAGMA table_info({table})") if key
        ] or ["rowid"]
        named = ", ".join(keys)
        rows = db.execute(
            f"SELECT {named} FROM {table} WHERE {WHILE.get(table, '1')} ORDER BY {named}"
        ).fetchall()
    assert rows
    for number, row in enumerate({rows[-1], rows[len(rows) // 2 if typed else -1]}):
        home = shutil.copytree(homes[of], tmp_path / f"copy{number}")
        with closing(sqlite3.connect(home / DATABASE, isolation_level=None)) as db:
            db.execute(
                f"UPDATE {table} SET {column} = {value} WHERE ({named}) = "
                f"({', '.join('?' * len(keys))})",
                row,
            )
        code, said = told(home)
        assert code == FAILED, (table, column, row)
        assert said


# --- what nobody sees -----------------------------------------------------------------------------

DOCUMENT: dict[str, Any] = build_app(
    Face(runtime=cast("Any", SimpleNamespace(conversation=None)))
).openapi()
UNSEEN = [
    (table, column)
    for table, columns in COLUMNS.items()
    for column, held in columns.items()
    if isinstance(held, Unseen)
]
APART = {
    face
    for columns in COLUMNS.values()
    for held in columns.values()
    if isinstance(held, Apart)
    for face in held.faces
}
OF_NOW = {
    "/api/verbs",
    "/health",
    "/metrics",
    "/models",
    "/ready",
    "/schemas",
    "/schemas/{name}",
    "/v1/models",
    "/v1/models/{model}",
} | {
    f"{path}{more}"
    for path in ("/verbs", "/workflows", "/cards")
    for more in ("", "/{verb_id}", "/{template_id}", "/{name}")
}
"""What tells of the process and of what it was given, and not of what happened."""
STREAMS = {"/runs/{run}/events", "/sessions/{session}/events"}
"""The same as a journal and a transcript, as they grow."""
LISTS = ("/runs", "/sessions", "/approvals", "/grants")
ONE_OF = {
    "/runs": ("/runs/{run}", "/runs/{run}/journal", "/runs/{run}/tree"),
    "/sessions": ("/sessions/{session}", "/sessions/{session}/messages"),
}
NAMES = {"/runs": "run_id", "/sessions": "sessionId", "/approvals": "approval_id"}


class Looking:
    """Every address that tells what happened, asked over a folder as it lies; ``asked`` are the
    paths that were.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection, self.asked = connection, dict[str, None]()

    async def get(self, path: str, named: Mapping[str, object] | None = None, **params: Any) -> Any:
        """What it says, be it a refusal."""
        self.asked[path] = None
        filled = path.format(
            **{name: quote(str(value), safe="") for name, value in (named or {}).items()}
        )
        response = await self.connection.http.get(filled, params=params)
        return response.status_code, response.json()

    async def pages(self, path: str) -> list[Any]:
        """A list, two at a time, with what each page names the next one by."""
        found, before = list[Any](), dict[str, Any]()
        while True:
            status, page = await self.get(path, limit=2, all="true", **before)
            found.append((status, page))
            if status != 200 or page.get("next") is None:
                return found
            before = {"before": page["next"]}

    async def everything(self) -> dict[str, Any]:
        """All that is told, by address."""
        status, cost = await self.get("/models/cost", days=1000)
        told_: dict[str, Any] = {
            "/models/cost": (
                status,
                {name: value for name, value in cost.items() if name not in {"since", "until"}},
            )
        }
        for path in LISTS:
            told_[path] = await self.pages(path)
            for _, page in told_[path] if path in NAMES else ():
                for one in page[path[1:]]:
                    await self._one(path, one, told_)
        return told_

    async def _one(self, path: str, one: dict[str, Any], told_: dict[str, Any]) -> None:
        named = {path[1:-1]: (one_id := one[NAMES[path]])}
        for each in ONE_OF.get(path, (f"{path}/{{{path[1:-1]}}}",)):
            told_[each, one_id] = await self.get(each, named)
        if path == "/sessions":
            for seq in range(1, one["head"] + 1):
                told_["message", one_id, seq] = await self.get(
                    "/sessions/{session}/messages/{seq}", {**named, "seq": seq}
                )


async def shown_of(home: Path) -> tuple[dict[str, Any], set[str]]:
    """All that the faces tell of a folder, and the addresses that were asked."""
    async with connect(home, drive=False) as connection:
        looking = Looking(connection)
        return await looking.everything(), set(looking.asked)


@pytest.fixture(scope="module")
def shown(
    homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the faces tell of the folders before anybody writes into them."""
    copies = {
        of: shutil.copytree(home, tmp_path_factory.mktemp(of) / "copy")
        for of, home in homes.items()
    }
    found = {of: asyncio.run(shown_of(copy)) for of, copy in copies.items()}
    asked = found["sheets"][1]
    gets = {path for path, methods in DOCUMENT["paths"].items() if "get" in methods}
    assert (
        gets - asked - OF_NOW - STREAMS - {path for path in gets if path.startswith(tuple(APART))}
        == set()
    )
    return {of: told_ for of, (told_, _) in found.items()}


@pytest.mark.parametrize(("table", "column"), sampled(UNSEEN, 3, "unseen columns"))
def test_what_is_under_nothing_nobody_sees(
    homes: dict[str, Path],
    shown: dict[str, dict[str, Any]],
    tmp_path: Path,
    table: str,
    column: str,
) -> None:
    """Whatever such a column says in all rows, every address that tells what happened says the
    same, in the same order.
    """
    of = "rows" if table in ROWS_ALONE else "sheets"
    home = shutil.copytree(homes[of], tmp_path / "copy")
    with closing(sqlite3.connect(home / DATABASE, isolation_level=None)) as db:
        kind = next(
            kind
            for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")
            if name == column
        )
        # the last comes first
        value = (
            f"1000003 - coalesce({column}, 0)" if kind == "INTEGER" else other(db, table, column)
        )
        with suppress(sqlite3.IntegrityError):
            # of what the schema itself holds there is no other value
            db.execute(f"UPDATE {table} SET {column} = {value}")
    told_, _ = asyncio.run(shown_of(home))
    assert {
        where for where in told_ | shown[of] if told_.get(where) != shown[of].get(where)
    } == set()


_OF_ERASED = "UPDATE threads SET {} WHERE session = (SELECT no FROM sessions WHERE user = '')"
_NOTES = "SELECT no FROM items WHERE kind = 'note' AND state = 'kept'"
NAMED: dict[str, tuple[str, str, str]] = {
    "an attach decision": (
        (
            "UPDATE transcript SET decision = CAST(json_set(CAST(decision AS TEXT), '$.source', "
            "'another') AS BLOB) WHERE marks IS NOT NULL AND decision IS NOT NULL"
        ),
        "decision",
        "sheets",
    ),
    "an author": (
        (
            "UPDATE transcript SET author = 'mallory' WHERE marks IS NOT NULL AND kind = 'message' "
            "AND body IS NOT NULL"
        ),
        "author",
        "sheets",
    ),
    "a reply's run": (
        (
            "UPDATE transcript SET run = (SELECT id FROM runs LIMIT 1) WHERE marks IS NOT NULL AND "
            "kind = 'reply'"
        ),
        "chain",
        "sheets",
    ),
    "slots": (
        'UPDATE threads SET slots = \'{"location":"Oslo"}\' WHERE slots IS NOT NULL',
        "slots",
        "sheets",
    ),
    "a reason": (
        "UPDATE runs SET reason = 'another' WHERE status = 'completed'",
        "reason",
        "sheets",
    ),
    "a flow": ("UPDATE runs SET flow = 'another'", "flow", "sheets"),
    "a time of opening": ("UPDATE runs SET created_at = created_at - 1", "created_at", "sheets"),
    "a time of end": (
        "UPDATE runs SET ended_at = ended_at + 1 WHERE ended_at IS NOT NULL",
        "ended_at",
        "sheets",
    ),
    "a sender's timestamp": (
        "UPDATE transcript SET timestamp_ms = timestamp_ms + 1 WHERE marks IS NOT NULL",
        "chain",
        "sheets",
    ),
    "a session's time": ("UPDATE sessions SET last_at = last_at + 1", "session ", "sheets"),
    "a thread's time": ("UPDATE threads SET touched_at = touched_at + 1", "thread ", "sheets"),
    "a request's run": ("UPDATE requests SET run = 1", "request of run", "sheets"),
    "whom a grant is for that was given by itself": (
        """UPDATE grants SET content = '{"targets":["eve@example.org"]}' WHERE subject IS NULL""",
        "grant ",
        "sheets",
    ),
    "whose content a grant's is": (
        "UPDATE grants SET subject = (SELECT min(subject) FROM runs) WHERE subject IS NULL",
        "grant ",
        "sheets",
    ),
    "a grant that is erased": (
        """UPDATE grants SET content = '{"targets":null}', subject = (SELECT no FROM subjects WHERE key IS NULL LIMIT 1) WHERE subject IS NULL""",
        "grant ",
        "sheets",
    ),
    "who looked at an approval": (
        "UPDATE approvals SET claimed_by = 'local:mallory'",
        "decided or claimed it",
        "sheets",
    ),
    "that somebody looked at an approval": (
        "UPDATE approvals SET claimed_by = '', claimed_at = 0",
        "decided or claimed it",
        "sheets",
    ),
    "since when somebody looked at an approval": (
        "UPDATE approvals SET claimed_at = claimed_at - 1",
        "approval ",
        "sheets",
    ),
    "a deleted run": ("DELETE FROM runs WHERE no = 3", "missing", "sheets"),
    "a deleted session": (
        "DELETE FROM sessions WHERE id = 'spoken'",
        "session spoken in default",
        "sheets",
    ),
    "a deleted thread": ("DELETE FROM threads WHERE id = 1", "missing", "sheets"),
    "a deleted request": ("DELETE FROM requests", "request of run", "sheets"),
    "a deleted turn": ("DELETE FROM turns WHERE run = 1", "no turn", "sheets"),
    "a deleted entry": ("DELETE FROM transcript WHERE kind = 'reply'", "seq", "sheets"),
    "a deleted account": ("DELETE FROM accounts", "account ", "sheets"),
    "a deleted row of the ledger": (
        "DELETE FROM ledger WHERE no = 4",
        "ledger row 4 is missing",
        "sheets",
    ),
    "all of the ledger": ("DELETE FROM ledger", "nothing on the ledger", "sheets"),
    "a destroyed key": (
        "UPDATE subjects SET key = NULL WHERE no = (SELECT subject FROM runs LIMIT 1)",
        "nobody erased it",
        "sheets",
    ),
    "another key": (
        "UPDATE subjects SET key = zeroblob(32) WHERE key IS NULL",
        "it was erased",
        "sheets",
    ),
    "the words of an entry": (
        "UPDATE transcript SET body = NULL, decision = NULL WHERE marks IS NOT NULL",
        "nobody erased it",
        "sheets",
    ),
    "the words of a row": (
        "UPDATE records SET body = NULL WHERE kind = 'observation'",
        "nobody erased it",
        "rows",
    ),
    "the kind of an entry": (
        "UPDATE transcript SET kind = 'messagex' WHERE kind = 'message'",
        "no known kind",
        "sheets",
    ),
    "the kind of a record": (
        "UPDATE records SET kind = 'decisionx' WHERE kind = 'decision'",
        "is no record",
        "rows",
    ),
    "the kind of mail": ("UPDATE mailbox SET kind = 'answerx'", "kind", "sheets"),
    "the status of a thread": ("UPDATE threads SET status = 'donex'", "status", "sheets"),
    "the status of a run": (
        "UPDATE runs SET status = 'completedx' WHERE no = 5",
        "status",
        "sheets",
    ),
    "the state of a turn": (
        "UPDATE turns SET state = 'live' WHERE state = 'over'",
        "state",
        "sheets",
    ),
    "an entry's subject": (
        (
            "UPDATE transcript SET subject = (SELECT subject FROM sessions WHERE id = 'waiting') "
            "WHERE session = (SELECT no FROM sessions WHERE id = 'spoken')"
        ),
        "subject",
        "sheets",
    ),
    "the subject of what is said to be erased": (
        (
            "UPDATE transcript SET subject = (SELECT no FROM subjects WHERE key IS NULL LIMIT 1) "
            "WHERE seq = 1 AND body IS NOT NULL"
        ),
        "subject",
        "sheets",
    ),
    "the user of an erased session": (
        "UPDATE sessions SET user = 'mallory' WHERE user = ''",
        "erased",
        "sheets",
    ),
    "the intent of an erased session": (
        _OF_ERASED.format("intent = 'pay mallory'"),
        "erased",
        "sheets",
    ),
    "the slots of an erased session": (_OF_ERASED.format("slots = '{}'"), "erased", "sheets"),
    "the question of an erased session": (_OF_ERASED.format("asked = '{}'"), "erased", "sheets"),
    "the error of an erased session": (_OF_ERASED.format("last_error = '{}'"), "erased", "sheets"),
    "when a settled run wakes": (
        "UPDATE runs SET wake_at = 1 WHERE status = 'completed'",
        "wake_at",
        "sheets",
    ),
    "when a waiting run wakes": (
        "UPDATE runs SET wake_at = 1 WHERE status IN ('waiting', 'ready') AND wake_at IS NOT NULL",
        "wake_at",
        "sheets",
    ),
    "how often a run died": ("UPDATE runs SET resumes = 7", "deaths", "sheets"),
    "that a run died": (
        "UPDATE runs SET resumes = 0, resumes_at = -1 WHERE resumes > 0",
        "deaths",
        "sheets",
    ),
    "a run's parent": (
        "UPDATE runs SET parent = 1000000 WHERE parent IS NULL",
        "no parent",
        "sheets",
    ),
    "mail that nobody sent": (
        (
            "INSERT INTO mailbox(run, kind, addr, key, body, at) SELECT no, 'answer', 0, "
            "'answer:0:x', x'7b7d', 1 FROM runs WHERE no = 1"
        ),
        "nobody sent it",
        "sheets",
    ),
    "mail that was taken, to be taken again": (
        "UPDATE mailbox SET taken = NULL",
        "nobody sent it",
        "sheets",
    ),
    "mail that was sent": ("DELETE FROM mailbox WHERE taken IS NULL", "mail ", "sheets"),
    "a sheet": ("UPDATE sheets SET records = x'93' WHERE seq = 0", "no sheet", "sheets"),
    "a link of the first version": (
        "UPDATE transcript SET marks = NULL WHERE marks IS NOT NULL",
        "chain",
        "sheets",
    ),
    "a message said to be placed anew": (
        (
            "UPDATE transcript SET marks = CAST(marks || zeroblob(16) AS BLOB) WHERE "
            "length(marks) = "
            "32 AND kind = 'message'"
        ),
        "nothing on the ledger",
        "sheets",
    ),
    "what a note says": (
        f"UPDATE passages SET text = 'Pay Mallory.' WHERE item IN ({_NOTES})",
        "remembered as",
        "sheets",
    ),
    "whose a note is": (
        f"UPDATE items SET author = 'mallory' WHERE no IN ({_NOTES})",
        "author",
        "sheets",
    ),
    "how a note is trusted": (
        "UPDATE items SET trust = 'system' WHERE kind = 'document' AND state = 'kept'",
        "trust",
        "sheets",
    ),
    "a note that nobody added": (
        (
            "INSERT INTO items(workspace, id, kind, state, title, theme, mood, tags, media_type, "
            "trust, author, source, session, run, key, digest,"
            " size, pages, passages, created_at) SELECT workspace, 'planted', kind, state, title, "
            "theme, mood, tags, media_type, trust, author, source,"
            " session, run, '', '', size, pages, passages, created_at FROM items WHERE kind = "
            "'note' AND state = 'kept' LIMIT 1"
        ),
        "nobody added it",
        "sheets",
    ),
    "a note that was forgotten": (
        "UPDATE items SET state = 'kept' WHERE state IN ('removed', 'gone')",
        "whether it is kept",
        "sheets",
    ),
    "a note that nobody forgot": (f"DELETE FROM items WHERE no IN ({_NOTES})", "missing", "sheets"),
    "a document in another order": (
        (
            "UPDATE passages SET seq = 1000 - seq WHERE item IN (SELECT no FROM items WHERE kind = "
            "'document')"
        ),
        "remembered as",
        "sheets",
    ),
    "half a document": (
        (
            "DELETE FROM passages WHERE seq > 2 AND item IN (SELECT no FROM items WHERE kind = "
            "'document')"
        ),
        "remembered as",
        "sheets",
    ),
    "a message that was placed anew": (
        "UPDATE transcript SET run = 'another' WHERE length(marks) > 32",
        "placed",
        "sheets",
    ),
}


@pytest.mark.parametrize("what", sampled([*NAMED], 4, "what was changed"))
def test_what_was_changed_is_named(tampered: Callable[..., tuple[int, str]], what: str) -> None:
    """What a face shows and somebody changed, or took away, is named by what it is."""
    statement_, named, of = NAMED[what]
    code, said = tampered(statement_, of=of)
    assert code == FAILED
    assert named in said


@pytest.mark.parametrize("table", ["approvals", "grants"])
def test_what_is_listed_in_another_order_is_named(
    tampered: Callable[..., tuple[int, str]], table: str
) -> None:
    """A list tells what came when: two rows that change places, with the same numbers, are found by
    the ledger.
    """
    code, said = tampered(
        f"UPDATE {table} SET no = no + 100",
        f"UPDATE {table} SET no = 101 - no + (SELECT count(*) FROM {table})",
    )
    assert code == FAILED
    assert "listed behind what came later" in said
    assert "place in the list" not in said


def test_a_run_that_waits_is_held_to_its_row(homes: dict[str, Path], tmp_path: Path) -> None:
    """Where it waits, and until when, its last record says."""
    for statement_ in (
        "UPDATE runs SET wake_at = wake_at + 1 WHERE status = 'waiting' AND wake_at IS NOT NULL",
        "UPDATE runs SET status = 'waiting' WHERE status = 'running'",
    ):
        home = unpack(packed("killed_ledgerless"), tmp_path / str(len(statement_)))
        with closing(sqlite3.connect(home / DATABASE, isolation_level=None)) as db:
            assert db.execute(statement_).rowcount > 0
        code, said = told(home)
        assert (code, "wake_at" in said or "where it stands" in said) == (FAILED, True)


def test_who_makes_everything_again_is_found_by_a_head_that_was_kept(
    homes: dict[str, Path], tmp_path: Path
) -> None:
    """Another run that replays, or none, under a ledger that was begun anew: only a head that its
    owner could not reach shows it.
    """
    first = shutil.copytree(homes["sheets"], tmp_path / "first")
    head = re.findall(r"ledger  \d+ rows, head (\S+)", ordain(first).stdout.decode())[0]
    assert ordain(first, "--head", head).returncode == OK
    with closing(sqlite3.connect(first / DATABASE, isolation_level=None)) as db:
        for statement_ in (
            "DELETE FROM sheets WHERE run = (SELECT run FROM requests)",
            "DELETE FROM runs WHERE no = (SELECT run FROM requests)",
            "DELETE FROM requests",
            "DELETE FROM payloads",
            "DROP TABLE ledger",
            *(f"DROP TABLE {table}" for table in ("approvals", "grants", "configuration")),
            "ALTER TABLE transcript DROP COLUMN marks",
            *(f"ALTER TABLE items DROP COLUMN {column}" for column in ("seal", "words")),
            "DROP INDEX transcript_sent",
            "DELETE FROM transcript",
            "UPDATE sessions SET head = 0, chain = zeroblob(16)",
            *(
                f"DELETE FROM {table}"
                for table in ("turns", "sheets", "runs", "mailbox", "threads", "accounts")
            ),
            "PRAGMA user_version = 12",
        ):
            db.execute(statement_)
    anew = ordain(first)
    assert anew.returncode == OK, anew.stdout
    found = ordain(first, "--head", head)
    assert found.returncode == FAILED
    assert b"missing, and all after it" in found.stdout


def test_a_head_is_gone_on_from(homes: dict[str, Path], tmp_path: Path) -> None:
    """One that was kept earlier holds as well, and one of another ledger is named with both."""
    home = shutil.copytree(homes["sheets"], tmp_path / "home")
    with closing(sqlite3.connect(home / DATABASE)) as db:
        no, link = db.execute("SELECT no, chain FROM ledger WHERE no = 7").fetchone()
    assert ordain(home, "--head", f"{no}-{link.hex()}").returncode == OK
    said = ordain(home, "--head", f"{no}-{bytes(16).hex()}")
    assert (said.returncode, f"ledger row {no}".encode() in said.stdout) == (FAILED, True)


@pytest.mark.parametrize(
    "head", ["", " ", "7", "0-" + "0" * 32, "7-" + "0" * 31, "7-" + "0" * 32 + "\n", "x"]
)
def test_what_is_no_head_is_compared_with_nothing(
    head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty head, as of a file that is not there, or one that is none, is a mistake and never
    passes for a comparison; so is one beside a policy.
    """
    for arguments in (("--all",), ("a-run",), ("--all", "--policy", "p.toml")):
        good = "7-" + "0" * 32 if "--policy" in arguments else head
        assert main(["replay", *arguments, "--head", good]) == USAGE
        assert "[usage]" in capsys.readouterr().err


def test_more_processes_say_the_same(
    homes: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However many replay it, everything is told in the same words, with the same head; what each
    needs of the ledger it is given.
    """
    monkeypatch.setattr("ordain.cli.processes.ALONE", 0)
    monkeypatch.setattr("ordain.cli.processes.PIECE", 40)
    said = list[str]()
    for jobs in (1, 2):
        assert (
            replay_runs(
                homes["sheets"], None, Compared(), Everything(every=True, jobs=jobs), as_json=False
            )
            == OK
        )
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "ledger  " in said[0]


def ordain(home: Path, *more: str) -> Any:
    done = run_command(
        "replay", "--all", *more, "--data-dir", str(home), environment={}, timeout=60
    )
    assert b"Traceback" not in done.stderr
    return done


def test_a_restored_copy_goes_on_with_the_ledger(homes: dict[str, Path], tmp_path: Path) -> None:
    """The head of the first folder is one of the copy's, and what is done in that comes behind
    it.
    """
    for arguments in (
        ("backup", str(tmp_path / "b"), "--data-dir", homes["sheets"]),
        ("restore", str(tmp_path / "b"), "--data-dir", tmp_path / "other"),
    ):
        done = run_command(*map(str, arguments), environment={}, timeout=60)
        assert done.returncode == OK, done.stderr
    head = re.findall(rb"head (\S+)", ordain(homes["sheets"]).stdout)[0].decode()
    assert ordain(tmp_path / "other", "--head", head).returncode == OK
    with ledger_process() as port:
        asyncio.run(_said_more(tmp_path / "other", Ledger(port, "restored")))
    after = ordain(tmp_path / "other", "--head", head)
    assert (after.returncode, head.encode() in after.stdout) == (OK, False)


async def _said_more(home: Path, ledger: Ledger) -> None:
    async with folder_house(home, ledger) as house:
        await house.say("hello again", "spoken")


def test_no_key_is_of_another_size() -> None:
    """A key by hand, as above, is one."""
    assert KEY_BYTES == 32
