"""The runs that another one waits for, as they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordain.errors import JournalCorrupt
from ordain.journal.open_joins import open_join
from ordain.journal.records import Record
from ordain.ports.store import JournalStore, StoredRun

LOOKED_FOR = 16
"""So many children are looked for at once where how many there are was erased."""


async def joined_runs(
    store: JournalStore, run: str, records: Sequence[Record]
) -> Mapping[str, StoredRun | JournalCorrupt]:
    """The children of the join that a run is in by its ``records``, settled or not, in their order;
    of an erased join those that are there.
    """
    join = open_join(records, run)
    if join is None:
        return {}
    if join.spawned is not None:
        loaded = await store.load(join.children)
        return {child: loaded[child] for child in join.children if child in loaded}
    found: dict[str, StoredRun | JournalCorrupt] = {}
    while not len(found) % LOOKED_FOR:
        asked = [join.child(len(found) + index) for index in range(LOOKED_FOR)]
        loaded = await store.load(asked)
        if not loaded:
            break
        found.update({child: loaded[child] for child in asked if child in loaded})
    return found
