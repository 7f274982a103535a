"""Two things at once: mail that arrives between two steps, deadlines that pass while a run sleeps,
an engine that is told to stop.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ordain.app import Ordain
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Say
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.journal.codec import Scribe
from ordain.journal.records import ENCODER, NULL, NoteBody, RecordKind, Status, raw
from ordain.models.scripted import make_script
from ordain.ports.effects import Interrupted
from ordain.ports.store import Append, Arrive
from ordain.ports.writes import MailKind, NewMail
from ordain.runtime.mail import AnswerBody, InterruptBody, posted
from ordain.runtime.replay import replay
from ordain.store.sqlite import StoreOptions
from tests.shapes.catalogue import ASLEEP, MINUTE, RUN, calls, finishes, of_flow, of_plan
from tests.shapes.client import Client
from tests.shapes.flows import (
    ERRANDS,
    FAN_OUT,
    HOUR,
    QUESTIONS,
    SHAPE_KINDS,
    Errands,
    FanOut,
    Questions,
    Report,
    ask_person,
)
from tests.shapes.house import HeldModel, MovableClock, build_house
from tests.shapes.ledger import Ledger
from tests.shapes.stored_journal import journal_of


def cancel_mail(ordain: Ordain, run: str = RUN) -> Arrive:
    """A cancellation as a unit, to be queued at an exact place."""
    body = ENCODER.encode(InterruptBody(what="cancel", by="ada", why="now"))
    mail = NewMail(
        run=run,
        kind=MailKind.INTERRUPT,
        key="cancel:ada",
        body=body,
        at=ordain.runtime.services.clock.now(),
    )
    return posted(DEFAULT_WORKSPACE, mail)


def answer_mail(ordain: Ordain, addr: int) -> Arrive:
    """An answer as a unit."""
    body = ENCODER.encode(AnswerBody(value="yes", by="ada"))
    now = ordain.runtime.services.clock.now()
    return posted(
        DEFAULT_WORKSPACE,
        NewMail(run=RUN, kind=MailKind.ANSWER, key=f"answer:{addr}", body=body, at=now, addr=addr),
    )


def names(ordain: Ordain, run: str = RUN) -> list[str]:
    """The kinds and names of a run's records."""
    stored = ordain.store.stored(run)
    return [] if stored is None else [f"{record.kind} {record.name}" for record in stored.records]


def check_replay(ordain: Ordain) -> None:
    """Every run replays equal."""
    for (run,) in ordain.store.query("SELECT id FROM runs"):
        stored = ordain.store.stored(run)
        assert stored is not None
        report = replay(stored, ordain.catalog, ordain.runtime.services.kinds)
        assert report.equal, report


async def test_an_interrupt_that_came_while_the_intent_was_written_keeps_a_model_call_from_starting(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A cancellation in the same commit as a model call's intent is heard before the call goes
    live.
    """
    async with build_house(tmp_path, ledger, script=make_script(planner=["hold"])) as ordain:
        client, model = Client(ordain, ledger), ordain.models["default"]
        assert isinstance(model, HeldModel)
        await client.accept(of_plan("entry_add")(ordain))
        ordain.store.submit(cancel_mail(ordain))
        await client.until("cancelled", lambda: client.over(RUN))
        assert "intent model_call" in names(ordain)
        assert model.moments.counts == {}
        check_replay(ordain)


async def test_an_answer_that_is_faster_than_the_suspension_leaves_the_run_running(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Where mail beats a suspension the run goes on as running: a crash then finds it, whatever it
    waited for before.
    """
    ledger.prepare(hold=True)
    given = Errands(errands=(("note_put", "hold on"),), wait=True)
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(ERRANDS, given)(ordain))
        await client.until("asleep", lambda: client.waits_at(RUN, 0) and not ordain.engine.driving)
        ordain.engine.wake(RUN)
        ordain.store.submit(answer_mail(ordain, 0))
        await client.until("a verb call is held", client.verb_held)
        assert ordain.store.query("SELECT status, wake_at FROM runs") == [("running", None)]
        ledger.let_go()
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        check_replay(ordain)


