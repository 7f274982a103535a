"""Policy diff: exact up to the first effect that would differ, bounded past it, and nothing where
nothing changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.effects.children import Join, Spawn
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Status, raw
from ordain.ports.store import StoredRun
from ordain.runtime.diff import PolicyDiff, children_of, diff, with_lanes
from ordain.testing import (
    ScriptedEffects,
    call,
    catalog_of,
    completed,
    finish,
    joined,
    kind_of,
    returned,
    says,
    with_policy,
)
from tests.unit.flows.house import KINDS, play, shipped

REQUEST = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
FOUND = returned({"result": "42", "decimal": "42", "exact": True})
RUN = play(
    PLANNER, REQUEST, says("?"), call("math.evaluate", expression="6 * 7"), FOUND, finish("42")
)


def compare(stored: StoredRun = RUN.stored, **changes: Any) -> PolicyDiff:
    return diff(stored, shipped(), with_policy(shipped(), changes).policy, KINDS, lambda _: None)


@given(st.integers(1, len(RUN.stored.records)))
def test_the_same_policy_changes_nothing(length: int) -> None:
    """However far the run has come."""
    status = RUN.status if length == len(RUN.stored.records) else Status.RUNNING
    report = compare(
        msgspec.structs.replace(RUN.stored, records=RUN.stored.records[:length], status=status)
    )
    assert (report.verdict, report.frontier, report.flips) == ("compared", None, [])


def test_what_the_run_came_to_is_told() -> None:
    """Where there is no frontier: status and reason of the end."""
    assert compare().ended == (str(Status.COMPLETED), RUN.stored.reason)


def test_the_first_effect_that_would_differ_is_the_frontier() -> None:
    """Before it the other decision is certain; it is found by address, with both reasons."""
    report = compare(step={"reask": 0})
    (flip, *later) = report.flips
    assert (flip.rule, flip.exact, flip.recorded == flip.now) == ("reask", True, False)
    assert report.frontier is not None
    assert flip.address.startswith(f"{report.frontier}/")
    assert all(not one.exact for one in later)
    assert report.ended is not None
    assert report.ended[0] == Status.FAILED


def test_past_the_frontier_rules_are_only_asked() -> None:
    """On recorded facts, each address once; the exact pass made what stands before it."""
    everything = compare(step={"reask": 0}, verbs={"default": {"deny": ["math.*"]}})
    addresses = [one.address for one in everything.flips]
    assert len(addresses) == len(set(addresses))
    exact = {one.address for one in everything.flips if one.exact}
    assert exact <= everything.asked
    assert not {one.address for one in everything.flips if not one.exact} & everything.asked


@pytest.mark.parametrize("row", [{"key": None}, {"records": RUN.stored.records[1:]}])
def test_what_cannot_be_replayed_is_not_compared(row: dict[str, Any]) -> None:
    """The verdict says why, and nothing is claimed of it."""
    report = compare(msgspec.structs.replace(RUN.stored, **row), step={"reask": 0})
    assert report.verdict in ("erased", "journal_corrupt")
    assert (report.flips, report.frontier, report.ended) == ([], None, None)


def test_a_policy_without_profiles_keeps_those_that_were_pinned() -> None:
    """A file of policy need not repeat them; one that names its own is taken as it is."""
    pinned = shipped().policy
    bare = pinned.model_copy(update={"lanes": pinned.lanes.model_copy(update={"profiles": {}})})
    assert with_lanes(bare, pinned).lanes.profiles == pinned.lanes.profiles
    assert diff(RUN.stored, shipped(), bare, KINDS, lambda _: None).flips == []


# --- children -------------------------------------------------------------------------------------


async def _child(context: FlowContext, given: Any) -> str:
    return "done"


async def _parent(context: FlowContext, given: Any) -> str:
    for _ in range(2):
        child: Spawn[Any] = Spawn(
            flow="child", input=raw(None), deadline=context.hard, allowance=context.share(2)
        )
        await context.fx.children((child,), Join())
    return "joined"


def test_children_are_compared_with_their_parent() -> None:
    """Every one that has ended and can be loaded, at the effect that opened it."""
    catalog = catalog_of()
    child, parent = replace(kind_of(_child), name="child"), replace(kind_of(_parent), name="parent")
    stored = (
        ScriptedEffects(parent, catalog)
        .play(None, [joined(completed("a")), joined(completed("b"))])
        .stored
    )
    ids = [derived_id(stored.id, addr, 0) for addr in range(2)]
    assert children_of(stored) == list(enumerate(ids))
    ran = ScriptedEffects(child, catalog).play(None).stored
    report = diff(stored, catalog, catalog.policy, Kinds((child, parent)), {ids[0]: ran}.get)
    assert [(one.run, one.verdict, one.frontier) for one in report.children] == [
        (ran.id, "compared", None)
    ]


def test_children_that_are_still_at_work_are_compared() -> None:
    """The run waits for them, or was ended and saw no more of them: what was decided in them
    decides what is found of it.
    """
    catalog = catalog_of()
    child, parent = replace(kind_of(_child), name="child"), replace(kind_of(_parent), name="parent")
    stored = (
        ScriptedEffects(parent, catalog)
        .play(None, [joined(completed("a")), joined(completed("b"))])
        .stored
    )
    ids = [derived_id(stored.id, addr, 0) for addr in range(2)]
    last = max(n for n, one in enumerate(stored.records) if one.kind is RecordKind.CHILD_ENDED)
    waiting = msgspec.structs.replace(
        stored, records=stored.records[:last], status=Status.WAITING, head=None
    )
    assert children_of(waiting) == list(enumerate(ids))
    ran = ScriptedEffects(child, catalog).play(None).stored
    report = diff(waiting, catalog, catalog.policy, Kinds((child, parent)), lambda _: ran)
    assert [one.verdict for one in report.children] == ["compared", "compared"]


def test_what_names_its_catalog_is_no_other_by_that() -> None:
    """The other policy's catalog goes by the name of the one that the run pinned: an envelope that
    holds it is the same one.
    """

    async def _naming(context: FlowContext, given: Any) -> str:
        child: Spawn[Any] = Spawn(
            flow="child",
            input=raw(context.catalog.digest),
            deadline=context.hard,
            allowance=context.share(2),
        )
        await context.fx.children((child,), Join())
        return "named"

    catalog, parent = catalog_of(), replace(kind_of(_naming), name="naming")
    stored = ScriptedEffects(parent, catalog).play(None, [joined(completed("a"))]).stored
    other = with_policy(catalog, {"step": {"reask": 0}})
    assert other.digest != catalog.digest
    report = diff(stored, catalog, other.policy, Kinds((parent,)), lambda _: None)
    assert (report.flips, report.frontier, report.ended) == ([], None, ("completed", "ok"))


def test_a_child_past_its_parents_frontier_is_bounded() -> None:
    """Nobody knows whether it would have been opened."""
    catalog = shipped()

    async def _asking(context: FlowContext, given: Any) -> Any:
        outcome = await PLANNER.run(context, given)
        child: Spawn[Any] = Spawn(
            flow="child", input=raw(None), deadline=context.hard, allowance=context.share(2)
        )
        await context.fx.children((child,), Join())
        return outcome

    parent = replace(PLANNER, name="asking", run=_asking, wire=None)
    script = [
        says("?"),
        call("math.evaluate", expression="6 * 7"),
        FOUND,
        finish("42"),
        joined(completed("a")),
    ]
    stored = ScriptedEffects(parent, catalog).play(REQUEST, script).stored
    kinds, policy = Kinds((*KINDS.all, parent)), with_policy(catalog, {"step": {"reask": 0}}).policy
    report = diff(stored, catalog, policy, kinds, lambda _: RUN.stored)
    (child,) = report.children
    assert report.frontier is not None
    assert child.frontier == -1
    assert child.flips
    assert not any(flip.exact for flip in child.flips)
