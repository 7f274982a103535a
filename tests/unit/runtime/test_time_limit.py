"""Time-outs count time in which the process could work: the loop's clock is moved by hand, and
nothing waits for it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any
from weakref import ref

import pytest

from ordain.runtime.time_limit import LATE_S, PAUSE_US, SLICE_S, TimeLimit, ended_within


class _Wall:
    """A wall clock that stands unless it is moved."""

    def __init__(self) -> None:
        self.at = 0

    def now(self) -> int:
        return self.at


class _Moved(asyncio.SelectorEventLoop):
    """An event loop whose clock is moved by hand; in between it stands still."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 1000.0

    def time(self) -> float:
        return self.at


async def _ticks(seconds: float, step: float = 0.25) -> None:
    """So much time passes in which the loop is at work."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    for _ in range(round(seconds / step)):
        loop.at += step
        await _settle()


async def _stopped(seconds: float) -> None:
    """The process stands still for so long."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    loop.at += seconds
    await _settle()


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def moved(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test runs on a loop whose clock is moved."""

    @wraps(test)
    def run(*args: Any, **given: Any) -> None:
        with asyncio.Runner(loop_factory=_Moved) as runner:
            runner.run(test(*args, **given))

    return run


async def _limited(seconds: float | None, answer: asyncio.Future[str]) -> str:
    async with TimeLimit(seconds):
        return await answer


def _begun(seconds: float | None) -> tuple[asyncio.Task[str], asyncio.Future[str]]:
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    return asyncio.ensure_future(_limited(seconds, answer)), answer


@pytest.mark.parametrize("seconds", [0.5, 3.0, 7.25])
@moved
async def test_time_at_work_counts(seconds: float) -> None:
    """It is over when it is over, and not before."""
    task, _ = _begun(seconds)
    await _settle()
    await _ticks(seconds - 0.25)
    assert not task.done()
    await _ticks(0.5)
    with pytest.raises(TimeoutError):
        await task


@pytest.mark.parametrize("after", [0.0, 1.25, 2.75])
@moved
async def test_a_stop_longer_than_the_time_ends_nothing(after: float) -> None:
    """Whenever it comes: what is there when the process goes on is taken, and who has no answer has
    the time that is left.
    """
    task, answer = _begun(3.0)
    other, _ = _begun(3.0)
    await _settle()
    await _ticks(after)
    await _stopped(60.0)
    assert not task.done()
    answer.set_result("there")
    assert await task == "there"
    await _ticks(4.0 - after + 0.25)
    with pytest.raises(TimeoutError):
        await other


@moved
async def test_a_busy_machine_gives_no_time() -> None:
    """A timer that is a little late counts as it is."""
    task, _ = _begun(4.0)
    await _settle()
    await _stopped(SLICE_S + LATE_S)
    assert not task.done()
    await _ticks(1.75)
    with pytest.raises(TimeoutError):
        await task


@pytest.mark.parametrize("seconds", [1.0, 3.0])
@moved
async def test_an_answer_that_came_in_a_short_stop_is_taken(seconds: float) -> None:
    """The stop counts and the time is over by it; there is a moment to see what lies there, and no
    second one.
    """
    task, answer = _begun(seconds)
    other, _ = _begun(seconds)
    await _settle()
    await _ticks(seconds - 0.75)
    await _stopped(2.0)
    assert not task.done()
    answer.set_result("there")
    assert await task == "there"
    assert not other.done()
    await _stopped(2.0)
    with pytest.raises(TimeoutError):
        await other


@pytest.mark.parametrize(("runs", "most"), [(0.4, 2.5), (0.25, 2.5), (0.1, 5.0), (0.05, 5.0)])
@moved
async def test_who_stands_still_again_and_again_has_time_outs_too(runs: float, most: float) -> None:
    """Between two stops it works for less than a slice; its time ends all the same, after a few
    times as much at work.
    """
    task, _ = _begun(3.0)
    await _settle()
    worked = 0.0
    while not task.done():
        await _ticks(runs, 0.01)
        await _stopped(2.6)
        worked += runs
        assert worked <= most * 3.0 + runs
    assert worked >= 2.9
    with pytest.raises(TimeoutError):
        await task


@moved
async def test_none_is_no_limit_and_nothing_is_over_at_once() -> None:
    """Without a limit an answer may take its time; without time nothing may."""
    task, answer = _begun(None)
    none, _ = _begun(0.0)
    await _settle()
    await _ticks(100.0, 10.0)
    answer.set_result("late")
    assert await task == "late"
    with pytest.raises(TimeoutError):
        await none


@moved
async def test_what_is_left_is_told() -> None:
    """Who has used a part of a limit may use the rest of it."""
    limit = TimeLimit(5.0)
    async with limit:
        await _settle()
        await _ticks(1.5)
    assert limit.left_s == pytest.approx(3.5)


@moved
async def test_a_task_is_left_alone_whatever_comes_of_the_time() -> None:
    """Who looked goes on; the task as well."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    looked = asyncio.ensure_future(ended_within(answer, 1.0))
    await _settle()
    await _ticks(1.5)
    assert await looked is False
    assert not answer.cancelled()
    answer.set_result("there")
    assert await ended_within(answer, 1.0) is True


@moved
async def test_an_answer_that_came_in_the_last_moment_is_taken() -> None:
    """The answer and the end of the time come in one turn of the loop, and nobody has read the
    answer yet.
    """
    task, answer = _begun(0.5)
    await _settle()
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    loop.call_at(loop.at + 0.4, answer.set_result, "there")
    loop.at += 0.5
    await _settle()
    assert await task == "there"


@moved
async def test_who_is_cancelled_from_outside_is_cancelled() -> None:
    """Also where the time is over in the same moment: the cancellation is not swallowed as a
    time-out.
    """
    task, _ = _begun(0.5)
    await _settle()
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    loop.at += 0.5
    loop.call_at(loop.at, task.cancel)
    await _settle()
    with pytest.raises(asyncio.CancelledError):
        await task


@moved
async def test_limits_stand_in_each_other() -> None:
    """The inner one that is over leaves the outer one as it was, and the task goes on."""

    async def both() -> str:
        async with TimeLimit(5.0):
            try:
                async with TimeLimit(1.0):
                    await asyncio.get_running_loop().create_future()
            except TimeoutError:
                await asyncio.sleep(1.0)
            current = asyncio.current_task()
            assert current is not None
            return f"cancelled {current.cancelling()} times"

    task = asyncio.ensure_future(both())
    await _settle()
    await _ticks(3.0)
    assert await task == "cancelled 0 times"


@moved
async def test_a_call_that_waits_loses_nothing() -> None:
    """However long it waits, as long as the loop can run."""
    async with TimeLimit(100.0, _Wall().now) as limit:
        await _ticks(2.4)
        assert limit.lost_us() == 0
    assert limit.lost_us() == 0


@moved
async def test_a_stop_is_found_though_nothing_ran_meanwhile() -> None:
    """The loop cannot run, as while the process is stopped; afterwards it is known for good, and
    told of a call that is over, too.
    """
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    async with TimeLimit(100.0, _Wall().now) as limit:
        await _settle()
        loop.at += 1.5
        found = limit.lost_us()
        assert found == pytest.approx(1_000_000, abs=2)
        await _settle()
        await _ticks(3.0)
        assert limit.lost_us() == pytest.approx(found, abs=2)
    loop.at += 60
    assert limit.lost_us() == pytest.approx(found, abs=2)


@pytest.mark.parametrize("slept_us", [0, PAUSE_US, 3600 * 1_000_000])
@moved
async def test_a_sleep_is_found_by_the_wall_clock(slept_us: int) -> None:
    """The loop's clock stands while the machine sleeps; what comes after the call is none of its
    business.
    """
    wall = _Wall()
    async with TimeLimit(100.0, wall.now) as limit:
        wall.at += slept_us
    wall.at += 10 * PAUSE_US
    lost = limit.lost_us()
    assert (lost > 0) is (slept_us > PAUSE_US)
    assert lost <= slept_us


@moved
async def test_who_gives_no_clock_is_told_of_nothing() -> None:
    """A limit that nobody asks for pauses looks at no clock."""
    async with TimeLimit(100.0) as limit:
        await _stopped(60.0)
        assert limit.lost_us() == 0


@pytest.mark.parametrize("stop", [1.0, 1.5, 2.4, 60.0])
@pytest.mark.parametrize("offset", [0.0, 0.1, 0.3, 0.5])
@moved
async def test_a_stop_is_told_to_all_whenever_they_began(offset: float, stop: float) -> None:
    """One timer is for all of them, and none of them hears of less for that another began before
    it: all but a slice at the most.
    """
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Moved)
    first, _ = _begun(100.0)
    await _settle()
    loop.at += offset
    await _settle()
    async with TimeLimit(100.0, _Wall().now) as limit:
        await _settle()
        loop.at += stop
        assert stop - SLICE_S <= limit.lost_us() / 1e6 + 1e-5 <= stop + 1e-5
        await _settle()
        told = limit.lost_us()
        await _ticks(2.0)
        assert limit.lost_us() == told
    first.cancel()


@moved
async def test_one_that_cannot_be_counted_keeps_no_other_from_its_end() -> None:
    """The clock of one of them raises at a tick, which the loop hears of."""
    heard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: heard.append(context["message"])
    )
    asked = 0

    def broken() -> int:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise OSError("no clock")
        return 0

    async def counted() -> None:
        async with TimeLimit(100.0, broken):
            await asyncio.Event().wait()

    one = asyncio.ensure_future(counted())
    other, _ = _begun(1.5)
    await _settle()
    await _ticks(2.0)
    assert heard == ["a time-out cannot be counted"]
    with pytest.raises(TimeoutError):
        await other
    one.cancel()
    await asyncio.gather(one, return_exceptions=True)


def test_nothing_of_a_closed_loop_stays() -> None:
    """A time-out that nobody has ended is forgotten with its loop."""

    class Words:
        pass

    async def never(_: Words) -> None:
        async with TimeLimit(100.0):
            await asyncio.Event().wait()

    loop = asyncio.new_event_loop()
    words = Words()
    kept = ref(words)
    task = loop.create_task(never(words))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    task._log_destroy_pending = False
    del task, loop, words
    gc.collect()
    assert kept() is None
