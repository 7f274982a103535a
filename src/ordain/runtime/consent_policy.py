"""A yes that was given, held to policy as it stands now: what would not be taken from that approver
any more, or not so late, counts no more.

Rule ``approve`` is asked again, with the moment and the principal of then and the rows, roles and
times of now. Grants are held to whoever gave them likewise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.access import Principal
from ordain.contracts.approvals import ApprovalRule, Consent, Grant, Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.tiers import tier_of
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.flows.approval import asked_tiers, open_s
from ordain.journal.codec import decode
from ordain.journal.records import Started
from ordain.ports.approvals import ApprovalRow
from ordain.ports.store import StoredRun
from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, MayDecide
from ordain.rules.profile import HeldProfile
from ordain.runtime.approvers import approver_facts, giving
from ordain.runtime.asking_run import asked_before, wait_at
from ordain.runtime.services import Services

GONE = "the yes that it rests on is not to be found"
TAKEN_BACK = "the grant that it rests on was taken back"
GRANT_OVER = "the time of the grant that it rests on is over"
YES_OVER = "the time of the yes that it rests on is over"
COUNTS_NO_MORE = "the yes that it rests on counts no more"
TOO_LATE = "by now policy leaves it open for {} s, and they are over"


def needed_for(
    asked: ApprovalAsked, tiers: Sequence[Tier], policies: Sequence[Policy]
) -> tuple[ApprovalRule, ...]:
    """The rows about all that is asked: each of its calls has its own, and whoever says yes is
    within every one of them.
    """
    return needed(
        [(tier, call.verb) for tier, call in zip(tiers, asked.calls, strict=True)], policies
    )


def needed(
    calls: Sequence[tuple[Tier, str]], policies: Sequence[Policy]
) -> tuple[ApprovalRule, ...]:
    """The rows about calls, each by its tier and its verb, of the run's own policy and of the
    current one: a narrowing holds at once, a widening for new runs.
    """
    found: list[ApprovalRule] = []
    for policy in policies:
        for tier, verb in calls:
            rule = policy.approvals.rule(tier, verb)
            if rule not in found:
                found.append(rule)
    return tuple(found)


def outlived(
    services: Services, asked: ApprovalAsked, tiers: Sequence[Tier], row: ApprovalRow, held: object
) -> str | None:
    """Why what is open would not be any more had it been asked for under what holds now; None where
    it would, or where its own time is over.
    """
    open_for = open_s(
        asked,
        tiers,
        services.catalogs.current.policy,
        held if isinstance(held, HeldProfile) else None,
    )
    over = row.asked_at + open_for * 1_000_000 <= services.clock.now() < row.expires_at
    return TOO_LATE.format(open_for) if over else None


async def consent_void(
    services: Services,
    run: StoredRun,
    pinned: Catalog,
    call: Call,
    consent: Consent,
    held: HeldProfile | None,
) -> str | None:
    """Why the yes that a run's call rests on counts no more; None where it does. ``held`` is the
    profile that holds now.

    Nothing goes out by it after its own end, by the wall clock, whatever kept the call until then.
    """
    if consent.grant:
        return await _grant_void(services, run, pinned, call, consent, held)
    row = await services.approvals.approval(consent.id)
    if row is not None and services.clock.now() >= row.expires_at:
        return YES_OVER
    if services.catalogs.current.digest == pinned.digest and held is None:
        return None  # nothing is otherwise than when it was given
    asker = None if row is None else (await services.store.load((row.run,))).get(row.run)
    wait = wait_at(asker, row.addr) if row is not None and isinstance(asker, StoredRun) else None
    if row is None or wait is None or wait.approval is None or not isinstance(asker, StoredRun):
        return GONE
    asked, current, started = (
        wait.approval,
        services.catalogs.current.policy,
        decode(asker.records[0]),
    )
    tiers = asked_tiers(asked, await services.catalogs.pinned(asker.catalog), held)
    facts = ApproveFacts(
        state=ApprovalState.OPEN,
        to=ApprovalState.APPROVED,
        at=row.decided_at,
        expires_at=row.asked_at + open_s(asked, tiers, current, held) * 1_000_000,
        same=True,
        **approver_facts(
            Principal(consent.by),
            needed_for(asked, tiers, (pinned.policy, current)),
            current.approvals,
            (
                started.principal if isinstance(started, Started) else "",
                *asked_before(asker.records, row.addr, asked.calls).proposed_by,
            ),
            apart=asked.apart or (held is not None and held.apart),
        ),
    )
    return _refused(facts, current)


async def _grant_void(
    services: Services,
    run: StoredRun,
    pinned: Catalog,
    call: Call,
    consent: Consent,
    held: HeldProfile | None,
) -> str | None:
    grant = await services.approvals.grant(run.workspace, consent.id)
    if grant is None:
        return GONE
    if grant.audit.revoked_at:
        return TAKEN_BACK
    if services.clock.now() >= grant.expires_at:
        return GRANT_OVER
    tier = tier_of(pinned.verbs[call.verb], call.args, "" if held is None else held.safety)
    return (
        None
        if tier is None
        else giver_refused(
            grant, tier, call.verb, (pinned.policy, services.catalogs.current.policy), held
        )
    )


def giver_refused(
    grant: Grant, tier: Tier, verb: str, policies: tuple[Policy, Policy], held: HeldProfile | None
) -> str | None:
    """Why whoever gave a grant may not say yes to calls of a verb any more, by a run's own policy,
    the current one and the profile that holds; None where they may.
    """
    current, apart = policies[1], held is not None and held.apart
    giver = Principal(grant.audit.by)
    return _refused(
        giving(
            giver, needed([(tier, verb)], policies), current.approvals, grant.principal, apart=apart
        ),
        current,
    )


def _refused(facts: ApproveFacts, policy: Policy) -> str | None:
    made = APPROVE.apply(facts, None, policy)
    return (
        None
        if isinstance(made.outcome, MayDecide)
        else f"{COUNTS_NO_MORE}: {made.reason}: {made.reason.meaning}"
    )
