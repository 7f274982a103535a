"""Rule ``guardrail``: may a task be handed on as it is (C6, B-40)? Words that policy prohibits deny
it; how risky it is decides who looks at it first.

The risk is the highest of policy's table by the gravest effect of the verbs that the task is handed
on with, and of the moderation's score where there is one. What weighs most holds: denied,
escalated, reviewed, passed.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect
from ordain.rules import prohibited_1
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.prohibited import holds_prohibited
from ordain.rules.reasons import Reason


class GuardrailReason(Reason):
    """What the guardrails say of a task (C6)."""

    PASSED = "guardrail.passed", "No prohibited word, and less risk than a person has to look at."
    PROHIBITED = "guardrail.prohibited", "A word that policy prohibits stands in it."
    ESCALATED = "guardrail.escalated", "Its risk is so high that it is escalated: a person decides."
    REVIEW = "guardrail.review", "Its risk is such that a person looks at it first."
    UNMODERATED = (
        "guardrail.unmoderated",
        "Policy names a moderation, and it gave no score: a person looks at it first.",
    )


PROHIBITED_WORDS = "compliance.prohibited_keywords"
HIGH_RISK = "compliance.high_risk"
MODERATION = "compliance.moderation"
"""What wants a task denied or looked at, in the source's words."""
UNSCORED = " by its effects, no score of the moderation"
"""Behind a risk that says less than it would with the score that policy wants."""


class Passed(Struct, frozen=True, gc=False, tag="passed"):
    """It may be handed on as far as the guardrails are concerned."""

    risk: float


class Forbidden(Struct, frozen=True, gc=False, tag="forbidden"):
    """It is not handed on, whatever anybody says."""

    source: str


class Reviewed(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="reviewed"):
    """A person looks at it first; ``escalated``: since its risk is high. ``sources`` want it so.
    ``unscored``: policy's moderation said nothing of it.
    """

    risk: float
    sources: tuple[str, ...]
    escalated: bool = False
    unscored: bool = False


GuardrailOutcome = Passed | Reviewed | Forbidden


class GuardrailFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The call by verb and digest, the effects of the verbs that it is handed on with, and the
    moderation's score (None: it gave none). ``seen``: words are compared as people see them;
    ``alike``: a letter that is seen as another one counts as that alone. Unset in records of
    before.
    """

    verb: str
    call: str
    effects: tuple[VerbEffect, ...] = ()
    score: float | None = None
    seen: bool | UnsetType = UNSET
    alike: bool | UnsetType = UNSET


class GuardrailInputs(Struct, frozen=True, kw_only=True):
    """The arguments of the call, in which the task stands."""

    args: dict[str, Any]


def decide_guardrail(
    facts: GuardrailFacts, inputs: GuardrailInputs, policy: Policy
) -> Decision[GuardrailOutcome]:
    """Words first, then the risk against the higher bound and the lower one, and last whether what
    should have scored it did.
    """
    rails = policy.guardrails
    phrases = tuple(rails.prohibited)
    if phrases and (
        holds_prohibited(inputs.args, phrases)
        if facts.alike is True
        else prohibited_1.holds_prohibited(inputs.args, phrases, seen=facts.seen is True)
    ):
        return Decision(outcome=Forbidden(PROHIBITED_WORDS), reason=GuardrailReason.PROHIBITED)
    by_effect = max((rails.risk.get(effect, 1.0) for effect in facts.effects), default=0.0)
    score = facts.score if facts.score is not None and 0 <= facts.score <= 1 else None
    by_source = {HIGH_RISK: by_effect, **({} if score is None else {MODERATION: score})}
    risk = max(by_source.values())
    bound = min(rails.escalate_at, rails.review_at)
    if risk >= bound:
        sources = tuple(source for source, one in by_source.items() if one >= bound)
        escalated = risk >= rails.escalate_at
        reason = GuardrailReason.ESCALATED if escalated else GuardrailReason.REVIEW
        unscored = rails.moderation is not None and score is None
        return Decision(
            outcome=Reviewed(risk=risk, sources=sources, escalated=escalated, unscored=unscored),
            reason=reason,
        )
    if rails.moderation is not None and score is None:
        return Decision(
            outcome=Reviewed(risk=risk, sources=(MODERATION,), unscored=True),
            reason=GuardrailReason.UNMODERATED,
        )
    return Decision(outcome=Passed(risk), reason=GuardrailReason.PASSED)


_OUTCOME: msgspec.json.Decoder[GuardrailOutcome] = msgspec.json.Decoder(GuardrailOutcome)
_FACTS = msgspec.json.Decoder(GuardrailFacts)


def _tells(recorded: Recorded) -> HeaderShare:
    """What was denied or had to be looked at; of what passed nothing."""
    outcome, verb = _OUTCOME.decode(recorded.outcome), _FACTS.decode(recorded.facts).verb
    if isinstance(outcome, Passed):
        return SILENT
    if isinstance(outcome, Forbidden):
        return HeaderShare(
            lines=(
                HeaderLine(
                    mark="fail", what=f"guardrail {outcome.source}: {verb}", reason=recorded.reason
                ),
            )
        )
    what = (
        f"guardrail {', '.join(outcome.sources)}: {verb}, risk "
        f"{outcome.risk:.2f}{UNSCORED if outcome.unscored else ''}"
    )
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


GUARDRAIL: Rule[GuardrailFacts, GuardrailInputs, Any] = Rule(
    name="guardrail",
    outcome=GuardrailOutcome,
    apply=decide_guardrail,
    reasons=(GuardrailReason,),
    tells=_tells,
)
