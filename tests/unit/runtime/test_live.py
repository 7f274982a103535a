"""Where a run's journal ends: each effect carried out once, waits that cost nothing, interrupts,
and what a crash left behind.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import structs

from ordain import verb
from ordain.contracts.verbs import ArgumentRole
from ordain.effects.calls import Call
from ordain.effects.effect import Read, Say
from ordain.effects.results import VerbFailed, VerbReturned, VerbUnknown
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.journal.records import RecordKind, Status
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed
from ordain.runtime import live as live_module
from ordain.runtime.drive import Drive
from ordain.runtime.recorded_form import RESULTS
from ordain.testing import kind_of, recorded
from tests.unit.runtime.house import BEGAN, SECOND, House, submitted
from tests.unit.runtime.waiting import WAITS, kinds, replays, result


@verb(name="shelf.price", effect="read")
async def price(title: str) -> dict[str, int]:
    """Say what a book costs."""
    return {"cents": 900}


async def _prices(context: FlowContext, count: int) -> int:
    total = 0
    for _ in range(count):
        acted = await act(context, Call(verb="shelf.price", args={"title": "atlas"}))
        total += acted.result.output["cents"] if isinstance(acted.result, VerbReturned) else 0
    return total


async def _speaks(context: FlowContext, count: int) -> int:
    for number in range(count):
        await context.fx.perform(Say(text=str(number)))
    return count


async def _reads(context: FlowContext, what: str) -> str:
    found = await context.fx.perform(Read(what=what, args={"session": ""}, deadline=context.hard))
    return type(found).__name__


SPEAKS, READS = (kind_of(flow, charged=False) for flow in (_speaks, _reads))
PRICES: Kind[Any, Any] = kind_of(_prices, verbs=["shelf.price"])


# --- waiting --------------------------------------------------------------------------------------


async def test_an_answer_ends_a_wait() -> None:
    """The first one: its mail is taken by the record that says so, a second answer changes
    nothing.
    """
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        waiting = await house.drive(run)
        assert (waiting.status, waiting.wake_at) == (Status.WAITING, BEGAN + 60 * SECOND)
        assert await house.answer(run, 0, "blue", by="user:ada") == ""
        assert await house.answer(run, 0, "red", by="user:bob") == "duplicate"
        await house.drive(run)
        assert result(house, run) == "blue by user:ada"
        assert not house.store.untaken(run)
        assert replays(house, run)


@pytest.mark.parametrize("what", ["answer", "timer"])
async def test_nobody_answers_and_time_does(what: str) -> None:
    """Not before the deadline, however often the run is driven; each time it suspends again."""
    with House(WAITS) as house:
        run = await house.open(WAITS, what)
        for _ in range(2):
            assert (await house.drive(run)).status is Status.WAITING
            house.clock.pass_s(29)
        house.clock.pass_s(2)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert result(house, run) == "expired True"
        assert replays(house, run)


async def test_an_answer_to_another_effect_is_no_answer() -> None:
    """The run sleeps on."""
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        await house.answer(run, 5, "lost")
        assert (await house.drive(run)).status is Status.WAITING


# --- interrupts -----------------------------------------------------------------------------------


async def test_an_interrupt_before_an_effect_takes_its_place() -> None:
    """Nothing is announced that does not go out."""
    calls = recorded(price)
    with House(PRICES, verbs=[calls.verb]) as house:
        run = await house.open(PRICES, 1)
        await house.interrupt(run)
        assert (await house.drive(run)).status is Status.CANCELLED
        assert calls.calls == []
        assert [one for one in kinds(house, run) if one.startswith("intent")] == []


# --- verbs ----------------------------------------------------------------------------------------


async def test_an_effect_goes_out_when_its_intent_is_durable() -> None:
    """And once; what it gave is in the journal before the next one goes out."""
    seen: list[list[str]] = []
    with House(PRICES, verbs=[price]) as house:
        run = ""

        def look(_: Any) -> dict[str, int]:
            seen.append([one.split()[0] for one in kinds(house, run)])
            return {"cents": 450}

        calls = recorded(price, by=look)
        house.use(calls.verb)
        run = await house.open(PRICES, 2)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert result(house, run) == 900
        first = seen[0]
        assert first[-1] == "intent"
        assert seen[1] == [*first, "observation", "intent"]
        assert len({one.key for one in calls.calls}) == 2


async def test_what_a_crash_cut_off_is_repeated_under_its_key() -> None:
    """A read: the journal of the run that went on is the one that replays."""
    began = asyncio.Event()
    second = recorded(price)

    @verb(name="shelf.price", effect="read")
    async def held(title: str) -> dict[str, int]:
        """Never end."""
        began.set()
        await asyncio.Event().wait()
        return {"cents": 0}

    cut = recorded(held)
    with House(PRICES, verbs=[cut.verb]) as house:
        run = await house.open(PRICES, 1)
        driving = asyncio.ensure_future(house.drive(run))
        await began.wait()
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving
        assert kinds(house, run)[-1] == "intent verb_call"
        house.use(second.verb)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert (result(house, run), second.calls[0].key) == (900, cut.calls[0].key)
        assert replays(house, run)


async def test_a_drain_lets_a_verb_end() -> None:
    """What it gave is durable, and the run goes on from there."""
    began, gate = asyncio.Event(), asyncio.Event()

    @verb(name="shelf.price", effect="read")
    async def held(title: str) -> dict[str, int]:
        """End when it may."""
        began.set()
        await gate.wait()
        return {"cents": 70}

    with House(PRICES, verbs=[held]) as house:
        run = await house.open(PRICES, 1)
        drive = Drive(house.services, house.held(run))
        driving = asyncio.ensure_future(drive.to_rest())
        await began.wait()
        assert drive.live is not None
        assert (drive.live.in_verb, kinds(house, run)[-1]) == (True, "intent verb_call")
        drive.live.stop_after_verb()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await driving
        assert kinds(house, run)[-1] == "observation verb_call"
        assert replays(house, run)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert result(house, run) == 70


class Foreign:
    """Implements ``VerbPort``: gives back what no record can hold."""

    async def run(self, call: LeafCall) -> AnyLeafResult:
        return LeafFailed(code="busy", message="m", retryable="30", happened=False)  # type: ignore[arg-type]

    def implements(self, verb_id: str) -> bool:
        return True

    async def close(self) -> None:
        return


async def _tries(context: FlowContext, given: Any) -> str:
    acted = await act(context, Call(verb="shelf.price", args={"title": "atlas"}))
    return str(getattr(acted.result, "code", type(acted.result).__name__))


@pytest.mark.parametrize(("effect", "told"), [("read", "bad_output"), ("private", "VerbUnknown")])
async def test_a_result_that_cannot_be_read_back_is_not_recorded(effect: Any, told: str) -> None:
    """It is the verb's failure, by name; of anything but a read nobody knows whether it took
    effect.
    """

    @verb(
        name="shelf.price",
        effect=effect,
        arguments={} if effect == "read" else {"title": ArgumentRole.LABEL},
    )
    async def never(title: str) -> dict[str, int]:
        """Never called."""
        return {"cents": 0}

    tries: Kind[Any, Any] = kind_of(_tries, verbs=["shelf.price"])
    with House(tries, verbs=[never]) as house:
        house.services = structs.replace(house.services, verbs=Foreign())
        stored = await house.played(tries)
        assert (stored.status, result(house, stored.id)) == (Status.COMPLETED, told)
        (seen,) = house.bodies(stored.id, RecordKind.OBSERVATION)
        assert b"cannot be recorded" in bytes(seen.result)
        assert isinstance(RESULTS.decode(seen.result), VerbFailed | VerbUnknown)
        assert replays(house, stored.id)


# --- words and reads ------------------------------------------------------------------------------


async def test_a_flow_that_only_speaks_starves_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many words there is a barrier all the same."""
    monkeypatch.setattr(live_module, "UNWRITTEN_MAX", 8)
    with House(SPEAKS) as house:
        written = submitted(house, monkeypatch)
        run = await house.open(SPEAKS, 20)
        assert (await house.drive(run)).status is Status.COMPLETED
        units = [len(unit.records) for unit in written]
        assert max(units) <= 8 + 1  # with the end
        assert sum(units) == len(house.stored(run).records) - 1
        assert replays(house, run)


