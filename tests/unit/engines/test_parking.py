"""Parking: who is kept, who is put out for whom, and what they are told."""

from __future__ import annotations

import asyncio

from ordain.engines.parking import Driving, Parking


async def test_who_has_waited_longest_is_put_out() -> None:
    """No more are kept than there are places; who is woken is not put out, and who is not kept
    cannot be woken.
    """
    parking = Parking(2)
    kept = {run: parking.put(run, Driving()) for run in ("a", "b", "c")}
    assert (kept["a"].result(), kept["b"].done(), kept["c"].done()) == (False, False, False)
    assert parking.take("a") is None
    taken = parking.take("b")
    assert taken is not None
    assert (kept["b"].result(), taken.parked) == (True, None)
    parking.put("d", Driving())
    assert not kept["c"].done()
    parking.put_out("c")
    parking.put_out("c")
    assert kept["c"].result() is False


async def test_who_is_woken_may_wait_again() -> None:
    """A run waits several times; its place is the last one then."""
    parking = Parking(2)
    first = Driving()
    parking.put("a", first)
    parking.put("b", Driving())
    assert parking.take("a") is first
    again = parking.put("a", first)
    parking.put("c", Driving())
    assert not again.done()
    assert parking.take("b") is None


async def test_all_are_put_out() -> None:
    """Their tasks end by that, and whoever stops the engine awaits them."""
    parking, ended = Parking(), list[bool]()

    async def drive(driving: Driving) -> None:
        ended.append(await parking.put("a", driving))

    driving = Driving()
    driving.task = asyncio.ensure_future(drive(driving))
    await asyncio.sleep(0)
    await asyncio.gather(*parking.clear())
    assert (ended, parking.clear()) == ([False], [])
