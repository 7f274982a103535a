"""``ordain restore``, ``ordain backup`` and ``ordain replay --backup`` killed when their copy is
whole and has no name yet: the next command leaves nothing of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.process import run_cli

WORD = "kestrel4417"
KILLED = """
import os, signal, sys
from ordain.cli.entry import main
from ordain.store.folder import FILE

def end(event, given):
    if event == "os.link" or (event == "os.remove" and str(given[0]) == FILE):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(end)
main(sys.argv[1:])
"""
"""A copy gets its name by a link; one that gets none is removed at the end."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder in which a word was said."""
    said = run_cli("chat", f"hello {WORD}", "--session", "s", home=tmp_path / "home")
    assert said.returncode == 0, said.stderr
    return tmp_path / "home"


def killed(*arguments: str, home: Path, temporary: Path) -> None:
    ran = subprocess.run(
        (sys.executable, "-c", KILLED, *arguments),
        env={**os.environ, "ORDAIN_HOME": str(home), "TMPDIR": str(temporary)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == -9, ran.stderr


def holding(folder: Path) -> set[str]:
    """The files below that hold the word, by their folder's beginning and their own name."""
    return {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and WORD.encode() in file.read_bytes()
    }


def test_a_killed_restore_leaves_nothing_behind_the_next(home: Path, tmp_path: Path) -> None:
    """Nor does an erasure then: the word stood in the copy that was not finished."""
    copy, other = tmp_path / "copy.db", tmp_path / "other"
    assert run_cli("backup", str(copy), home=home).returncode == 0
    killed("restore", str(copy), home=other, temporary=tmp_path)
    assert len(holding(other)) == 1
    again = run_cli("restore", str(copy), home=other)
    assert (again.returncode, b"which a killed process left" in again.stderr) == (0, True)
    assert holding(other) == {"ordain.db"}
    erased = run_cli("sessions", "erase", "s", "--why", "asked", home=other)
    assert erased.returncode == 0, erased.stderr
    assert not list(other.glob(".ordain-*"))


def test_a_killed_backup_leaves_nothing_behind_the_next(home: Path, tmp_path: Path) -> None:
    """Beside its target, where nobody looks: the next backup into that folder takes it away."""
    (kept := tmp_path / "kept").mkdir()
    killed("backup", str(kept / "a.db"), home=home, temporary=tmp_path)
    assert len(holding(kept)) == 1
    again = run_cli("backup", str(kept / "b.db"), home=home)
    assert (again.returncode, b"which a killed process left" in again.stderr) == (0, True)
    assert [file.name for file in kept.iterdir()] == ["b.db"]


def test_a_killed_look_into_a_backup_leaves_nothing_behind_the_next(
    home: Path, tmp_path: Path
) -> None:
    """Its rows lie in the folder for temporary files."""
    (temporary := tmp_path / "temporary").mkdir()
    copy = tmp_path / "copy.db"
    assert run_cli("backup", str(copy), home=home).returncode == 0
    killed("replay", "--all", "--backup", str(copy), home=home, temporary=temporary)
    assert len(holding(temporary)) == 1
    again = run_cli(
        *("replay", "--all", "--backup", str(copy)),
        home=home,
        environment={"TMPDIR": str(temporary)},
    )
    assert again.returncode == 0
    assert not list(temporary.iterdir())
