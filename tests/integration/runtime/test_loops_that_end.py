"""An Ordain whose event loop ended, or that finds none: the data folder is let go of, and whoever
asks is told what to do.
"""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain, verb
from ordain.errors import Conflict, StorageUnavailable


def started(home: Path) -> Ordain:
    """As whoever starts one in a loop that ends with the start."""

    async def start() -> Ordain:
        return await Ordain(home=home).start()

    return asyncio.run(start())


async def opened(home: Path) -> bool:
    async with Ordain(home=home):
        return True


async def stopped(ordain: Ordain) -> None:
    await ordain.stop()


def test_what_a_loop_left_open_can_be_stopped_from_another(tmp_path: Path) -> None:
    """Its folder is free then; before, whoever is turned away is told that it is this process."""
    left = started(tmp_path)
    with pytest.raises(StorageUnavailable) as refused:
        asyncio.run(opened(tmp_path))
    assert f"this process {os.getpid()}, in which an Ordain was started" in refused.value.message
    with pytest.raises(Conflict, match="keep one running in a thread"):
        left.from_thread(stopped(left))
    asyncio.run(stopped(left))
    asyncio.run(stopped(left))
    assert asyncio.run(opened(tmp_path))


def test_a_loop_of_another_kind_is_told(tmp_path: Path) -> None:
    """What drives coroutines without asyncio (trio does) is told that, before anything is open."""
    starting: Any = Ordain(home=tmp_path / "kept").start()
    with pytest.raises(Conflict, match="event loop of asyncio") as refused:
        starting.send(None)
    assert refused.value.code == "another_loop"
    assert asyncio.run(opened(tmp_path / "kept"))


def test_what_ran_when_its_loop_ended_holds_nobody_back(tmp_path: Path) -> None:
    """A loop that was closed over a verb: its end is not waited for, which nobody would hear of."""
    gate, ended = threading.Event(), list[bool]()

    @verb(effect="read", timeout_ms=60_000)
    def waits() -> dict[str, str]:
        """Wait."""
        ended.append(gate.wait(60))
        return {}

    ordain, loop = Ordain(home=tmp_path, verbs=[waits]), asyncio.new_event_loop()

    async def begin() -> None:
        await ordain.start()
        asyncio.ensure_future(ordain.execute("waits", {}))  # noqa: RUF006 - nobody waits for it
        await asyncio.sleep(0.3)

    loop.run_until_complete(begin())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    asyncio.run(stopped(ordain))
    assert asyncio.run(opened(tmp_path))
    assert ended == []
    gate.set()
