"""Who waits for a run: everybody who does is told, once, and nobody else."""

from __future__ import annotations

from contextlib import ExitStack

from ordain.journal.records import Status
from ordain.runtime.waiters import Waiters


async def test_everybody_who_waits_for_a_run_is_told() -> None:
    """Of its end, and of no other run's."""
    waiters = Waiters()
    with waiters.waiting("a") as one, waiters.waiting("a") as two, waiters.waiting("b") as other:
        waiters.ended("a", Status.FAILED)
        assert (await one, await two) == (Status.FAILED, Status.FAILED)
        assert not other.done()


async def test_the_first_end_is_the_one_that_counts() -> None:
    """A run that comes to rest again is news to who waits from now on."""
    waiters = Waiters()
    with waiters.waiting("a") as first:
        waiters.ended("a", Status.FAULTED)
        with waiters.waiting("a") as second:
            waiters.ended("a", Status.COMPLETED)
            assert (await first, await second) == (Status.FAULTED, Status.COMPLETED)


async def test_who_has_left_is_not_told() -> None:
    """Whether it went away or was cancelled; who stays hears of the end all the same."""
    waiters = Waiters()
    with ExitStack() as stay:
        staying = stay.enter_context(waiters.waiting("a"))
        with waiters.waiting("a") as left:
            pass
        cancelled = stay.enter_context(waiters.waiting("a"))
        cancelled.cancel()
        waiters.ended("a", Status.COMPLETED)
        assert await staying is Status.COMPLETED
        assert not left.done()
        assert cancelled.cancelled()


async def test_the_end_of_the_engine_lets_everybody_go() -> None:
    """As running: that is no end, and they have to look for themselves."""
    waiters = Waiters()
    with waiters.waiting("a") as one, waiters.waiting("b") as two:
        waiters.release()
        assert (await one, await two) == (Status.RUNNING, Status.RUNNING)
