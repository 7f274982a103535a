"""Asking for a yes: the one place where a run waits for an approver. ``act`` asks for the calls
that need one, others for what they are to carry out.

What comes of it the port keeps, and rule ``authorize`` is asked again: nothing here allows
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ordain.contracts.approvals import MayAsk, Subject, Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.tiers import tiers_of
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked, Claim, Wait, WaitFor
from ordain.effects.results import Resubmitted, WaitResult
from ordain.flows.context import FlowContext
from ordain.journal.digests import call_digest
from ordain.rules.authorize import AuthorizeOutcome, Deny, NeedsApproval
from ordain.rules.decision import Decision
from ordain.rules.grant import GRANT
from ordain.rules.profile import HeldProfile


async def ask_approval(context: FlowContext, asked: ApprovalAsked) -> WaitResult:
    """Wait for an approver's word on exactly this, as long as policy and profile leave it open and
    the run lives. It costs nothing meanwhile.
    """
    held = context.held
    by_call = context.catalog.data.rows_by_call
    tiers = (
        asked_tiers(asked, context.catalog, held) if by_call else (asked.tier,) * len(asked.calls)
    )
    deadline = min(
        context.hard, context.now() + open_s(asked, tiers, context.catalog.policy, held) * 1_000_000
    )
    if held is not None:
        asked = msgspec.structs.replace(asked, apart=held.apart)
    about = ", ".join(dict.fromkeys(call.verb for call in asked.calls))
    return await context.fx.perform(
        Wait(what=WaitFor.APPROVAL, about=about, deadline=deadline, approval=asked)
    )


def asked_tiers(
    asked: ApprovalAsked, catalog: Catalog, held: HeldProfile | None
) -> tuple[Tier, ...]:
    """The tier of each call that is asked about, in their order: by it policy's row about the call
    is found.
    """
    return tiers_of(
        [(call.verb, call.args) for call in asked.calls],
        asked.tier,
        catalog,
        "" if held is None else held.safety,
    )


def open_s(
    asked: ApprovalAsked, tiers: Sequence[Tier], policy: Policy, held: HeldProfile | None
) -> int:
    """How long a policy, and the profile that holds, leave what is asked open: as long as each of
    its calls by itself.
    """
    by_policy = min(
        policy.approvals.open_s(tier, call.verb)
        for tier, call in zip(tiers, asked.calls, strict=True)
    )
    return by_policy if held is None else held.open_s(by_policy)


def call_approval(call: Call, tier: Tier) -> ApprovalAsked:
    """What an approver of one call is asked."""
    return ApprovalAsked(subject=Subject.CALL, calls=(call,), tier=tier)


async def authorized(
    context: FlowContext, call: Call, refs: tuple[int, ...]
) -> tuple[Call, Decision[AuthorizeOutcome]]:
    """Ask rule ``authorize``, and where it wants somebody's yes, that: a grant's first, then a
    person's; until it allows or denies.

    The call is another one than the one that came where an approver proposed that instead.
    """
    while True:
        decision = context.fx.authorize(call, context.scope, refs)
        if not isinstance(decision.outcome, NeedsApproval):
            return call, decision
        if decision.outcome.why is MayAsk.GRANTS:
            await context.fx.claim(_grant_claim(call))
            continue
        result = await ask_approval(context, call_approval(call, decision.outcome.tier))
        if isinstance(result, Resubmitted):
            call, refs = result.call, (result.seq,)


AskedFor = Callable[[Sequence[int], Tier], ApprovalAsked]
"""What an approver is asked about those of several calls that need a yes, by their numbers, of the
gravest tier among them.
"""


async def authorized_all(
    context: FlowContext, calls: Sequence[Call], refs: tuple[int, ...], asked: AskedFor
) -> list[Decision[AuthorizeOutcome]] | Resubmitted:
    """Ask rule ``authorize`` of each; grants for each that wants one; then people, once for all
    that are left. What was proposed in a call's place comes back instead.

    What nothing is left for once those before it are made is refused here, before anybody is asked
    about it.
    """
    decided: list[Decision[AuthorizeOutcome]] = []
    for call in calls:
        decided.append(context.fx.authorize(call, context.scope, refs, ahead=_ahead(decided)))
    while pending := {
        number: one.outcome
        for number, one in enumerate(decided)
        if isinstance(one.outcome, NeedsApproval)
    }:
        by_grants = [number for number, needed in pending.items() if needed.why is MayAsk.GRANTS]
        for number in by_grants:
            await context.fx.claim(_grant_claim(calls[number]))
            decided[number] = context.fx.authorize(
                calls[number], context.scope, refs, ahead=_ahead(decided[:number])
            )
        if by_grants:
            continue
        tier = max((needed.tier for needed in pending.values()), key=list(Tier).index)
        result = await ask_approval(context, asked(tuple(pending), tier))
        if isinstance(result, Resubmitted):
            return result
        for number in pending:
            decided[number] = context.fx.authorize(
                calls[number], context.scope, refs, ahead=_ahead(decided[:number])
            )
    return decided


def _ahead(decided: Sequence[Decision[AuthorizeOutcome]]) -> int:
    """How many of these calls are to be made."""
    return sum(not isinstance(decision.outcome, Deny) for decision in decided)


def _grant_claim(call: Call) -> Claim[Any]:
    """By its digest alone: the port knows the call, and a claim's record is kept longer than
    content may be.
    """
    return Claim(name=GRANT.name, args={"verb": call.verb, "call": call_digest(call)})
