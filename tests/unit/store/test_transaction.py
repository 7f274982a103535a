"""The writer's memory of runs: what it knows of them is bounded, and found again."""

from __future__ import annotations

import pytest

from ordain.ports.store import Outcome
from ordain.store import transaction
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run

KEPT = 8


async def test_what_is_known_of_runs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs are opened and gone on with, so many are remembered; each is found again,
    and a workspace's name is kept once.
    """
    monkeypatch.setattr(transaction, "NUMBERS_KEPT", KEPT)
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    runs = [Run(f"run-{number}") for number in range(4 * KEPT)]
    known = store.writer._transaction._numbers
    for run in runs:
        await store.submit(run.open())
        assert len(known) <= KEPT
    for run in runs:
        assert await store.submit(run.step()) == Outcome(run=run.id)
        assert len(known) <= KEPT
    assert len({id(numbers.workspace) for numbers in known.values()}) == 1
    store.close()
