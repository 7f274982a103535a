"""Every yes and no on a run's record, held to another policy: would it be taken from that approver,
and so late?

The journal has what was asked, who answered and when, and who gave the grant that a call rests on.
Whether somebody else would have answered, and what, it has not: nobody knows how a run goes on past
an answer that does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from ordain.contracts.access import Principal
from ordain.contracts.approvals import Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.effects.effect import EFFECT, ApprovalAsked, Wait
from ordain.effects.results import Approved, NotApproved, Resubmitted
from ordain.flows.approval import asked_tiers, open_s
from ordain.journal.codec import decode
from ordain.journal.records import ClaimBody, IntentBody, ObservationBody, Record, Started
from ordain.ports.store import StoredRun
from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, MayDecide
from ordain.rules.grant import GRANT, GrantTaken
from ordain.runtime.approvers import approver_facts, giving
from ordain.runtime.asking_run import asked_before
from ordain.runtime.consent_policy import needed, needed_for
from ordain.runtime.recorded_form import RESULTS

_SAID = {
    Approved: ApprovalState.APPROVED,
    NotApproved: ApprovalState.DENIED,
    Resubmitted: ApprovalState.SUPERSEDED,
}
_ASKED = frozenset({"wait", GRANT.name})
"""The names of records that say what a person was asked for, and what a grant was."""


class UntakenAnswer(Struct, frozen=True, kw_only=True):
    """An answer that counted and would not: the effect that gave it, its address, the verbs, rule
    ``approve``'s reasons, and whether it was a yes.
    """

    effect: int
    address: str
    verbs: tuple[str, ...]
    recorded: str
    now: str
    yes: bool


class _Claimed(Struct, frozen=True):
    """What of a grant's claim says which call it is about."""

    verb: str
    tier: Tier


def untaken_answers(stored: StoredRun, catalog: Catalog, other: Policy) -> Iterator[UntakenAnswer]:
    """The answers on record that the policy of the run's own ``catalog`` takes and ``other`` would
    not, oldest first.
    """
    if not any(record.name in _ASKED for record in stored.records):
        return
    pinned = catalog.policy
    if (pinned.approvals, pinned.profile.wants_another) == (
        other.approvals,
        other.profile.wants_another,
    ):
        return
    started = decode(stored.records[0])
    requester = started.principal if isinstance(started, Started) else ""
    asked: dict[int, tuple[Record, ApprovalAsked]] = {}
    for record in stored.records:
        match decode(record) if record.body is not None and record.name in _ASKED else None:
            case IntentBody(addr=addr, effect=effect) if (
                isinstance(wait := EFFECT.decode(effect), Wait) and wait.approval is not None
            ):
                asked[addr] = record, wait.approval
            case ObservationBody(addr=addr, result=result) if addr in asked:
                tiers = asked_tiers(asked[addr][1], catalog, None)
                yield from _said(
                    stored,
                    record,
                    (addr, *asked[addr], tiers),
                    RESULTS.decode(result),
                    (requester, pinned, other),
                )
            case ClaimBody() as body:
                yield from _granted(body, (requester, pinned, other))
            case _:
                pass


def _said(
    stored: StoredRun,
    ended: Record,
    wait: tuple[int, Record, ApprovalAsked, tuple[Tier, ...]],
    result: object,
    held_to: tuple[str, Policy, Policy],
) -> Iterator[UntakenAnswer]:
    (addr, intent, asked, tiers), (requester, *policies) = wait, held_to
    if not isinstance(result, Approved | NotApproved | Resubmitted):
        return
    asked_by = (requester, *asked_before(stored.records, addr, asked.calls).proposed_by)
    verbs = tuple(dict.fromkeys(call.verb for call in asked.calls))
    facts = [
        ApproveFacts(
            state=ApprovalState.OPEN,
            to=_SAID[type(result)],
            at=ended.at,
            expires_at=intent.at + open_s(asked, tiers, policy, None) * 1_000_000,
            same=True,
            **approver_facts(
                Principal(result.by),
                needed_for(asked, tiers, (policy,)),
                policy.approvals,
                asked_by,
                apart=asked.apart or policy.profile.wants_another,
            ),
        )
        for policy in policies
    ]
    yield from _compared(facts, policies, addr, verbs)


def _granted(body: ClaimBody, held_to: tuple[str, Policy, Policy]) -> Iterator[UntakenAnswer]:
    taken = GRANT.read_outcome(body.outcome)
    if not isinstance(taken, GrantTaken):
        return
    call, (requester, *policies) = msgspec.json.decode(body.facts, type=_Claimed), held_to
    facts = [
        giving(
            Principal(taken.by),
            needed([(call.tier, call.verb)], (policy,)),
            policy.approvals,
            requester,
            apart=policy.profile.wants_another,
        )
        for policy in policies
    ]
    yield from _compared(facts, policies, body.addr, (call.verb,))


def _compared(
    facts: Sequence[ApproveFacts], policies: Sequence[Policy], addr: int, verbs: tuple[str, ...]
) -> Iterator[UntakenAnswer]:
    before, after = (
        APPROVE.apply(told, None, policy) for told, policy in zip(facts, policies, strict=True)
    )
    if isinstance(before.outcome, MayDecide) and not isinstance(after.outcome, MayDecide):
        yes = facts[0].to is ApprovalState.APPROVED
        yield UntakenAnswer(
            effect=addr,
            address=f"{addr}/{APPROVE.name}",
            verbs=verbs,
            recorded=str(before.reason),
            now=str(after.reason),
            yes=yes,
        )
