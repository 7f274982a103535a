"""The programs of ``examples/``: each runs in an empty home, prints what it says that it prints,
and is short enough to be read.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# what ./demo runs
PROGRAMS = sorted(path for path in EXAMPLES.glob("*.py") if path.name != "demo.py")
LINES = 60


def promised(program: Path) -> str:
    """What the program's docstring says that it prints."""
    told = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8")))
    assert told is not None
    return textwrap.dedent(told.partition("\nPrints:\n")[2]).strip()


def test_there_are_a_dozen_and_the_page_lists_them() -> None:
    """The page of examples has a row for each program, and none for another; the folders beside
    them are told of too.
    """
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert len(PROGRAMS) >= 12
    assert re.findall(r"^\| \[`(\w+\.py)`\]\(\1\) \|", page, re.MULTILINE) == [
        path.name for path in PROGRAMS
    ]
    folders = [
        path.name
        for path in sorted(EXAMPLES.iterdir())
        if path.is_dir() and path.name != "__pycache__"
    ]
    assert [name for name in folders if f"]({name})" not in page] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_short(program: Path) -> None:
    """Fewer than 60 lines, its words and imports counted."""
    assert len(program.read_text(encoding="utf-8").splitlines()) < LINES


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_says(program: Path, tmp_path: Path) -> None:
    """Run as anybody would, with nothing set up: no model, no home."""
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={**os.environ, "ORDAIN_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert promised(program) != ""
    assert (done.returncode, done.stdout.strip()) == (0, promised(program)), done.stderr
