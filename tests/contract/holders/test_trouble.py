"""Several engines over one store that answers badly: acknowledgements that never arrive,
announcements in any order, hearts that stop and go on.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ordain.journal.records import SETTLED, RecordKind, Status
from ordain.ports.store import Append, Arrive, ClaimUnit, Unit, load_run
from ordain.testing import MemoryStore, SharedMemory
from tests.contract.holders.several import KINDS, LAPSE_S, WORKS, Several, Step
from tests.contract.holders.virtual import VirtualClock, virtually
from tests.contract.writing import Run
from tests.lanes import examples
from tests.unit.runtime.house import bodies

STEPS: list[Step] = [("put", 50), ("wait", 30), ("ask", 0), ("spawn", 20), ("put", 5)]
CAME = ["VerbReturned", "Expired", "Answered", "Completed", "Completed", "VerbReturned"]
MAY_COME = {"VerbReturned", "VerbUnknown", "Expired", "Answered", "Completed"}
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "wait", "ask", "spawn"]),
        st.sampled_from([0, 1, 40, 900, 7000]),
    ),
    min_size=1,
    max_size=5,
)


def _opens(unit: Unit) -> bool:
    return isinstance(unit, Arrive) and unit.once is not None


def _mails(unit: Unit) -> bool:
    return isinstance(unit, Arrive) and unit.once is None


def _goes_on(unit: Unit) -> bool:
    return isinstance(unit, Append) and unit.suspend is None and unit.status is Status.RUNNING


def _suspends(unit: Unit) -> bool:
    return isinstance(unit, Append) and unit.suspend is not None


def _ends(unit: Unit) -> bool:
    return isinstance(unit, Append) and unit.status in SETTLED


def _claims(unit: Unit) -> bool:
    return isinstance(unit, ClaimUnit)


async def answering(several: Several, run: str) -> None:
    """Somebody answers what the run asks, again and again, through any of the processes, until it
    has ended.
    """
    count = 0
    while (stored := await several.stored(run)).status not in SETTLED:
        asked = [(record.seq, body.addr) for record, body in _suspended(stored)]
        if asked:
            count += 1
            await several.holders[count % len(several.holders)].answer(run, asked[-1][1])
        await asyncio.sleep(0.05)


def _suspended(stored: Any) -> list[tuple[Any, Any]]:
    records = [record for record in stored.records if record.kind is RecordKind.SUSPENDED]
    found = zip(records, bodies(stored, RecordKind.SUSPENDED), strict=True)
    return [(record, body) for record, body in found if body.waits_for == "answer"]


@pytest.mark.parametrize(
    "which",
    [_opens, _mails, _goes_on, _suspends, _ends, _claims],
    ids=lambda which: which.__name__.strip("_"),
)
def test_a_lost_acknowledgement_changes_nothing(which: Callable[[Unit], bool]) -> None:
    """Whoever was not told offers the unit again, or reads: the run becomes what it would have, and
    nothing of it was done twice.
    """

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            lost: list[Unit] = []

            def loses(unit: Unit) -> bool:
                if not lost and which(unit):
                    lost.append(unit)
                    return True
                return False

            several.shared.loses = loses
            run = await several.holders[0].open(WORKS, STEPS)
            await answering(several, run)
            assert lost
            assert await several.became(run) == CAME
            assert several.world.runs[run] == 2
            await several.check()

    virtually(work())


@settings(max_examples=examples(100))
@given(st.integers(0, 10**9), st.floats(0, 0.4), steps)
def test_everything_ends_however_it_is_announced(
    seed: int, loses: float, given_steps: list[Step]
) -> None:
    """Late, shuffled and repeated hints, and answers that get lost at random: each run ends once
    and does each thing once.
    """

    async def work() -> None:
        chance = random.Random(seed)
        async with Several(KINDS, KINDS) as several:
            several.shared.unruly(chance)
            several.shared.loses = lambda _: chance.random() < loses
            runs = [
                await holder.open(WORKS, given_steps)
                for holder in (*several.holders, several.holders[0])
            ]
            await asyncio.gather(*(answering(several, run) for run in runs))
            several.shared.loses = lambda _: False
            for run in runs:
                assert set(await several.became(run)) <= MAY_COME - {"VerbUnknown"}
            await several.check()

    virtually(work())


def may_come(became: list[str]) -> bool:
    """Whether it is what may become of steps: the very call of whose end nobody knows is not made
    anew, and fails.
    """
    doubted = became.index("VerbUnknown") if "VerbUnknown" in became else len(became)
    return all(
        one in MAY_COME or (one == "VerbFailed" and at > doubted) for at, one in enumerate(became)
    )


@settings(max_examples=examples(100))
@given(st.integers(0, 10**9), steps)
@example(1, [("put", 7000)] * 3)
def test_everything_ends_whatever_hearts_do(seed: int, given_steps: list[Step]) -> None:
    """Engines lapse at any moment, in turns, and come back: what nobody knows is said so, and
    nothing is done twice or sleeps for ever.
    """

    async def work() -> None:
        chance = random.Random(seed)

        async def stops(number: int) -> None:
            for _ in range(3):
                await asyncio.sleep(chance.uniform(0, 4 * LAPSE_S) + number * LAPSE_S)
                several.holders[number].heart.stopped = True
                await asyncio.sleep(chance.uniform(LAPSE_S, 3 * LAPSE_S))
                several.holders[number].heart.stopped = False

        async with Several(KINDS, KINDS) as several:
            several.shared.unruly(chance)
            stopping = [asyncio.create_task(stops(number)) for number in range(2)]
            runs = [await holder.open(WORKS, given_steps) for holder in several.holders]
            await asyncio.gather(*(answering(several, run) for run in runs))
            for run in runs:
                assert may_come(await several.became(run))
            await asyncio.gather(*stopping)
            await several.check()

    virtually(work())


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.sampled_from(["suspend", "mail"]), st.integers(0, 1), st.integers(0, 5)),
        min_size=2,
        max_size=12,
    )
)
def test_no_run_sleeps_on_its_mail(acts: list[tuple[str, int, int]]) -> None:
    """Suspensions and mail of two processes in any interleaving: mail is refused, or keeps the run
    awake, or wakes it.
    """

    async def work() -> None:
        shared = SharedMemory(now=VirtualClock().now)
        run, stores = Run("a"), (MemoryStore(shared), MemoryStore(shared))
        await stores[0].join("drives it")
        await stores[0].submit(run.open())

        async def one(number: int, what: str, by: int, turns: int) -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            if what == "mail":
                assert (await stores[by].submit(run.post(key=f"k{number}"))).refused == ""
            else:
                await stores[0].submit(run.suspend(0))

        # who drives a run waits once
        waiting = [act for act in enumerate(acts) if act[1][0] == "suspend"][:1]
        mailing = [act for act in enumerate(acts) if act[1][0] == "mail"]
        await asyncio.gather(*(one(number, *act) for number, act in sorted([*waiting, *mailing])))
        stored = await load_run(stores[1], "a")
        assert stored is not None
        assert (stored.status is Status.WAITING) == (bool(waiting) and not mailing)
        assert len(await stores[1].mail("a")) == len(mailing)

    virtually(work())
