"""Rule ``quorum``: have enough seats spoken for their council to go on (CNC-02)? A seat that is late, failed or said nothing is absent, and nothing stands in for it."""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

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


class QuorumMet(Struct, frozen=True, tag="met"):
    """The council goes on with those that have spoken."""


class QuorumMissed(Struct, frozen=True, tag="missed"):
    """The council ends here; ``needed`` seats would have been enough."""

    needed: int


class QuorumFacts(Struct, frozen=True, kw_only=True):
    """The round, from 1, how many seats were asked, and how many have spoken in time."""

    round: int
    seats: int
    spoken: int


def decide_quorum(facts: QuorumFacts, inputs: None, policy: Policy) -> Decision[QuorumMet | QuorumMissed]:
    """Policy's share of the seats, and one at least."""
    needed = max(1, ceil(policy.council.quorum * facts.seats))
    if facts.seats == 0:
        return Decision(outcome=QuorumMissed(needed=needed), reason=QuorumReason.NO_SEATS)
    if facts.spoken < needed:
        return Decision(outcome=QuorumMissed(needed=needed), reason=QuorumReason.MISSED)
    return Decision(outcome=QuorumMet(), reason=QuorumReason.ALL if facts.spoken >= facts.seats else QuorumReason.MET)


_FACTS = msgspec.json.Decoder(QuorumFacts)
_ALL, _MET = str(QuorumReason.ALL), str(QuorumReason.MET)


def _tells(recorded: Recorded) -> HeaderShare:
    """How many have spoken, where not all have."""
    if recorded.reason == _ALL:
        return SILENT
    facts = _FACTS.decode(recorded.facts)
    mark = "info" if recorded.reason == _MET else "fail"
    what = f"council round {facts.round}: {facts.spoken} of {facts.seats} seats spoke"
    return HeaderShare(lines=(HeaderLine(mark=mark, what=what, reason=recorded.reason),))


QUORUM: Rule[QuorumFacts, None, Any] = Rule(
    name="quorum", outcome=QuorumMet | QuorumMissed, apply=decide_quorum, reasons=(QuorumReason,), tells=_tells
)
