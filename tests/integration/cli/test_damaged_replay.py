"""``ordain replay --all`` of a database some page of which is damaged: what can still be read of it
is told run by run, as every other command's refusal says.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ordain.cli.entry import main
from ordain.cli.exit_codes import FAILED, UNAVAILABLE
from ordain.store.folder import FILE
from tests.lanes import sampled
from tests.shapes.talk import House

RUNS = 12
ONE_PAGE_IN = 12
PAGE = 4096
Replay = Callable[[Callable[[bytearray], None]], tuple[int, str, str]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with runs of some pages each, all of it in the one file."""

    async def filled(folder: Path) -> None:
        async with House(folder) as house:
            for number in range(RUNS):
                await house.say(f"hello {number} " + "".join(map(chr, range(200, 900))))

    folder = tmp_path_factory.mktemp("sound") / "home"
    asyncio.run(filled(folder))
    with closing(sqlite3.connect(folder / FILE)) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        assert db.execute("PRAGMA page_size").fetchone() == (PAGE,)
    return (folder / FILE).read_bytes()


@pytest.fixture
def replayed(
    sound: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Replay:
    """Replays what somebody made of the file: exit code, output and errors."""
    monkeypatch.setenv("ORDAIN_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()

    def replay(damage: Callable[[bytearray], None]) -> tuple[int, str, str]:
        damage(content := bytearray(sound))
        for file in (tmp_path / "home").iterdir():
            file.unlink()
        (tmp_path / "home" / FILE).write_bytes(content)
        code = main(["replay", "--all", "--jobs", "1", "--json"])
        return code, *capfd.readouterr()

    return replay


def without(page: int) -> Callable[[bytearray], None]:
    """One page is what a bad disk gives."""

    def damage(content: bytearray) -> None:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE

    return damage


def root_of(content: bytes, folder: Path, name: str) -> int:
    """The number of a table's or an index's first page."""
    (folder / "looked.db").write_bytes(content)
    with closing(sqlite3.connect(folder / "looked.db")) as db:
        found = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        return int(found[0])


def runs_of(content: bytes, folder: Path) -> set[str]:
    (folder / "looked.db").write_bytes(content)
    with closing(sqlite3.connect(folder / "looked.db")) as db:
        return {run for (run,) in db.execute("SELECT id FROM runs")}


def test_every_run_is_told_or_named_whichever_page_is_gone(
    sound: bytes, tmp_path: Path, replayed: Replay
) -> None:
    """Each run has its verdict; where not one can be told the refusal says what to do, and not what
    was just done.
    """
    every = runs_of(sound, tmp_path)
    for page in sampled(range(1, len(sound) // PAGE + 1), ONE_PAGE_IN, "pages"):
        code, out, err = replayed(without(page))
        assert "What can still be read of it" not in err, page
        if code == UNAVAILABLE:
            assert "ordain restore FILE --data-dir FOLDER" in err, page
            continue
        told = json.loads(out)
        assert {one["run"] for one in told["runs"]} == every or "runs" in told["lists_damaged"]
        verdicts = {one["verdict"] for one in (*told["runs"], *told["sessions"], told["ledger"])}
        assert code == (0 if verdicts == {"equal"} else FAILED), page


def test_a_damaged_run_leaves_the_others_equal(sound: bytes, replayed: Replay) -> None:
    """A page that holds some runs' records: these are named, all others replay equal."""
    for page in range(len(sound) // PAGE, 1, -1):  # records are among the last
        code, out, _ = replayed(without(page))
        verdicts = [one["verdict"] for one in json.loads(out)["runs"]] if code == FAILED else []
        if 0 < verdicts.count("storage_damaged") < len(verdicts):
            assert set(verdicts) == {"storage_damaged", "equal"}
            return
    raise AssertionError("no page is one of some runs' alone")


@pytest.mark.parametrize("table", ["ledger", "mailbox", "payloads"])
def test_a_damaged_ledger_leaves_every_run_its_verdict(
    sound: bytes, tmp_path: Path, replayed: Replay, table: str
) -> None:
    """The ledger cannot be held to what is not there; every run replays, and it is no success."""
    code, out, _ = replayed(without(root_of(sound, tmp_path, table)))
    told = json.loads(out)
    assert (code, told["ledger"]["verdict"]) == (FAILED, "storage_damaged")
    assert "malformed" in told["ledger"]["differences"][0]["now"]
    if table != "payloads":
        assert {one["verdict"] for one in told["runs"]} == {"equal"}


def test_runs_are_named_by_their_index_where_their_rows_are_gone(
    sound: bytes, tmp_path: Path, replayed: Replay
) -> None:
    """Every one of them, as one that cannot be read."""
    code, out, _ = replayed(without(root_of(sound, tmp_path, "runs")))
    told = json.loads(out)
    assert (code, told["lists_damaged"]) == (FAILED, [])
    assert {one["run"] for one in told["runs"]} == runs_of(sound, tmp_path)
    assert {one["verdict"] for one in told["runs"]} == {"storage_damaged"}


def test_where_no_list_is_left_it_says_what_to_do(
    sound: bytes, tmp_path: Path, replayed: Replay
) -> None:
    """Rows and indices of runs and sessions are gone: another command would end so, too."""
    gone = [
        root_of(sound, tmp_path, name)
        for name in (
            *("runs", "sessions"),
            *("sqlite_autoindex_runs_1", "sqlite_autoindex_sessions_1"),
        )
    ]

    def damage(content: bytearray) -> None:
        for page in gone:
            without(page)(content)

    code, _, err = replayed(damage)
    assert (code, json.loads(err)["error"]["code"]) == (UNAVAILABLE, "storage_damaged")
    assert "none of them can be told" in err
    assert "ordain replay" not in err