async def test_an_answer_that_is_faster_than_the_expiry_counts(
    tmp_path: Path, ledger: Ledger
) -> None:
    """An acknowledged answer is never lost to a deadline: either it is refused, or the wait ends
    with it.
    """
    async with build_house(tmp_path, ledger) as ordain:
        clock = MovableClock.within(ordain)
        client = Client(ordain, ledger)
        await client.accept(of_flow(QUESTIONS, Questions(MINUTE))(ordain))
        await client.answer(RUN, 1, "yes")
        await client.until("asleep", lambda: client.waits_at(RUN, 2) and not ordain.engine.driving)
        clock.move(2 * MINUTE)
        ordain.engine.wake(RUN)
        sent = ordain.store.submit(answer_mail(ordain, 2))
        await client.until("done", lambda: client.over(RUN))
        assert (await sent).refused == ""
        assert "second: yes by ada" in bytes((await ordain.runtime.view(RUN)).result).decode()
        check_replay(ordain)


async def test_an_answer_to_a_wait_that_has_expired_is_refused(
    tmp_path: Path, ledger: Ledger
) -> None:
    """An answer that nobody would read is not acknowledged as sent."""
    ledger.prepare(hold=True)
    async with build_house(tmp_path, ledger, kinds=(*SHAPE_KINDS, _expiring())) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(_expiring(), ASLEEP)(ordain))
        await client.until("asleep again", lambda: client.waits_at(RUN, 1))
        assert await client.answer(RUN, 0, "too late") == "settled"
        assert await client.answer(RUN, 1, "in time") == "sent"
        assert await client.answer(RUN, 1, "second", by="bob") == "duplicate"
        await client.until("done", lambda: client.over(RUN))


def _expiring() -> Kind[Any, Any]:
    async def run(context: FlowContext, given: Errands) -> Report:
        return Report(
            lines=(
                await ask_person(context, "a", context.now() + 1),
                await ask_person(context, "b"),
            )
        )

    return replace(ERRANDS, name="expiring", run=run)


def _joins_then(fixed: bool) -> Kind[Any, Any]:
    async def run(context: FlowContext, given: Errands) -> Report:
        spawn: Spawn[Any] = Spawn(
            flow=ERRANDS.name,
            input=raw(Errands(errands=())),
            deadline=context.deadline,
            allowance=context.share(1),
        )
        await context.fx.children((spawn,), Join())
        if not fixed:
            raise KeyError("a bug")
        try:
            return Report(lines=("joined", await ask_person(context, "more")))
        except Interrupted:
            return Report(lines=("joined", "stopped while asking"), status=Status.CANCELLED)

    return replace(ERRANDS, name="joins", run=run)


async def test_an_interrupt_after_a_join_is_replayed_after_the_join(
    tmp_path: Path, ledger: Ledger
) -> None:
    """An interrupt delivered at the effect after a join does not move into the join when the run is
    driven again.
    """
    async with build_house(
        tmp_path, ledger, kinds=(*SHAPE_KINDS, _joins_then(fixed=False))
    ) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(_joins_then(fixed=False), ASLEEP)(ordain))
        await client.until("faulted", lambda: client.status(RUN) is Status.FAULTED)
    async with build_house(
        tmp_path, ledger, kinds=(*SHAPE_KINDS, _joins_then(fixed=True))
    ) as ordain:
        client = Client(ordain, ledger)
        await client.cancel(RUN)
        await client.until("cancelled", lambda: client.status(RUN) is Status.CANCELLED)
        assert b"stopped while asking" in bytes((await ordain.runtime.view(RUN)).result)
        check_replay(ordain)


async def test_who_was_in_at_the_deadline_stays_who_was_in(tmp_path: Path, ledger: Ledger) -> None:
    """A join counts the children that had ended by its deadline, though the interrupted ones end
    one by one afterwards.
    """
    ledger.prepare(hold=True)
    given = FanOut(
        children=(
            Errands(errands=(("note_put", "in"),)),
            Errands(errands=(), sleep_s=3600),
            Errands(errands=(("note_put", "hold on"),)),
        ),
        deadline=MINUTE,
    )
    async with build_house(tmp_path, ledger) as ordain:
        clock = MovableClock.within(ordain)
        client = Client(ordain, ledger)
        await client.accept(of_flow(FAN_OUT, given)(ordain))
        await client.until(
            "one in",
            lambda: (
                _by_status(ordain) == {"completed": 1, "waiting": 2, "running": 1}
                and client.verb_held()
            ),
        )
        clock.move(2 * MINUTE)
        ordain.engine.wake(RUN)
        await client.until("one stopped", lambda: names(ordain).count("child_ended child") == 2)
        ledger.let_go()
        await client.until("over", lambda: client.over(RUN))
        (joined,) = [
            json.loads(record.body or b"{}")["result"]
            for record in ordain.store.stored(RUN).records  # type: ignore[union-attr]
            if record.kind is RecordKind.OBSERVATION and record.name == "children"
        ]
        assert joined == {"result": "joined", "counted": [0], "why": "join deadline"}
        check_replay(ordain)


