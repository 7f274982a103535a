"""Rule ``council``: what a council's round leads to (EXE-08, EXE-15, B-07, B-08), by the one table
``COURSE``.

The auditor's word is an executable directive and leads to exactly one of four, or to the end. Code
comes before it twice: an answer whose scores policy does not accept is revised whatever the auditor
says, and a call for the chain by either of the two wins. A judgement or verdict that is missing,
late, malformed or unknown fails the council; nothing of it is taken for an acceptance.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.council import (
    AuditAction,
    AuditVerdict,
    BlinkJudgement,
    ChairDecision,
    CouncilDirective,
    CouncilPolicy,
    absent_scores,
    read_proposal,
)
from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason


class CouncilReason(Reason):
    """Why a council's round leads where it does (EXE-15, B-07, B-08)."""

    AUDIT = (
        "council.audit",
        "The chair's judgement is one; the auditor is asked for a verdict on it.",
    )
    ACCEPTED = (
        "council.accepted",
        "The auditor accepts the answer, and its scores are what policy asks for.",
    )
    CHAIR_DELEGATES = (
        "council.chair_delegates",
        "The chair calls for the agent chain, which wins over every verdict.",
    )
    DELEGATED = "council.delegated", "The auditor calls for the agent chain."
    REVISED = "council.revised", "The auditor wants the answer revised in the same round."
    RISK = "council.risk", "The auditor accepts the answer, and code does not: it is too risky."
    DISAGREEMENT = (
        "council.disagreement",
        "The auditor accepts the answer, and code does not: the seats disagree too much.",
    )
    COHERENCE = (
        "council.coherence",
        "The auditor accepts the answer, and code does not: it is not coherent enough.",
    )
    FAITHFULNESS = (
        "council.faithfulness",
        "The auditor accepts the answer, and code does not: it is not faithful enough.",
    )
    REVISED_AGAIN = (
        "council.revised_again",
        (
            "The answer was revised in this round and should be once more, which counts as a new "
            "round."
        ),
    )
    NEW_ROUND = "council.new_round", "The auditor wants all seats asked again."
    UNRESOLVED = (
        "council.unresolved",
        "The verdict asks for another round, and every round that was granted is used.",
    )
    NO_CHAIR = (
        "council.no_chair",
        "There is no judgement: the chair is missing, late or gave no answer.",
    )
    CHAIR_INVALID = (
        "council.chair_invalid",
        (
            "The chair's answer is not a judgement of its contract's shape, a score outside 0 to 1 "
            "included."
        ),
    )
    NO_VERDICT = (
        "council.no_verdict",
        "There is no verdict: the auditor is missing, late or gave no answer.",
    )
    VERDICT_UNKNOWN = "council.verdict_unknown", "The auditor's word is none of the four."
    VERDICT_INVALID = (
        "council.verdict_invalid",
        "The auditor's answer is not a verdict of its contract's shape.",
    )


VERDICT_INVALID = "council_verdict_invalid"
UNRESOLVED = "council_unresolved"


class CouncilStage(StrEnum):
    """Where a round stands when a verdict meets it."""

    FIRST = "first"
    REVISED = "revised"


class CouncilEnd(StrEnum):
    """What is no directive: the council comes to no result."""

    UNRESOLVED = UNRESOLVED


class CourseRow(Struct, frozen=True, kw_only=True):
    """What a word leads to, at which stages of a round and whether rounds are left or not; None:
    either way.
    """

    word: AuditAction
    stage: CouncilStage | None = None
    rounds_left: bool | None = None
    leads_to: CouncilDirective | CouncilEnd
    reason: Reason

    def fits(self, word: AuditAction, stage: CouncilStage, *, rounds_left: bool) -> bool:
        """Whether this row is the one of such a verdict."""
        return (
            self.word is word
            and self.stage in (None, stage)
            and self.rounds_left in (None, rounds_left)
        )