@pytest.mark.parametrize(("speaks", "units"), [(False, 1), (True, 2)])
async def test_a_read_waits_for_what_its_run_has_written(
    speaks: bool, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It changes nothing, so that its intent is written with what follows; but it sees what the run
    itself has said.
    """

    async def looks(context: FlowContext, _: None) -> None:
        if speaks:
            await context.fx.perform(Say(text="so far, so good"))
        await context.fx.perform(Read(what="spoken", args={}, deadline=context.hard))

    looking = kind_of(looks, charged=False)
    seen: list[int] = []
    with House(looking) as house:
        run = await house.open(looking, None)

        async def spoken(*_: object) -> int:
            seen.append(len(house.stored(run).records))
            return seen[-1]

        monkeypatch.setattr(house.services, "readers", {"spoken": spoken})
        written = submitted(house, monkeypatch)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert len(written) == units
        assert seen == ([4] if speaks else [1])
        assert replays(house, run)


async def test_what_nobody_reads_by_that_name_fails_as_a_value() -> None:
    """A build without a reader says so on record."""
    with House(READS) as house:
        runs = [await house.open(READS, what) for what in ("threads", "weather")]
        for run in runs:
            await house.drive(run)
        assert [result(house, run) for run in runs] == ["ReadValue", "ReadFailed"]
