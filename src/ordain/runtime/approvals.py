"""The approvers' side of the door: what is open, what exactly it is, and a decision about it as one unit with the rule inside; grants.

Rows are read, the rule is applied and the decision written in one transaction, so that of two approvers one decides. What is asked stands in the intent of the
run that waits, and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.access import Principal, TokenScope, principal_of
from ordain.contracts.approvals import (
    GRANTABLE,
    WHY_CHARS,
    ApprovalRule,
    ApprovalsPolicy,
    Grant,
    GrantAudit,
    GrantScope,
    Tier,
)
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.effects.calls import Call
from ordain.effects.effect import EFFECT, ApprovalAsked, Wait
from ordain.errors import Conflict, InvalidRequest, NotFound, OrdainError, Refused
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest, derived_id
from ordain.journal.records import ENCODER, IntentBody, RecordKind, Started
from ordain.ports.approvals import ApprovalDecided, ApprovalRow, Approvals, GrantRevoked
from ordain.ports.shared import ApprovalRead, GrantRead, Ruling, Shared
from ordain.ports.store import Arrive, StoredRun
from ordain.ports.writes import MailKind, NewMail, Write
from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, MayDecide
from ordain.rules.proposals import nesting
from ordain.runtime.access import OWNER
from ordain.runtime.approval_wait import ApprovalMail
from ordain.runtime.approval_words import told
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.approvals")
ARGS_BYTES = 262_144
ARGS_DEPTH = 64
PAGE_MAX = 200
TTL_S_MIN, TTL_S_MAX = 10, 7_776_000
CAPABILITIES_MAX = 50
_ROLES_REASONS = {"not_an_approver", "own_request", "approver_unknown"}


class GrantWanted(Struct, frozen=True, kw_only=True):
    """A grant to be given with an approval, for more calls of the same verbs by the same principal."""

    ttl_s: int
    uses: int | None = None
    reason: str = ""


class GrantOffer(Struct, frozen=True, kw_only=True):
    """A grant to be given: to whose runs, for what, of which risk level, how long and how often (None: until it expires)."""

    principal: str
    capabilities: tuple[str, ...]
    ttl_s: int
    risk_level: RiskLevel = RiskLevel.WRITE
    uses: int | None = None
    targets: tuple[str, ...] | None = None
    constraints: Mapping[str, Constraint] = {}
    reason: str = ""


class ApproverWord(Struct, frozen=True, kw_only=True):
    """What an approver says: yes or no, to what has this digest, and why."""

    approve: bool
    digest: str
    why: str = ""
    grant: GrantWanted | None = None


class ApprovalView(Struct, frozen=True, kw_only=True):
    """An approval with what it is of. ``asked`` is None, ``words`` and ``requester`` are "" where the run's content is gone; ``needs`` are the rows of policy."""

    row: ApprovalRow
    asked: ApprovalAsked | None
    words: str
    requester: str
    needs: tuple[ApprovalRule, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The exact calls."""
        return () if self.asked is None else self.asked.calls

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that an approver has to have, all of them."""
        return tuple(sorted({rule.role for rule in self.needs if rule.role is not None}))

    @property
    def not_requester(self) -> bool:
        """Whether whoever asked for the run may not approve it."""
        return any(rule.not_requester for rule in self.needs)


class ApprovalDesk:
    """What an approver may look at and do. Every method is bound to a workspace."""

    def __init__(self, services: Services, rows: Approvals) -> None:
        """Reads rows through their port, content through the store's, and writes units."""
        self._services, self._rows = services, rows

    # --- looking --------------------------------------------------------------------------------------------------------------------

    async def listed(
        self, workspace: str, *, states: Sequence[ApprovalState] = (ApprovalState.OPEN,), limit: int = 50, before: int | None = None
    ) -> Sequence[ApprovalView]:
        """Approvals in these states, the latest first; ``before`` is a row's ``place``."""
        rows = await self._rows.approvals(workspace, states=states, limit=min(limit, PAGE_MAX), before=before)
        runs = await self._services.store.load(tuple({row.run for row in rows}))
        return [await self._view(row, found if isinstance(found := runs.get(row.run), StoredRun) else None) for row in rows]

    async def one(self, workspace: str, approval: str) -> ApprovalView:
        """One approval, whatever its state.

        Raises:
            NotFound: ``approval_not_found``.
        """
        row = await self._rows.approval(approval)
        if row is None or row.workspace != workspace:
            raise NotFound(f"there is no approval {approval[:64]}", code="approval_not_found")
        found = (await self._services.store.load((row.run,))).get(row.run)
        return await self._view(row, found if isinstance(found, StoredRun) else None)

    async def _view(self, row: ApprovalRow, stored: StoredRun | None) -> ApprovalView:
        wait = None if stored is None else wait_at(stored, row.addr)
        if stored is None or wait is None or wait.approval is None:
            return ApprovalView(row=row, asked=None, words="", requester="")
        pinned, started = await self._services.catalogs.pinned(stored.catalog), decode(stored.records[0])
        asked = wait.approval
        return ApprovalView(
            row=row,
            asked=asked,
            words=told(asked, pinned),
            requester=started.principal if isinstance(started, Started) else "",
            needs=_needs(asked.tier, [call.verb for call in asked.calls], (pinned.policy, self._services.catalogs.current.policy)),
        )

    # --- deciding -------------------------------------------------------------------------------------------------------------------

    async def decide(self, workspace: str, approval: str, word: ApproverWord, principal: Principal | str) -> ApprovalView:
        """Say yes or no, once, to exactly what was looked at; when this returns it is durable, and the run goes on.

        Raises:
            NotFound: ``approval_not_found``.
            Conflict: ``already_decided``, ``approval_expired``, ``approval_stale``.
            Refused: ``not_an_approver``, ``own_request``, ``approver_unknown``.
            InvalidRequest: the grant that comes with it is none that may be given.
        """
        view, who = await self.one(workspace, approval), principal_of(principal)
        _check_why(word.why)
        state = ApprovalState.APPROVED if word.approve else ApprovalState.DENIED
        grant = None if word.grant is None else self._granted_with(view, word, who)
        mail = ApprovalMail(state=state, by=who.name, why=word.why)
        return await self._decided(view, who, word.digest, mail, grant)

    async def resubmit(self, workspace: str, approval: str, args: Mapping[str, Any], principal: Principal | str) -> ApprovalView:
        """Propose other arguments instead: the run asks anew for exactly that, and this approval is superseded. Raises as ``decide``.

        Raises:
            Conflict: it is no single call (``not_resubmittable``).
            InvalidRequest: the arguments are the same, too large, or do not fit the verb's schema.
        """
        view, who = await self.one(workspace, approval), principal_of(principal)
        call = await self._edited(view, args)
        mail = ApprovalMail(state=ApprovalState.SUPERSEDED, by=who.name, call=call)
        return await self._decided(view, who, view.row.digest, mail, None)

    async def _edited(self, view: ApprovalView, args: Mapping[str, Any]) -> Call:
        if len(view.calls) != 1 or view.row.subject != "call":
            raise Conflict("only the approval of one call can be proposed anew", code="not_resubmittable")
        before = view.calls[0]
        call = Call(verb=before.verb, args=dict(args))
        try:
            encoded = ENCODER.encode(call)
        except (UnicodeError, TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest("the arguments are no JSON that a record can hold", code="invalid_args") from error
        if len(encoded) > ARGS_BYTES or nesting(encoded.decode()) > ARGS_DEPTH:
            raise InvalidRequest(f"arguments have at most {ARGS_BYTES} bytes and nest at most {ARGS_DEPTH} deep", code="args_too_large")
        if call_digest(call) == call_digest(before):
            raise InvalidRequest("these are the arguments that are asked for", code="same_args")
        catalog = await self._pinned(view)
        verb = catalog.verbs.get(call.verb)
        if verb is None or not verb.input.accepts(call.args):
            places = "" if verb is None else "; ".join(verb.input.errors(call.args))
            raise InvalidRequest(f"the arguments do not fit the verb's schema: {places}"[:500], code="invalid_args")
        return call

    async def _pinned(self, view: ApprovalView) -> Catalog:
        stored = (await self._services.store.load((view.row.run,))).get(view.row.run)
        if not isinstance(stored, StoredRun):
            raise NotFound(f"there is no approval {view.row.id}", code="approval_not_found")
        return await self._services.catalogs.pinned(stored.catalog)

    async def _decided(self, view: ApprovalView, who: Principal, digest: str, mail: ApprovalMail, grant: Grant | None) -> ApprovalView:
        row, at = view.row, self._services.clock.now()
        roles = view.roles
        held = self._policy.held_by(who.name)
        letter = NewMail(run=row.run, kind=MailKind.APPROVAL, key=f"approval:{row.addr}", body=ENCODER.encode(mail), at=at, addr=row.addr)

        def decide(found: ApprovalRow | None) -> Ruling:
            facts = ApproveFacts(
                state="" if found is None else found.state,
                to=mail.state,
                at=at,
                expires_at=0 if found is None else found.expires_at,
                same=found is not None and found.digest == digest and view.asked is not None,
                roles=roles,
                lacks=tuple(role for role in roles if role not in held),
                own=who.name == view.requester,
                apart=view.not_requester,
                **_known(who),
            )
            made = APPROVE.apply(facts, None, self._services.catalogs.current.policy)
            if not isinstance(made.outcome, MayDecide):
                return Ruling(refused=str(made.reason))
            given: tuple[Write, ...] = () if grant is None else (grant,)
            decided = ApprovalDecided(
                id=row.id, state=made.outcome.state, at=at, by=who.name, grant="" if grant is None else grant.grant_id
            )
            return Ruling(writes=(decided, *given, letter), run=row.run)

        outcome = await self._services.store.submit(
            Arrive(workspace=row.workspace, shared=Shared(reads=(ApprovalRead(approval=row.id),), decide=decide))
        )
        if outcome.refused:
            LOG.warning("approval=%s by=%r refused=%s", row.id, who.name, outcome.refused)
            raise _refusal(outcome.refused, row.id)
        LOG.info(
            "approval=%s run=%s state=%s by=%r grant=%s", row.id, row.run, mail.state, who.name, "" if grant is None else grant.grant_id
        )
        return msgspec.structs.replace(
            view,
            row=msgspec.structs.replace(
                row, state=str(mail.state), decided_at=at, decided_by=who.name, grant="" if grant is None else grant.grant_id
            ),
        )

    @property
    def _policy(self) -> ApprovalsPolicy:
        return self._services.catalogs.current.policy.approvals

    # --- grants ---------------------------------------------------------------------------------------------------------------------

    async def grants(self, workspace: str, *, standing: bool = True, limit: int = 50, before: str | None = None) -> Sequence[Grant]:
        """Grants, the latest first: those that stand, or all; ``before`` is a grant's id."""
        at = self._services.clock.now() if standing else None
        return await self._rows.grants(workspace, standing_at=at, limit=min(limit, PAGE_MAX), before=before)

    async def give(self, workspace: str, offer: GrantOffer, principal: Principal | str) -> Grant:
        """Give a grant; it holds for runs of that principal in this workspace from now on.

        Raises:
            Refused: as ``decide``, by the rows of policy about whatever it may be used for.
            InvalidRequest: it is none that may be given.
        """
        who = principal_of(principal)
        grant = self._grant(offer, who, "")
        tiers = [tier for tier, level in GRANTABLE.items() if list(RiskLevel).index(level) <= list(RiskLevel).index(offer.risk_level)]
        rows = [row for row in self._policy.rules if row.tier in (None, *tiers) and _may_concern(row, offer.capabilities)]
        roles = tuple(sorted({row.role for row in rows if row.role is not None}))
        held = self._policy.held_by(who.name)
        facts = ApproveFacts(
            state=ApprovalState.OPEN,
            to=ApprovalState.APPROVED,
            at=0,
            expires_at=1,
            same=True,
            roles=roles,
            lacks=tuple(role for role in roles if role not in held),
            own=who.name == offer.principal,
            apart=any(row.not_requester for row in rows),
            **_known(who),
        )
        made = APPROVE.apply(facts, None, self._services.catalogs.current.policy)
        if not isinstance(made.outcome, MayDecide):
            LOG.warning("grant for=%r by=%r refused=%s", offer.principal, who.name, made.reason)
            raise _refusal(str(made.reason), "")
        await self._submit(workspace, (), lambda: Ruling(writes=(grant,)))
        LOG.info("grant=%s for=%r by=%r", grant.grant_id, grant.principal, who.name)
        return grant

    async def revoke(self, workspace: str, grant: str, principal: Principal | str) -> Grant:
        """Take a grant back: no call is granted by it any more.

        Raises:
            NotFound: ``grant_not_found``.
            Refused: ``not_an_approver``.
        """
        who, at = principal_of(principal), self._services.clock.now()
        if not _known(who)["scoped"]:
            raise _refusal("approve.not_an_approver", "")

        def decide(found: Grant | None) -> Ruling:
            return Ruling(refused="grant_not_found") if found is None else Ruling(writes=(GrantRevoked(grant=grant, by=who.name, at=at),))

        if await self._submit(workspace, (GrantRead(grant=grant),), decide):
            raise NotFound(f"there is no grant {grant[:64]}", code="grant_not_found")
        LOG.info("grant=%s revoked by=%r", grant, who.name)
        found = await self._rows.grant(workspace, grant)
        assert found is not None
        return found

    async def _submit(self, workspace: str, reads: tuple[Any, ...], decide: Any) -> str:
        return (await self._services.store.submit(Arrive(workspace=workspace, shared=Shared(reads=reads, decide=decide)))).refused

    def _granted_with(self, view: ApprovalView, word: ApproverWord, who: Principal) -> Grant:
        wanted, tier = word.grant, Tier(view.row.tier)
        if wanted is None or not word.approve or tier not in GRANTABLE or view.asked is None:
            raise InvalidRequest("a grant comes with a yes, and never to what is destructive", code="not_grantable")
        offer = GrantOffer(
            principal=view.requester,
            capabilities=tuple(dict.fromkeys(call.verb for call in view.calls)),
            ttl_s=wanted.ttl_s,
            risk_level=GRANTABLE[tier],
            uses=wanted.uses,
            reason=wanted.reason,
        )
        return self._grant(offer, who, view.row.id)

    def _grant(self, offer: GrantOffer, who: Principal, approval: str) -> Grant:
        _check_why(offer.reason)
        if not TTL_S_MIN <= offer.ttl_s <= TTL_S_MAX:
            raise InvalidRequest(f"a grant lasts {TTL_S_MIN} to {TTL_S_MAX} seconds", code="invalid_grant")
        if offer.uses is not None and offer.uses < 1:
            raise InvalidRequest("a grant is for one call at least", code="invalid_grant")
        if not offer.principal or not 1 <= len(offer.capabilities) <= CAPABILITIES_MAX or not all(offer.capabilities):
            raise InvalidRequest(f"a grant names a principal and 1 to {CAPABILITIES_MAX} verbs", code="invalid_grant")
        if offer.risk_level is RiskLevel.DESTRUCTIVE:
            raise InvalidRequest("what is destructive is approved each time, and never granted", code="not_grantable")
        at, clock = self._services.clock.now(), self._services.clock
        return Grant(
            grant_id=derived_id(clock.new_run_id(), "grant"),
            principal=offer.principal,
            scope=GrantScope(capabilities=offer.capabilities, targets=offer.targets, constraints=dict(offer.constraints)),
            risk_level=offer.risk_level,
            ttl_seconds=offer.ttl_s,
            expires_at=at + offer.ttl_s * 1_000_000,
            reason=offer.reason,
            audit=GrantAudit(by=who.name, at=at, approval=approval),
            uses_left=offer.uses,
        )


def wait_at(stored: StoredRun, addr: int) -> Wait | None:
    """The wait that effect ``addr`` of a run is; None where it is none, or its content is gone."""
    for record in stored.records:
        if record.kind is RecordKind.INTENT and record.name == "wait" and record.body is not None:
            body = decode(record)
            if isinstance(body, IntentBody) and body.addr == addr:
                effect = EFFECT.decode(body.effect)
                return effect if isinstance(effect, Wait) else None
    return None


def _known(who: Principal) -> dict[str, bool]:
    """What rule ``approve`` is told of a principal. Who comes over loopback without a token is somebody of this machine, and nobody knows who."""
    return {"scoped": who.scopes is None or TokenScope.APPROVALS in who.scopes, "named": who.name not in ("", OWNER)}


def _needs(tier: Tier, verbs: Sequence[str], policies: Sequence[Policy]) -> tuple[ApprovalRule, ...]:
    """The rows about the calls, of the run's own policy and of the current one: a narrowing holds at once, a widening for new runs."""
    found: list[ApprovalRule] = []
    for policy in policies:
        for verb in verbs:
            rule = policy.approvals.rule(tier, verb)
            if rule not in found:
                found.append(rule)
    return tuple(found)


def _may_concern(row: ApprovalRule, capabilities: Sequence[str]) -> bool:
    """Whether a row may be about something that these name; of two globs nobody looks how far they meet."""
    named = row.verb
    if named is None:
        return True
    return any(row.fits(row.tier or Tier.WRITE, one) or _is_glob(one) for one in capabilities)


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def _check_why(why: str) -> None:
    if len(why) > WHY_CHARS:
        raise InvalidRequest(f"a reason has at most {WHY_CHARS} characters", code="why_too_long")


_SAID = {reason.value: reason for reason in APPROVE.reasons[0]}


def _refusal(reason: str, approval: str) -> OrdainError:
    code = reason.rpartition(".")[2]
    meaning = _SAID[reason].meaning if reason in _SAID else reason
    said = f"approval {approval}: {meaning}" if approval else meaning
    if code == "approval_not_found":
        return NotFound(said, code=code)
    return Refused(said, code=code) if code in _ROLES_REASONS else Conflict(said, code=code)
