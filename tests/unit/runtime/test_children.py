"""What a child begins with, and how many there may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.verbs import PlanStep, VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import AnyEnded, Join, Spawn
from ordain.effects.effect import Children
from ordain.errors import FlowFault, FlowUnavailable
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Started, Status, raw
from ordain.rules.spend import Spend
from ordain.runtime.authority import RUNS_MAX
from ordain.runtime.children import NESTED_MAX, runs_share, started_child
from ordain.runtime.replay import replay
from ordain.runtime.run_state import RunState
from ordain.testing import (
    catalog_of,
    completed,
    kind_of,
)
from tests.unit.runtime.families import CHILD, KINDS, PARENT
from tests.unit.runtime.house import BEGAN, House, setup_of

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
