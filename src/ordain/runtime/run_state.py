"""Where one execution of a run stands: what its two halves, the port over the journal and the live end behind it, both know."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import Effect, Read, Say
from ordain.errors import FlowFault
from ordain.flows.transcript import Transcript
from ordain.flows.values import Values
from ordain.journal.records import Record
from ordain.runtime.authority import Authority


class RunState:
    """What was handed to the flow and when, what the run may do, and how it stands.

    ``masked``: an interrupt has reached the flow. ``suspended``: the run waits, and its flow is being given up. ``decide_ns`` is the CPU
    time of rules since it was last counted.
    """

    def __init__(self, began: int, authority: Authority, transcript: Transcript | None = None) -> None:
        """``began`` is when the run was opened, in microseconds since 1970."""
        self.authority = authority
        self.handed_at = began
        self.values = Values(transcript)
        self.masked = False
        self.suspended = False
        self.decide_ns = 0

    def admit(self, effect: Effect[Any], catalog: Catalog) -> None:
        """An effect is about to go live: after an interrupt only words and reads may follow, and it is within what the run may do.

        Raises:
            FlowFault: it may not; nothing goes live.
        """
        if self.masked and not isinstance(effect, (Say, Read)):
            raise FlowFault(f"{type(effect).__name__} after an interrupt: only Say and Read may follow")
        self.authority.check(effect, catalog)
        self.authority.made(effect)

    def admit_claim(self) -> None:
        """A claim is about to be decided.

        Raises:
            FlowFault: an interrupt has reached the flow.
        """
        if self.masked:
            raise FlowFault("a claim after an interrupt: only Say and Read may follow")

    def handed(self, record: Record) -> None:
        """A record was handed to the flow: the flow's time moves."""
        self.handed_at = record.at

    def remember(self, value: Any, seq: int) -> Any:
        """Give a result its place in the journal, and keep it for references."""
        msgspec.structs.force_setattr(value, "seq", seq)
        self.values[seq] = value
        return value
