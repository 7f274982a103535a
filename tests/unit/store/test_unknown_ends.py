"""Which runs hold a call of whose end nobody knows: what has settled is looked through once, and
what has not, each time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ordain.effects.results import VerbUnknown
from ordain.ports.store import Append
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.unknown_ends import UnknownEnds
from tests.contract.writing import Run


async def test_what_has_settled_is_looked_through_once() -> None:
    """A run that goes on may come to hold one, and is looked through again; one that has settled
    without is not, and one that holds one is found each time.
    """
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    looked: list[set[int]] = []

    def query(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        if "instr" in sql:
            looked.append(set(json.loads(parameters[0])))
        return store.query(sql, parameters)

    root = Run("top")
    await store.submit(root.open())
    done, doubted, going = (
        Run(name, parent=root, addr=1, index=index)
        for index, name in enumerate(("done", "doubted", "going"))
    )
    opened = (done.new, doubted.new, going.new)
    await store.submit(Append(run=root.id, records=(root.note(),), writes=opened, epoch=1))
    numbers = dict(store.query("SELECT id, no FROM runs"))
    cut_off = doubted.observation(result=VerbUnknown(message="cut off"))
    await store.submit(Append(run=doubted.id, records=(cut_off,), epoch=1))
    for run in (done, doubted):
        await store.submit(run.end())
    ends = UnknownEnds(query)
    assert list(await ends.beside("going")) == ["doubted", "top"]
    assert looked == [set(numbers.values())]
    assert list(await ends.beside("going")) == ["doubted", "top"]
    assert looked[1] == {numbers[one] for one in ("top", "doubted", "going")}
    store.close()
