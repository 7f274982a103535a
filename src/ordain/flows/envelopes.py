"""Asking rule ``handoff`` for envelopes, and the guardrails for each task: what comes before a call
that hands work to a card is authorised.

Nothing here allows anything: what the rules say the port keeps, and rule ``authorize`` is told by
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, structs

from ordain.contracts.approvals import Subject, Tier
from ordain.contracts.handoff import Envelope, HandoffBudget
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.flows.context import FlowContext
from ordain.journal.digests import call_digest, content_digest
from ordain.journal.records import ENCODER
from ordain.rules.decision import Decision
from ordain.rules.guardrail import (
    GUARDRAIL,
    Forbidden,
    GuardrailFacts,
    GuardrailInputs,
    GuardrailOutcome,
    Reviewed,
)
from ordain.rules.handoff import (
    HANDOFF,
    HandingReason,
    HandoffAllowed,
    HandoffAsk,
    HandoffFacts,
    HandoffInputs,
    HandoffOutcome,
    HandoffStage,
)
from ordain.rules.reasons import Reason
from ordain.rules.spend import Spend

Refs = tuple[int, ...]


class HandingOn(Struct, frozen=True, kw_only=True):
    """What rules found of one call that hands work on: its envelope, or the reason for which there
    is none; and what a person has to look at.

    ``guardrail`` is what the guardrails decided; None where they were not asked.
    """

    envelope: Envelope | None = None
    refused: Reason | None = None
    review: Reviewed | None = None
    guardrail: Decision[GuardrailOutcome] | None = None


class Handover(Struct, frozen=True, kw_only=True):
    """A request to hand work on, decided: how, at most how many at once, and each call's part; None
    of one that hands nothing on.
    """

    mode: str = ""
    width: int = 1
    calls: tuple[HandingOn | None, ...] = ()


def asks_of(calls: Sequence[Call]) -> tuple[HandoffAsk, ...]:
    """The calls as rule ``handoff`` looks at them."""
    return tuple(
        HandoffAsk(
            verb=call.verb,
            args=call.args,
            digest=call_digest(call),
            size_bytes=len(ENCODER.encode(call.args)),
        )
        for call in calls
    )


def hand_on(
    context: FlowContext,
    calls: Sequence[Call],
    refs: Refs,
    *,
    mode: str = "",
    width: int = 0,
    plan: bool = False,
) -> Handover:
    """Decide all that hands work on at once, before anything runs; ``width`` is how many are to be
    at work at once, 0 all, ``plan`` that they are a plan's steps.
    """
    handing = [call for call in calls if context.catalog.hands_on(call.verb)]
    if not handing:
        return Handover(width=width or len(calls), calls=tuple(None for _ in calls))
    asks = asks_of(handing)
    facts = HandoffFacts(
        stage=HandoffStage.REQUEST,
        targets=len(asks),
        asked=content_digest("\n".join(ask.digest for ask in asks).encode()),
        width=width or len(asks),
        mode=mode,
        chain=context.chain,
        may_ask=context.may_ask,
        plan=plan,
    )
    inputs = HandoffInputs(
        calls=asks,
        catalog=context.catalog,
        held=context.held,
        scope=context.lends,
        left=HandoffBudget(**structs.asdict(context.account.cap.less(context.account.spent))),
        run=context.run,
        root=context.root,
    )
    decision = context.fx.decide(HANDOFF, facts, inputs, refs)
    outcome: HandoffOutcome = decision.outcome
    envelopes = outcome.envelopes if isinstance(outcome, HandoffAllowed) else ()
    made = [HandingOn(envelope=envelope) for envelope in envelopes]
    rest = HandingReason.LIMITED if isinstance(outcome, HandoffAllowed) else decision.reason
    found = iter((*made, *(HandingOn(refused=rest) for _ in asks[len(made) :])))
    parts = tuple(next(found) if context.catalog.hands_on(call.verb) else None for call in calls)
    if not isinstance(outcome, HandoffAllowed):
        return Handover(calls=parts)
    return Handover(mode=outcome.mode, width=outcome.width, calls=parts)


def guarded(
    context: FlowContext, call: Call, part: HandingOn, refs: Refs, score: float | None
) -> HandingOn:
    """What the guardrails say of a call that has an envelope; ``score`` is the moderation's, None
    where it gave none.
    """
    if part.envelope is None:
        return part
    effects = context.catalog.effects_of(part.envelope.scope or ())
    facts = GuardrailFacts(
        verb=call.verb,
        call=call_digest(call),
        effects=effects,
        score=score,
        seen=context.catalog.data.seen_prohibited or UNSET,
        alike=context.catalog.data.alike_prohibited or UNSET,
    )
    decision = context.fx.decide(GUARDRAIL, facts, GuardrailInputs(args=call.args), refs)
    outcome = decision.outcome
    if isinstance(outcome, Forbidden):
        return HandingOn(refused=decision.reason, guardrail=decision)
    return HandingOn(
        envelope=part.envelope,
        review=outcome if isinstance(outcome, Reviewed) else None,
        guardrail=decision,
    )


def asked_of(
    calls: Sequence[Call], parts: Sequence[HandingOn | None], asked: Sequence[int], tier: Tier
) -> ApprovalAsked:
    """What an approver is asked about those of the calls that need a yes: the gravest of what they
    are is the subject, and the verbs of each handoff are told.

    A task that a person has to look at comes before one that goes beyond its target's domain, that
    before several at once, and those before one call.
    """
    scopes: dict[str, Any] = {}
    beyond: dict[str, Any] = {}
    reviews: dict[str, Any] = {}
    for place, part in enumerate(parts[number] for number in asked):
        if part is not None and part.envelope is not None:
            scopes[str(place)] = list(part.envelope.scope or ())
            if part.envelope.expansion:
                beyond[str(place)] = list(part.envelope.expansion)
        if part is not None and part.review is not None:
            reviews[str(place)] = _told(part.review)
    subject = (
        Subject.REVIEW
        if reviews
        else Subject.EXPANSION
        if beyond
        else Subject.PLAN
        if len(asked) > 1
        else Subject.CALL
    )
    detail = {
        name: found
        for name, found in (("scopes", scopes), ("beyond", beyond), ("reviews", reviews))
        if found
    }
    return ApprovalAsked(
        subject=subject, calls=tuple(calls[number] for number in asked), tier=tier, detail=detail
    )


def _told(review: Reviewed) -> dict[str, Any]:
    """What an approver is told of a task that somebody looks at first."""
    told = {"risk": review.risk, "sources": review.sources, "escalated": review.escalated}
    return told | {"unscored": True} if review.unscored else told


def carved(envelope: Envelope, share: Spend) -> Envelope:
    """The envelope with what the handoff may spend as it begins."""
    return structs.replace(envelope, budget=HandoffBudget(**structs.asdict(share)))
