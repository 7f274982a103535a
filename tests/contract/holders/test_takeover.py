"""Two engines over one store: what one of them leaves in the midst of work the other takes over,
and neither spoils what the other does.
"""

from __future__ import annotations

import asyncio

from ordain.journal.records import Status
from ordain.ports.store import StoredRun
from ordain.ports.writes import MailKind
from tests.contract.holders.several import KINDS, LAPSE_S, OTHER, WORKS, Holder, Several
from tests.contract.holders.virtual import virtually

UNTIL_TAKEN_S = LAPSE_S + 3


def test_work_goes_on_where_an_engine_lapses() -> None:
    """Its runs end once, elsewhere; what its call did nobody knows, and it is not made again."""

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            first, second = several.holders
            runs = [
                await first.open(WORKS, [("put", 20_000), ("wait", 100), ("put", 10)])
                for _ in range(3)
            ]
            await asyncio.sleep(1)
            first.heart.stopped = True
            await asyncio.sleep(UNTIL_TAKEN_S)
            await several.settled(*runs)
            for run in runs:
                assert (await several.stored(run)).holder == second.heart.joined[0].engine
                assert await several.became(run) == ["VerbUnknown", "Expired", "VerbReturned"]
                assert several.world.runs[run] == 2
            await several.check()

    virtually(work())


def test_what_a_call_came_to_is_told_as_long_as_it_is_asked() -> None:
    """A call that ends before its run is taken over, or after: it is made once, and either what
    came back is known or that nobody knows.
    """

    async def work(ms: int) -> list[str]:
        async with Several(KINDS, KINDS) as several:
            run = await several.holders[0].open(WORKS, [("put", ms)])
            await asyncio.sleep(0.3)
            several.holders[0].heart.stopped = True
            await several.settled(run)
            await several.check()
            assert several.world.runs[run] == 1
            return await several.became(run)

    found = [virtually(work(ms)) for ms in range(1000, 12_000, 250)]
    assert all(became in (["VerbReturned"], ["VerbUnknown"]) for became in found)
    assert found == sorted(found)  # once it is too late it stays so
    assert found[0] != found[-1]


def test_what_came_back_before_the_run_went_on_is_taken() -> None:
    """The run is another engine's, which has not looked yet: the zombie's record is refused, and
    mail for whoever drives the run next.
    """

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            zombie, other = several.holders
            await other.engine.stop(grace_s=0.0)
            run = await zombie.open(WORKS, [("put", 8000)])
            await asyncio.sleep(1)
            zombie.heart.stopped = True
            await asyncio.sleep(LAPSE_S + 1)
            lease = await other.store.join("by hand")
            (held,) = await other.store.hold(lease, limit=9, flows=None)
            assert isinstance(held.run, StoredRun)
            before = held.run.records
            await asyncio.sleep(2)
            assert (await several.stored(run)).records == before
            assert [mail.kind for mail in await other.store.mail(run)] == [MailKind.LATE]
            await other.store.release(lease, [run])
            await several.settled(run)
            assert await several.became(run) == ["VerbReturned"]
            assert (await several.stored(run)).holder == zombie.heart.joined[-1].engine
            await several.check()

    virtually(work())


def test_an_engine_that_lapsed_works_on_under_another_number() -> None:
    """It finds out by its next write or beat, joins again, and drives what is opened after that;
    nothing is driven under its old number.
    """

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            first, second = several.holders
            run = await first.open(WORKS, [("wait", 100)])
            await several.settled(run)
            first.heart.stopped = True
            await asyncio.sleep(2 * LAPSE_S)
            first.heart.stopped = False
            await asyncio.sleep(3)
            assert [lease.engine for lease in first.heart.joined] == [1, 3]
            assert [lease.engine for lease in second.heart.joined] == [2]
            run = await first.open(WORKS, [("put", 100)])
            await several.settled(run)
            assert ((await several.stored(run)).holder, await several.became(run)) == (
                3,
                ["VerbReturned"],
            )
            await several.check()

    virtually(work())


def test_an_engine_without_a_flow_leaves_its_runs_to_one_that_has_it() -> None:
    """Whoever hears of a run first: it is driven where its flow is, and waits where there is
    none.
    """

    async def work() -> None:
        async with Several((OTHER,), KINDS) as several:
            without, having = several.holders
            guest = Holder(several, KINDS)
            runs = [await guest.open(WORKS, [("put", 10), ("wait", 100)]) for _ in range(3)]
            await several.settled(*runs)
            await having.engine.stop(grace_s=0.0)
            left = await guest.open(WORKS, [("put", 10)])
            await asyncio.sleep(10 * LAPSE_S)
            assert (await several.stored(left)).status is Status.READY
            assert (await several.stored(left)).holder == 0
            await having.engine.start()
            await several.settled(left)
            assert {(await several.stored(run)).holder for run in (*runs, left)}.isdisjoint(
                {0, without.heart.joined[0].engine}
            )
            await several.check()

    virtually(work())


def test_an_engine_that_ends_in_order_leaves_its_runs_uncounted() -> None:
    """What it let go of goes on elsewhere, and no death stands against it."""

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            first = several.holders[0]
            runs = [
                await first.open(WORKS, [("wait", 3000), ("put", 10)]),
                await first.open(WORKS, [("put", 10), ("ask", 0)]),
            ]
            addr = await several.waits(runs[1])
            await first.engine.stop(grace_s=0.0)
            first.store.close()
            assert await several.holders[1].answer(runs[1], addr) == ""
            await asyncio.sleep(1)
            several.holders.reverse()
            await several.settled(*runs)
            assert [(await several.stored(run)).resumes for run in runs] == [0, 0]
            await several.check()

    virtually(work())
