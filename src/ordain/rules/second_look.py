"""Rule ``second_look``: does an accepted answer of a plan stand, or is it looked at first as the
request's preferences ask (FUT-04)?

An experiment never makes an answer out of what is none: it comes after rule ``step`` has accepted
one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class SecondLookReason(Reason):
    """Whether an answer is looked at before it counts (FUT-04)."""

    STANDS = "second_look.stands", "Whatever was asked for was done; the answer stands."
    CRITIQUE = (
        "second_look.critique",
        "The answer is criticised first, and there is another step after that.",
    )
    COUNCIL = "second_look.council", "A council looks at the answer first."
    NO_CRITIC = (
        "second_look.no_critic",
        "There is no verb self_critique that may be used here; the answer is not criticised.",
    )
    NO_STEP = (
        "second_look.no_step",
        "No step is left in which a critique could be met; the answer is not criticised.",
    )


class AnswerLook(StrEnum):
    """What is done with an accepted answer."""

    STANDS = "stands"
    CRITIQUE = "critique"
    COUNCIL = "council"


class SecondLook(Struct, frozen=True, gc=False, kw_only=True, tag="second_look"):
    """What is done with it now."""

    look: AnswerLook


class SecondLookFacts(Struct, frozen=True, gc=False, kw_only=True):
    """What is asked for and not done yet, whether the critic may be called, and the steps that are
    left.
    """

    critique: bool
    council: bool
    critic: bool
    steps_left: int


def decide_second_look(
    facts: SecondLookFacts, inputs: None, policy: Policy
) -> Decision[SecondLook]:
    """A critique first, then a council; a critique that cannot be had or met is left out, and that
    is told.
    """
    if facts.critique and facts.critic and facts.steps_left > 0:
        return Decision(
            outcome=SecondLook(look=AnswerLook.CRITIQUE), reason=SecondLookReason.CRITIQUE
        )
    reason = SecondLookReason.COUNCIL if facts.council else SecondLookReason.STANDS
    if facts.critique:
        reason = SecondLookReason.NO_STEP if facts.critic else SecondLookReason.NO_CRITIC
    return Decision(
        outcome=SecondLook(look=AnswerLook.COUNCIL if facts.council else AnswerLook.STANDS),
        reason=reason,
    )


_OUTCOME = msgspec.json.Decoder(SecondLook)
_SAID = {
    SecondLookReason.CRITIQUE.value: "the answer is criticised before it counts",
    SecondLookReason.COUNCIL.value: "a council looks at the answer before it counts",
    SecondLookReason.NO_CRITIC.value: "the answer is not criticised",
    SecondLookReason.NO_STEP.value: "the answer is not criticised",
}


def _tells(recorded: Recorded) -> HeaderShare:
    """What is looked at, and what is not though it was asked for."""
    if (said := _SAID.get(recorded.reason)) is None:
        return SILENT
    lines = [HeaderLine(mark="info", what=said, reason=recorded.reason)]
    if (
        recorded.reason != SecondLookReason.COUNCIL.value
        and _OUTCOME.decode(recorded.outcome).look is AnswerLook.COUNCIL
    ):
        lines.append(
            HeaderLine(
                mark="info",
                what=_SAID[SecondLookReason.COUNCIL.value],
                reason=SecondLookReason.COUNCIL.value,
            )
        )
    return HeaderShare(lines=tuple(lines))


SECOND_LOOK: Rule[SecondLookFacts, None, Any] = Rule(
    name="second_look",
    outcome=SecondLook,
    apply=decide_second_look,
    reasons=(SecondLookReason,),
    tells=_tells,
)
