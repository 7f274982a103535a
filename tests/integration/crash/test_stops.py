"""Runs that stop: faults, missing flows, divergence, corruption, and what an operator can do about
each.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.app import Ordain
from ordain.effects.effect import Say, Wait, WaitFor
from ordain.errors import Conflict, FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.journal.codec import verify
from ordain.journal.records import RecordKind, ResumedBody, Status
from ordain.ports.store import Append
from ordain.runtime.replay import replay
from tests.shapes.catalogue import ASLEEP, RUN, of_flow
from tests.shapes.client import Client
from tests.shapes.flows import (
    ERRANDS,
    FAN_OUT,
    HOUR,
    SHAPE_KINDS,
    STUBBORN,
    Errands,
    FanOut,
    Report,
    ask_person,
    errand,
)
from tests.shapes.house import MovableClock, build_house
from tests.shapes.ledger import Ledger
from tests.shapes.stored_journal import journal_of

Body = Callable[[FlowContext, Errands], Awaitable[Any]]
ONE = Errands(errands=(("entry_add", "once"),))


def errands_by(body: Any) -> tuple[Kind[Any, Any], ...]:
    """The shapes' flows, with another body under the name and version of ``errands``."""
    return tuple(replace(flow, run=body) if flow is ERRANDS else flow for flow in SHAPE_KINDS)


async def started(home: Path, ledger: Ledger, **options: Any) -> Ordain:
    """A running house."""
    return await build_house(home, ledger, **options).start()


async def rest(
    ordain: Ordain, ledger: Ledger, given: object = ONE, flow: Kind[Any, Any] = ERRANDS
) -> Client:
    """Accept a run and wait until it rests."""
    client = Client(ordain, ledger)
    await client.accept(of_flow(flow, given)(ordain))
    await client.until("at rest", lambda: client.over(RUN) or client.status(RUN) is Status.WAITING)
    return client


def check_journal(ordain: Ordain) -> None:
    """The run's journal is whole and replays equal."""
    stored = ordain.store.stored(RUN)
    assert stored is not None
    verify(stored.id, stored.key, stored.records)
    assert replay(stored, ordain.catalog, ordain.runtime.services.kinds).equal


async def _key_error(context: FlowContext, given: Errands) -> Report:
    await errand(context, "entry_add", "once")
    return Report(lines=({}["nothing"],))


async def _runtime_error(context: FlowContext, given: Errands) -> Report:
    await errand(context, "entry_add", "once")
    raise RuntimeError("broken")


async def _foreign(context: FlowContext, given: Errands) -> Report:
    await errand(context, "entry_add", "once")
    return msgspec.json.decode(b"{}", type=Report)


async def _no_json(context: FlowContext, given: Errands) -> Any:
    await errand(context, "entry_add", "once")
    return object()


@pytest.mark.parametrize("body", [_key_error, _runtime_error, _foreign, _no_json])
async def test_a_bug_in_a_flow_stops_its_run_until_it_is_fixed(
    tmp_path: Path, ledger: Ledger, body: Body
) -> None:
    """Whatever a flow raises, or returns that is no data, its run is faulted, visible, and
    completes after the fix without a second call.
    """
    async with build_house(tmp_path, ledger, kinds=errands_by(body)) as ordain:
        await rest(ordain, ledger)
        view = await ordain.runtime.wait(RUN)
        assert view.stored.status is Status.FAULTED
        assert "flow fault" in view.header
    async with build_house(tmp_path, ledger) as ordain:
        assert Client(ordain, ledger).status(RUN) is Status.FAULTED
        await ordain.runtime.operators.resume(RUN, by="ada")
        await Client(ordain, ledger).until(
            "done", lambda: Client(ordain, ledger).status(RUN) is Status.COMPLETED
        )
        assert [call["text"] for call in ledger.calls()] == ["once"]
        check_journal(ordain)


