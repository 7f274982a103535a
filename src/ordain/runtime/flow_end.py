"""What a flow came to, live or in replay."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.effects.children import NULL
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kind import FailedStep, Kind, Settlement
from ordain.flows.pinned import profiled
from ordain.journal.folds import Fold
from ordain.journal.records import SETTLED, EndedBody, Status, raw
from ordain.ports.effects import Interrupted
from ordain.rules.header import MARKS, HeaderFacts, HeaderLine, render_header
from ordain.rules.profile import NoProfile
from ordain.runtime.entries import stopped_text
from ordain.runtime.execution import Execution
from ordain.runtime.flow_port import awaiting_its_port
from ordain.runtime.run_state import EFFECT_BYTES, RunState
from ordain.runtime.setup import RunSetup

PROFILE_NOT_FOUND = "profile_not_found"
LINE_DEPTH_MAX = 100
"""How deep a kind's own header line may be indented."""


class _Said(Struct, frozen=True):
    """What a kind says of an end, as a record can hold it."""

    reason: str
    told: str | None
    lines: tuple[HeaderLine, ...]
    failed: FailedStep | None = None


_SAID = msgspec.json.Decoder(_Said)


class FlowEnd(Struct, frozen=True, kw_only=True):
    """What a flow came to: how that settles its run, its output as JSON, what its session is told,
    and lines of its own for the header.

    ``returned`` is the output as the flow gave it; None where it gave none. ``failed`` is the call
    that it names as what it failed at.
    """

    settlement: Settlement
    returned: Any = None
    output: Raw = NULL
    told: str | None = None
    lines: tuple[HeaderLine, ...] = ()
    failed: FailedStep | None = None

    @classmethod
    def of(cls, kind: Kind[Any, Any], returned: Any, *, masked: bool) -> FlowEnd:
        """What the flow returned, as its kind reads it.

        Raises:
            FlowFault: what the kind says of it is no end of a run.
        """
        settlement = kind.settled(returned, masked=masked)
        # read once: a kind is foreign code here
        status, reason = settlement.status, settlement.reason
        if type(status) is not Status or status not in SETTLED:
            raise FlowFault(
                f"kind {kind.name}@{kind.version} settles a run as {status!r:.80}, and that "
                "settles none"
            )
        told = None if kind.reply is None else kind.reply(returned)
        lines = () if kind.header is None else kind.header(returned)
        failed = None if kind.failed is None else kind.failed(returned)
        said = _said(f"kind {kind.name}@{kind.version}", _Said(reason, told, lines, failed))
        return cls(
            settlement=Settlement(status=status, reason=said.reason),
            returned=returned,
            output=_output(returned),
            told=said.told,
            lines=said.lines,
            failed=said.failed,
        )

    @classmethod
    def interrupted(cls, interrupted: Interrupted, *, masked: bool) -> FlowEnd:
        """The flow let an interrupt end it.

        Raises:
            FlowFault: none has reached it (``masked``), or it says no word for what it was.
        """
        if not masked:
            raise FlowFault("the flow raised an interrupt that nobody sent")
        said = _said("an interrupt", _Said(interrupted.what, stopped_text(Status.CANCELLED), ()))
        return cls(
            settlement=Settlement(status=Status.CANCELLED, reason=said.reason), told=said.told
        )

    def record(self, fold: Fold) -> tuple[EndedBody, HeaderFacts]:
        """The run's last record, and the header's facts that are rendered there; ``fold`` is of all
        records before it.
        """
        fold.lines += self.lines
        header = fold.header(self.settlement.status, self.settlement.reason)
        ended = EndedBody(
            status=self.settlement.status,
            reason=self.settlement.reason,
            result=self.output,
            header=render_header(header),
            verdict=header.verdict,
        )
        return ended, header


def _output(returned: Any) -> Raw:
    try:
        output = raw(returned)
        msgspec.json.decode(output)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise FlowFault(f"the flow returned what no record can hold: {str(error)[:200]}") from error
    if len(output) > EFFECT_BYTES:
        raise FlowFault(
            f"the flow returned {len(output)} bytes: an output has {EFFECT_BYTES} at most"
        )
    return output


def _said(who: str, given: _Said) -> _Said:
    try:
        said = _SAID.decode(raw(given))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise FlowFault(
            f"{who} says of a run's end what no record can hold: {str(error)[:200]}"
        ) from error
    for line in said.lines:
        if line.mark not in MARKS or not 0 <= line.depth <= LINE_DEPTH_MAX:
            raise FlowFault(
                f"{who} has a header line with mark {line.mark[:20]!r} and depth {line.depth}"
            )
    return said


async def flow_end(
    setup: RunSetup, execution: Execution, task: asyncio.Task[Any] | None = None
) -> FlowEnd:
    """Run the flow to its end, and close its port behind it. Nothing else runs a flow.

    ``task`` is the one that it runs in, None where there is none (replay).

    Raises:
        FlowFault: it left something behind, awaited something other than its port, or its end is
            none. Whatever else a flow may raise.
    """
    try:
        return await awaiting_its_port(
            partial(_ended, setup, setup.context(execution), execution.state),
            execution,
            execution.state,
            task,
        )
    finally:
        execution.state.close()


async def _ended(setup: RunSetup, context: FlowContext, state: RunState) -> FlowEnd:
    """What its kind says of the end is code of an embedder as the flow is, and held to the same. It
    begins under the profile that holds.
    """
    try:
        under = context if setup.kind.profiles else await profiled(context)
        if isinstance(under, NoProfile):
            state.returned()
            # its rule has said so in the header
            return FlowEnd(settlement=Settlement(status=Status.FAILED, reason=PROFILE_NOT_FOUND))
        if under is not context:
            state.values.advice = under.advice
        returned = await setup.kind.run(under, setup.given)
    except Interrupted as interrupted:
        state.returned()
        return FlowEnd.interrupted(interrupted, masked=state.masked)
    state.returned()
    return FlowEnd.of(setup.kind, returned, masked=state.masked)
