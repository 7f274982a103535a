"""A database some page of which is not what was written: every command ends in one typed line that
names the file and says what to do, and in no traceback.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from ordain.app import Ordain
from ordain.cli.entry import main
from ordain.cli.exit_codes import UNAVAILABLE
from ordain.contracts.library import NoteRequest
from ordain.contracts.verbs import VerbRequest
from ordain.server import Face, build_app
from ordain.store.folder import FILE
from tests.lanes import sampled
from tests.shapes.lines import asks, script_of
from tests.shapes.talk import PRINCIPAL, House

ONE_PAGE_IN = 25
"""Of some two hundred."""
DAMAGE: Mapping[str, Callable[[bytes], bytes]] = {
    "zeroed": lambda page: bytes(len(page)),
    "cut": lambda page: page[: len(page) // 2] + bytes(len(page) - len(page) // 2),
    "turned round": lambda page: page[::-1],
}
COMMANDS = [
    *(
        ["runs", "list"],
        ["runs", "list", "--json"],
        ["runs", "show", "RUN"],
        ["runs", "cancel", "RUN", "--why", "x"],
    ),
    *(["sessions", "list"], ["sessions", "show", "s1"], ["sessions", "erase", "s1", "--why", "x"]),
    *(
        ["approvals", "list"],
        ["approvals", "show", "x"],
        ["grants", "list"],
        ["token", "list"],
        ["token", "audit"],
    ),
    *(
        ["token", "create", "other", "--scope", "plan"],
        ["memory", "list"],
        ["memory", "search", "boiler"],
        ["memory", "search", '"boiler"'],
    ),
    *(
        ["memory", "add", "a note"],
        ["docs", "list"],
        ["config", "list", "policy"],
        ["config", "which", "s1"],
        ["models", "cost"],
    ),
    *(
        ["replay", "RUN"],
        ["replay", "--all", "--jobs", "1"],
        ["backup", "COPY"],
        ["store", "compact"],
    ),
]
"""Whatever opens the folder; what only asks for its settings is left out."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session, an open question, a request, a note and a token, all of it in the
    database and nothing in its log.
    """

    async def filled(folder: Path) -> None:
        async with House(folder, script=script_of(asks("whether", "yes_no"))) as house:
            for _ in range(5):
                await house.say("hello there " + "word " * 200)
            await house.say("find out whether the plants want water", mode="agent")
            await house.ordain.runtime.library.add_note(
                "default", NoteRequest(text="The boiler is warm.", user_id="ada")
            )
            asked = VerbRequest(
                verb_id="math.evaluate", payload={"expression": "1"}, caller="test", request_id="r1"
            )
            await house.ordain.runtime.wait(
                (await house.ordain.runtime.accept(asked, PRINCIPAL)).run
            )

    folder = tmp_path_factory.mktemp("sound") / "home"
    asyncio.run(filled(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAIN_HOME", str(folder))
        assert main(["token", "create", "ci", "--scope", "plan"]) == 0
    with closing(sqlite3.connect(folder / FILE)) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    return folder


def sizes(home: Path) -> tuple[int, int]:
    """The size of a page, and how many there are."""
    with closing(sqlite3.connect(home / FILE)) as db:
        return db.execute("PRAGMA page_size").fetchone()[0], db.execute(
            "PRAGMA page_count"
        ).fetchone()[0]


def root_of(home: Path, table: str) -> int:
    """The number of a table's first page."""
    with closing(sqlite3.connect(home / FILE)) as db:
        return db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[
            0
        ]


