"""What a flow comes to over its journal, whatever it does there: one function, held to the port as
live is.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from types import coroutine
from typing import Any

import msgspec
import pytest

from ordain.effects.effect import Wait, WaitFor
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.records import Status
from ordain.ports.effects import Interrupted
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.flow_outcome import (
    FlowOutcome,
    FlowRaised,
    NothingBeyond,
    OutOfJournal,
    flow_outcome,
)
from ordain.runtime.opening import root_run
from ordain.runtime.setup import RunSetup
from ordain.testing import catalog_of, kind_of
from tests.unit.flows.house import shipped

CATALOG = catalog_of()
WAIT = Wait(what=WaitFor.ANSWER, about="", deadline=10**15)


async def _ends(context: FlowContext, given: Any) -> str:
    return "done"


async def _waits(context: FlowContext, given: Any) -> None:
    await context.fx.perform(WAIT)


async def _swallows(context: FlowContext, given: Any) -> str:
    try:
        await context.fx.perform(WAIT)
    except BaseException:
        return "went on"
    return "never"


async def _breaks(context: FlowContext, given: Any) -> None:
    raise ZeroDivisionError


@coroutine
def _elsewhere() -> Generator[Any]:
    yield


async def _awaits_elsewhere(context: FlowContext, given: Any) -> None:
    await _elsewhere()


async def _says_it_was_interrupted(context: FlowContext, given: Any) -> None:
    raise Interrupted("cancel", "nobody", "")


def came_to(kind: Kind[Any, Any]) -> tuple[FlowOutcome, RunSetup, Any]:
    """The outcome of a run of this kind that has only begun; its setup and its port."""
    opened = root_run(kind, dry_opening(msgspec.Raw(b"null"), "r", 10**12), CATALOG)
    setup = RunSetup.of("r", kind, opened.started, CATALOG, Kinds((kind,)))
    execution = setup.execution((opened.record,), beyond := NothingBeyond(), setup.state(0))
    return flow_outcome(setup, execution, beyond), setup, execution


def test_a_flow_that_returns_has_ended() -> None:
    """As its kind reads it, with what it returned."""
    came, _, _ = came_to(kind_of(_ends))
    assert isinstance(came, FlowEnd)
    assert (came.returned, bytes(came.output), came.settlement.status) == (
        "done",
        b'"done"',
        Status.COMPLETED,
    )


@pytest.mark.parametrize("flow", [_waits, _swallows])
def test_where_its_journal_ends_it_has_come_to_nothing_else(flow: Any) -> None:
    """Whatever it makes of being stopped there."""
    assert came_to(kind_of(flow))[0] == OutOfJournal()


@pytest.mark.parametrize(
    ("flow", "raised"),
    [
        (_breaks, ZeroDivisionError),
        (_awaits_elsewhere, FlowFault),
        (_says_it_was_interrupted, FlowFault),
    ],
)
def test_what_it_raises_is_in_the_outcome(flow: Any, raised: type[Exception]) -> None:
    """A bug, and what no flow may do, live or here."""
    came, _, _ = came_to(kind_of(flow))
    assert isinstance(came, FlowRaised)
    assert type(came.error) is raised


def test_an_end_that_is_none_is_a_fault() -> None:
    """What the kind says of it is held to what a record can hold, as live."""
    came, _, _ = came_to(replace(kind_of(_ends), reply=lambda _: 5))  # type: ignore[arg-type, return-value]
    assert isinstance(came, FlowRaised)
    assert isinstance(came.error, FlowFault)


def test_its_port_is_closed_behind_it() -> None:
    """Nothing is asked of it any more."""
    _, setup, execution = came_to(kind_of(_ends))
    with pytest.raises(FlowFault, match="after the flow's end"):
        setup.context(execution).fx.authorize(None, setup.scope)  # type: ignore[arg-type]


def test_a_dry_run_holds_the_flow_to_its_port() -> None:
    """A flow that awaits something else is refused, and one that swallows being stopped has come to
    nothing.
    """
    policy = shipped().policy
    opening = dry_opening(msgspec.Raw(b"null"), "r", 10**12)
    with pytest.raises(FlowFault, match="awaited"):
        dry_run(kind_of(_awaits_elsewhere), opening, CATALOG, NothingSpent(policy), Kinds())
    assert dry_run(kind_of(_swallows), opening, CATALOG, NothingSpent(policy), Kinds())[0] is None
