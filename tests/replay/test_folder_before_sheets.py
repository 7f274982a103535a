"""The data folder of a killed build of schema 8, whose journals are rows of one record and which
says of no run who holds it: opened, gone on with, compacted.
"""

from __future__ import annotations

import asyncio
import hashlib
import lzma
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ordain import Ordain, verb
from ordain.cli.archive import open_archive
from ordain.cli.entry import main
from ordain.contracts.verbs import ArgumentRole
from ordain.journal.records import SETTLED, Status

KEPT = Path(__file__).parent / "before_sheets.tar.xz"
DIGEST = "2594dba0936338b15e5d9256e020d6a48db60295ffb416b1a26a22e6f37ae281"
UNSETTLED = 8
"""Calls of ``slow.put`` that its process died in; beside them 30 verbs and 10 turns in three
sessions had ended.
"""
CALLS: list[int] = []


@verb(
    name="slow.put",
    effect="private",
    idempotent=True,
    timeout_ms=60_000,
    arguments={"n": ArgumentRole.CONTENT},
)
async def put(n: int) -> str:
    """Put.

    Args:
        n: which.
    """
    CALLS.append(n)
    return str(n)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder as SIGKILL left it."""
    assert hashlib.sha256(KEPT.read_bytes()).hexdigest() == DIGEST
    with lzma.open(KEPT) as packed, tarfile.open(fileobj=packed) as files:
        files.extractall(tmp_path / "home", filter="data")
    return tmp_path / "home"


async def replayed(home: Path) -> Sequence[str]:
    """The verdict on each run."""
    with open_archive(home) as archive:
        assert {
            (await archive.retell(*named)).verdict
            for named in await archive.runtime.search.every_session()
        } == {"equal"}
        return [(await archive.replay(run)).verdict for run in await archive.runs()]


async def test_a_folder_of_rows_goes_on_and_replays_in_both_forms(home: Path) -> None:
    """What was cut off is made again under its key; each run replays equal as rows, as rows and
    sheets, and once all of it is sheets.
    """
    CALLS.clear()
    assert set(await replayed(home)) == {"equal"}
    async with Ordain(home=home, verbs=[put]) as ordain:
        unsettled = [
            run.id for run in await ordain.runtime.runs(limit=500) if run.status not in SETTLED
        ]
        for run in unsettled:
            assert (await ordain.runtime.wait(run)).stored.status is Status.COMPLETED
        answer = await ordain.chat("hello again", session="s1")
        assert answer.reply is not None
        assert answer.reply.ok
        assert ordain.store.query("SELECT count(*) FROM records")[0][0] > 0
        resumed = [ordain.store.stored(run) for run in unsettled]
    assert sorted(CALLS) == list(range(UNSETTLED))
    assert [(run.resumes, run.epoch) for run in resumed if run is not None] == [(1, 2)] * len(
        unsettled
    )
    before = await replayed(home)
    assert set(before) == {"equal"}
    assert await asyncio.to_thread(main, ["store", "compact", "--data-dir", str(home)]) == 0
    assert await replayed(home) == before
