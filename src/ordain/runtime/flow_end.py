"""What a flow came to, live or in replay, and the awaiting of it: a flow awaits its port and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from types import coroutine
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.effects.children import NULL
from ordain.errors import FlowFault
from ordain.flows.kind import Kind, Settlement
from ordain.journal.folds import Fold
from ordain.journal.records import SETTLED, EndedBody, Status, raw
from ordain.ports.effects import Interrupted
from ordain.rules.header import MARKS, HeaderFacts, HeaderLine, render_header
from ordain.runtime.entries import stopped_text
from ordain.runtime.execution import Execution
from ordain.runtime.run_state import EFFECT_BYTES, RunState
from ordain.runtime.setup import RunSetup

LINE_DEPTH_MAX = 100
"""How deep a kind's own header line may be indented."""


class _Said(Struct, frozen=True):
    """What a kind says of an end, as a record can hold it."""

    reason: str
    told: str | None
    lines: tuple[HeaderLine, ...]


_SAID = msgspec.json.Decoder(_Said)


class FlowEnd(Struct, frozen=True, kw_only=True):
    """What a flow came to: how that settles its run, its output as JSON, what its session is told, and lines of its own for the header.

    ``returned`` is the output as the flow gave it; None where it gave none.
    """

    settlement: Settlement
    returned: Any = None
    output: Raw = NULL
    told: str | None = None
    lines: tuple[HeaderLine, ...] = ()

    @classmethod
    def of(cls, kind: Kind[Any, Any], returned: Any, *, masked: bool) -> FlowEnd:
        """What the flow returned, as its kind reads it.

        Raises:
            FlowFault: what the kind says of it is no end of a run.
        """
        settlement = kind.settled(returned, masked=masked)
        if type(settlement.status) is not Status or settlement.status not in SETTLED:  # a kind is foreign code here
            raise FlowFault(f"kind {kind.name}@{kind.version} settles a run as {settlement.status!r:.80}, and that settles none")
        told = None if kind.reply is None else kind.reply(returned)
        lines = () if kind.header is None else kind.header(returned)
        said = _said(f"kind {kind.name}@{kind.version}", settlement.reason, told, lines)
        settlement = Settlement(status=settlement.status, reason=said.reason)
        return cls(settlement=settlement, returned=returned, output=_output(returned), told=said.told, lines=said.lines)

    @classmethod
    def interrupted(cls, interrupted: Interrupted, *, masked: bool) -> FlowEnd:
        """The flow let an interrupt end it.

        Raises:
            FlowFault: none has reached it (``masked``), or it says no word for what it was.
        """
        if not masked:
            raise FlowFault("the flow raised an interrupt that nobody sent")
        said = _said("an interrupt", interrupted.what, stopped_text(Status.CANCELLED), ())
        return cls(settlement=Settlement(status=Status.CANCELLED, reason=said.reason), told=said.told)

    def record(self, fold: Fold) -> tuple[EndedBody, HeaderFacts]:
        """The run's last record, and the header's facts that are rendered there; ``fold`` is of all records before it."""
        fold.lines += self.lines
        header = fold.header(self.settlement.status, self.settlement.reason)
        ended = EndedBody(status=self.settlement.status, reason=self.settlement.reason, result=self.output, header=render_header(header))
        return ended, header


def _output(returned: Any) -> Raw:
    try:
        output = raw(returned)
        msgspec.json.decode(output)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise FlowFault(f"the flow returned what no record can hold: {str(error)[:200]}") from error
    if len(output) > EFFECT_BYTES:
        raise FlowFault(f"the flow returned {len(output)} bytes: an output has {EFFECT_BYTES} at most")
    return output


def _said(who: str, reason: Any, told: Any, lines: Any) -> _Said:
    try:
        said = _SAID.decode(raw(_Said(reason, told, lines)))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise FlowFault(f"{who} says of a run's end what no record can hold: {str(error)[:200]}") from error
    for line in said.lines:
        if line.mark not in MARKS or not 0 <= line.depth <= LINE_DEPTH_MAX:
            raise FlowFault(f"{who} has a header line with mark {line.mark[:20]!r} and depth {line.depth}")
    return said


async def flow_end(setup: RunSetup, execution: Execution, task: asyncio.Task[Any] | None = None) -> FlowEnd:
    """Run the flow to its end, and close its port behind it. Nothing else runs a flow.

    ``task`` is the one that it runs in, None where there is none (replay).

    Raises:
        FlowFault: it left something behind, awaited something other than its port, or its end is none. Whatever else a flow may raise.
    """
    state = execution.state
    try:
        try:
            returned = await _awaiting_its_port(setup.kind.run(setup.context(execution), setup.given), state, task)
        except Interrupted as interrupted:
            state.returned()
            return FlowEnd.interrupted(interrupted, masked=state.masked)
        state.returned()
        return FlowEnd.of(setup.kind, returned, masked=state.masked)
    finally:
        state.close()


@coroutine
def _awaiting_its_port(flow: Coroutine[Any, Any, Any], state: RunState, task: asyncio.Task[Any] | None) -> Generator[Any, Any, Any]:
    """Await the flow while it awaits its port: what else it awaits no record holds, so that live and replay would not stop at one place.

    Nor may it cancel the task that drives it. Within one step nobody else can have done that.
    """
    step: Callable[[Any], Any] = flow.send
    given: Any = None
    while True:
        cancels = 0 if task is None else task.cancelling()
        awaited = returned = None
        try:
            awaited = step(given)
            over = False
        except StopIteration as stop:
            over, returned = True, stop.value
        except BaseException:  # the flow's, whatever it is; only not where the flow has cancelled its task besides
            if task is None or task.cancelling() <= cancels:
                raise
            over = False
        finally:
            given = None  # an error that was thrown in would hold this frame, and the run with it
        if task is not None and task.cancelling() > cancels:
            state.fault = state.fault or FlowFault("the flow cancelled the task that drives it")
            yield from _uncancelled(task, cancels)
        elif over:
            return returned
        elif not state.under_way:
            state.fault = state.fault or FlowFault("the flow awaited something other than its port")
        else:
            try:
                given, step = (yield awaited), flow.send
            except BaseException as error:  # thrown into the flow, which is who may handle it
                given, step = error, flow.throw
            continue
        with suppress(Exception):  # the flow is given up, whatever it says to that
            flow.close()
        state.raise_fault()


def _uncancelled(task: asyncio.Task[Any], cancels: int) -> Generator[Any, Any, None]:
    """Take back a cancellation that has not arrived yet; on older Pythons it arrives all the same, and here."""
    while task.cancelling() > cancels:
        task.uncancel()
    with suppress(asyncio.CancelledError):
        yield