def _rows() -> tuple[CourseRow, ...]:
    word, stage, to, why = AuditAction, CouncilStage, CouncilDirective, CouncilReason
    return (
        CourseRow(word=word.ACCEPT, leads_to=to.ACCEPT_TEXT, reason=why.ACCEPTED),
        CourseRow(word=word.DELEGATE, leads_to=to.DELEGATE_CHAIN, reason=why.DELEGATED),
        CourseRow(word=word.REVISE, stage=stage.FIRST, leads_to=to.REVISE, reason=why.REVISED),
        CourseRow(
            word=word.REVISE,
            stage=stage.REVISED,
            rounds_left=True,
            leads_to=to.NEW_ROUND,
            reason=why.REVISED_AGAIN,
        ),
        CourseRow(
            word=word.REVISE,
            stage=stage.REVISED,
            rounds_left=False,
            leads_to=CouncilEnd.UNRESOLVED,
            reason=why.UNRESOLVED,
        ),
        CourseRow(
            word=word.NEW_ROUND, rounds_left=True, leads_to=to.NEW_ROUND, reason=why.NEW_ROUND
        ),
        CourseRow(
            word=word.NEW_ROUND,
            rounds_left=False,
            leads_to=CouncilEnd.UNRESOLVED,
            reason=why.UNRESOLVED,
        ),
    )


COURSE = _rows()
"""The one table of a council's transitions; exactly one row fits whatever a verdict may be. The
docs' diagram is made of it.
"""


class Doubt(Struct, frozen=True, kw_only=True):
    """A bound of policy's that an accepted answer has to keep; one that does not makes the word
    ``revise_same_round``.
    """

    score: str
    bound: str
    doubted: Callable[[BlinkJudgement, CouncilPolicy], bool]
    reason: Reason


DOUBTS = (
    Doubt(
        score="risk",
        bound="risk_below",
        doubted=lambda b, p: b.scores.risk >= p.risk_below,
        reason=CouncilReason.RISK,
    ),
    Doubt(
        score="disagreement",
        bound="disagreement_below",
        doubted=lambda b, p: b.disagreement.level >= p.disagreement_below,
        reason=CouncilReason.DISAGREEMENT,
    ),
    Doubt(
        score="coherence",
        bound="min_coherence",
        doubted=lambda b, p: b.scores.coherence < p.min_coherence,
        reason=CouncilReason.COHERENCE,
    ),
    Doubt(
        score="faithfulness",
        bound="min_faithfulness",
        doubted=lambda b, p: b.scores.faithfulness < p.min_faithfulness,
        reason=CouncilReason.FAITHFULNESS,
    ),
)
"""Looked at in this order; the first that is met is told."""


class AskAuditor(Struct, frozen=True, tag="ask_auditor"):
    """There is a judgement to give a verdict on."""


class CouncilGoesOn(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="directive"):
    """What is done now. ``absent`` are scores that the chair left out, ``overridden``: the
    auditor's own answer took the place of the chair's.
    """

    directive: CouncilDirective
    absent: tuple[str, ...] = ()
    overridden: bool = False


