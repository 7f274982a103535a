"""SQL that changes a run's status: all of it is made of the one table of transitions."""

from __future__ import annotations

import ast
import re
import sqlite3
from pathlib import Path

import pytest

import ordain.store
from ordain.journal.records import Status
from ordain.journal.transitions import HAS_MAIL, NEXT_IN_THREAD, SOURCES, Transition
from ordain.store.statuses import FROM, moving

STORE = Path(ordain.store.__file__).parent
MAKERS = {"statuses.py", "units.py", "schema.py"}
"""Where the statements are made, where they are put together with what else a unit changes, and
what brought folders of builds before up to date.
"""


@pytest.fixture
def runs() -> sqlite3.Connection:
    """A table with one run of each status, numbered in their order."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE runs(no INTEGER PRIMARY KEY, status TEXT NOT NULL)")
    db.executemany("INSERT INTO runs VALUES (?, ?)", list(enumerate(map(str, Status))))
    return db


@pytest.mark.parametrize("move", [HAS_MAIL, NEXT_IN_THREAD])
def test_what_befalls_a_run_moves_it_from_where_the_table_says(
    runs: sqlite3.Connection, move: Transition
) -> None:
    """And from nowhere else."""
    runs.executemany(moving(move), [(no,) for no, _ in enumerate(Status)])
    (target,) = move.targets
    stand = dict(runs.execute("SELECT no, status FROM runs"))
    assert stand == {
        no: str(target if was in move.sources else was) for no, was in enumerate(Status)
    }


@pytest.mark.parametrize("target", Status)
def test_the_condition_of_a_status_holds_where_the_table_says(
    runs: sqlite3.Connection, target: Status
) -> None:
    """A row may become it from these statuses, and from no other."""
    may = {status for (status,) in runs.execute(f"SELECT status FROM runs WHERE {FROM[target]}")}
    assert may == {str(source) for source in SOURCES[target]}


def test_no_other_statement_changes_a_status() -> None:
    """Of all strings of the storage those that set one stand where they are made of the table."""
    setting = re.compile(r"UPDATE runs\b.*\bSET\b(?:(?!WHERE).)*\bstatus = ", re.DOTALL)
    found = {
        file.name
        for file in STORE.glob("*.py")
        for text in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and setting.search(text.value)
    }
    assert found <= MAKERS
