"""Runs that are read together: what is wrong with one of them keeps no other from being read."""

from __future__ import annotations

import pytest

from ordain.errors import JournalCorrupt
from ordain.ports.store import Append, loaded_run
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.stored_runs import TOGETHER
from tests.contract.writing import Run


async def held(count: int) -> tuple[SqliteStore, list[str]]:
    """A store of so many runs, each with a child; the ids of those above."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    for number in range(count):
        root = Run(f"root-{number}")
        child = Run(f"child-{number}", parent=root)
        await store.submit(root.open())
        await store.submit(
            Append(run=root.id, records=(root.note(),), writes=(child.new,), epoch=1)
        )
        await store.submit(child.end())
    return store, [f"root-{number}" for number in range(count)]


DAMAGE = {
    "a sheet that is none": (
        "UPDATE sheets SET records = x'00' WHERE run = (SELECT no FROM runs WHERE id = 'root-3')"
    ),
    "a column of another kind": "UPDATE runs SET flow_version = 'two' WHERE id = 'root-3'",
    "a status that is none": "UPDATE runs SET status = 'asleep' WHERE id = 'root-3'",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_one_that_cannot_be_read_keeps_no_other_from_it(damage: str) -> None:
    """It is told by itself, as where it is asked for alone, and the others are as they were."""
    store, runs = await held(6)
    before = await store.load(runs)
    store._db.execute(damage)
    alone = (await store.load(["root-3"])).get("root-3")
    after = await store.load(runs)
    assert isinstance(alone, JournalCorrupt)
    found = after["root-3"]
    assert isinstance(found, JournalCorrupt)
    assert found.message == alone.message
    assert {run: after[run] for run in runs if run != "root-3"} == {
        run: before[run] for run in runs if run != "root-3"
    }
    store.close()


async def test_the_runs_below_are_named_up_to_a_bound() -> None:
    """Of their records, so that little is held at once; what is left is for whoever asks for
    it.
    """
    store, runs = await held(TOGETHER + 3)
    every = store.below(runs, 10_000)
    assert sorted(every) == sorted([*runs, *(run.replace("root", "child") for run in runs)])
    loaded = await store.load(every)
    sizes = {run: len(loaded_run(loaded, run).records) for run in every}
    for bound in (0, 1, 2, 17, sum(sizes.values()) - 1, sum(sizes.values())):
        named = store.below(runs, bound)
        assert list(named) == list(every[: len(named)])
        assert sum(sizes[run] for run in named) <= bound
        left = every[len(named) : len(named) + 1]
        assert all(sum(sizes[run] for run in (*named, more)) > bound for more in left)
    store.close()