def damaged(home: Path, folder: Path, page: int, how: Callable[[bytes], bytes]) -> None:
    """A copy of the folder, one page of which is another."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home, folder)
    size, _ = sizes(home)
    with (folder / FILE).open("r+b") as file:
        file.seek((page - 1) * size)
        was = file.read(size)
        file.seek((page - 1) * size)
        file.write(how(was))


@pytest.fixture
def asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> Callable[[list[str]], int]:
    """Runs a command over the copy."""
    monkeypatch.setenv("ORDAIN_HOME", str(tmp_path / "home"))
    with closing(sqlite3.connect(home / FILE)) as db:
        (run,) = db.execute("SELECT id FROM runs ORDER BY no LIMIT 1").fetchone()
    named = {"RUN": run, "COPY": str(tmp_path / "copy.db")}

    def ask(command: list[str]) -> int:
        (tmp_path / "copy.db").unlink(missing_ok=True)
        return main([named.get(word, word) for word in command])

    return ask


@pytest.mark.parametrize("how", DAMAGE)
def test_no_page_brings_a_traceback(
    home: Path,
    tmp_path: Path,
    asked: Callable[[list[str]], int],
    capfd: pytest.CaptureFixture[str],
    how: str,
) -> None:
    """Whichever page is damaged, and whichever command is asked: it ends with a code, and what it
    says of damage names the file and what to do.
    """
    _, pages = sizes(home)
    for page in sampled(range(1, pages + 1), ONE_PAGE_IN, how):
        for command in sampled(COMMANDS, len(COMMANDS), f"{how} {page}"):
            damaged(home, tmp_path / "home", page, DAMAGE[how])
            code, (out, err) = asked(command), capfd.readouterr()
            assert "Traceback" not in out + err, (page, command)
            if "malformed" in err or "not a database" in err:
                assert str(tmp_path / "home" / FILE) in err or command == ["backup", "COPY"], (
                    page,
                    command,
                    err,
                )
                assert code, (page, command)


@pytest.mark.parametrize(
    "command", [["memory", "add", "a note"], ["runs", "cancel", "RUN", "--why", "x"]]
)
def test_what_the_engine_before_was_is_damaged_too(
    home: Path,
    tmp_path: Path,
    asked: Callable[[list[str]], int],
    capfd: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    """Half of its page is gone, and its row says nothing of what no row is without."""
    damaged(home, tmp_path / "home", root_of(home, "engine"), DAMAGE["cut"])
    assert asked(command)
    assert "[journal_corrupt]" in capfd.readouterr().err


def made_so(db: sqlite3.Connection, table: str, sql: str) -> None:
    """Have the database say that a table was made by other words; its rows stay."""
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, table))
    db.execute("PRAGMA writable_schema = RESET")


@pytest.mark.parametrize(
    ("table", "column"),
    [("token_audit", "event"), ("tokens", "name"), ("tokens", "created_at"), ("tokens", "rate")],
)
def test_a_row_that_holds_what_cannot_stand_there_is_named(
    home: Path,
    tmp_path: Path,
    asked: Callable[[list[str]], int],
    capfd: pytest.CaptureFixture[str],
    table: str,
    column: str,
) -> None:
    """SQLite checks no column's kind: a token's row and a line of the audit are told with the
    column, and bring no traceback.
    """
    shutil.copytree(home, tmp_path / "home")
    with closing(sqlite3.connect(tmp_path / "home" / FILE)) as db, db:
        ((as_made,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,))
        made_so(db, table, as_made.replace("NOT NULL", ""))
        db.execute(f"UPDATE {table} SET {column} = ?", ("often" if column == "rate" else None,))
        made_so(db, table, as_made)
    assert asked(["token", "audit" if table == "token_audit" else "list"])
    assert f"column {column} holds what cannot stand there" in capfd.readouterr().err


@pytest.mark.parametrize(
    "command", [["runs", "list"], ["runs", "list", "--json"], ["models", "cost"]]
)
def test_damage_is_named_with_what_to_do(
    home: Path,
    tmp_path: Path,
    asked: Callable[[list[str]], int],
    capfd: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    """Where the page of all runs is gone: one line, its code, the file, and that a backup helps."""
    damaged(home, tmp_path / "home", root_of(home, "runs"), DAMAGE["zeroed"])
    assert asked(command) == UNAVAILABLE
    (line,) = capfd.readouterr().err.splitlines()
    said = (
        json.loads(line)["error"]
        if "--json" in command
        else {"code": line[line.rindex("[") + 1 : -1], "message": line}
    )
    assert said["code"] == "storage_damaged"
    assert all(
        word in said["message"] for word in (str(tmp_path / "home" / FILE), "ordain restore")
    )


async def test_the_server_says_it_too(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """503 `storage_damaged` for what needs the page, with the file's name; the log has one line of
    it; the rest is answered.
    """
    damaged(home, tmp_path / "home", root_of(home, "transcript"), DAMAGE["zeroed"])
    async with Ordain(home=tmp_path / "home") as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            refused = await http.get("/sessions/s1/messages")
            assert (refused.status_code, refused.json()["code"]) == (503, "storage_damaged")
            assert str(tmp_path / "home" / FILE) in refused.json()["detail"]
            assert (await http.get("/runs")).status_code == 200
    assert not any(record.exc_info for record in caplog.records)
