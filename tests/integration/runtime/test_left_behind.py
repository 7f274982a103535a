"""What a flow leaves behind, swaps or forges: nothing of it reaches the world, and nobody but its
own run is stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, structs

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import ModelCall, Say, VerbCall, Wait, WaitFor
from ordain.errors import FlowFault, LeaseLost
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.digests import derived_id
from ordain.journal.records import Status
from ordain.ports.effects import Interrupted, Suspended
from ordain.rules.header import HeaderLine
from ordain.rules.spend import Spend
from ordain.rules.step import STEP
from ordain.runtime.authority import RUNS_MAX
from ordain.runtime.children import NESTED_MAX
from ordain.runtime.replay import replay
from ordain.runtime.run_state import CHILDREN_MAX
from ordain.settings import load_settings

CALLED: list[str] = []
TASKS: list[asyncio.Task[Any]] = []
HANDED: list[VerbCall] = []
AFTER: list[Callable[[], Awaitable[Any]]] = []
LATER_S = 0.05
FORKS = 100


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
    return VerbCall(
        authorized=Authorized(call=call, decision=decision.address), deadline=context.deadline
    )


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
    """The arguments become others while the record is being written: somebody else has hold of
    them.
    """
    effect = permitted(context)
    HANDED.append(effect)
    await context.fx.perform(effect)


async def swap_what_is_handed() -> None:
    """The somebody else."""
    while True:
        for effect in HANDED:
            effect.authorized.call.args["text"] = "swapped"
        await asyncio.sleep(0)


async def handed_on(context: FlowContext) -> None:
    """The port is left to somebody who uses it when the flow is over."""
    effect = permitted(context)
    AFTER.append(lambda: context.fx.perform(effect))


async def wider(context: FlowContext) -> None:
    """The scope that the flow was handed is written over; the run's own is another value."""
    structs.force_setattr(context.scope, "allowed", ("*",))
    await context.fx.perform(permitted(context, "never_said"))


async def smuggled(context: FlowContext) -> None:
    """A child's input says more than a value."""
    allowance = structs.replace(
        context.account.cap, tokens=0, usd_micros=0, model_calls=0, verb_calls=0
    )
    given = msgspec.Raw(b'{"name":"nothing"},"session":"victim","thread":7')
    await context.fx.children(
        (Spawn(flow="left", input=given, allowance=allowance, deadline=context.deadline),), "all"
    )  # pyright: ignore[reportArgumentType]


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


async def decides_for_ever(context: FlowContext) -> None:
    """Decisions without an effect let nobody else go on."""
    while True:
        context.fx.authorize(Call(verb="never_said", args={"text": "x"}), context.scope)


async def unreserved_for_ever(context: FlowContext) -> None:
    """Model calls that the budget does not cover: each is a decision, and none goes live."""
    profile = next(iter(context.catalog.data.profiles))
    call = ModelCall(
        purpose="nothing",
        refs=(),
        profile=profile,
        max_tokens=10**12,
        bound_tokens=10**12,
        deadline=context.deadline,
    )
    while True:
        await context.fx.perform(call)


async def foreign_rule(context: FlowContext) -> None:
    """A rule of the flow's own by the name of one that the house reads header lines from."""
    context.fx.decide(replace(STEP), Case("x"), None)  # pyright: ignore[reportArgumentType]


async def cancels(_: FlowContext) -> None:
    """Nobody cancelled anything."""
    raise asyncio.CancelledError


async def cancels_its_task(context: FlowContext) -> None:
    """The task that drives it is the engine's."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await context.fx.perform(permitted(context))


async def cancels_and_returns(_: FlowContext) -> None:
    """The same, with nothing after it."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def interrupts_itself(_: FlowContext) -> None:
    """An interrupt that nobody sent."""
    raise Interrupted("completed", "me", "why")


async def interrupts_with_anything(_: FlowContext) -> None:
    """The same, with what no record can hold."""
    raise Interrupted(object(), "me", "why")  # pyright: ignore[reportArgumentType]


