"""Folders in which copies of a database are made: what a killed process left of one goes with the
next who comes, and nothing else does.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.store.compaction import compact
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import SqliteUpkeep
from ordain.store.workshop import HELD, PREFIX, workshop

MAKER = """
import pathlib, sys, time
from ordain.store.workshop import workshop
with workshop(pathlib.Path(sys.argv[1])) as folder:
    for name in sys.argv[2:]:
        (folder / name).write_bytes(b"a word")
    print(folder, flush=True)
    time.sleep(60)
"""
ENGINE = StoreOptions(holder="engine", threaded=False)


class Maker:
    """A process that makes a copy, until it is killed."""

    def __init__(self, beside: Path, *names: str) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-c", MAKER, str(beside), *(names or (FILE, f"{FILE}-wal"))),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def kill(self) -> Path:
        self.process.kill()
        self.process.communicate()
        assert (self.folder / HELD).exists()
        return self.folder


def enter(folder: Path) -> None:
    with workshop(folder):
        pass


def take_up(folder: Path) -> None:
    SqliteStore(folder, ENGINE).close()


def make_small(folder: Path) -> None:
    SqliteStore(folder).close()
    compact(folder, lambda _: None, lambda *_: None)


@pytest.mark.parametrize("come", [enter, take_up, make_small])
def test_what_a_killed_process_left_goes_with_the_next_who_comes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, come: Callable[[Path], None]
) -> None:
    """With the next copy there, the next engine, the next compaction; one line says so."""
    left = Maker(tmp_path).kill()
    come(tmp_path)
    assert not left.exists()
    assert [record.args for record in caplog.records] == [(left,)]
    assert not list(tmp_path.glob(f"{PREFIX}*"))


async def test_an_erasure_beside_takes_it_away(tmp_path: Path) -> None:
    """Also of an engine that was there when the copy was begun."""
    with closing(SqliteStore(tmp_path, ENGINE)) as store:
        left = Maker(tmp_path).kill()
        assert left.exists()
        assert (await SqliteUpkeep(store).erase(7, None)).after is None
        assert not left.exists()


def test_what_somebody_makes_stays(tmp_path: Path) -> None:
    """While its process runs nobody removes it; afterwards it is nobody's."""
    maker = Maker(tmp_path)
    enter(tmp_path)
    take_up(tmp_path)
    assert {file.name for file in maker.folder.iterdir()} == {FILE, f"{FILE}-wal", HELD}
    maker.kill()
    enter(tmp_path)
    assert not maker.folder.exists()


def test_what_is_killed_before_it_has_made_anything_goes_too(tmp_path: Path) -> None:
    """A folder of that name without anything in it, or without the copy."""
    (empty := tmp_path / f"{PREFIX}abcdefgh").mkdir()
    (held := tmp_path / f"{PREFIX}12345678").mkdir()
    (held / HELD).touch()
    enter(tmp_path)
    assert not empty.exists()
    assert not held.exists()


def test_what_may_be_another_s_stays(tmp_path: Path) -> None:
    """Another name, another file in it, a link, a file without the lock: nothing of it is removed,
    nor what a link leads to.
    """
    (tmp_path / "a").mkdir()
    one = Maker(tmp_path / "a").kill()
    beside = tmp_path / "b"
    beside.mkdir()
    shutil.copytree(one, beside / ".ordain-20261130")
    shutil.copytree(one, beside / f"{PREFIX}of_mine.d")
    shutil.copytree(one, beside / f"{PREFIX}withmore")
    (beside / f"{PREFIX}withmore" / "letter.txt").touch()
    shutil.copytree(one, beside / f"{PREFIX}lockless")
    (beside / f"{PREFIX}lockless" / HELD).unlink()
    shutil.copytree(one, beside / f"{PREFIX}linksout")
    (beside / f"{PREFIX}linksout" / f"{FILE}-shm").symlink_to(one / FILE)
    (beside / f"{PREFIX}linkonly").symlink_to(one)
    (beside / f"{PREFIX}justfile").touch()
    before = sorted(beside.rglob("*"))
    enter(beside)
    assert sorted(beside.rglob("*")) == before
    assert (one / FILE).exists()


def test_nothing_is_left_of_what_ends(tmp_path: Path) -> None:
    """Whether it succeeds or not."""
    enter(tmp_path)
    with suppress(ZeroDivisionError), workshop(tmp_path) as folder:
        (folder / FILE).touch()
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    """A folder that is not there."""
    with pytest.raises(ConfigurationError) as refused:
        enter(tmp_path / "none")
    assert refused.value.code == "cannot_write"
