"""What an engine leaves behind of when it was at work: read as it was written, over every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.journal.lost_time import Pause
from ordain.ports.store import Operation
from ordain.store.lease import SqliteLease
from ordain.store.sqlite import SqliteStore, StoreOptions


@pytest.mark.parametrize("kept", [False, True])
async def test_beats_and_pauses_outlive_their_engine(tmp_path: Path, kept: bool) -> None:
    """The last beat counts, another engine's as well; pauses come in order; what a clock that was set back makes unknown is gone."""
    folder = tmp_path if kept else None
    store = SqliteStore(folder, StoreOptions(holder="one"))
    lease = SqliteLease(store)

    async def write(name: str, **args: int) -> None:
        await store.submit(Operation(name=name, args=args))

    assert lease.last_beat() is None
    for at in (10, 20):
        await write("beat", at=at)
    assert lease.last_beat() == 20
    if folder is not None:
        store.close()
        store = SqliteStore(folder, StoreOptions(holder="two"))
        lease = SqliteLease(store)
        assert lease.last_beat() == 20
    await write("pause", began=20, ended=80)
    await write("pause", began=15, ended=70)
    await write("pause", began=60, ended=90)
    assert lease.pauses() == [Pause(20, 80), Pause(15, 70), Pause(60, 90)]
    await write("clock_back", at=60)
    assert lease.pauses() == [Pause(20, 60), Pause(15, 60)]
    await write("beat", at=100)
    await write("clock_back", at=90)
    assert lease.last_beat() == 90
    await write("pause", began=1000, ended=1001)
    assert lease.pauses() == [Pause(1000, 1001)]  # nothing is unsettled that could ask for what was before
    store.close()
