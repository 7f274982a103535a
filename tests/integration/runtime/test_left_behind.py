"""What a flow leaves behind, swaps or forges: nothing of it reaches the world, and nobody but its own run is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, structs

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Spawn
from ordain.effects.effect import VerbCall
from ordain.errors import LeaseLost
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import Status
from ordain.ports.effects import Suspended
from ordain.runtime.replay import replay
from ordain.settings import load_settings

CALLED: list[str] = []
TASKS: list[asyncio.Task[Any]] = []
LATER_S = 0.05


@verb(effect="read")
def echo_said(text: str) -> str:
    """Say the text again, and keep that it was said."""
    CALLED.append(text)
    return text


class Case(Struct, frozen=True):
    """Which of them it is."""

    name: str


@verb(effect="read")
def never_said(text: str) -> str:
    """Stands in no grant."""
    CALLED.append(text)
    return text


def permitted(context: FlowContext, name: str = "echo_said") -> VerbCall:
    """A call that a decision allows, where the verb is granted."""
    call = Call(verb=name, args={"text": "allowed"})
    decision = context.fx.authorize(call, context.scope)
    return VerbCall(authorized=Authorized(call=call, decision=decision.address), deadline=context.deadline)


async def after_the_end(context: FlowContext) -> None:
    """A task goes on when the flow is over."""
    effect = permitted(context)

    async def later() -> None:
        await asyncio.sleep(LATER_S)
        await context.fx.perform(effect)

    TASKS.append(asyncio.ensure_future(later()))


async def beside_the_end(context: FlowContext) -> None:
    """The flow ends while its effect is under way."""
    TASKS.append(asyncio.ensure_future(context.fx.perform(permitted(context))))
    await asyncio.sleep(0)


async def swapped(context: FlowContext) -> None:
    """The arguments become others while the record is being written."""
    effect = permitted(context)

    async def swap() -> None:
        effect.authorized.call.args["text"] = "swapped"

    TASKS.append(asyncio.ensure_future(swap()))
    await context.fx.perform(effect)


async def wider(context: FlowContext) -> None:
    """The scope that the flow was handed is written over; the run's own is another value."""
    structs.force_setattr(context.scope, "allowed", ("*",))
    await context.fx.perform(permitted(context, "never_said"))


async def smuggled(context: FlowContext) -> None:
    """A child's input says more than a value."""
    allowance = structs.replace(context.account.cap, tokens=0, usd_micros=0, model_calls=0, verb_calls=0)
    given = msgspec.Raw(b'{"name":"nothing"},"session":"victim","thread":7')
    await context.fx.children((Spawn(flow="left", input=given, allowance=allowance, deadline=context.deadline),), "all")  # pyright: ignore[reportArgumentType]


async def no_time(context: FlowContext) -> None:
    """A deadline that no record can hold."""
    await context.fx.perform(structs.replace(permitted(context), deadline=float("nan")))


async def lease_lost(_: FlowContext) -> None:
    """The flow says that the engine lost its lease."""
    raise LeaseLost("so says a flow")


async def waits_for_nothing(_: FlowContext) -> None:
    """The flow says that it waits."""
    raise Suspended


async def clears_the_catalog(context: FlowContext) -> None:
    """What all runs share is written to."""
    context.catalog.verbs.clear()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


async def clears_the_templates(context: FlowContext) -> None:
    """The same, a level deeper."""
    context.catalog.data.prompts.clear()


class Odd(BaseException):
    """No failure as others are."""


async def odd(_: FlowContext) -> None:
    """The flow raises what few catch."""
    raise Odd("so")


async def nothing(_: FlowContext) -> None:
    """Nothing."""


CASES: dict[str, Callable[[FlowContext], Awaitable[None]]] = {
    one.__name__: one
    for one in (
        *(after_the_end, beside_the_end, swapped, wider, smuggled, no_time, lease_lost, waits_for_nothing, odd, nothing),
        *(clears_the_catalog, clears_the_templates),
    )
}


async def run_left(context: FlowContext, given: Case) -> str:
    """Do what the case says."""
    await CASES[given.name](context)
    return "done"


LEFT: Kind[Case, str] = Kind(
    name="left",
    version=1,
    run=run_left,
    decode_input=msgspec.json.Decoder(Case).decode,
    settle=lambda _: Settlement(status=Status.COMPLETED, reason="ok"),
    grant=lambda _, __: CapabilityScope(allowed=("echo_said",)),
)


@pytest.mark.parametrize(
    ("name", "status", "called"),
    [
        ("nothing", Status.COMPLETED, []),
        ("after_the_end", Status.COMPLETED, []),
        ("beside_the_end", Status.FAULTED, []),
        ("swapped", Status.COMPLETED, ["allowed"]),
        ("wider", Status.FAULTED, []),
        ("smuggled", Status.FAULTED, []),
        ("no_time", Status.FAULTED, []),
        ("lease_lost", Status.FAULTED, []),
        ("waits_for_nothing", Status.FAULTED, []),
        ("odd", Status.FAULTED, []),
        ("clears_the_catalog", Status.FAULTED, []),
        ("clears_the_templates", Status.FAULTED, []),
    ],
)
async def test_nothing_reaches_the_world_that_no_record_holds(tmp_path: Path, name: str, status: Status, called: list[str]) -> None:
    """The run ends as it must, the verb was called with what stands on record, another run goes on, and the journal replays equal."""
    CALLED.clear()
    TASKS.clear()
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))) as ordain:
        first = await ordain.runtime.open("left", Case(name), "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert view.stored.status is status
        await asyncio.wait(TASKS, timeout=30) if TASKS else None
        other = await ordain.runtime.open("left", Case("nothing"), "local:test")
        assert (await asyncio.wait_for(ordain.runtime.wait(other.run), 30)).stored.status is Status.COMPLETED
        assert called == CALLED
        stored = ordain.store.load(first.run)
        assert stored is not None
        if name != "beside_the_end":  # whether its effect was announced depends on when the fault came
            report = replay(stored, ordain.catalog, ordain.kinds)
            assert (report.verdict, report.differences) == ("equal", [])
