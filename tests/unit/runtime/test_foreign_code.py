"""What an embedder's code raises is named, and no signal; what a signal's handler raises is one wherever it comes."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from msgspec import Struct

from ordain.effects.children import Join, Spawn
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.journal.records import FaultedBody, RecordKind, Status, raw
from ordain.rules.decision import Decision, Rule
from ordain.rules.spend import Spend
from ordain.rules.step import StepReason
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.foreign_code import sent_by_signal
from ordain.runtime.replay import replay
from ordain.testing import catalog_of, kind_of
from tests.unit.runtime.house import House

CATALOG = catalog_of()


async def _done(context: FlowContext, given: Any) -> str:
    return "done"


def raises(error: BaseException) -> Callable[..., NoReturn]:
    def fails(*_: Any) -> NoReturn:
        raise error

    return fails


@contextmanager
def handling(number: int, handler: Any) -> Iterator[None]:
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def caught(raising: Callable[[], Any]) -> BaseException:
    try:
        raising()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


ERRORS = [TypeError("five"), KeyError("six"), SystemExit(7), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]


# --- signals -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt("x"), ValueError("y")])
def test_what_code_raises_is_no_signal(error: BaseException) -> None:
    """By whatever name, and whoever handles signals."""
    with handling(signal.SIGINT, signal.default_int_handler):
        assert not sent_by_signal(caught(raises(error)))
    assert not sent_by_signal(caught(sys.exit))


def _exits(*_: Any) -> None:
    sys.exit(3)


@pytest.mark.parametrize("handler", [_exits, raises(KeyboardInterrupt()), lambda *_: sys.exit(3)])  # pyright: ignore[reportUnknownLambdaType]
def test_what_a_handler_raises_is_a_signal(handler: Any) -> None:
    """Wherever it came, in a frame of its own."""
    with handling(signal.SIGTERM, handler):
        assert sent_by_signal(caught(lambda: signal.raise_signal(signal.SIGTERM)))


def test_pythons_own_handler_has_no_frame() -> None:
    """It stops what happens to run."""
    with handling(signal.SIGINT, signal.default_int_handler):
        assert sent_by_signal(caught(lambda: signal.raise_signal(signal.SIGINT)))


async def test_a_thread_gets_no_signals() -> None:
    """What is raised there is its own."""
    assert not sent_by_signal(await asyncio.to_thread(caught, sys.exit))


# --- runs --------------------------------------------------------------------------------------------------------------------------------


async def _exiting(context: FlowContext, given: Any) -> None:
    sys.exit(5)


async def _interrupting(context: FlowContext, given: Any) -> None:
    raise KeyboardInterrupt


async def _opens(context: FlowContext, given: Any) -> None:
    child = Spawn[Any](flow="bad", input=raw(None), deadline=context.hard, allowance=Spend())
    with suppress(BaseException):
        await context.fx.children((child,), Join())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"run": _exiting}, "SystemExit"),
        ({"run": _interrupting}, "KeyboardInterrupt"),
        ({"settle": raises(SystemExit())}, "SystemExit"),
        ({"settle": raises(KeyboardInterrupt())}, "KeyboardInterrupt"),
        ({"reply": raises(SystemExit())}, "SystemExit"),
        ({"header": raises(SystemExit())}, "SystemExit"),
    ],
)
async def test_who_would_end_the_process_ends_its_run(change: dict[str, Any], named: str) -> None:
    """As a fault that replays equal; the next run goes on."""
    kind = replace(kind_of(_done, charged=False), **change)
    with House(kind) as house:
        for _ in range(2):
            stored = await house.played(kind)
            assert stored.status is Status.FAULTED
            (fault,) = [body for body in house.bodies(stored.id, RecordKind.FAULTED) if isinstance(body, FaultedBody)]
            assert fault.error == named
            report = replay(stored, house.catalog, house.kinds)
            assert (report.verdict, report.differences) == ("equal", [])


def test_a_dry_run_of_it_is_a_fault() -> None:
    """Whoever rehearses it is told."""
    kind = replace(kind_of(_done), run=_exiting)
    with pytest.raises(FlowFault, match="the flow raised SystemExit"):
        dry_run(kind, dry_opening(raw(None), "r", 10**12), CATALOG, NothingSpent(CATALOG.policy), Kinds())


async def test_a_signal_while_a_flow_runs_still_stops_the_process() -> None:
    """A handler that exits is not taken for its flow's doing, nor is what Python's own makes of SIGINT."""

    async def run(context: FlowContext, given: int) -> None:
        with suppress(Exception):
            signal.raise_signal(given)

    kind = kind_of(run, charged=False)
    with House(kind) as house, handling(signal.SIGTERM, _exits), handling(signal.SIGINT, signal.default_int_handler):
        for number, raised in ((signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)):
            opened = await house.open(kind, int(number))
            with pytest.raises(raised):
                await house.drive(opened)
            assert house.stored(opened).status is Status.READY


class Looked(Struct, frozen=True):
    """Facts of nothing."""


@pytest.mark.parametrize("part", ["apply", "tells"])
async def test_a_rule_that_would_end_the_process_ends_its_run(part: str) -> None:
    """Swallowed by its flow or not; what it fails to tell of is told as what cannot be read."""
    made = Decision(outcome=Looked(), reason=StepReason.CALL)
    rule: Rule[Any, Any, Any] = Rule(name="looks", outcome=Looked, apply=lambda *_: made, reasons=(StepReason,))
    rule = replace(rule, **{part: raises(SystemExit(9))})  # type: ignore[arg-type]

    async def run(context: FlowContext, given: Any) -> str:
        for _ in range(2):
            with suppress(BaseException):
                context.fx.decide(rule, Looked(), None)
        return "done"

    kind = kind_of(run, rules=(rule,), charged=False)
    with House(kind) as house:
        stored = await house.played(kind)
        assert stored.status is (Status.FAULTED if part == "apply" else Status.COMPLETED)
        assert replay(stored, house.catalog, house.kinds).equal
        told = house.services.headers.own(stored).lines
        assert sum("cannot be read" in line.what for line in told) == (2 if part == "tells" else 0)
