"""Lost time under a real engine: a clock that is set a day ahead while runs are at work, and what
the engine leaves behind for the next start.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ordain.journal.lost_time import Pause, lost_in_all
from ordain.journal.records import Status
from ordain.runtime.replay import replay
from tests.shapes.catalogue import of_flow
from tests.shapes.client import Client
from tests.shapes.flows import ERRANDS, Errands
from tests.shapes.house import MovableClock, build_house
from tests.shapes.ledger import Ledger

RUNS = 16
DAY = 86_400_000_000
TWO = Errands(errands=(("note_put", "hold on"), ("entry_add", "two")))


async def test_a_clock_a_day_ahead_ends_no_run(tmp_path: Path, ledger: Ledger) -> None:
    """Each is in the midst of a call when it happens; all go on, make the next one too, and replay;
    the day is lost and on record.
    """
    ledger.prepare(hold=True)
    async with build_house(tmp_path, ledger) as ordain:
        clock, lost = MovableClock.within(ordain), ordain.runtime.services.lost
        client, request = Client(ordain, ledger), of_flow(ERRANDS, TWO)(ordain)
        runs = [f"{number:032x}" for number in range(RUNS)]
        for run in runs:
            await Client(ordain, ledger).accept(replace(request, run=run, request_id=None))
        await client.until("in a call", client.verb_held)
        clock.offset += DAY  # as if somebody had set it: nobody tells the engine
        await client.until("it was seen", lambda: bool(lost.since(0)))
        ledger.let_go()
        await client.until(
            "all over",
            lambda: all(
                client.status(run) in {Status.COMPLETED, Status.FAILED, Status.TIMED_OUT}
                for run in runs
            ),
        )
        for run in runs:
            stored = ordain.store.stored(run)
            assert stored is not None
            assert (stored.status, stored.reason) == (Status.COMPLETED, "ok")
            assert lost_in_all(stored.records) > DAY // 2
            assert replay(stored, ordain.catalog, ordain.runtime.services.kinds).equal


async def test_the_next_start_knows_how_long_nobody_was_there(tmp_path: Path) -> None:
    """From the last beat to the start is a pause on the store; an engine that stops in order beats
    once more.
    """
    async with build_house(tmp_path) as ordain:
        ((first,),) = ordain.store.query("SELECT at FROM beats")
        assert first is not None
    async with build_house(tmp_path) as ordain:
        ((began, ended, last),) = ordain.store.query(
            "SELECT p.began, p.ended, b.at FROM pauses p, beats b"
        )
        assert first <= began < ended <= last
        assert list(ordain.runtime.services.lost.since(0)) == [Pause(began, ended)]
