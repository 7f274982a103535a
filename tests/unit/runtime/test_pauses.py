"""A watch over one call: it tells a stop and a sleep of the process from a call that merely takes
long.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from ordain.runtime.pauses import STEP_US, Pauses


class Wall:
    """A wall clock that stands unless it is moved."""

    def __init__(self) -> None:
        self.at = 0

    def now(self) -> int:
        return self.at


async def test_a_call_that_waits_loses_nothing() -> None:
    """However long the loop waits, as long as it can run."""
    with Pauses(Wall().now) as pauses:
        await asyncio.sleep(2.4 * STEP_US / 1e6)
        assert pauses.lost_us() == 0
    assert pauses.lost_us() == 0


async def test_a_stop_is_found_though_nothing_ran_meanwhile() -> None:
    """The loop cannot run, as while the process is stopped; afterwards it is known for good."""
    with Pauses(Wall().now) as pauses:
        time.sleep(3 * STEP_US / 1e6)  # noqa: ASYNC251 - it is the stop
        assert pauses.lost_us() >= STEP_US
        await asyncio.sleep(0)
        found = pauses.lost_us()
    assert pauses.lost_us() >= found >= STEP_US


@pytest.mark.parametrize("slept_us", [0, STEP_US, 3600 * 1_000_000])
async def test_a_sleep_is_found_by_the_wall_clock(slept_us: int) -> None:
    """The loop's clock stands while the machine sleeps."""
    wall = Wall()
    with Pauses(wall.now) as pauses:
        wall.at += slept_us
    lost = pauses.lost_us()
    assert (lost > 0) is (slept_us >= 2 * STEP_US)
    assert lost <= slept_us


async def test_the_watch_ends_with_its_call() -> None:
    """What comes later is none of its business."""
    wall = Wall()
    with Pauses(wall.now) as pauses:
        pass
    wall.at += 10 * STEP_US
    assert pauses.lost_us() == 0
