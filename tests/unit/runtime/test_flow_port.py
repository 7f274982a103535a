"""The port as a flow holds it, and the awaiting of the flow: nothing but its port, and nothing of
whoever drives it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordain.effects.effect import Say
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.runtime.authority import Authority
from ordain.runtime.execution import Execution
from ordain.runtime.flow_port import FlowPort
from ordain.runtime.run_state import RunState
from ordain.runtime.setup import AccountView
from ordain.testing import ScriptedEffects, catalog_of, kind_of

INSIDE = (Authority, Execution, RunState)


def held(value: Any) -> list[Any]:
    """What plain attributes of a value lead to, methods' own ``__self__`` among it."""
    return [
        getattr(value, name)
        for name in dir(value)
        if not name.startswith("__") or name == "__self__"
    ]


async def _look(context: FlowContext, given: Any) -> bool:
    for facade in (context.fx, context.account):
        reached = held(facade)
        reached += [more for one in reached for more in held(one)]
        assert not any(isinstance(one, INSIDE) for one in reached)
    return isinstance(context.fx, FlowPort) and isinstance(context.account, AccountView)


def test_what_a_flow_holds_keeps_nothing_of_the_port_by_an_attribute() -> None:
    """Neither the port nor what it counts by; that is no sandbox."""
    assert ScriptedEffects(kind_of(_look), catalog_of()).play(None).output is True


async def _speaks(context: FlowContext, given: Any) -> str:
    second, first = context.fx.perform(effect=Say(text="two")), context.fx.perform(Say(text="one"))
    await first
    await second
    return "done"


async def _forgets(context: FlowContext, given: Any) -> str:
    context.fx.perform(Say(text="never"))  # pyright: ignore[reportUnusedCoroutine] - what is tested
    await context.fx.perform(Say(text="one"))
    return "done"


def test_a_call_begins_when_it_is_awaited() -> None:
    """By position or by name, and whenever it was asked for."""
    assert ScriptedEffects(kind_of(_speaks), catalog_of()).play(None).said == ("one", "two")


def test_a_call_that_is_never_awaited_is_a_fault() -> None:
    """Nobody has made it, so no flow may end as though somebody had."""
    with pytest.raises(
        FlowFault, match="returned without awaiting what it asked of its port: perform"
    ):
        ScriptedEffects(kind_of(_forgets), catalog_of()).play(None)


async def _sleeps(context: FlowContext, given: Any) -> None:
    await asyncio.sleep(1)


async def test_a_loop_is_there_again_when_the_flow_gives_up() -> None:
    """What drives a flow has its own loop, whatever the flow came to."""
    loop = asyncio.get_running_loop()
    with pytest.raises(FlowFault, match="create_future"):
        ScriptedEffects(kind_of(_sleeps), catalog_of()).play(None)
    assert asyncio.get_running_loop() is loop


def _begins_badly(context: FlowContext, given: Any) -> Any:
    asyncio.get_running_loop().create_future()


def test_a_flow_is_begun_without_a_loop_too() -> None:
    """What is called before the first await is the flow's as well."""
    with pytest.raises(FlowFault, match="create_future"):
        ScriptedEffects(kind_of(_begins_badly), catalog_of()).play(None)
