"""A flow run over its journal and no further, without an event loop: what it came to there. Replay,
the comparisons and rehearsals run flows so.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from msgspec import Raw, Struct

from ordain.effects.children import AnyEnded
from ordain.effects.effect import AnyEffect, Claim
from ordain.errors import JournalDiverged
from ordain.journal.records import DecisionBody
from ordain.rules.decision import Decision, Rule
from ordain.rules.recover import Recovering
from ordain.runtime.execution import Execution
from ordain.runtime.flow_end import FlowEnd, flow_end
from ordain.runtime.foreign_code import sent_by_signal
from ordain.runtime.setup import RunSetup


class EndOfJournal(BaseException):
    """The flow has done everything its journal holds."""


class NothingBeyond:
    """Implements ``Beyond`` where nothing goes live. ``reached``: the flow came here, whatever it
    made of being stopped.
    """

    reached = False

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        """Past the end."""
        raise self.stop()

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """Past the end."""
        raise self.stop()

    async def begin(self, addr: int, effect: AnyEffect, encoded: Raw) -> Any:
        """Past the end."""
        raise self.stop()

    async def resume(
        self,
        addr: int,
        effect: AnyEffect,
        ended: dict[int, AnyEnded],
        recover: Recovering | None = None,
    ) -> Any:
        """Past the end."""
        raise self.stop()

    def stop(self) -> EndOfJournal:
        """What to raise here; the flow is held to have come here from now on."""
        self.reached = True
        return EndOfJournal()


class OutOfJournal(Struct, frozen=True, kw_only=True):
    """The flow came to where its journal ends; what it did after that, it did not do live."""


class FlowRaised(Struct, frozen=True, kw_only=True):
    """The flow raised, or did what no flow may (``FlowFault``), or asked for other than what is
    recorded (``JournalDiverged``).
    """

    error: BaseException


FlowOutcome = FlowEnd | OutOfJournal | FlowRaised


def flow_outcome(
    setup: RunSetup, execution: Execution, beyond: NothingBeyond | None = None
) -> FlowOutcome:
    """Run the flow, held to its port as live; whatever a flow may raise is in the outcome, and its
    port is closed behind it.

    ``beyond`` is where the execution's journal ends; None where the flow goes on there, by a
    script.
    """
    try:
        came = _at_once(flow_end(setup, execution))
    except BaseException as error:  # a flow is foreign code: whatever it raises is what it came to
        if sent_by_signal(error):
            raise
        came = FlowRaised(error=error)
    return OutOfJournal() if beyond is not None and beyond.reached else came


def _at_once(flow: Coroutine[Any, Any, FlowEnd]) -> FlowEnd:
    """Run a coroutine that never really waits."""
    try:
        flow.send(None)
    except StopIteration as stop:
        return stop.value
    flow.close()
    raise JournalDiverged("the flow awaited something other than its port")
