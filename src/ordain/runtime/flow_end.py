"""What a flow came to, live or in replay."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from ordain.effects.children import NULL
from ordain.flows.kind import Kind, Settlement
from ordain.journal.folds import Fold
from ordain.journal.records import EndedBody, raw
from ordain.rules.header import HeaderFacts, HeaderLine, render_header


class FlowEnd(Struct, frozen=True, kw_only=True):
    """What a flow came to: how that settles its run, its output as JSON, what its session is told, and lines of its own for the header."""

    settlement: Settlement
    output: Raw = NULL
    told: str | None = None
    lines: tuple[HeaderLine, ...] = ()

    @classmethod
    def of(cls, kind: Kind[Any, Any], returned: Any, *, masked: bool) -> FlowEnd:
        """What the flow returned, as its kind reads it."""
        return cls(
            settlement=kind.settled(returned, masked=masked),
            output=raw(returned),
            told=None if kind.reply is None else kind.reply(returned),
            lines=() if kind.header is None else kind.header(returned),
        )

    def record(self, fold: Fold) -> tuple[EndedBody, HeaderFacts]:
        """The run's last record, and the header's facts that are rendered there; ``fold`` is of all records before it."""
        fold.lines += self.lines
        header = fold.header(self.settlement.status, self.settlement.reason)
        ended = EndedBody(status=self.settlement.status, reason=self.settlement.reason, result=self.output, header=render_header(header))
        return ended, header
