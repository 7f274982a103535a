"""Readers that are woken at once share the loop with whatever else is to be done."""

from __future__ import annotations

import asyncio
from itertools import count

from ordain.runtime.turnstile import Turnstile


async def test_who_comes_when_the_time_is_used_up_goes_on_in_the_next_turn() -> None:
    """Each reader takes a second and a turn has three: after the third of them whatever else the
    loop has to do comes first, and all get through in their order.
    """
    clock, told, readers = count(), list[object](), 8
    turnstile = Turnstile(3, 2, lambda: float(next(clock)))

    async def reads(number: int) -> None:
        await turnstile.passed()
        told.append(number)

    async def else_to_do() -> None:
        while len([one for one in told if one != "other"]) < readers:
            told.append("other")
            await asyncio.sleep(0)

    await asyncio.gather(*(reads(number) for number in range(readers)), else_to_do())
    assert [one for one in told if one != "other"] == list(range(readers))
    waited = [0]
    for one in told:
        waited = [*waited, 0] if one == "other" else [*waited[:-1], waited[-1] + 1]
    assert max(waited) <= 3
    assert told[0] == 0


async def test_who_leaves_while_waiting_keeps_nobody_from_going_on() -> None:
    """Its place is passed over, and whoever stands behind it comes through."""
    clock = count()
    turnstile = Turnstile(1, 1, lambda: float(next(clock)))
    waiting = [asyncio.ensure_future(turnstile.passed()) for _ in range(4)]
    await asyncio.sleep(0)
    assert [one.done() for one in waiting] == [True, False, False, False]
    waiting[1].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert [one.cancelled() for one in waiting] == [False, True, False, False]