async def waits_too_long(context: FlowContext) -> None:
    """A time that no clock reaches."""
    await context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=10**25))


async def joins_too_long(context: FlowContext) -> None:
    """The same of a join."""
    await context.fx.children((child(context),), Join(deadline=10**25))


async def swallows(context: FlowContext) -> None:
    """A fault is caught, and the flow goes on as if nothing were."""
    with suppress(FlowFault):
        await context.fx.perform(structs.replace(permitted(context), deadline=context.deadline + 1))
    with suppress(BaseException):
        await context.fx.perform(permitted(context))


async def gathers(context: FlowContext) -> None:
    """Two effects at once."""
    both = [act(context, Call(verb="echo_said", args={"text": text})) for text in ("one", "two")]
    try:
        await asyncio.gather(*both, return_exceptions=True)
    finally:
        both[1].close()


async def times_out(context: FlowContext) -> None:
    """A time-out of the flow's own breaks an effect off."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=context.deadline))
    await context.fx.perform(permitted(context))


def child(context: FlowContext, name: str = "nothing") -> Spawn[Any]:
    """A child that may do nothing."""
    return Spawn(
        flow="left",
        input=msgspec.Raw(msgspec.json.encode(Case(name))),
        allowance=Spend(),
        deadline=context.deadline,
    )


async def too_many(context: FlowContext) -> None:
    """More children than one join has."""
    await context.fx.children((child(context),) * (CHILDREN_MAX + 1), Join())


async def nests(context: FlowContext) -> None:
    """A child of a child, without end."""
    await context.fx.children((child(context, "nests"),), Join())


async def forks(context: FlowContext) -> None:
    """Each run opens a hundred like itself."""
    await context.fx.children((child(context, "forks"),) * FORKS, Join())


async def speaks_for_ever(context: FlowContext) -> None:
    """Words are effects that wait for nothing."""
    while True:
        await context.fx.perform(Say(text="again"))


async def says_why(_: FlowContext) -> None:
    """A bug that talks."""
    raise LookupError("what it worked with")


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
        *(
            after_the_end,
            beside_the_end,
            handed_on,
            swapped,
            wider,
            smuggled,
            no_time,
            lease_lost,
            waits_for_nothing,
            odd,
            nothing,
        ),
        *(
            clears_the_catalog,
            clears_the_templates,
            decides_for_ever,
            unreserved_for_ever,
            foreign_rule,
            cancels,
            cancels_its_task,
        ),
        *(
            cancels_and_returns,
            interrupts_itself,
            interrupts_with_anything,
            waits_too_long,
            joins_too_long,
            swallows,
            gathers,
        ),
        *(times_out, too_many, nests, forks, speaks_for_ever, says_why),
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
        ("after_the_end", Status.FAULTED, []),
        ("handed_on", Status.COMPLETED, []),
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
        ("decides_for_ever", Status.FAULTED, []),
        ("unreserved_for_ever", Status.FAULTED, []),
        ("foreign_rule", Status.FAULTED, []),
        ("cancels", Status.FAULTED, []),
        ("cancels_its_task", Status.FAULTED, []),
        ("cancels_and_returns", Status.FAULTED, []),
        ("interrupts_itself", Status.FAULTED, []),
        ("interrupts_with_anything", Status.FAULTED, []),
        ("waits_too_long", Status.FAULTED, []),
        ("joins_too_long", Status.FAULTED, []),
        ("swallows", Status.FAULTED, []),
        ("gathers", Status.FAULTED, []),
        ("times_out", Status.FAULTED, []),
        ("too_many", Status.FAULTED, []),
    ],
)
async def test_nothing_reaches_the_world_that_no_record_holds(
    tmp_path: Path, name: str, status: Status, called: list[str]
) -> None:
    """The run ends as it must, the verb was called with what stands on record, another run goes on,
    and the journal replays equal.
    """
    for kept in (CALLED, TASKS, HANDED, AFTER):
        kept.clear()
    settings, swapping = (
        load_settings(environment={}, home=tmp_path),
        asyncio.ensure_future(swap_what_is_handed()),
    )
    async with Ordain(
        settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))
    ) as ordain:
        first = await ordain.runtime.open("left", Case(name), "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert view.stored.status is status
        for left in AFTER:
            with pytest.raises(RuntimeError):
                await left()
        swapping.cancel()
        other = await ordain.runtime.open("left", Case("nothing"), "local:test")
        assert (
            await asyncio.wait_for(ordain.runtime.wait(other.run), 30)
        ).stored.status is Status.COMPLETED
        assert called == CALLED
        stored = ordain.store.stored(first.run)
        assert stored is not None
        report = replay(stored, ordain.catalog, ordain.kinds)
        assert (report.verdict, report.differences) == ("equal", [])


async def test_children_of_children_come_to_an_end(tmp_path: Path) -> None:
    """The last run that may be opens no more; the ones above it wait for it until somebody cancels
    them, which reaches all.
    """
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))
    ) as ordain:
        first = await ordain.runtime.open("left", Case("nests"), "local:test")

        def statuses() -> Counter[str]:
            return Counter(row[0] for row in ordain.store.query("SELECT status FROM runs"))

        async with asyncio.timeout(30):
            while not statuses()["faulted"]:  # noqa: ASYNC110 - nobody tells of a run that waits
                await asyncio.sleep(LATER_S)
        assert statuses() == {"waiting": NESTED_MAX, "faulted": 1}
        await ordain.runtime.operators.cancel(first.run, by="user:test", why="enough")
        await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert statuses() == {"cancelled": NESTED_MAX + 1}


async def logged(caplog: pytest.LogCaptureFixture, said: str, times: int) -> None:
    """So often, now or soon: a run's status is durable before its fault is logged."""
    async with asyncio.timeout(30):
        while caplog.text.count(said) < times:  # noqa: ASYNC110 - nobody tells of a log
            await asyncio.sleep(LATER_S)
    assert caplog.text.count(said) == times


