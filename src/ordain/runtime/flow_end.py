"""What a flow came to, live or in replay."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from ordain.effects.children import NULL
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import raw
from ordain.rules.header import HeaderLine


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
