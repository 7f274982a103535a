"""Rows that hold what their columns never do: whoever asks a face about them is told which row and
column, and is shown no traceback.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ordain.cli.archive import open_archive
from ordain.cli.entry import main
from ordain.cli.exit_codes import FAILED
from ordain.contracts.planner import PlannerRequest
from ordain.errors import OrdainError
from ordain.journal.records import ENCODER
from ordain.runtime.entry_events import event_of
from ordain.server.views import run_item, run_view, session_item, session_view
from ordain.store.folder import FILE
from tests.shapes.columns import COLUMNS
from tests.shapes.lines import asks, script_of
from tests.shapes.talk import PRINCIPAL, House

TABLES = ("sessions", "threads", "transcript", "runs")
VALUES = {
    "bytes that are no text": "x'ff00'",
    "a text that is none": "CAST(x'c3ff41' AS TEXT)",
    "a moment that nobody can say": "9223372036854775807",
    "JSON without an end": "replace(hex(zeroblob(40000)), '0', '[')",
    "the same as bytes": "CAST(replace(hex(zeroblob(40000)), '0', '[') AS BLOB)",
}
SHOWN = re.compile(
    r"(session number|thread|entry|run|run number) \S+: (column \w+ holds|the stored row is no "
    r"entry)"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session, in which a question is open, and a plan."""

    async def talked(folder: Path) -> None:
        async with House(folder, script=script_of(asks("whether", "yes_no"))) as house:
            await house.say("hello there")
            await house.say("find out whether the plants want water", mode="agent")
            goal = {"type": "analysis", "description": "a lamp"}
            await house.ordain.runtime.accept(
                PlannerRequest.model_validate({"goal": goal, "toolset": []}), PRINCIPAL
            )
            await house.quiet()

    folder = tmp_path_factory.mktemp("strange") / "home"
    asyncio.run(talked(folder))
    return folder


async def looked(home: Path) -> list[str]:
    """What each face says that it cannot show, in the words of its errors; what is none of ours is
    raised.
    """
    said = list[str]()
    with open_archive(home) as archive:
        runtime = archive.runtime
        talk, search = runtime.conversation, runtime.search
        run = (await search.every_run(roots_only=False))[0]

        async def listed() -> object:
            return [session_item(row) for row in await talk.sessions("default")]

        async def session() -> object:
            return session_view(
                await talk.session("default", "s1"), await talk.threads("default", "s1")
            )

        async def transcript() -> object:
            return [
                event_of(entry)
                for entry in await talk.transcript("default", "s1", after=0, limit=99)
            ]

        async def runs() -> object:
            return [
                run_item(runtime, row)
                for row in await search.runs(
                    statuses=(), roots_only=False, limit=99, before=None, workspace=None
                )
            ]

        async def shown() -> object:
            return await run_view(runtime, await runtime.view(run), None)

        for look in (listed, session, transcript, runs, shown):
            try:
                ENCODER.encode(await look())
            except OrdainError as error:
                said.append(error.message)
    return said


@pytest.mark.parametrize("what", VALUES)
@pytest.mark.parametrize("table", TABLES)
async def test_no_value_of_a_row_makes_a_face_stumble(
    home: Path, tmp_path: Path, table: str, what: str
) -> None:
    """Whatever stands in whichever column, each face shows it or says what it is: of nearly all
    that it cannot show the row and the column.
    """
    named = 0
    for column in COLUMNS[table]:
        folder = shutil.copytree(home, tmp_path / column)
        with closing(sqlite3.connect(folder / FILE)) as db, suppress(sqlite3.IntegrityError), db:
            # of a key there can be only one
            db.execute(f"UPDATE {table} SET {column} = {VALUES[what]}")
        named += any(SHOWN.search(one) for one in await looked(folder))
    assert named


NO_TEXT = {
    "runs": (
        "UPDATE runs SET reason = CAST(x'c3ff41' AS TEXT) WHERE no = (SELECT max(no) FROM runs)"
    ),
    "sheets": (
        "UPDATE sheets SET records = CAST(x'c3ff41' AS TEXT) WHERE run = (SELECT max(run) FROM "
        "sheets)"
    ),
    "transcript": "UPDATE transcript SET author = CAST(x'c3ff41' AS TEXT) WHERE no = 1",
    "threads": "UPDATE threads SET intent = CAST(x'c3ff41' AS TEXT) WHERE id = 1",
}


@pytest.mark.parametrize("table", NO_TEXT)
def test_a_text_that_is_none_ends_no_replay(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], table: str
) -> None:
    """One cell that somebody or the disk has spoilt is named with what it belongs to, and all the
    others are looked at.
    """
    folder = shutil.copytree(home, tmp_path / "copy")
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        db.execute(NO_TEXT[table])
    assert main(["replay", "--all", "--data-dir", str(folder)]) == FAILED
    said = capfd.readouterr()
    assert "journal_corrupt" in said.out
    assert re.search(r"\d+ of \d+ runs replay equal", said.out)
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("statement", "command", "named"),
    [
        ("UPDATE sessions SET created_at = x'ff00'", ["sessions", "list"], "column created_at"),
        (
            "UPDATE threads SET intent = CAST(x'c3ff41' AS TEXT)",
            ["sessions", "show", "s1"],
            ": column intent",
        ),
        (
            "UPDATE threads SET slots = replace(hex(zeroblob(100000)), '0', '[')",
            ["sessions", "show", "s1"],
            ": column slots",
        ),
        (
            "UPDATE transcript SET body = CAST(replace(hex(zeroblob(100000)), '0', '[') AS BLOB)",
            ["sessions", "show", "s1"],
            "column body",
        ),
        ("UPDATE runs SET wake_at = x'ff00'", ["runs", "list"], "column wake_at"),
    ],
)
def test_a_command_says_which_row_and_column(
    home: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    statement: str,
    command: list[str],
    named: str,
) -> None:
    """The command fails with the row and the column, and without a traceback."""
    folder = shutil.copytree(home, tmp_path / "copy")
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        db.execute(statement)
    assert main([*command, "--data-dir", str(folder)]) == FAILED
    said = capfd.readouterr().err
    assert named in said
    assert "Traceback" not in said
