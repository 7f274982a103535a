"""Parents and children that do nothing but wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from ordain.effects.children import Join, JoinMode, Spawn
from ordain.effects.effect import Wait, WaitFor
from ordain.effects.results import Joined
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Status, raw
from ordain.testing import kind_of
from tests.unit.runtime.house import SECOND, House


async def _child(context: FlowContext, seconds: int) -> str:
    """Waits so long, and says what became of it."""
    if seconds:
        found = await context.fx.perform(
            Wait(what=WaitFor.TIMER, about="x", deadline=context.now() + seconds * SECOND)
        )
        return type(found).__name__
    return "at once"


async def _parent(context: FlowContext, given: dict[str, Any]) -> list[str]:
    """Opens children that wait so many seconds each, and joins them as it is told; ``theirs`` is
    how many they have, where that is less than it has itself.
    """
    spawns = tuple(
        Spawn[Any](
            flow="child",
            input=raw(one),
            deadline=min(context.hard, context.now() + given.get("theirs", 3600) * SECOND),
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


async def begun(house: House, **given: Any) -> tuple[str, list[str]]:
    """A parent that waits for its children, and their ids."""
    run = await house.open(PARENT, given)
    assert (await house.drive(run)).status is Status.WAITING
    return run, [derived_id(run, 0, index) for index in range(len(given["children"]))]


def joined_as(house: House, run: str) -> tuple[tuple[int, ...], str]:
    """Which were counted in, and why it ended."""
    found = msgspec.json.decode(house.bodies(run, RecordKind.OBSERVATION)[-1].result, type=Joined)
    return found.counted, found.why