async def test_runs_below_one_root_come_to_an_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Children share what their root may have below it: those that want more are faulted, resumed
    as well, and the log says the bound.
    """
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))
    ) as ordain:
        first = await ordain.runtime.open("left", Case("forks"), "local:test")

        def statuses() -> Counter[str]:
            return Counter(row[0] for row in ordain.store.query("SELECT status FROM runs"))

        async with asyncio.timeout(60):
            while statuses()["faulted"] < FORKS:  # noqa: ASYNC110 - nobody tells of a run that waits
                await asyncio.sleep(LATER_S)
        assert statuses() == {"waiting": 1, "faulted": FORKS}
        share = (RUNS_MAX - FORKS) // FORKS
        said = (
            f"100 children where {share} more runs may be opened: below one root there are "
            f"{RUNS_MAX} at most"
        )
        await logged(caplog, said, FORKS)
        one = derived_id(first.run, 0, 0)
        await ordain.runtime.operators.resume(one, by="user:test")
        await asyncio.wait_for(ordain.runtime.wait(one), 30)
        await logged(caplog, said, FORKS + 1)
        stored = ordain.store.stored(one)
        assert stored is not None
        assert replay(stored, ordain.catalog, ordain.kinds).equal
        await ordain.runtime.operators.cancel(first.run, by="user:test", why="enough")
        await asyncio.wait_for(ordain.runtime.wait(first.run), 60)
        assert statuses() == {"cancelled": FORKS + 1}


async def test_a_flow_that_only_speaks_lets_others_go_on(tmp_path: Path) -> None:
    """Another run gets its turn, what was said becomes durable meanwhile, and an interrupt reaches
    it.
    """
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))
    ) as ordain:
        first = await ordain.runtime.open("left", Case("speaks_for_ever"), "local:test")
        other = await ordain.runtime.open("left", Case("nothing"), "local:test")
        assert (
            await asyncio.wait_for(ordain.runtime.wait(other.run), 30)
        ).stored.status is Status.COMPLETED
        await ordain.runtime.operators.cancel(first.run, by="user:test", why="enough")
        view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert view.stored.status is Status.CANCELLED
        assert replay(view.stored, ordain.catalog, ordain.kinds).verdict == "equal"


def says(what: Any) -> Callable[[Any], Any]:
    """Of whatever the flow returned."""
    return lambda _: what  # pyright: ignore[reportUnknownLambdaType]


def settles(status: Any, reason: Any = "ok") -> Any:
    """However its flow ended."""
    return Settlement(status=status, reason=reason)


ENDS: dict[str, dict[str, Any]] = {
    "still_running": {"settle": says(settles(Status.RUNNING))},
    "faulted_by_itself": {"settle": says(settles(Status.FAULTED))},
    "no_status": {"settle": says(settles("completed"))},
    "weird_status": {"settle": says(settles("weird"))},
    "no_settlement": {"settle": says(None)},
    "no_reason": {"settle": says(settles(Status.COMPLETED, 5))},
    "half_a_letter": {"settle": says(settles(Status.COMPLETED, "\ud800"))},
    "no_lines": {"header": says((1, 2))},
    "no_mark": {"header": says((HeaderLine(mark="great", what="x"),))},
    "too_deep": {"header": says((HeaderLine(mark="ok", what="x", depth=10**12),))},
    "half_a_line": {"header": says((HeaderLine(mark="ok", what="\ud800"),))},
    "no_words": {"reply": says(7)},
}


@pytest.mark.parametrize("name", ENDS)
async def test_what_is_no_end_of_a_run_is_a_fault(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A kind's reading of its flow's output is checked where it is handed over: the run is faulted,
    at once, and says so in the log.
    """
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings, extras=Extras(kinds=(replace(LEFT, **ENDS[name]),), verbs=(echo_said, never_said))
    ) as ordain:
        first = await ordain.runtime.open("left", Case("nothing"), "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert view.stored.status is Status.FAULTED
        assert replay(view.stored, ordain.catalog, ordain.kinds).verdict == "equal"
    assert "could not be driven" not in caplog.text
    if name != "no_settlement":  # which is no refusal of ours, and its text may hold values
        assert "status=faulted error=FlowFault" in caplog.text
        assert "kind left@1" in caplog.text


async def test_the_log_of_a_fault_has_no_values_but_at_debug(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a flow raises is made of the values that it worked with: header and log name its type,
    the log its place, and at debug all of it.
    """
    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings, extras=Extras(kinds=(LEFT,), verbs=(echo_said, never_said))
    ) as ordain:
        for level, shown in (("INFO", False), ("DEBUG", True)):
            caplog.clear()
            with caplog.at_level(level, logger="ordain.run"):
                first = await ordain.runtime.open("left", Case("says_why"), "local:test")
                view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
                header = view.header
            assert "LookupError" in header
            assert "test_left_behind.py" not in header
            assert "error=LookupError at=test_left_behind.py" in caplog.text
            assert ("what it worked with" in caplog.text) is shown
            assert ("Traceback" in caplog.text) is shown


async def test_a_kind_that_cannot_read_its_own_input_stops_its_run(tmp_path: Path) -> None:
    """It could when the run was opened. The run is kept, visible, and resumable once the kind can
    again.
    """
    read: list[msgspec.Raw] = []

    def once(given: msgspec.Raw) -> Case:
        read.append(given)
        if len(read) == 2:
            raise AttributeError("not any more")
        return msgspec.json.decode(given, type=Case)

    settings = load_settings(environment={}, home=tmp_path)
    async with Ordain(
        settings,
        extras=Extras(kinds=(replace(LEFT, decode_input=once),), verbs=(echo_said, never_said)),
    ) as ordain:
        first = await ordain.runtime.open("left", Case("nothing"), "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        assert view.stored.status is Status.DIVERGED
        await ordain.runtime.operators.resume(first.run, by="user:test")
        assert (
            await asyncio.wait_for(ordain.runtime.wait(first.run), 30)
        ).stored.status is Status.COMPLETED
