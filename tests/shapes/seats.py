"""A kind that brings a shared decision of its own: so many may sit in a room. A table, a rule and
its facts; no store knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ordain.effects.effect import Claim
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.shared_claim import SharedClaim
from ordain.journal.records import Status
from ordain.ports.shared import RowRead
from ordain.ports.writes import RowTable, TableRow
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason
from ordain.rules.shared import SharedRule

ROOMS = RowTable(name="rooms", key=("room",), columns=("taken",))


class SeatReason(Reason):
    """Why somebody has a seat, or none."""

    FREE = "seat.free", "A seat was free."
    FULL = "seat.full", "Every seat is taken."


class SeatFacts(Struct, frozen=True, kw_only=True):
    """A room as the transaction found it."""

    room: str
    seats: int
    taken: int


class Seated(Struct, frozen=True, tag="seated"):
    """Has this seat."""

    seat: int


class Standing(Struct, frozen=True, tag="standing"):
    """Has none."""


def _decide(facts: SeatFacts, _: None, __: Any) -> Decision[Any]:
    if facts.taken < facts.seats:
        return Decision(outcome=Seated(facts.taken + 1), reason=SeatReason.FREE)
    return Decision(outcome=Standing(), reason=SeatReason.FULL)


SEAT: Rule[SeatFacts, None, Any] = Rule(
    name="seat",
    outcome=Seated | Standing,
    apply=_decide,
    reasons=(SeatReason,),
    tells=tells_of("seat", SeatReason),
)


def _reads(args: Mapping[str, Any]) -> tuple[RowRead, ...]:
    return (RowRead(table=args.get("table", "rooms"), key=(args["room"],)),)


def _facts(args: Mapping[str, Any], row: tuple[Any, ...] | None) -> SeatFacts:
    return SeatFacts(room=args["room"], seats=args["seats"], taken=0 if row is None else row[0])


def _writes(facts: SeatFacts, outcome: Seated) -> tuple[TableRow, ...]:
    return (TableRow(table="rooms", key=(facts.room,), values=(outcome.seat,)),)


SEATS = SharedClaim(
    shared=SharedRule(rule=SEAT, facts=SeatFacts, grants=Seated),
    tables=(ROOMS,),
    reads=_reads,
    facts=_facts,
    writes=_writes,
)


class Asked(Struct, frozen=True, kw_only=True):
    """What is claimed, by which name."""

    room: str
    seats: int = 2
    name: str = "seat"
    table: str = "rooms"


async def _sit(context: FlowContext, asked: Asked) -> str:
    args = {"room": asked.room, "seats": asked.seats}
    if asked.table != "rooms":
        args["table"] = asked.table
    decision = await context.fx.claim(Claim(name=asked.name, args=args))
    return f"seat {decision.outcome.seat}" if isinstance(decision.outcome, Seated) else "no seat"


SITTING: Kind[Asked, str] = Kind(
    name="sitting",
    version=1,
    run=_sit,
    decode_input=lambda given: msgspec.json.decode(given, type=Asked),
    settle=lambda _: Settlement(status=Status.COMPLETED, reason="ok"),
    claims=(SEATS,),
)