def _by_status(ordain: Ordain) -> dict[str, int]:
    return dict(ordain.store.query("SELECT status, count(*) FROM runs GROUP BY status"))


async def test_a_run_that_moved_on_does_not_stop_the_engine(tmp_path: Path, ledger: Ledger) -> None:
    """A record that somebody else appended evicts one run, which is driven again; the engine keeps
    its lease.
    """
    ledger.prepare(hold=True)
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(ERRANDS, Errands(errands=(("note_put", "hold on"),)))(ordain))
        await client.until("a verb call is held", client.verb_held)
        stored = ordain.store.stored(RUN)
        assert stored is not None
        note = Scribe(RUN, stored.key or b"", stored.records[-1]).write(
            RecordKind.NOTE,
            "note",
            NoteBody(by="ada", action="note", details=NULL),
            ordain.runtime.services.clock.now(),
        )
        await ordain.store.submit(Append(run=RUN, epoch=1, records=(note,)))
        ledger.let_go()
        await client.until("done", lambda: client.status(RUN) is Status.COMPLETED)
        assert ordain.engine.accepting
        assert sum(call["applied"] for call in ledger.calls()) == 1
        check_replay(ordain)


async def test_mail_that_nobody_takes_does_not_wake_a_run_again_and_again(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A run with an answer to something it does not ask sleeps on while others commit: its journal
    does not grow.
    """
    async with build_house(tmp_path, ledger) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(ERRANDS, ASLEEP)(ordain))
        await client.until("asleep", lambda: client.waits_at(RUN, 0) and not ordain.engine.driving)
        assert await client.answer(RUN, 77, "to nothing") == "sent"
        await client.until(
            "asleep again",
            lambda: (
                names(ordain).count("suspended wait") >= 2 and _idle(ordain) and _looked(ordain)
            ),
        )
        settled = len(names(ordain))
        for number in range(5):
            other = replace(
                of_flow(ERRANDS, Errands(errands=()))(ordain), run=f"{number:032x}", request_id=None
            )
            await Client(ordain, ledger).accept(other)
            await client.until(
                "the other is over", lambda run=other.run: client.over(run) and _idle(ordain)
            )
        assert len(names(ordain)) == settled


def _looked(ordain: Ordain) -> bool:
    """Whether whoever looks for other processes' mail has seen all that there is: what it finds
    first it announces once more.
    """
    return ordain.store.query("SELECT max(id) FROM mailbox") == [(ordain.store._elsewhere._mail,)]


def _idle(ordain: Ordain) -> bool:
    """Whether no run is driven, or is about to be."""
    return not (ordain.engine.driving or ordain.engine.ready_runs)


# --- draining -------------------------------------------------------------------------------------


async def test_a_drain_lets_a_running_verb_end_and_records_it(
    tmp_path: Path, ledger: Ledger
) -> None:
    """An engine that stops waits for a verb at work: its outcome is on record, nothing is unknown,
    nothing is called again.
    """
    ledger.prepare(hold=True)
    given = Errands(errands=(("entry_add", "hold this"), ("note_put", "next")))
    ordain = await build_house(tmp_path, ledger).start()
    client = Client(ordain, ledger)
    await client.accept(of_flow(ERRANDS, given)(ordain))
    await client.until("a verb call is held", client.verb_held)
    stopping = asyncio.ensure_future(ordain.stop())
    await asyncio.sleep(0.05)
    ledger.let_go()
    await stopping
    async with build_house(tmp_path, ledger) as again:
        later = Client(again, ledger)
        assert names(again)[-1] == "observation verb_call" or later.over(RUN)
        await later.until("done", lambda: later.status(RUN) is Status.COMPLETED)
        assert [call["text"] for call in ledger.calls()] == ["hold this", "next"]
        assert "outcome_unknown" not in bytes((await again.runtime.view(RUN)).result).decode()
        check_replay(again)


async def test_a_drain_between_intent_and_call_makes_no_unknown_outcome(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A deploy that meets a verb call whose intent is just being written still carries it out, or
    never announced it.
    """
    for delay in range(12):
        await _drained_after(delay, tmp_path, ledger)
    assert [call["text"] for call in ledger.calls()] == [str(delay) for delay in range(12)]


async def _drained_after(ticks: int, home: Path, ledger: Ledger) -> None:
    run = f"{ticks:032x}"
    ordain = await build_house(
        home, ledger, store=StoreOptions(holder="test", threaded=True)
    ).start()
    request = of_flow(ERRANDS, Errands(errands=(("entry_add", str(ticks)),)))(ordain)
    await Client(ordain, ledger).accept(replace(request, run=run, request_id=None))
    for _ in range(ticks):
        await asyncio.sleep(0)
    await ordain.stop()
    async with build_house(home, ledger) as again:
        client = Client(again, ledger)
        await client.until("done", lambda: client.over(run))
        assert f"entry_add: entry {ticks}" in bytes((await again.runtime.view(run)).result).decode()


async def test_a_drain_abandons_a_model_call_which_is_paid_for(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A model call cut off by a drain is a lost attempt at the next start, settled at its
    reservation, and asked again.
    """
    script = make_script(planner=[calls("entry_add", text="before"), "hold"])
    ordain = await build_house(tmp_path, ledger, script=script).start()
    client = Client(ordain, ledger)
    await client.accept(of_plan("entry_add")(ordain))
    await client.until("a model call is held", client.model_held)
    await ordain.stop()
    script = make_script(planner=[calls("entry_add", text="before"), finishes("after")])
    async with build_house(tmp_path, ledger, script=script) as again:
        later = Client(again, ledger)
        await later.until("done", lambda: later.status(RUN) is Status.COMPLETED)
        bodies = [json.loads(record.body or b"{}") for record in again.store.stored(RUN).records]  # type: ignore[union-attr]
        (lost,) = [
            number
            for number, body in enumerate(bodies)
            if body.get("result", {}) and "lost" in str(body["result"])
        ]
        assert bodies[lost + 1]["facts"]["tokens"] == bodies[lost + 1]["facts"]["reserved"] > 0
        check_replay(again)


# --- waiting costs nothing ------------------------------------------------------------------------


async def test_a_thousand_waiting_runs_cost_no_task_and_wake_on_time(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A run that waits is a row: no task belongs to it; when its time has come it goes on, and none
    goes on before.
    """
    async with build_house(tmp_path, ledger) as ordain:
        clock = MovableClock.within(ordain)
        client, idle = Client(ordain, ledger), asyncio.all_tasks()
        request = of_flow(ERRANDS, ASLEEP)(ordain)
        accepted = [
            replace(request, run=f"{number:032x}", request_id=None) for number in range(1000)
        ]
        await asyncio.gather(*(Client(ordain, ledger).accept(one) for one in accepted))
        await client.until(
            "all asleep",
            lambda: _by_status(ordain) == {"waiting": 1000} and not ordain.engine.driving,
        )
        assert asyncio.all_tasks() <= idle
        clock.move(HOUR - MINUTE)
        ordain.engine._arm()
        await asyncio.sleep(0.05)
        assert _by_status(ordain) == {"waiting": 1000}
        clock.move(HOUR)
        ordain.engine._arm()
        await client.until("all done", lambda: _by_status(ordain) == {"completed": 1000})
        early = (
            "SELECT count(*) FROM journal o JOIN journal w ON w.run = o.run AND w.kind = "
            "'suspended' AND w.seq = o.seq - 1"
        )
        journal_of(ordain.store)
        rows = ordain.store.query(
            f"{early} WHERE o.kind = 'observation' AND o.at < json_extract(CAST(w.body AS TEXT), "
            "'$.wake_at')"
        )
        assert rows == [(0,)]


@pytest.mark.parametrize("said", ["once"])
async def test_words_are_said_once(tmp_path: Path, ledger: Ledger, said: str) -> None:
    """A Say is one outbox row, in the commit that records it."""

    async def run(context: FlowContext, given: Errands) -> Report:
        await context.fx.perform(Say(text=said))
        return Report(lines=(await ask_person(context, "heard"),))

    flow = replace(ERRANDS, name="says", run=run)
    async with build_house(tmp_path, ledger, kinds=(*SHAPE_KINDS, flow)) as ordain:
        client = Client(ordain, ledger)
        await client.accept(of_flow(flow, ASLEEP)(ordain))
        await client.until("asleep", lambda: client.waits_at(RUN, 1))
        ordain.engine.wake(RUN)
        await client.answer(RUN, 1, "yes")
        await client.until("done", lambda: client.over(RUN))
        assert ordain.store.query("SELECT text FROM outbox") == [(said,)]
