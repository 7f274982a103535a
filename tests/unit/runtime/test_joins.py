"""Children and their joins: what a child begins with, when a join is over, and who is stopped
then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.verbs import PlanStep, VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import AnyEnded, Completed, Failed, Join, JoinMode, Spawn
from ordain.effects.effect import Children, Wait, WaitFor
from ordain.effects.results import Joined
from ordain.errors import FlowFault, FlowUnavailable
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Started, Status, raw
from ordain.rules.header import QUOTED_MAX, HeaderFacts, HeaderLine, quotable, render_header
from ordain.rules.spend import Spend
from ordain.runtime.authority import RUNS_MAX
from ordain.runtime.joins import (
    DEADLINE,
    NESTED_MAX,
    RESULTS_TOO_LARGE,
    HandedOver,
    handed_over,
    runs_share,
    started_child,
    why_over,
)
from ordain.runtime.replay import replay
from ordain.runtime.run_state import JOIN_BYTES, RunState
from ordain.testing import (
    ScriptedEffects,
    catalog_of,
    child_cancelled,
    child_failed,
    completed,
    joined,
    kind_of,
)
from tests.unit.runtime.house import BEGAN, SECOND, House, bodies, setup_of


async def _child(context: FlowContext, seconds: int) -> str:
    """Waits so long, and says what became of it."""
    if seconds:
        found = await context.fx.perform(
            Wait(what=WaitFor.TIMER, about="x", deadline=context.now() + seconds * SECOND)
        )
        return type(found).__name__
    return "at once"


async def _parent(context: FlowContext, given: dict[str, Any]) -> list[str]:
    """Opens children that wait so many seconds each, and joins them as it is told."""
    spawns = tuple(
        Spawn[Any](
            flow="child",
            input=raw(one),
            deadline=context.hard,
            allowance=context.share(len(given["children"])),
        )
        for one in given["children"]
    )
    deadline = given.get("deadline")
    until = Join(
        mode=JoinMode(given.get("mode", "all")),
        quorum=given.get("quorum", 1),
        deadline=None if deadline is None else context.now() + deadline * SECOND,
    )
    ended = await context.fx.children(spawns, until)
    return [type(one).__name__ for one in ended]


CHILD: Kind[Any, Any] = replace(kind_of(_child, charged=False), name="child")
PARENT: Kind[Any, Any] = replace(kind_of(_parent, charged=False), name="parent")
KINDS = Kinds((CHILD, PARENT))


# --- when a join is over --------------------------------------------------------------------------

ENDS = st.sampled_from([completed("x"), child_failed("broken"), child_cancelled()])
JOINS = st.one_of(
    st.just(Join()),
    st.just(Join(mode=JoinMode.FIRST)),
    st.integers(1, 6).map(lambda n: Join(mode=JoinMode.QUORUM, quorum=n)),
)


@given(JOINS, st.lists(ENDS, min_size=1, max_size=6), st.randoms())
def test_a_join_that_is_over_stays_over(until: Join, ends: list[AnyEnded], chance: Any) -> None:
    """Whatever ends after it, in whatever order; and with the last child every join is."""
    order = list(range(len(ends)))
    chance.shuffle(order)
    seen: dict[int, AnyEnded] = {}
    over = False
    for index in order:
        seen[index] = ends[index]
        now = why_over(until, len(ends), seen) is not None
        assert now or not over
        over = now
    assert over


@given(JOINS, st.lists(ENDS, min_size=1, max_size=6), st.integers(0, 5))
def test_a_number_is_waited_for_while_it_can_be_reached(
    until: Join, ends: list[AnyEnded], count: int
) -> None:
    """Only what completed counts; all of them wait for all."""
    seen = dict(enumerate(ends[:count]))
    done = sum(isinstance(end, Completed) for end in seen.values())
    open_still = len(ends) - len(seen)
    why = why_over(until, len(ends), seen)
    if open_still == 0:
        assert why == "all ended"
    elif until.mode is JoinMode.ALL:
        assert why is None
    else:
        wanted = until.quorum if until.mode is JoinMode.QUORUM else 1
        assert why == (
            f"{done} completed"
            if done >= wanted
            else "cannot be reached"
            if done + open_still < wanted
            else None
        )


# --- what a child begins with ---------------------------------------------------------------------


def spawn(flow: str = "child", **more: Any) -> Spawn[Any]:
    return Spawn(flow=flow, input=raw(0), deadline=BEGAN + 1, allowance=Spend(tokens=5), **more)


def test_a_child_has_its_parents_own_and_no_more_than_it_is_given() -> None:
    """Workspace, session, principal, subject and catalog are the parent's; scope, time and
    allowance the spawn's.
    """
    parent = setup_of(PARENT, {}, catalog_of(), session="s1", thread=2, depth=3)
    started = started_child(parent, KINDS, 7, 1, spawn(scope=("a.b",), keep_thoughts=False))
    began = parent.started
    for name in ("workspace", "session", "thread", "principal", "subject", "catalog", "wording"):
        assert getattr(started, name) == getattr(began, name)
    assert (started.parent, started.parent_addr, started.index, started.depth) == (
        parent.run,
        7,
        1,
        3,
    )
    assert (started.deadline, started.allowance, started.keep_thoughts) == (
        BEGAN + 1,
        Spend(tokens=5),
        False,
    )
    assert started.grant is not None
    assert started.grant.allowed == ("a.b",)


def test_a_flow_that_is_not_there_opens_nothing() -> None:
    """It is this build that lacks it."""
    with pytest.raises(FlowUnavailable):
        started_child(setup_of(PARENT, {}, catalog_of()), KINDS, 0, 0, spawn("other"))


@pytest.mark.parametrize(
    "permit", [None, Authorized(call=Call(verb="a.c", args={}), decision="0/authorize#0")]
)
def test_what_carries_out_a_verb_is_opened_by_a_permit_of_that_call(
    permit: Authorized | None,
) -> None:
    """No permit, and one of another call, are none."""
    carrying = replace(CHILD, carries=lambda _: Call(verb="a.b", args={}))
    with pytest.raises(FlowFault):
        started_child(
            setup_of(PARENT, {}, catalog_of()),
            Kinds((carrying, PARENT)),
            0,
            0,
            spawn(authorized=permit),
        )


@pytest.mark.parametrize(
    ("verb", "flow", "opened"),
    [("plan", "child", False), ("named", "child", True), ("named", "other", False)],
)
def test_what_carries_out_a_verb_is_the_kind_that_it_names(
    verb: str, flow: str, opened: bool
) -> None:
    """The permit of a call opens no run of another kind, whatever that says it carries out."""
    call = Call(verb=verb, args={})
    carrying = replace(CHILD, carries=lambda _: call)
    step = PlanStep(name="ask", order=0, services=["LLMGatewayService"], prompt_template="ask")
    plan = VerbSpec(name="plan", description="plan", effect=VerbEffect.READ, plan=[step])
    named = VerbSpec(name="named", description="named", effect=VerbEffect.READ, flow="child")
    parent = setup_of(PARENT, {}, catalog_of(verbs=[plan, named]))
    kinds = Kinds((carrying, replace(carrying, name="other"), PARENT))
    permit = Authorized(call=call, decision="0/authorize#0")
    if opened:
        assert started_child(parent, kinds, 0, 0, spawn(flow, authorized=permit)).flow == flow
        return
    with pytest.raises(
        FlowFault, match=f"a child run of {flow} for {verb}, which it does not carry out"
    ):
        started_child(parent, kinds, 0, 0, spawn(flow, authorized=permit))


def test_what_carries_out_no_verb_is_opened_by_no_permit() -> None:
    """Else its parent's header would say of a verb that never ran that it did."""
    permit = Authorized(call=Call(verb="a.b", args={}), decision="0/authorize#0")
    with pytest.raises(FlowFault, match=r"by a permit for a\.b"):
        started_child(
            setup_of(PARENT, {}, catalog_of()),
            Kinds((CHILD, PARENT)),
            0,
            0,
            spawn(authorized=permit),
        )


