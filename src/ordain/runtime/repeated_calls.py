"""Whether a call that is about to go out may have happened already: looked up in the journals of
its run, of those of the same root, and of the conversation, where such calls stand whose end nobody
knows.

By what a call amounts to and not by its digest, since a model spells the same call in many ways.
"""

from __future__ import annotations

from collections.abc import Collection

from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Call
from ordain.ports.store import JournalStore, StoredRun
from ordain.runtime.asking_run import Looking, asked_before_anywhere

IN_DOUBT = "this very call went out before, and nobody knows if it happened"
HAPPENED = "this very call happened before, as an operator has found out since"
NOWHERE = -1
"""The number of no effect: all that a run's records hold comes before it."""


async def why_in_doubt(
    store: JournalStore,
    run: StoredRun,
    call: Call,
    catalog: Catalog,
    looking: Looking,
    told: Collection[str] = (),
) -> str:
    """Why a run's call may not be made as if for the first time: it may have happened already, or
    has, by whoever of its root or conversation made it; "" where nothing says so. ``run`` with its
    records so far, ``catalog`` its own.

    ``told`` are the places of which whoever said yes to the call was told: there it is no news.
    """
    before = await asked_before_anywhere(store, run, NOWHERE, (), looking)
    news = [one for one in before.very((call,), catalog) if one.place not in told]
    return (HAPPENED if any(one.sure for one in news) else IN_DOUBT) if news else ""