async def test_a_resume_is_durable_before_it_is_acknowledged(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A process that dies right after an operator's resume goes on after the restart, with who
    asked for it on record, once.
    """
    async with build_house(tmp_path, ledger, kinds=errands_by(_key_error)) as ordain:
        await rest(ordain, ledger)
        assert Client(ordain, ledger).status(RUN) is Status.FAULTED
        ordain.engine.accepting = False  # as one that dies before it gets to driving the run
        await ordain.runtime.operators.resume(RUN, by="ada")
        with pytest.raises(Conflict, match="not stopped"):
            await ordain.runtime.operators.resume(RUN, by="bob")
        ordain.engine.accepting = True
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        stored = ordain.store.stored(RUN)
        assert stored is not None
        resumes = [
            msgspec.json.decode(record.body or b"", type=ResumedBody)
            for record in stored.records
            if record.kind is RecordKind.RESUMED
        ]
        assert [(one.by, one.why) for one in resumes if one.by] == [("ada", "faulted")]
        check_journal(ordain)


async def test_of_two_resumes_at_once_one_counts(tmp_path: Path, ledger: Ledger) -> None:
    """Two operators who resume a run at the same moment: one does, the other is told, and the run
    ends once.
    """
    async with build_house(tmp_path, ledger, kinds=errands_by(_key_error)) as ordain:
        await rest(ordain, ledger)
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        both = await asyncio.gather(
            *(ordain.runtime.operators.resume(RUN, by=by) for by in ("ada", "bob")),
            return_exceptions=True,
        )
        assert [getattr(told, "code", None) for told in both] == [None, "not_stopped"]
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)


async def test_an_erased_run_is_not_resumed(tmp_path: Path, ledger: Ledger) -> None:
    """What a stopped run said is gone: resuming it is refused, and nothing is written."""
    async with build_house(tmp_path, ledger, kinds=errands_by(_key_error)) as ordain:
        await rest(ordain, ledger)
        await ordain.runtime.operators.erase(RUN, by="ada", why="asked to")
        journal_of(ordain.store)
        before = ordain.store.query("SELECT count(*) FROM journal")
        with pytest.raises(Conflict, match="erased"):
            await ordain.runtime.operators.resume(RUN, by="ada")
        assert ordain.store.query("SELECT count(*) FROM journal") == before


async def test_a_stopped_run_that_faults_again_is_cancelled_all_the_same(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Cancelling a faulted run settles it, with who and why on record, though its flow still cannot
    run.
    """
    async with build_house(tmp_path, ledger, kinds=errands_by(_key_error)) as ordain:
        client = await rest(ordain, ledger)
        await client.cancel(RUN)
        await client.until("cancelled", lambda: client.status(RUN) is Status.CANCELLED)
        view = await ordain.runtime.view(RUN)
        assert "cancel by ada" in view.header
        verify(RUN, view.stored.key, view.stored.records)


async def test_a_quarantined_run_is_cancelled_without_being_driven(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A quarantined run may kill the process again: cancelling it does not run its flow, resuming
    it does.
    """
    async with build_house(tmp_path, ledger) as ordain:
        client = await rest(ordain, ledger, Errands(errands=(("entry_add", "never"),), wait=True))
        await ordain.store.submit(
            Append(run=RUN, epoch=1, status=Status.QUARANTINED, reason="quarantined")
        )
        await client.answer(RUN, 0, "yes")
        assert client.status(RUN) is Status.QUARANTINED
        await client.cancel(RUN)
        await client.until("cancelled", lambda: client.status(RUN) is Status.CANCELLED)
        assert ledger.calls() == []


async def test_a_quarantined_run_can_be_resumed(tmp_path: Path, ledger: Ledger) -> None:
    """An operator's resume drives a quarantined run again, and the mail that came meanwhile
    counts.
    """
    async with build_house(tmp_path, ledger) as ordain:
        client = await rest(
            ordain, ledger, Errands(errands=(("entry_add", "after all"),), wait=True)
        )
        await ordain.store.submit(
            Append(run=RUN, epoch=1, status=Status.QUARANTINED, reason="quarantined")
        )
        assert [row.id for row in await ordain.runtime.runs(statuses=["quarantined"])] == [RUN]
        await client.answer(RUN, 0, "yes")
        await ordain.runtime.operators.resume(RUN, by="ada")
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)


async def test_after_an_interrupt_a_flow_may_speak_but_not_ask(
    tmp_path: Path, ledger: Ledger
) -> None:
    """After an interrupt a Say is carried out and a model call is a fault of the flow; a second
    cancel settles the run.
    """
    async with build_house(tmp_path, ledger) as ordain:
        client = await rest(ordain, ledger, ONE, STUBBORN)
        await client.cancel(RUN)
        await client.until("stopped", lambda: client.over(RUN))
        assert client.status(RUN) is Status.FAULTED
        assert FlowFault.__name__ in (ordain.store.stored(RUN).records[-1].body or b"").decode()  # type: ignore[union-attr]
        assert await ordain.runtime.operators.cancel(RUN, by="ada", why="really") == "already_asked"
        await client.until("cancelled", lambda: client.status(RUN) is Status.CANCELLED)
        assert ordain.store.query("SELECT text FROM outbox") == [("one more thing",)]


async def test_cancelling_a_stopped_parent_stops_its_children_first(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A parent whose flow is gone is cancelled only when the child it waits for has settled."""
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(FAN_OUT, FanOut(children=(ASLEEP,)))(ordain))
        await client.until("all wait", lambda: _statuses(ordain) == ["waiting", "waiting"])
    async with build_house(tmp_path, ledger, kinds=(ERRANDS,)) as ordain:
        client = Client(ordain, ledger)
        ordain.engine.wake(RUN)
        await client.until("stopped", lambda: client.status(RUN) is Status.FLOW_UNAVAILABLE)
        await client.cancel(RUN)
        await client.until("cancelled", lambda: client.status(RUN) is Status.CANCELLED)
        assert _statuses(ordain) == ["cancelled", "cancelled"]


def _statuses(ordain: Ordain) -> list[str]:
    return [status for (status,) in ordain.store.query("SELECT status FROM runs ORDER BY no")]


async def test_a_flow_that_this_build_lacks_stops_its_run_only(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A run whose flow is missing is flow_unavailable and goes on in a build that has it."""
    async with build_house(tmp_path, ledger) as ordain:
        await rest(ordain, ledger, ASLEEP)
    async with build_house(tmp_path, ledger, kinds=(FAN_OUT,)) as ordain:
        client = Client(ordain, ledger)
        await client.answer(RUN, 0, "yes")
        await client.until("stopped", lambda: client.status(RUN) is Status.FLOW_UNAVAILABLE)
        assert (await ordain.runtime.view(RUN)).stored.reason == "flow_unavailable"
    async with build_house(tmp_path, ledger) as ordain:
        await ordain.runtime.operators.resume(RUN, by="ada")
        client = Client(ordain, ledger)
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)


async def _asks_else(context: FlowContext, given: Errands) -> Report:
    await errand(context, "note_put", "something else")
    return Report(lines=(await ask_person(context, "may I"),))


async def _ends_early(context: FlowContext, given: Errands) -> Report:
    return Report(lines=("nothing to do",))


@pytest.mark.parametrize("body", [_asks_else, _ends_early])
async def test_a_flow_that_does_something_else_now_stops_as_diverged(
    tmp_path: Path, ledger: Ledger, body: Body
) -> None:
    """A flow changed under its version stops its run as journal_diverged before anything is written
    or called.
    """
    async with build_house(tmp_path, ledger) as ordain:
        await rest(ordain, ledger, ASLEEP)
        before = ordain.store.stored(RUN)
    async with build_house(tmp_path, ledger, kinds=errands_by(body)) as ordain:
        client = Client(ordain, ledger)
        ordain.engine.wake(RUN)
        await client.until("stopped", lambda: client.over(RUN))
        after = ordain.store.stored(RUN)
        assert after is not None
        assert before is not None
        assert (after.status, after.reason, after.records) == (
            Status.DIVERGED,
            "journal_diverged",
            before.records,
        )
        assert ledger.calls() == []


@pytest.mark.parametrize(
    "damage",
    [
        (
            "UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'may I', 'may U') AS BLOB) "
            "WHERE kind = 'intent'"
        ),
        "UPDATE journal SET body = x'7b' WHERE kind = 'intent'",
        "UPDATE journal SET kind = 'nonsense' WHERE kind = 'intent'",
        "UPDATE journal SET at = at - 3600000000 WHERE kind = 'suspended'",
        "DELETE FROM journal WHERE kind = 'intent'",
    ],
)
async def test_a_corrupt_row_stops_its_run_and_no_other(
    tmp_path: Path, ledger: Ledger, damage: str
) -> None:
    """A row that is not what was written is journal_corrupt; other runs are driven on."""
    async with build_house(tmp_path, ledger) as ordain:
        await rest(ordain, ledger, ASLEEP)
    db = journal_of(sqlite3.connect(tmp_path / "ordain.db"))
    with db:
        db.execute(damage)
    db.close()
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        ordain.engine.wake(RUN)
        await client.until("stopped", lambda: client.over(RUN))
        assert ordain.store.query("SELECT status, reason FROM runs") == [
            ("diverged", "journal_corrupt")
        ]
        other = replace(of_flow(ERRANDS, ONE)(ordain), run="0" * 32, request_id="other")
        await client.accept(other)
        await client.until("the other run", lambda: client.status(other.run) is Status.COMPLETED)


async def test_a_clock_that_steps_back_breaks_nothing(tmp_path: Path, ledger: Ledger) -> None:
    """A clock an hour behind itself: no journal steps back, waits still expire, the run ends."""
    async with build_house(tmp_path, ledger) as ordain:
        clock = MovableClock.within(ordain)
        client = await rest(ordain, ledger, Errands(errands=(("entry_add", "late"),), wait=True))
        clock.move(-HOUR)
        ordain.engine.wake(RUN)
        await asyncio.sleep(0.05)
        assert client.status(RUN) is Status.WAITING
        clock.move(HOUR)
        ordain.engine.wake(RUN)
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)


async def _swallows(context: FlowContext, given: Errands) -> Report:
    answer = "none"
    try:
        answer = await ask_person(context, "may I")
    except BaseException:  # the very thing that a flow must not do
        await context.fx.perform(Say(text="never said"))
    return Report(lines=(answer,))


async def test_a_flow_that_swallows_suspension_is_suspended_all_the_same(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Suspension is thrown again at every further port call: nothing is written for a run that
    waits.
    """
    async with build_house(tmp_path, ledger, kinds=errands_by(_swallows)) as ordain:
        client = await rest(ordain, ledger)
        assert client.status(RUN) is Status.WAITING
        assert ordain.store.query("SELECT text FROM outbox") == []
        await client.answer(RUN, 0, "yes")
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)


async def _waits_on_time(context: FlowContext, given: Errands) -> Report:
    await context.fx.perform(Wait(what=WaitFor.TIMER, about="a nap", deadline=context.now() + 1))
    return Report(lines=("awake",))


async def test_a_flow_may_wait_for_a_time(tmp_path: Path, ledger: Ledger) -> None:
    """A timer wait ends by itself, and its expiry is on record no earlier than its deadline."""
    async with build_house(tmp_path, ledger, kinds=errands_by(_waits_on_time)) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(ERRANDS, ONE)(ordain))
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_journal(ordain)
