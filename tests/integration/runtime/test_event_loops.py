"""A flow that reaches for an event loop is refused at one place: live, resumed, replayed, rehearsed
and in its unit test, in a loop or out of one.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.effects.effect import Say, Wait, WaitFor
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.records import RecordKind, Status, raw
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from ordain.testing import ScriptedEffects, catalog_of, kind_of


def timer(context: FlowContext) -> Coroutine[Any, Any, Any]:
    """A wait that is soon over."""
    return context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=context.now()))


async def sleeps(_: FlowContext) -> None:
    await asyncio.sleep(0.001)


async def gives_way(_: FlowContext) -> None:
    await asyncio.sleep(0)


async def times_it(context: FlowContext) -> None:
    """The time-out would never fire."""
    call = timer(context)
    async with asyncio.timeout(60):
        await call


async def waits_for(context: FlowContext) -> None:
    await asyncio.wait_for(timer(context), 60)


async def gathers(context: FlowContext) -> None:
    await asyncio.gather(timer(context), timer(context))


async def makes_a_task(context: FlowContext) -> None:
    asyncio.ensure_future(timer(context))  # noqa: RUF006 - what it must not get


async def in_a_group(context: FlowContext) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(timer(context))


async def in_a_thread(_: FlowContext) -> None:
    await asyncio.to_thread(int)


async def waits_for_an_event(_: FlowContext) -> None:
    await asyncio.Event().wait()


async def swallows_it(_: FlowContext) -> None:
    """And returns as if nothing were."""
    with suppress(BaseException):
        asyncio.get_running_loop().create_future()


async def raises_another(_: FlowContext) -> None:
    """What it makes of being refused is not told."""
    try:
        await asyncio.sleep(1)
    except FlowFault:
        raise ValueError from None


FLOWS: dict[str, Callable[[FlowContext], Coroutine[Any, Any, None]]] = {
    one.__name__: one
    for one in (
        *(
            sleeps,
            gives_way,
            times_it,
            waits_for,
            gathers,
            makes_a_task,
            in_a_thread,
            waits_for_an_event,
        ),
        *(swallows_it, raises_another),
    )
}


async def logs(_: FlowContext) -> None:
    """From Python 3.12 on a line of a log says which task it is of."""
    assert asyncio.current_task() is None
    logging.getLogger("a.flow").warning("a line")


class AsksAsItGoes:
    """Foreign garbage whose end asks for the running loop, as connections that were left open
    do.
    """

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        with suppress(Exception):
            asyncio.get_running_loop().create_task(asyncio.sleep(0))


async def makes_much(_: FlowContext) -> None:
    """So much that the collector would look for garbage."""
    AsksAsItGoes()
    kept = [[number] for number in range(5_000)]
    assert len(kept) == 5_000


OTHERS = {one.__name__: one for one in (in_a_group, logs, makes_much)}


async def _run(context: FlowContext, given: str) -> str:
    await context.fx.perform(Say(text="first"))
    await {**FLOWS, **OTHERS}[given](context)
    return "done"


KIND: Kind[str, str] = replace(kind_of(_run, charged=False), name="looping")


@pytest.mark.parametrize("name", FLOWS)
async def test_a_loop_is_refused_in_every_mode(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With one fault that says so, and one verdict of replay wherever that runs."""
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(settings, extras=Extras(kinds=(KIND,))) as ordain:
        first = await ordain.runtime.open("looping", raw(name), "local:test")
        for count in (1, 2):
            stored = (await asyncio.wait_for(ordain.runtime.wait(first.run), 30)).stored
            assert stored.status is Status.FAULTED
            async with asyncio.timeout(30):  # the status is durable before the fault is logged
                while caplog.text.count("the flow awaited something other than its port") < count:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert sum(record.kind is RecordKind.FAULTED for record in stored.records) == count
            for report in (
                replay(stored, ordain.catalog, ordain.kinds),
                await asyncio.to_thread(replay, stored, ordain.catalog, ordain.kinds),
            ):
                assert (report.verdict, report.differences) == ("equal", [])
            if count == 1:
                await ordain.runtime.operators.resume(first.run, by="user:test")


@pytest.mark.parametrize("name", FLOWS)
async def test_a_loop_is_refused_where_nothing_is_live(name: str) -> None:
    """A unit test of the flow, and a dry run, which gets no further than its first words."""
    catalog = catalog_of(KIND)

    def dry() -> None:
        early = replace(KIND, run=lambda context, given: FLOWS[given](context))  # type: ignore[arg-type, return-value]
        dry_run(
            early,
            dry_opening(raw(name), "r", 10**15),
            catalog,
            NothingSpent(catalog.policy),
            Kinds(),
        )

    def scripted() -> None:
        ScriptedEffects(KIND, catalog).play(name)

    for mode in (dry, scripted):
        with pytest.raises(FlowFault, match="other than its port"):
            mode()
        with pytest.raises(FlowFault, match="other than its port"):
            await asyncio.to_thread(mode)


@pytest.mark.parametrize(
    ("name", "came"), [("in_a_group", Status.FAULTED), ("logs", Status.COMPLETED)]
)
async def test_a_flow_has_no_task_in_any_mode(tmp_path: Path, name: str, came: Status) -> None:
    """What needs one fails of itself, and what only asks goes on."""
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(settings, extras=Extras(kinds=(KIND,))) as ordain:
        first = await ordain.runtime.open("looping", raw(name), "local:test")
        stored = (await asyncio.wait_for(ordain.runtime.wait(first.run), 30)).stored
        assert stored.status is came
        for report in (
            replay(stored, ordain.catalog, ordain.kinds),
            await asyncio.to_thread(replay, stored, ordain.catalog, ordain.kinds),
        ):
            assert (report.verdict, report.differences) == ("equal", [])


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_of_others_is_no_doing_of_a_flow(collecting: bool) -> None:
    """What the collector finalizes does so between a flow's steps; whether it runs at all is left
    as it was.
    """
    before, was = gc.get_threshold(), gc.isenabled()
    try:
        gc.set_threshold(100)
        (gc.enable if collecting else gc.disable)()
        ScriptedEffects(KIND, catalog_of(KIND)).play("makes_much")
        assert gc.isenabled() is collecting
    finally:
        gc.set_threshold(*before)
        (gc.enable if was else gc.disable)()