async def _nesting(context: FlowContext, given: int) -> int:
    child = Spawn[Any](
        flow="nesting", input=raw(given + 1), deadline=context.hard, allowance=Spend()
    )
    await context.fx.children((child,), Join())
    return given


async def test_children_end_somewhere() -> None:
    """A flow that opens itself stops as a fault, so many runs deep."""
    kind = replace(kind_of(_nesting, charged=False), name="nesting")
    with House(kind) as house:
        run, depth = await house.open(kind, 0), 0
        while (await house.drive(run)).status is Status.WAITING:
            run, depth = derived_id(run, 0, 0), depth + 1
        assert (depth, house.stored(run).nested, house.stored(run).status) == (
            NESTED_MAX,
            NESTED_MAX,
            Status.FAULTED,
        )


# --- how many there may be ------------------------------------------------------------------------

Tree = list[list[Any]]
"""What a run opens: joins one after the other, each with what its children open."""
TREES = st.recursive(
    st.just([]),
    lambda tree: st.lists(st.lists(tree, min_size=1, max_size=4), max_size=3),
    max_leaves=40,
)


def opened_below(state: RunState, tree: Tree, parent: Any) -> int:
    """Play a run's joins, each refused that may not be; how many runs there are then below it."""
    count = 0
    for join in tree:
        effect = Children(spawns=tuple(spawn() for _ in join), until=Join())
        try:
            state.authority.check(effect, parent.catalog)
        except FlowFault:
            break
        state.authority.made(effect)
        share, ends = runs_share(state, effect), list[AnyEnded]()
        for child in join:
            below = opened_below(
                setup_of(PARENT, {}, parent.catalog, runs=share).state(0), child, parent
            )
            ends.append(msgspec.structs.replace(completed("x"), runs=below))
        state.authority.ended(ends)
        count += len(join) + sum(end.runs for end in ends)
    return count


