"""Rule ``quorum``: have enough seats spoken for their council to go on (CNC-02)? A seat that is
late, failed or said nothing is absent, and nothing stands in for it.

Each seat speaks in a run of its own. A round whose seats are more than the runs that may still be
opened is refused before anybody is asked.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class QuorumReason(Reason):
    """Whether enough of a council's seats have spoken."""

    ALL = "quorum.all", "Every seat has spoken."
    MET = "quorum.met", "As many seats as policy asks for have spoken; the others are absent."
    MISSED = "quorum.missed", "Fewer seats have spoken than policy asks for."
    NO_SEATS = "quorum.no_seats", "The council has no seats."
    NO_ROOM = (
        "quorum.no_room",
        "The council has more seats than runs may still be opened, so nobody is asked.",
    )


NO_ROOM = "budget"
ABSENT_TOLD = 8
"""So many seats are named that said nothing."""


class QuorumMet(Struct, frozen=True, tag="met"):
    """The council goes on with those that have spoken."""


class QuorumMissed(Struct, frozen=True, tag="missed"):
    """The council ends here; ``needed`` seats would have been enough."""

    needed: int


class RoundRefused(Struct, frozen=True, tag="refused"):
    """The round does not begin; ``code`` is the wire's."""

    code: str


QuorumOutcome = QuorumMet | QuorumMissed | RoundRefused


class QuorumFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round, from 1, how many seats it has, and how many have spoken in time.

    ``room``: how many runs may still be opened, of a round that has not begun; left out of one in
    which the seats were asked. ``absent`` are the first that said nothing, and why; left out where
    the seats' runs are of version 1, as of every council before.
    """

    round: int
    seats: int
    spoken: int
    room: int | UnsetType = UNSET
    absent: tuple[str, ...] = ()


def decide_quorum(facts: QuorumFacts, inputs: None, policy: Policy) -> Decision[QuorumOutcome]:
    """A run for each seat; then policy's share of the seats, and one at least."""
    if facts.room is not UNSET and facts.room < facts.seats:
        return Decision(outcome=RoundRefused(code=NO_ROOM), reason=QuorumReason.NO_ROOM)
    needed = max(1, ceil(policy.council.quorum * facts.seats))
    if facts.seats == 0:
        return Decision(outcome=QuorumMissed(needed=needed), reason=QuorumReason.NO_SEATS)
    if facts.spoken < needed:
        return Decision(outcome=QuorumMissed(needed=needed), reason=QuorumReason.MISSED)
    return Decision(
        outcome=QuorumMet(),
        reason=QuorumReason.ALL if facts.spoken >= facts.seats else QuorumReason.MET,
    )


_FACTS = msgspec.json.Decoder(QuorumFacts)
_ALL, _MET = str(QuorumReason.ALL), str(QuorumReason.MET)


def _tells(recorded: Recorded) -> HeaderShare:
    """How many have spoken, where not all have."""
    if recorded.reason == _ALL:
        return SILENT
    facts = _FACTS.decode(recorded.facts)
    if facts.room is not UNSET:
        what = (
            f"council round {facts.round} refused: {facts.seats} seats, and {facts.room} more "
            "runs may be opened"
        )
        return HeaderShare(lines=(HeaderLine(mark="fail", what=what, reason=recorded.reason),))
    mark = "info" if recorded.reason == _MET else "fail"
    what = f"council round {facts.round}: {facts.spoken} of {facts.seats} seats spoke"
    if facts.absent:
        more = facts.seats - facts.spoken - len(facts.absent)
        what += f"; absent: {', '.join(facts.absent)}{f' and {more} more' if more > 0 else ''}"
    return HeaderShare(lines=(HeaderLine(mark=mark, what=what, reason=recorded.reason),))


QUORUM: Rule[QuorumFacts, None, Any] = Rule(
    name="quorum", outcome=QuorumOutcome, apply=decide_quorum, reasons=(QuorumReason,), tells=_tells
)
