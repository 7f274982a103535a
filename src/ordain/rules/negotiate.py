"""Rule ``negotiate``: which of several agents' results stands first (C6)?

The most confident one; who is nearly as confident supports it, and the consensus is their part of
all confidence there was. It orders results and decides nothing else: that none can be found breaks
no run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class NegotiateReason(Reason):
    """What a negotiation comes to."""

    AGREED = (
        "negotiate.agreed",
        "The most confident proposal stands first; those nearly as confident support it.",
    )
    TOO_FEW = "negotiate.too_few", "Fewer than two results: there is nothing to negotiate."
    NO_CONFIDENCE = (
        "negotiate.no_confidence",
        "Nobody is confident of anything: no result stands first.",
    )


class Agreed(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="agreed"):
    """The proposal that stands first, by its place, whose it is, who supports it, and how much of
    all confidence that is.
    """

    place: int
    agent: str
    consensus: float
    supporters: tuple[str, ...] = ()


class NotNegotiated(Struct, frozen=True, tag="not_negotiated"):
    """The results stand in their own order."""


class NegotiateFacts(Struct, frozen=True, kw_only=True):
    """How many proposals there are."""

    proposals: int


class AgentProposal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent found, and how confident it is of that (C6): as it ``said``, where that is a
    number from 0 to 1, else as its step was planned.
    """

    agent: str
    summary: str
    confidence: float
    rationale: str = ""
    said: Any = None

    @property
    def counted(self) -> float:
        """Its confidence."""
        said = self.said
        sure = not isinstance(said, bool) and isinstance(said, int | float) and 0 <= said <= 1
        return float(said) if sure else self.confidence


class NegotiateInputs(Struct, frozen=True, kw_only=True):
    """The proposals, in the order of their steps."""

    proposals: Sequence[AgentProposal]


def decide_negotiate(
    facts: NegotiateFacts, inputs: NegotiateInputs, policy: Policy
) -> Decision[Agreed | NotNegotiated]:
    """The first of the most confident ones."""
    proposals = inputs.proposals
    if len(proposals) < 2:
        return Decision(outcome=NotNegotiated(), reason=NegotiateReason.TOO_FEW)
    total = sum(one.counted for one in proposals)
    if total <= 0:
        return Decision(outcome=NotNegotiated(), reason=NegotiateReason.NO_CONFIDENCE)
    place = max(range(len(proposals)), key=lambda index: (proposals[index].counted, -index))
    best = proposals[place]
    near = [
        one
        for index, one in enumerate(proposals)
        if index != place and best.counted - one.counted <= policy.roster.agreement
    ]
    consensus = round(min(1.0, (best.counted + sum(one.counted for one in near)) / total), 6)
    agreed = Agreed(
        place=place,
        agent=best.agent,
        consensus=consensus,
        supporters=tuple(one.agent for one in near),
    )
    return Decision(outcome=agreed, reason=NegotiateReason.AGREED)


_OUTCOME: msgspec.json.Decoder[Agreed | NotNegotiated] = msgspec.json.Decoder(
    Agreed | NotNegotiated
)


def _tells(recorded: Recorded) -> HeaderShare:
    """Who stands first, and with whom."""
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, NotNegotiated):
        return SILENT
    with_whom = f" with {', '.join(outcome.supporters)}" if outcome.supporters else ""
    what = f"{outcome.agent} stands first{with_whom}, consensus {outcome.consensus:.2f}"
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


NEGOTIATE: Rule[NegotiateFacts, NegotiateInputs, Any] = Rule(
    name="negotiate",
    outcome=Agreed | NotNegotiated,
    apply=decide_negotiate,
    reasons=(NegotiateReason,),
    tells=_tells,
)
