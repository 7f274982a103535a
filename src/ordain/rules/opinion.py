"""Rule ``opinion``: does a seat's answer say anything (CNC-02)? An object of exactly the contract's
shape, or nothing: prose is no opinion.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.council import Opinion, read_proposal
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason


class OpinionReason(Reason):
    """Whether a seat's answer is an opinion."""

    GIVEN = "opinion.given", "The answer is an opinion."
    INVALID = (
        "opinion.invalid",
        "The answer is not of the opinion's shape, so that the seat says nothing.",
    )


class Opined(Struct, frozen=True, tag="opined"):
    """The seat has spoken."""


class Mute(Struct, frozen=True, tag="mute"):
    """The seat is as good as absent."""


class OpinionFacts(Struct, frozen=True, kw_only=True):
    """The answer's size in bytes."""

    size_bytes: int


class OpinionInputs(Struct, frozen=True, kw_only=True):
    """The answer as parsed."""

    proposal: Parsed | Unparsed


def decide_opinion(
    facts: OpinionFacts, inputs: OpinionInputs, policy: Policy
) -> Decision[Opined | Mute]:
    """Exactly the shape, or nothing."""
    if (
        isinstance(inputs.proposal, Parsed)
        and read_proposal(inputs.proposal.value, Opinion) is not None
    ):
        return Decision(outcome=Opined(), reason=OpinionReason.GIVEN)
    return Decision(outcome=Mute(), reason=OpinionReason.INVALID)


OPINION: Rule[OpinionFacts, OpinionInputs, Any] = Rule(
    name="opinion", outcome=Opined | Mute, apply=decide_opinion, reasons=(OpinionReason,)
)
