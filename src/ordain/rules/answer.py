"""Rule ``answer``: does an answer fit what a question expects, and what does it come to?

A yes or a no is the entire message; what has more to it is no consent, whoever sorts it. It goes
back once (``HalfAnswer``), or says under which condition (``Conditional``), which is told in its
words and leaves the value open.

What it looks at is the text and the wording that is pinned; neither is a fact. Facts are compared
byte for byte when a run is replayed, so another table must show as another decision and not as a
divergence.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues, Partly
from ordain.wording.wording import Wording


class ExpectedType(StrEnum):
    """What kind of answer a pending question waits for."""

    LOCATION = "location"
    YES_NO = "yes_no"
    DATE_TIME = "date_time"
    FREEFORM = "freeform"
    CHOICE = "choice"
    """Which of two readings of a message was meant."""
    OPTION = "option"
    """One of those that were offered."""


class Takes(StrEnum):
    """What of an answer that is none whole a question takes."""

    NOTHING = ""
    UNCLEAR = "unclear"
    """What says something to it, which then goes back once; and conditions."""
    CONDITION = "condition"
    """Conditions alone: it went back already."""


SORTED: Final = frozenset({ExpectedType.YES_NO, ExpectedType.OPTION})
"""Of these an answer that is partly one goes back, or is a condition."""
OPTION_KEYS: Final = "ABCDEFGHI"
"""The letters of options, in order."""


class AnswerReason(Reason):
    """Why an answer counts or does not."""

    FITS = "answer.fits", "The answer is of the kind that the question expects."
    FREEFORM = "answer.freeform", "The question takes any answer."
    BOTH = "answer.both", "The answer says yes and says no."
    CONDITION = (
        "answer.condition",
        "The answer names a condition: its words are told, and the value is left open.",
    )
    UNCLEAR = (
        "answer.unclear",
        "The answer says something to the question and is none: it goes back once as A or B.",
    )
    UNFIT = "answer.unfit", "The answer is not of the kind that the question expects."


class YesOrNo(Struct, frozen=True, kw_only=True, tag="yes_no"):
    """Yes, or no."""

    yes: bool


class Chosen(Struct, frozen=True, kw_only=True, tag="choice"):
    """One of those that were offered, by its letter; ``A`` is the first."""

    option: str


class AsSaid(Struct, frozen=True, kw_only=True, tag="as_said"):
    """The words themselves are the value: a place, a time, or what was asked for freely. They stand
    where the answer does, not here.
    """

    kind: ExpectedType


class Conditional(Struct, frozen=True, kw_only=True, tag="conditional"):
    """Neither a yes nor a choice: what it depends on stands in the answer's words."""


class HalfAnswer(Struct, frozen=True, kw_only=True, tag="unclear"):
    """It is about the question and leaves open what it grants."""


class Unfit(Struct, frozen=True, kw_only=True, tag="unfit"):
    """It is no answer to the question."""


AnswerOutcome = YesOrNo | Chosen | AsSaid | Conditional | HalfAnswer | Unfit


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """What was asked for and what was had: the kind, the size in characters, and whether it was
    given as text.

    ``options`` is how many were offered, ``takes`` what the question takes besides a whole answer;
    ``sorted`` is what whoever handed it over took it for. All three are there where the question
    knows of them.
    """

    expects: ExpectedType
    size: int
    given_as_text: bool = True
    options: int | UnsetType = UNSET
    takes: Takes | UnsetType = UNSET
    sorted: str | UnsetType = UNSET


class AnswerInputs(Struct, frozen=True, kw_only=True):
    """The answer's text, the wording that it is read with, and the labels of what was offered."""

    text: str
    wording: Wording
    options: tuple[str, ...] = ()


def decide_answer(
    facts: AnswerFacts, inputs: AnswerInputs, policy: Policy
) -> Decision[AnswerOutcome]:
    """What the answer comes to under this wording. Consent is a whole message, or the letter of an
    option, and nothing else.
    """
    expects = ExpectedType(facts.expects)
    if expects is ExpectedType.FREEFORM:
        return Decision(outcome=AsSaid(kind=expects), reason=AnswerReason.FREEFORM)
    found = inputs.wording.cues(inputs.text)
    whole = whole_answer(expects, inputs, found)
    if whole is not None:
        return Decision(outcome=whole, reason=AnswerReason.FITS)
    takes = Takes.NOTHING if facts.takes is UNSET else Takes(facts.takes)
    said = (
        Partly(facts.sorted)
        if facts.sorted in (Partly.LEANS, Partly.CONDITION)
        else partly(expects, found, inputs)
    )
    if takes is not Takes.NOTHING and said is Partly.CONDITION:
        return Decision(outcome=Conditional(), reason=AnswerReason.CONDITION)
    if takes is Takes.UNCLEAR and said is Partly.LEANS:
        return Decision(outcome=HalfAnswer(), reason=AnswerReason.UNCLEAR)
    both = expects is ExpectedType.YES_NO and found.yes and found.no
    return Decision(outcome=Unfit(), reason=AnswerReason.BOTH if both else AnswerReason.UNFIT)


def whole_answer(expects: ExpectedType, inputs: AnswerInputs, found: Cues) -> AnswerOutcome | None:
    """What the answer comes to where it is one and nothing beside; None where it is none. ``found``
    are the cues of its text.
    """
    labels = (
        tuple("" for _ in inputs.options) if expects is ExpectedType.YES_NO else inputs.options
    )  # its words are read by closed lists alone
    letter = inputs.wording.chosen(inputs.text, labels) if labels else found.choice
    match expects:
        case ExpectedType.YES_NO if inputs.options and found.yes == found.no:
            return YesOrNo(yes=letter == OPTION_KEYS[0]) if letter else None
        case ExpectedType.OPTION if not inputs.options:
            return None
        case ExpectedType.OPTION | ExpectedType.CHOICE:
            return Chosen(option=letter) if letter else None
        case ExpectedType.YES_NO:
            return YesOrNo(yes=found.yes) if found.yes != found.no else None
        case _:
            return AsSaid(kind=expects) if fits(expects, found) else None


def partly(expects: ExpectedType, found: Cues, inputs: AnswerInputs | None = None) -> Partly:
    """What an answer that is none whole is to a question of this kind; what speaks of an option
    without choosing one is said to the question.

    Options are known from ``inputs`` alone.
    """
    if expects not in SORTED:
        return Partly.NO
    if (
        inputs is None
        or found.partly is not Partly.MAYBE
        or expects is not ExpectedType.OPTION
        or found.question
        or found.order
    ):
        return found.partly
    return Partly.LEANS if inputs.wording.mentions(inputs.text, inputs.options) else found.partly


def fits(expected: ExpectedType, found: Cues) -> bool:
    """Whether the wording fits the kind of answer that is waited for; no cues alone tell whether it
    is an option.
    """
    match expected:
        case ExpectedType.LOCATION:
            return found.location
        case ExpectedType.YES_NO:
            return found.yes != found.no
        case ExpectedType.DATE_TIME:
            return found.date_time and not found.order and not found.question
        case ExpectedType.CHOICE:
            return bool(found.choice)
        case ExpectedType.OPTION:
            return False
        case ExpectedType.FREEFORM:
            return (
                found.words > 0
                and (found.filler < 2 or found.no or found.yes)
                and not found.question
                and not found.order
            )


ANSWER: Rule[AnswerFacts, AnswerInputs, Any] = Rule(
    name="answer",
    outcome=AnswerOutcome,
    apply=decide_answer,
    reasons=(AnswerReason,),
    tells=tells_of("answer", (AnswerReason.UNFIT, AnswerReason.BOTH)),
)
