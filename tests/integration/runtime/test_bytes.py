"""What a turn leaves on disk: bytes are the same on every machine, and so they are held to a bound
here.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench import work
from bench.journal import measured
from bench.systems.ordain_turn import opened

TURNS = 3
BEYOND_PER_STEP = 1500
"""Bytes of the journal for a durable step, beyond what was said."""


@pytest.fixture(autouse=True)
def logged() -> Iterator[None]:
    """The measured system silences its log."""
    yield
    logging.disable(logging.NOTSET)


async def test_a_step_takes_few_bytes_beyond_what_was_said(tmp_path: Path) -> None:
    """The planner turn of the benchmarks stays below the bound, with headings and rows; every kind
    of record of it is counted.
    """
    async with opened(tmp_path, None) as ready:
        for _ in range(TURNS):
            assert await ready.turn() == work.ANSWER
    found = measured(tmp_path)
    assert found["turns"] == TURNS
    with closing(sqlite3.connect(tmp_path / "ordain.db")) as database:
        (records,) = database.execute("SELECT sum(head_seq + 1) FROM runs").fetchone()
    assert sum(kind["count"] for kind in found["kinds"]) == records / TURNS
    assert 1000 < found["records_beyond_per_step"] <= BEYOND_PER_STEP
