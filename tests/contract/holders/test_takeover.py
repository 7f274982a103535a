"""Two engines over one store: what one of them leaves in the midst of work the other takes over, and neither spoils what the other does."""

from __future__ import annotations

import asyncio

from tests.contract.holders.several import KINDS, LAPSE_S, WORKS, Several
from tests.contract.holders.virtual import virtually

UNTIL_TAKEN_S = LAPSE_S + 3


def test_work_goes_on_where_an_engine_lapses() -> None:
    """Its runs end once, elsewhere; what its call did nobody knows, and it is not made again."""

    async def work() -> None:
        async with Several(KINDS, KINDS) as several:
            first, second = several.holders
            runs = [await first.open(WORKS, [("put", 20_000), ("wait", 100), ("put", 10)]) for _ in range(3)]
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