@given(TREES, st.integers(0, 30))
def test_there_are_never_more_runs_below_one_than_it_was_given(tree: Tree, most: int) -> None:
    """Whatever each of them opens, and in how many joins; and all of it where it is enough for one
    join after the other.
    """
    parent = setup_of(PARENT, {}, catalog_of(), runs=most)
    assert opened_below(parent.state(0), tree, parent) <= most
    flat: Tree = [[[]]] * (most + 1)
    assert opened_below(parent.state(0), flat, parent) == most


async def _twice(context: FlowContext, given: int) -> int:
    """Two joins of two, the first with children that open two more."""
    for inner in (given - 1, 0) if given else ():
        child = Spawn[Any](flow="twice", input=raw(inner), deadline=context.hard, allowance=Spend())
        await context.fx.children((child, child), Join())
    return given


async def test_a_join_gives_back_what_its_children_did_not_open() -> None:
    """Each child's first record has its share, each end how many it opened; the next join has the
    rest, and replay finds the same.
    """
    kind = replace(kind_of(_twice, charged=False), name="twice")
    with House(kind) as house:
        run = await house.open(kind, 2)

        async def to_the_end(one: str) -> int:
            for addr in range(3):
                if (await house.drive(one)).status is Status.COMPLETED:
                    break
                for index in range(2):
                    await to_the_end(derived_id(one, addr, index))
            stored = house.stored(one)
            assert stored.status is Status.COMPLETED
            assert replay(stored, house.catalog, house.kinds).equal
            return msgspec.json.decode(stored.records[0].body or b"", type=Started).runs or 0

        assert await to_the_end(run) == 0
        began = [
            house.bodies(derived_id(run, addr, index), RecordKind.STARTED)[0].runs
            for addr in (0, 1)
            for index in (0, 1)
        ]
        assert began == [(RUNS_MAX - 2) // 2] * 2 + [(RUNS_MAX - 2 - 2 * 4 - 2) // 2] * 2
        ends = [
            msgspec.json.decode(one.ended, type=AnyEnded).runs
            for one in house.bodies(run, RecordKind.CHILD_ENDED)
        ]
        assert ends == [4, 4, 0, 0]


# --- how much they may bring ----------------------------------------------------------------------

LARGE = 7 * 2**20


async def _long(context: FlowContext, given: int) -> str:
    return "x" * given


async def _gathers(context: FlowContext, given: list[int]) -> list[Any]:
    """Opens one that returns so much for each number, and says how they ended and how much there is
    of each.
    """
    spawns = tuple(
        Spawn[Any](flow="long", input=raw(one), deadline=context.hard, allowance=Spend())
        for one in given
    )
    ends = await context.fx.children(spawns, Join())
    return [
        [type(end).__name__, getattr(end, "reason", ""), len(bytes(getattr(end, "value", b"")))]
        for end in ends
    ]


LONG: Kind[Any, Any] = replace(kind_of(_long, charged=False), name="long")
GATHERS: Kind[Any, Any] = replace(kind_of(_gathers, charged=False), name="gathers")
GATHERED = [
    ["Completed", "", LARGE + 2],
    ["Completed", "", LARGE + 2],
    ["Failed", RESULTS_TOO_LARGE, 4],
    ["Completed", "", 7],
]


def test_a_long_header_costs_no_child_its_result() -> None:
    """Results and what is told besides them have each their bound: what a join has no room for is
    left out, and its figures stay.
    """
    line = HeaderLine(mark="ok", what="big.verb", excerpt="x" * 2**20)
    ended = bytes(raw(Completed(child="c", value=raw("done"), header=header_of("c", (line,) * 20))))
    assert len(ended) > JOIN_BYTES
    told = msgspec.json.decode(bytes(handed_over(HandedOver(), ended)), type=AnyEnded)
    assert (type(told), bytes(told.value), [one.what for one in told.header.lines]) == (
        *(Completed, b'"done"'),
        ["20 lines are left out here: run c has them"],
    )
    failed = msgspec.json.decode(
        bytes(handed_over(HandedOver(results=JOIN_BYTES), ended)), type=AnyEnded
    )
    assert (type(failed), failed.reason, len(failed.header.lines)) == (Failed, RESULTS_TOO_LARGE, 1)
    short = bytes(raw(Completed(child="c", value=raw("done"), header=header_of("c", (line,)))))
    assert bytes(handed_over(HandedOver(results=JOIN_BYTES - 6), short)) == short


@pytest.mark.parametrize("wakes", [False, True])
async def test_what_is_told_in_a_join_is_bounded_as_its_results_are(wakes: bool) -> None:
    """Reasons and headers of many: whoever ends when there is no room left is told in few words,
    and replays equal.
    """

    def fails(output: str) -> Settlement:
        return Settlement(status=Status.FAILED, reason="r" * LARGE)

    def lines(output: str) -> tuple[HeaderLine, ...]:
        return (HeaderLine(mark="info", what="w" * LARGE),) if output == "" else ()

    with House(replace(LONG, settle=fails, header=lines), GATHERS) as house:
        run = await house.open(GATHERS, [1, 1, 1, 0])
        await house.drive(run)
        for index in range(4):
            await house.drive(derived_id(run, 0, index))
            if wakes:
                await house.drive(run)
        await house.drive(run)
        stored = house.stored(run)
        assert stored.status is Status.COMPLETED
        (ended,) = house.bodies(run, RecordKind.ENDED)
        assert [len(one[1]) for one in msgspec.json.decode(ended.result)] == [LARGE, 100, 100, 100]
        assert "1 lines are left out here" in ended.header
        assert (
            sum(
                len(record.body or b"")
                for record in stored.records
                if record.kind is RecordKind.CHILD_ENDED
            )
            <= JOIN_BYTES
        )
        assert replay(stored, house.catalog, house.kinds).equal


def test_what_a_parent_is_told_is_what_can_be_quoted() -> None:
    """Of what lines quote no more than a rendering looks at, and equal when rendered."""
    whole = header_of(
        "c",
        tuple(HeaderLine(mark=mark, what="a", excerpt='x"✓ ' * 5000) for mark in ("ok", "fail")),
    )
    cut = quotable(whole)
    assert render_header(cut) == render_header(whole)
    assert all(len(line.excerpt) == QUOTED_MAX for line in cut.lines)


def header_of(run: str, lines: tuple[HeaderLine, ...]) -> HeaderFacts:
    """Facts of a run that did just this."""
    return HeaderFacts(
        run=run,
        flow="f@1",
        status="completed",
        reason="ok",
        models=(),
        notices=(),
        lines=lines,
        estimated=False,
        **dict.fromkeys(
            (
                "steps",
                "model_calls",
                "verb_calls",
                "tokens_in",
                "tokens_out",
                "usd_micros",
                "duration_ms",
            ),
            0,
        ),
    )


@pytest.mark.parametrize("wakes", [False, True])
async def test_a_join_hands_over_no_more_than_a_wake_may_read(wakes: bool) -> None:
    """Whoever ends when it is full has failed for it, one at a time or all at once; its own run
    keeps its result.
    """
    with House(LONG, GATHERS) as house:
        run = await house.open(GATHERS, [LARGE, LARGE, LARGE, 5])
        await house.drive(run)
        children = [derived_id(run, 0, index) for index in range(4)]
        for child in children:
            await house.drive(child)
            if wakes:
                await house.drive(run)
        await house.drive(run)
        stored = house.stored(run)
        assert stored.status is Status.COMPLETED
        assert msgspec.json.decode(house.bodies(run, RecordKind.ENDED)[0].result) == GATHERED
        handed = sum(
            len(record.body or b"")
            for record in stored.records
            if record.kind is RecordKind.CHILD_ENDED
        )
        assert LARGE < handed <= JOIN_BYTES
        assert house.stored(children[2]).status is Status.COMPLETED
        assert len(house.bodies(children[2], RecordKind.ENDED)[0].result) == LARGE + 2
        assert RESULTS_TOO_LARGE in house.bodies(run, RecordKind.ENDED)[0].header
        assert replay(stored, house.catalog, house.kinds).equal


def test_a_scripted_join_hands_over_as_much() -> None:
    """The same ends for the unit test of a flow."""
    values = [completed("x" * one) for one in (LARGE, LARGE, LARGE, 5)]
    assert (
        ScriptedEffects(GATHERS, catalog_of()).play([0, 0, 0, 0], [joined(*values)]).output
        == GATHERED
    )


# --- a join at work -------------------------------------------------------------------------------


async def begun(house: House, **given: Any) -> tuple[str, list[str]]:
    """A parent that waits for its children, and their ids."""
    run = await house.open(PARENT, given)
    assert (await house.drive(run)).status is Status.WAITING
    return run, [derived_id(run, 0, index) for index in range(len(given["children"]))]


def joined_as(house: House, run: str) -> tuple[tuple[int, ...], str]:
    """Which were counted in, and why it ended."""
    found = msgspec.json.decode(house.bodies(run, RecordKind.OBSERVATION)[-1].result, type=Joined)
    return found.counted, found.why


async def test_results_come_in_the_order_of_the_spawns() -> None:
    """Whoever ends first; a child's end is dated by when it ended."""
    with House(CHILD, PARENT) as house:
        run, (first, second) = await begun(house, children=[0, 0])
        await house.drive(second)
        house.clock.pass_s(5)
        await house.drive(first)
        house.clock.pass_s(5)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert [one.child for one in house.bodies(run, RecordKind.CHILD_ENDED)] == [second, first]
        ended = [one.at for one in house.stored(run).records if one.kind is RecordKind.CHILD_ENDED]
        assert ended == [BEGAN, BEGAN + 5 * SECOND]
        assert joined_as(house, run) == ((0, 1), "all ended")


async def test_the_rest_is_stopped_when_the_join_is_over() -> None:
    """And awaited: the parent goes on when all have settled, and knows which counted."""
    with House(CHILD, PARENT) as house:
        run, (slow, quick) = await begun(house, children=[60, 0], mode="first")
        for one in (slow, quick):
            await house.drive(one)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(slow)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((1,), "1 completed")
        assert bytes(house.bodies(run, RecordKind.ENDED)[0].result) == b'["Cancelled","Completed"]'


async def test_a_join_ends_with_its_deadline() -> None:
    """Who has ended by then counts; a child that ended before it and was noticed after it as
    well.
    """
    with House(CHILD, PARENT) as house:
        run, (quick, slow) = await begun(house, children=[0, 60], deadline=10)
        house.clock.pass_s(9)
        await house.drive(quick)
        await house.drive(slow)
        house.clock.pass_s(9)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(slow)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((0,), DEADLINE)


async def test_an_interrupt_waits_for_the_children() -> None:
    """They are stopped first; then it reaches the flow, and the run is cancelled."""
    with House(CHILD, PARENT) as house:
        run, (child,) = await begun(house, children=[60])
        await house.drive(child)
        await house.interrupt(run)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(child)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.CANCELLED
        assert [one.what for one in house.bodies(run, RecordKind.DELIVERED)] == ["cancel"]
        assert house.stored(child).reason == "cancel"


async def test_asking_twice_is_harmless() -> None:
    """A parent that is driven again before its children have stopped has one row in each
    mailbox.
    """
    with House(CHILD, PARENT) as house:
        run, (child,) = await begun(house, children=[60])
        await house.drive(child)
        await house.interrupt(run)
        for _ in range(3):
            await house.drive(run)
        assert len(house.store.untaken(child)) == 1


async def test_children_are_opened_in_the_unit_of_their_intent() -> None:
    """One commit: none without it, and each with what its spawn says."""
    with House(CHILD, PARENT) as house:
        run, children = await begun(house, children=[60, 0])
        assert [house.stored(one).parent for one in children] == [run, run]
        (intent,) = bodies(house.stored(run), RecordKind.INTENT)
        assert intent.addr == 0
        assert house.stored(children[0]).root == run
        assert [house.stored(one).status for one in children] == [Status.READY] * 2
