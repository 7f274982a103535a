"""SQLite plans a statement once and keeps it: one whose plan depends on what is bound to it (a
status beside an index of one status) would be planned anew each time, at five times its cost.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.conversation.long_chats import opened as chatting
from bench.ready import Ready
from bench.systems.ordain_turn import opened as planning

TURNS = 8


@pytest.fixture(autouse=True)
def logged() -> Iterator[None]:
    """The measured systems silence their log."""
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("system", [planning, chatting], ids=["planner", "chat"])
async def test_no_statement_is_planned_in_each_turn(
    system: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite asks what a statement may do whenever it plans one."""
    planned: list[str] = []
    connect = sqlite3.connect

    def authorized(action: int, table: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ:
            planned.append(table or "")
        return sqlite3.SQLITE_OK

    def connected(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.set_authorizer(authorized)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connected)
    ready: Ready
    async with system(tmp_path, None) as ready:
        for _ in range(TURNS):
            assert await ready.turn()
        assert "runs" in planned  # it does ask
        planned.clear()
        for _ in range(TURNS):
            assert await ready.turn()
        again = {table: planned.count(table) for table in planned}
    assert not [table for table, times in again.items() if times >= TURNS], again
