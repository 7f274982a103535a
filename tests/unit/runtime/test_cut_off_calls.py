"""Calls that died with their process: which runs are at work here, and what is said of a run that
is settled without its flow.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ordain import verb
from ordain.contracts.verbs import ArgumentRole
from ordain.effects.calls import Call
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.records import RecordKind, Status
from ordain.runtime.asking_run import cut_off_call
from ordain.runtime.replay import replay
from ordain.testing import kind_of
from tests.unit.runtime.house import House


@verb(name="note.keep", effect="private", arguments={"text": ArgumentRole.CONTENT})
async def keep(text: str) -> dict[str, str]:
    """Keep a note."""
    CALLED.append(text)
    if REACHED:
        REACHED[0].set()
        await asyncio.Event().wait()
    return {"said": "kept"}


async def _keeps(context: FlowContext, text: str) -> str:
    acted = await act(context, Call(verb="note.keep", args={"text": text}))
    return type(acted.result).__name__


CALLED: list[str] = []
REACHED: list[asyncio.Event] = []
KEEPS: Kind[Any, Any] = kind_of(_keeps, verbs=["note.keep"], charged=False)


async def cut_off(home: House) -> str:
    """A run whose process died in the midst of its call."""
    run = await home.open(KEEPS, "tea")
    REACHED[:] = [asyncio.Event()]
    driving = asyncio.ensure_future(home.drive(run))
    await REACHED[0].wait()
    assert home.services.headers.at_work == {run}
    driving.cancel()
    await asyncio.gather(driving, return_exceptions=True)
    REACHED.clear()
    assert home.services.headers.at_work == set()
    assert cut_off_call(home.stored(run).records) == 0
    return run


async def test_of_a_run_that_is_settled_without_its_flow_nobody_knows_how_its_last_call_ended() -> (
    None
):
    """Its header says so, and its end, as where the run had gone on; it replays equal."""
    CALLED.clear()
    with House(KEEPS, verbs=[keep]) as home:
        run = await cut_off(home)
        home.services.kinds = Kinds(())
        assert (await home.drive(run)).status is Status.FLOW_UNAVAILABLE
        await home.interrupt(run, by="user:ada")
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.CANCELLED
        stored = home.stored(run)
        assert cut_off_call(stored.records) is None
        (ended,) = home.bodies(run, RecordKind.ENDED)
        assert "? note.keep · outcome_unknown" in ended.header
        assert replay(stored, home.catalog, home.kinds).equal
        assert CALLED == ["tea"]


async def test_a_run_that_was_taken_up_in_the_midst_of_a_call_is_not_at_work_before_that_ended() -> (
    None
):
    """What others propose meanwhile may have happened there: rule ``recover`` says that nobody
    knows.
    """
    CALLED.clear()
    with House(KEEPS, verbs=[keep]) as home:
        run = await cut_off(home)
        driving = asyncio.ensure_future(home.drive(run))
        await asyncio.sleep(0)
        assert home.services.headers.at_work == set()
        await driving
        assert "outcome_unknown" in home.bodies(run, RecordKind.ENDED)[0].header
        assert CALLED == ["tea"]
