"""Two engines on one store, opened beneath the folder's lock: the fence holds where the lock does
not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ordain.app import Ordain
from ordain.errors import LeaseLost, Transient
from ordain.journal.codec import verify
from ordain.journal.records import Status
from ordain.ports.store import Append
from ordain.runtime.replay import replay
from ordain.store.sqlite import StoreOptions
from tests.shapes.catalogue import RUN, of_flow
from tests.shapes.client import Client
from tests.shapes.flows import ERRANDS, Errands
from tests.shapes.house import build_house
from tests.shapes.ledger import Ledger


def beneath_the_lock(home: Path, ledger: Ledger, holder: str) -> Ordain:
    """An engine that does not ask for the folder's lock."""
    return build_house(home, ledger, store=StoreOptions(holder=holder, lock=False, threaded=False))


@pytest.mark.parametrize(
    ("verb", "line"),
    [("note_put", "note_put: note hold this"), ("entry_add", "entry_add: outcome_unknown")],
)
async def test_the_newer_engine_finishes_and_the_stale_one_stops(
    tmp_path: Path, ledger: Ledger, verb: str, line: str
) -> None:
    """A stale epoch's commit is refused lease_lost and its engine stops; the new engine ends the
    run, and nothing happens twice.
    """
    ledger.prepare(hold=True)
    stale = await beneath_the_lock(tmp_path, ledger, "stale").start()
    client = Client(stale, ledger)
    await client.accept(
        of_flow(ERRANDS, Errands(errands=((verb, "hold this"), ("entry_add", "next"))))(stale)
    )
    await client.until("a verb call is held", client.verb_held)
    fresh = await beneath_the_lock(tmp_path, ledger, "fresh").start()
    later = Client(fresh, ledger)
    if verb == "note_put":
        await later.until("called again, with the same key", lambda: len(ledger.calls()) == 2)
    else:
        await later.until("done", lambda: later.over(RUN))
    ledger.let_go()
    await later.until("done", lambda: later.over(RUN))
    await client.until("the stale engine has stopped", stale.engine.lost.is_set)
    assert not stale.engine.accepting
    with pytest.raises(LeaseLost) as refused:
        await stale.store.submit(Append(run=RUN, epoch=1, status=Status.RUNNING))
    assert refused.value.code == "lease_lost"
    with pytest.raises(Transient):
        await Client(stale, ledger).accept(
            replace(of_flow(ERRANDS, Errands(errands=()))(stale), run="0" * 32, request_id=None)
        )
    await stale.stop()
    view = await fresh.runtime.view(RUN)
    assert view.stored.status is Status.COMPLETED
    assert line in bytes(view.result).decode()
    applied = [call["text"] for call in ledger.calls() if call["applied"]]
    assert sorted(applied) == ["hold this", "next"]
    verify(RUN, view.stored.key, view.stored.records)
    assert replay(view.stored, fresh.catalog, fresh.runtime.services.kinds).equal
    await fresh.stop()
