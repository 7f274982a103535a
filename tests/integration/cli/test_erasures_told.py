"""Commands that destroy words say what of them may stay, and what clears it."""

from __future__ import annotations

import asyncio
import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ordain.cli.entry import main
from ordain.contracts.library import NoteRequest
from ordain.store.folder import FILE
from tests.shapes.talk import House


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a session, a request and a note."""

    async def filled(folder: Path) -> None:
        async with House(folder) as house:
            await house.say("hello")
            await house.ordain.runtime.library.add_note(
                "default", NoteRequest(text="The boiler is warm.", user_id="ada")
            )

    asyncio.run(filled(tmp_path / "a home"))
    return tmp_path / "a home"


@pytest.mark.parametrize(
    "command",
    [
        ["sessions", "erase", "s1", "--why", "x"],
        ["runs", "erase", "RUN", "--why", "x"],
        ["memory", "forget", "last"],
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_may_stay_is_said(
    home: Path, capfd: pytest.CaptureFixture[str], command: list[str], *, as_json: bool
) -> None:
    """In one line beside the result, with the command that clears it and its folder; programs have
    the result alone.
    """
    with closing(sqlite3.connect(home / FILE)) as db:
        (run,) = db.execute("SELECT id FROM runs ORDER BY no LIMIT 1").fetchone()
    words = [run if word == "RUN" else word for word in command]
    assert main([*words, "--data-dir", str(home), *(["--json"] if as_json else [])]) == 0
    out, err = capfd.readouterr()
    if as_json:
        assert json.loads(out)
        assert not err
        return
    (line,) = err.splitlines()
    told = shlex.split(line.partition("this is run: ")[2])
    assert told == ["ordain", "store", "compact", "--data-dir", str(home)]
    assert main(told[1:]) == 0
    assert "without copies of what was erased" in capfd.readouterr().out
