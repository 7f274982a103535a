"""Rule ``suggestion``: what counts as a model's suggestion of a message's class (RTE-03, RTE-05).
Whether it is possible here rule ``attach`` decides.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.attach import Attached
from ordain.rules.decision import Decision, Rule
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason

SUGGESTED: Final = (
    Attached.OVERRIDE,
    Attached.STATUS_NUDGE,
    Attached.ANSWER,
    Attached.FILLER,
    Attached.NEW_REQUEST,
)
"""The classes that a model may suggest (RTE-05)."""
SUGGESTION_KEYS: Final = frozenset({"type", "thread", "confidence"})


class SuggestionReason(Reason):
    """Whether a model's answer is a suggestion."""

    MADE = "suggestion.made", "The answer is of exactly the contract's shape."
    NONE = "suggestion.none", "No model was asked, or none answered."
    INVALID = "suggestion.invalid", "The answer is not of its contract's shape."


class Suggested(Struct, frozen=True, kw_only=True, tag="suggested"):
    """What the model suggests: a class, a thread (0: none), and how sure it is, from 0 to 1."""

    attached: Attached
    thread: int
    confidence: float


class Unsuggested(Struct, frozen=True, kw_only=True, tag="unsuggested"):
    """There is no suggestion."""


class SuggestionFacts(Struct, frozen=True, kw_only=True):
    """Whether an answer was had, and its size in bytes."""

    answered: bool
    size_bytes: int = 0


class SuggestionInputs(Struct, frozen=True, kw_only=True):
    """The answer as parsed; None where there is none."""

    proposal: Parsed | Unparsed | None


def decide_suggestion(
    facts: SuggestionFacts, inputs: SuggestionInputs, policy: Policy
) -> Decision[Suggested | Unsuggested]:
    """A suggestion of exactly the contract's shape, or none."""
    if inputs.proposal is None:
        return Decision(outcome=Unsuggested(), reason=SuggestionReason.NONE)
    found = suggestion_of(inputs.proposal.value) if isinstance(inputs.proposal, Parsed) else None
    if found is None:
        return Decision(outcome=Unsuggested(), reason=SuggestionReason.INVALID)
    kind, thread, confidence = found
    return Decision(
        outcome=Suggested(attached=Attached(kind), thread=thread, confidence=confidence),
        reason=SuggestionReason.MADE,
    )


def suggestion_of(value: dict[str, Any]) -> tuple[str, int, float] | None:
    """(type, thread, confidence) of an answer of exactly the contract's shape, thread 0 being none;
    else None.
    """
    if value.keys() != SUGGESTION_KEYS:
        return None
    kind, thread, confidence = value["type"], value["thread"], value["confidence"]
    if not isinstance(kind, str) or kind not in SUGGESTED:
        return None
    if isinstance(thread, bool) or not isinstance(thread, int) or not 0 <= thread < 2**31:
        return None
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
    ):
        return None
    return kind, thread, float(confidence)


SUGGESTION: Rule[SuggestionFacts, SuggestionInputs, Any] = Rule(
    name="suggestion",
    outcome=Suggested | Unsuggested,
    apply=decide_suggestion,
    reasons=(SuggestionReason,),
)
