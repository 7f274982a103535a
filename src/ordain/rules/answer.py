"""Rule ``answer``: does an answer fit what a question expects, and what does it come to?

What it looks at is the text and the wording that is pinned; neither is a fact. Facts are compared byte for byte when a run is replayed, so
another table must show as another decision and not as a divergence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues
from ordain.wording.wording import Wording


class ExpectedType(StrEnum):
    """What kind of answer a pending question waits for."""

    LOCATION = "location"
    YES_NO = "yes_no"
    DATE_TIME = "date_time"
    FREEFORM = "freeform"
    CHOICE = "choice"


class AnswerReason(Reason):
    """Why an answer counts or does not."""

    FITS = "answer.fits", "The answer is of the kind that the question expects."
    FREEFORM = "answer.freeform", "The question takes any answer."
    BOTH = "answer.both", "The answer says yes and says no."
    UNFIT = "answer.unfit", "The answer is not of the kind that the question expects."


class YesOrNo(Struct, frozen=True, kw_only=True, tag="yes_no"):
    """Yes, or no."""

    yes: bool


class Chosen(Struct, frozen=True, kw_only=True, tag="choice"):
    """One of the two that were offered, ``A`` or ``B``."""

    option: str


class AsSaid(Struct, frozen=True, kw_only=True, tag="as_said"):
    """The words themselves are the value: a place, a time, or what was asked for freely. They stand where the answer does, not here."""

    kind: ExpectedType


class Unfit(Struct, frozen=True, kw_only=True, tag="unfit"):
    """It is no answer to the question."""


AnswerOutcome = YesOrNo | Chosen | AsSaid | Unfit


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """What was asked for and what was had: the kind, the size in characters, and whether it was given as text."""

    expects: ExpectedType
    size: int
    given_as_text: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInputs:
    """The answer's text, and the wording that it is read with."""

    text: str
    wording: Wording


def decide_answer(facts: AnswerFacts, inputs: AnswerInputs, policy: Policy) -> Decision[AnswerOutcome]:
    """What the answer comes to under this wording."""
    expects = ExpectedType(facts.expects)
    if expects is ExpectedType.FREEFORM:
        return Decision(outcome=AsSaid(kind=expects), reason=AnswerReason.FREEFORM)
    found = inputs.wording.cues(inputs.text)
    if not fits(expects, found):
        both = expects is ExpectedType.YES_NO and found.yes and found.no
        return Decision(outcome=Unfit(), reason=AnswerReason.BOTH if both else AnswerReason.UNFIT)
    outcome: AnswerOutcome = AsSaid(kind=expects)
    if expects is ExpectedType.YES_NO:
        outcome = YesOrNo(yes=found.yes)
    elif expects is ExpectedType.CHOICE:
        outcome = Chosen(option=found.choice)
    return Decision(outcome=outcome, reason=AnswerReason.FITS)


def fits(expected: ExpectedType, found: Cues) -> bool:
    """Whether the wording fits the kind of answer that is waited for."""
    match expected:
        case ExpectedType.LOCATION:
            return found.location
        case ExpectedType.YES_NO:
            return found.yes != found.no
        case ExpectedType.DATE_TIME:
            return found.date_time and not found.order and not found.question
        case ExpectedType.CHOICE:
            return bool(found.choice)
        case ExpectedType.FREEFORM:
            return found.words > 0 and (found.filler < 2 or found.no or found.yes) and not found.question and not found.order


ANSWER: Rule[AnswerFacts, AnswerInputs, Any] = Rule(
    name="answer",
    outcome=AnswerOutcome,
    apply=decide_answer,
    reasons=(AnswerReason,),
    tells=tells_of("answer", (AnswerReason.UNFIT, AnswerReason.BOTH)),
)
