"""Plain functions in threads, which nothing can stop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ordain.verbs.threads import Threads


async def test_closing_waits_no_longer_than_it_is_given(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What runs by then is left behind in its thread, and told; what ends before is waited for."""
    threads, gate, begun = Threads(2), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def stays() -> None:
        loop.call_soon_threadsafe(begun.set)
        gate.wait(60)

    staying = asyncio.create_task(threads.run(stays, 60))
    ending = asyncio.create_task(threads.run(lambda: gate.wait(0.05), 60))
    await begun.wait()
    threads.end_within(0.3)
    await threads.close()
    assert "left in their threads: 1" in caplog.text
    assert ending.done()
    assert not staying.done()
    gate.set()
    await staying
    await threads.close()
