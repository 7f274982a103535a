"""A flow that waits for somebody, and what is asked of a run in a house in memory."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.effect import Say, Wait, WaitFor
from ordain.effects.results import Answered, Expired
from ordain.flows.context import FlowContext
from ordain.journal.records import RecordKind
from ordain.ports.effects import Interrupted
from ordain.runtime.replay import replay
from ordain.testing import kind_of
from tests.unit.runtime.house import SECOND, House


async def _waits(context: FlowContext, what: str) -> str:
    try:
        found = await context.fx.perform(
            Wait(what=WaitFor(what), about="x", deadline=context.now() + 60 * SECOND)
        )
    except Interrupted as interrupted:
        await context.fx.perform(Say(text="stopped"))
        return f"{interrupted.what} by {interrupted.by}"
    return (
        f"{found.value} by {found.by}"
        if isinstance(found, Answered)
        else f"expired {isinstance(found, Expired)}"
    )


WAITS = kind_of(_waits, charged=False)


def result(house: House, run: str) -> Any:
    """What the run came to."""
    (ended,) = house.bodies(run, RecordKind.ENDED)
    return msgspec.json.decode(ended.result)


def kinds(house: House, run: str) -> list[str]:
    """Its records but decisions, each with its name."""
    return [
        f"{one.kind} {one.name}"
        for one in house.stored(run).records
        if one.kind is not RecordKind.DECISION
    ]


def replays(house: House, run: str) -> bool:
    """Whether its replay is equal."""
    return replay(house.stored(run), house.catalog, house.kinds).equal