class CouncilFailed(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """The council comes to no result; ``code`` is the wire's. Where there was a whole verdict
    ``absent`` and ``overridden`` are told, too.
    """

    code: str
    absent: tuple[str, ...] = ()
    overridden: bool = False


CouncilOutcome = AskAuditor | CouncilGoesOn | CouncilFailed


class CouncilFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round (from 1), how many are granted, the stage, and why chair and auditor gave no answer
    ("": they gave one; left out of an auditor that was not asked).
    """

    round: int
    rounds: int
    stage: CouncilStage = CouncilStage.FIRST
    chair: str = ""
    auditor: str | UnsetType = UNSET


class CouncilInputs(Struct, frozen=True, kw_only=True):
    """What chair and auditor said, parsed; None where they said nothing."""

    chair: Parsed | Unparsed | None
    auditor: Parsed | Unparsed | None = None


def decide_council(
    facts: CouncilFacts, inputs: CouncilInputs, policy: Policy
) -> Decision[CouncilOutcome]:
    """First the judgement, then the verdict, then who calls for the chain, then the scores, then
    the table.
    """
    if facts.chair or inputs.chair is None:
        return _failed(CouncilReason.NO_CHAIR)
    blink = _read(inputs.chair, BlinkJudgement)
    if blink is None or not isinstance(inputs.chair, Parsed):
        return _failed(CouncilReason.CHAIR_INVALID)
    if facts.auditor is UNSET:
        return Decision(outcome=AskAuditor(), reason=CouncilReason.AUDIT)
    if facts.auditor or inputs.auditor is None:
        return _failed(CouncilReason.NO_VERDICT)
    verdict = _read(inputs.auditor, AuditVerdict)
    if verdict is None:
        return _failed(_why_no_verdict(inputs.auditor))
    return _ruled(facts, blink, verdict, (absent_scores(inputs.chair.value), policy.council))


def _ruled(
    facts: CouncilFacts,
    blink: BlinkJudgement,
    verdict: AuditVerdict,
    given: tuple[tuple[str, ...], CouncilPolicy],
) -> Decision[CouncilOutcome]:
    absent, policy = given
    overridden = verdict.override_answer is not None
    word, instead = verdict.action, None
    if blink.decision is ChairDecision.DELEGATE:
        word, instead = AuditAction.DELEGATE, CouncilReason.CHAIR_DELEGATES
    elif (
        word is AuditAction.ACCEPT
        and (doubt := next((one for one in DOUBTS if one.doubted(blink, policy)), None)) is not None
    ):
        word, instead = AuditAction.REVISE, doubt.reason
    row = next(
        row for row in COURSE if row.fits(word, facts.stage, rounds_left=facts.round < facts.rounds)
    )
    if isinstance(row.leads_to, CouncilEnd):
        return Decision(
            outcome=CouncilFailed(code=str(row.leads_to), absent=absent, overridden=overridden),
            reason=row.reason,
        )
    return Decision(
        outcome=CouncilGoesOn(directive=row.leads_to, absent=absent, overridden=overridden),
        reason=instead or row.reason,
    )


def _read(proposal: Parsed | Unparsed, shape: Any) -> Any:
    return read_proposal(proposal.value, shape) if isinstance(proposal, Parsed) else None


def _why_no_verdict(proposal: Parsed | Unparsed) -> Reason:
    word = proposal.value.get("action") if isinstance(proposal, Parsed) else None
    return (
        CouncilReason.VERDICT_UNKNOWN
        if isinstance(word, str) and word not in set(AuditAction)
        else CouncilReason.VERDICT_INVALID
    )


def _failed(reason: Reason) -> Decision[CouncilOutcome]:
    return Decision(outcome=CouncilFailed(code=VERDICT_INVALID), reason=reason)


_FACTS = msgspec.json.Decoder(CouncilFacts)
_OUTCOME: msgspec.json.Decoder[CouncilOutcome] = msgspec.json.Decoder(CouncilOutcome)


def _tells(recorded: Recorded) -> HeaderShare:
    """What each verdict led to, which scores nobody gave, and whose answer it is."""
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, AskAuditor):
        return SILENT
    facts = _FACTS.decode(recorded.facts)
    failed = isinstance(outcome, CouncilFailed)
    said = outcome.code if failed else str(outcome.directive)
    what = f"council round {facts.round} of {facts.rounds}: {said}"
    if outcome.absent:
        what += f"; not scored, so by default: {', '.join(outcome.absent)}"
    if outcome.overridden:
        what += "; the answer is the auditor's own"
    return HeaderShare(
        lines=(HeaderLine(mark="fail" if failed else "info", what=what, reason=recorded.reason),)
    )


COUNCIL: Rule[CouncilFacts, CouncilInputs, Any] = Rule(
    name="council",
    outcome=CouncilOutcome,
    apply=decide_council,
    reasons=(CouncilReason,),
    tells=_tells,
)
