"""An Ordain works in one event loop of one process: whoever asks from elsewhere is told so, and
nothing is written there.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from threading import Thread, get_ident
from typing import Any

import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.errors import Conflict, StorageUnavailable
from ordain.ports.store import Operation
from ordain.runtime.replay import replay

PRODUCT = {"expression": "6 * 7"}
CALLS = 40


async def replays_equal(ordain: Ordain) -> int:
    """How many runs there are, each of which a replay makes again."""
    rows = await ordain.runtime.runs(limit=500)
    for row in rows:
        stored = ordain.store.stored(row.id)
        assert stored is not None
        catalog = await ordain.runtime.services.catalogs.pinned(stored.catalog)
        assert replay(stored, catalog, ordain.kinds).equal
    return len(rows)


async def test_threads_with_event_loops_of_their_own_are_refused_and_harm_nothing(
    tmp_path: Path,
) -> None:
    """Plain endpoints in worker threads that run `asyncio.run` over an Ordain of another loop: each
    is refused, none writes, the loop's own goes on.
    """

    def ask(_: int) -> str:
        try:
            asyncio.run(ordain.execute("math.evaluate", PRODUCT))
        except Conflict as error:
            return error.code
        return "done"

    async with Ordain(home=tmp_path) as ordain:
        with ThreadPoolExecutor(8) as threads:
            loop = asyncio.get_running_loop()
            asked = [loop.run_in_executor(threads, ask, number) for number in range(CALLS)]
            own = [(await ordain.execute("math.evaluate", PRODUCT)).ok for _ in range(5)]
            said = await asyncio.gather(*asked)
        assert set(said) == {"another_loop"}
        assert all(own)
        assert await replays_equal(ordain) == len(own)


async def test_a_plain_thread_asks_through_the_loop_that_it_belongs_to(tmp_path: Path) -> None:
    """`from_thread` awaits in the Ordain's own loop, from any number of threads; a loop in the way
    is told, and nothing is left unawaited.
    """

    def ask(_: int) -> Any:
        return ordain.from_thread(ordain.execute("math.evaluate", PRODUCT)).output

    async def beside() -> str:
        with pytest.raises(Conflict) as refused:
            ordain.from_thread(ordain.execute("math.evaluate", PRODUCT))
        return refused.value.code

    async with Ordain(home=tmp_path) as ordain:
        with ThreadPoolExecutor(8) as threads:
            loop = asyncio.get_running_loop()
            outputs = await asyncio.gather(
                *(loop.run_in_executor(threads, ask, number) for number in range(CALLS))
            )
            in_a_loop = await loop.run_in_executor(threads, asyncio.run, beside())
        assert {output["result"] for output in outputs} == {"42"}
        assert in_a_loop == await beside() == "another_loop"
        assert await replays_equal(ordain) == CALLS


async def test_what_kept_the_door_writes_nothing_from_another_loop(tmp_path: Path) -> None:
    """Whoever holds the store itself, past what looks who asks, is refused by the writer; the
    engine keeps its lease.
    """
    async with Ordain(home=tmp_path) as ordain:
        store = ordain.store

        async def write() -> None:
            await store.submit(Operation(name="beat", args={}))

        with pytest.raises(StorageUnavailable, match="another event loop"):
            await asyncio.to_thread(asyncio.run, write())
        assert (await ordain.execute("math.evaluate", PRODUCT)).ok


def test_it_is_not_stopped_from_another_loop_and_goes_on() -> None:
    """Stopping elsewhere is refused before anything is closed; then it goes on, and is stopped
    where it belongs.
    """
    ordain, loop = Ordain(extras=Extras(memory=True)), asyncio.new_event_loop()
    loop.run_until_complete(ordain.start())
    for elsewhere in (ordain.stop, ordain.reload):
        with pytest.raises(Conflict) as refused:
            asyncio.run(elsewhere())  # type: ignore[arg-type]
        assert refused.value.code == "another_loop"
    assert loop.run_until_complete(ordain.execute("math.evaluate", PRODUCT)).ok
    loop.run_until_complete(ordain.stop())
    loop.close()
    again = asyncio.new_event_loop()
    again.run_until_complete(ordain.start())
    assert again.run_until_complete(ordain.execute("math.evaluate", PRODUCT)).ok
    again.run_until_complete(ordain.stop())
    again.close()


async def test_who_starts_it_a_second_time_meanwhile_strands_nobody(tmp_path: Path) -> None:
    """Eight threads that enter one Ordain at once: one has it, the others are told, and the one
    ends it.
    """
    ordain = Ordain(home=tmp_path)

    async def enter() -> str:
        try:
            await ordain.start()
        except Conflict as error:
            return error.code
        done = await ordain.execute("math.evaluate", PRODUCT)
        await asyncio.sleep(0.2)
        await ordain.stop()
        return "ok" if done.ok else "failed"

    with ThreadPoolExecutor(8) as threads:
        loop = asyncio.get_running_loop()
        said = await asyncio.gather(
            *(loop.run_in_executor(threads, asyncio.run, enter()) for _ in range(8))
        )
    assert "ok" in said
    assert set(said) <= {"ok", "not_alone", "another_loop"}
    async with ordain:
        assert (await ordain.execute("math.evaluate", PRODUCT)).ok


async def test_where_its_start_failed_it_was_not_started(tmp_path: Path) -> None:
    """What is asked after a start that found the folder taken is told so, and no error of a closed
    database.
    """
    late = Ordain(home=tmp_path)
    async with Ordain(home=tmp_path):
        with pytest.raises(StorageUnavailable):
            await late.start()
    with pytest.raises(Conflict) as refused:
        await late.execute("math.evaluate", PRODUCT)
    assert refused.value.code == "not_started"


async def test_a_thread_that_gives_up_waiting_ends_the_work_where_it_runs() -> None:
    """What is no coroutine is told; a wait that is broken off cancels the work in its own loop,
    whose `finally` runs there.
    """
    ended = asyncio.Event()
    place: list[int] = []

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            place.append(get_ident())
            ended.set()

    async with Ordain(extras=Extras(memory=True)) as ordain:
        for wrong in (ordain.plan, ordain.stream("s"), 5):
            with pytest.raises(TypeError, match="a coroutine is awaited"):
                await asyncio.to_thread(ordain.from_thread, wrong)  # type: ignore[arg-type]

        def wait() -> None:
            with suppress(SystemExit):
                ordain.from_thread(long())

        waiting = Thread(target=wait, daemon=True)
        waiting.start()
        await asyncio.sleep(0.2)
        assert waiting.ident is not None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(waiting.ident), ctypes.py_object(SystemExit)
        )
        await asyncio.wait_for(ended.wait(), 30)
        await asyncio.to_thread(waiting.join, 30)
    assert place == [get_ident()]


def test_where_its_loop_was_closed_over_it_nothing_waits_for_ever() -> None:
    """Whoever closed the loop before the Ordain is told; its end lets go of what is open."""
    ordain, loop = Ordain(extras=Extras(memory=True)), asyncio.new_event_loop()
    loop.run_until_complete(ordain.start())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    with pytest.raises(Conflict, match="closed"):
        asyncio.run(ordain.execute("math.evaluate", PRODUCT))
    asyncio.run(ordain.stop())
    with pytest.raises(Conflict) as refused:
        asyncio.run(ordain.execute("math.evaluate", PRODUCT))
    assert refused.value.code == "not_started"


async def test_after_its_end_it_says_that_it_was_stopped() -> None:
    """Every call behind `async with` is `not_started`, a stream too: nothing that the same request
    could outwait.
    """
    async with Ordain(extras=Extras(memory=True)) as ordain:
        pass
    for ask in (
        lambda: ordain.execute("math.evaluate", PRODUCT),
        lambda: anext(ordain.stream("s")),
        lambda: ordain.chat("hello"),
    ):
        with pytest.raises(Conflict) as refused:
            await ask()
        assert refused.value.code == "not_started"
    with pytest.raises(Conflict):
        await asyncio.to_thread(ordain.from_thread, ordain.execute("math.evaluate", PRODUCT))


FORKING = """
    import asyncio, os, signal, sys
    from ordain import Ordain, verb
    from ordain.app import Extras
    from ordain.testing import ScriptedModels, call, finish

    home, log = sys.argv[1:]
    parent = os.getpid()

    def note(what):
        with open(log, "a") as file:
            print(what, "parent" if os.getpid() == parent else "copy", file=file)

    @verb(name="f.fork", effect="read")
    async def fork() -> dict[str, int]:
        "Copy the process, and go on in both."
        copied = os.fork() == 0
        if copied:
            signal.alarm(20)  # both read the wake-ups of one loop: a copy may sleep for ever, and then it carries nothing out
        return {"copied": int(copied)}

    @verb(name="f.pay", effect="private", arguments={"amount": "label"})
    async def pay(amount: int) -> dict[str, int]:
        "Pay."
        note("paid")
        return {"amount": amount}

    async def ticking():  # the copy takes wake-ups, and their pipe, out of what both wait with: none is waited for longer than this
        while True:
            await asyncio.sleep(0.05)

    async def main():
        kept = asyncio.ensure_future(ticking())
        models = ScriptedModels(planner=[call("f.fork"), call("f.pay", amount=1), call("f.pay", amount=2), finish("done")])
        goal = {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "f.fork"}, {"tool_id": "f.pay"}]}
        async with Ordain(home=home, extras=Extras(verbs=(fork, pay), models={"default": models})) as ordain:
            note((await asyncio.wait_for(ordain.plan(goal), 60)).status)

    try:
        asyncio.run(main())
    except BaseException as error:
        note(type(error).__name__)
        os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
async def test_a_copy_of_the_process_carries_nothing_out(tmp_path: Path) -> None:
    """A verb that forks and goes on in both processes: the copy calls no verb and writes nothing,
    and the run is the parent's to its end.
    """
    log = tmp_path / "log"
    command = (sys.executable, "-W", "ignore", "-c", dedent(FORKING), tmp_path / "home", log)
    ended = await asyncio.to_thread(
        subprocess.run, command, check=False, capture_output=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    said = log.read_text(encoding="utf-8").splitlines()
    assert [line for line in said if line.endswith("parent")] == [
        "paid parent",
        "paid parent",
        "ok parent",
    ]
    assert not [line for line in said if line in {"paid copy", "ok copy"}]
    async with Ordain(home=tmp_path / "home") as ordain:
        assert await replays_equal(ordain) >= 1
