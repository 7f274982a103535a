"""The approvers' side of the door: what is open, what exactly it is, and a decision about it as one
unit with the rule inside.

Rows are read, the rule is applied and the decision written in one transaction, so that of two
approvers one decides. What is asked stands in the intent of the run that waits, and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.access import Principal, principal_of
from ordain.contracts.approvals import GRANTABLE, ApprovalRule, Grant, Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.nearest import as_given
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.errors import Conflict, InvalidRequest, NotFound
from ordain.flows.approval import asked_tiers
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest
from ordain.journal.records import ENCODER, Started
from ordain.ports.approvals import ApprovalDecided, ApprovalRow
from ordain.ports.shared import ApprovalRead, Ruling, RunFound, RunRead, Shared
from ordain.ports.store import Arrive, StoredRun
from ordain.ports.writes import Write
from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, MayDecide
from ordain.rules.claim_approval import ClaimWish
from ordain.rules.profile import HeldProfile
from ordain.rules.proposals import nesting
from ordain.runtime.approval_claims import ClaimAsked, claimed
from ordain.runtime.approval_wait import ApprovalMail, letter, not_asked
from ordain.runtime.approval_words import told
from ordain.runtime.approvers import approver_facts, check_why, refusal, roles_of
from ordain.runtime.approvers_word import why_decided
from ordain.runtime.asking_run import (
    NOTHING_BEFORE,
    AskedBefore,
    asked_before_anywhere,
    told_digest,
    wait_at,
)
from ordain.runtime.calls import held_now
from ordain.runtime.consent_policy import needed_for, outlived
from ordain.runtime.grants import GrantOffer, narrowed, new_grant
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.approvals")
ARGS_BYTES = 262_144
ARGS_DEPTH = 64
PAGE_MAX = 200


class GrantWanted(Struct, frozen=True, kw_only=True):
    """A grant to be given with an approval, for more calls of the same verbs by the same principal,
    to and about the same; ``any_target``: or any other.
    """

    ttl_s: int
    uses: int | None = None
    any_target: bool = False
    reason: str = ""


class ApproverWord(Struct, frozen=True, kw_only=True):
    """What an approver says: yes or no, to what has this digest, and why."""

    approve: bool
    digest: str
    why: str = ""
    grant: GrantWanted | None = None


class ApprovalView(Struct, frozen=True, kw_only=True):
    """An approval with what it is of. ``asked`` is None, ``words`` and ``requester`` are "" where
    the run's content is gone; ``needs`` are the rows of policy.

    ``void`` says why nobody can say yes to it any more: what it is of was switched off, declared
    otherwise or narrowed since. ``narrowed``: the profile that holds now wants somebody else than
    who asked. ``why`` is what was said with the decision, as soon as the run has it on record. The
    row's digest is that of what is told now: ``as_asked``, and the ``places`` where it may have
    happened already.
    """

    row: ApprovalRow
    asked: ApprovalAsked | None
    words: str
    requester: str
    needs: tuple[ApprovalRule, ...] = ()
    void: str = ""
    narrowed: bool = False
    before: AskedBefore = NOTHING_BEFORE
    why: str = ""
    as_asked: str = ""
    places: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The exact calls."""
        return () if self.asked is None else self.asked.calls

    def is_now(self, found: ApprovalRow | None, digest: str) -> bool:
        """Whether this row is the one that was looked at, and the digest that of what is told."""
        same = found is not None and found.digest == self.as_asked
        return same and digest == self.row.digest and self.asked is not None

    @property
    def asked_by(self) -> tuple[str, ...]:
        """Who asked for it: for the run, and for this call in another one's place."""
        return (self.requester, *self.before.proposed_by)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that an approver has to have, all of them."""
        return roles_of(self.needs)

    @property
    def not_requester(self) -> bool:
        """Whether whoever asked for the run may not approve it."""
        return self.apart or any(rule.not_requester for rule in self.needs)

    @property
    def apart(self) -> bool:
        """Whether a profile says so, the one that held for the run or the one that does now."""
        return self.narrowed or (self.asked is not None and self.asked.apart)


class ApprovalDesk:
    """What an approver may look at and do. Every method is bound to a workspace."""

    def __init__(self, services: Services) -> None:
        """Reads rows through their port, content through the store's, and writes units."""
        self._services, self._rows = services, services.approvals

    # --- looking ----------------------------------------------------------------------------------

    async def listed(
        self,
        workspace: str,
        *,
        states: Sequence[ApprovalState] = (ApprovalState.OPEN,),
        session: str = "",
        limit: int = 50,
        before: int | None = None,
        named: str = "",
    ) -> Sequence[ApprovalView]:
        """Approvals in these states (none given: in any), the latest first; ``session`` "" is any
        or none, ``before`` is a row's ``place``, ``named`` what an id begins or ends with.
        """
        rows = await self._rows.approvals(
            workspace,
            states=states,
            session=session,
            limit=min(limit, PAGE_MAX),
            before=before,
            named=named,
        )
        runs = await self._services.store.load(tuple({row.run for row in rows}))
        return [
            await self._view(
                row, found if isinstance(found := runs.get(row.run), StoredRun) else None
            )
            for row in rows
        ]

    async def one(self, workspace: str, approval: str) -> ApprovalView:
        """One approval, whatever its state.

        Raises:
            NotFound: ``approval_not_found``.
        """
        row = await self._rows.approval(approval)
        if row is None or row.workspace != workspace:
            raise NotFound(
                f"there is no approval {as_given(approval, 64)}", code="approval_not_found"
            )
        found = (await self._services.store.load((row.run,))).get(row.run)
        return await self._view(row, found if isinstance(found, StoredRun) else None)

    async def _view(self, row: ApprovalRow, stored: StoredRun | None) -> ApprovalView:
        wait = None if stored is None else wait_at(stored, row.addr)
        if stored is None or wait is None or wait.approval is None:
            return ApprovalView(row=row, asked=None, words="", requester="")
        asked, started, services = wait.approval, decode(stored.records[0]), self._services
        pinned, current = await services.catalogs.pinned(stored.catalog), services.catalogs.current
        held = await held_now(services, stored)
        waits = row.state == ApprovalState.OPEN
        until = None if waits else row.decided_at
        tiers = asked_tiers(asked, pinned, held if isinstance(held, HeldProfile) else None)
        before = await asked_before_anywhere(
            services.store, stored, row.addr, asked.calls, services.looking(until)
        )
        places = before.places(asked.calls, pinned)
        return ApprovalView(
            row=msgspec.structs.replace(row, digest=told_digest(row.digest, places)),
            as_asked=row.digest,
            places=places,
            asked=asked,
            words=told(asked, pinned, before),
            requester=started.principal if isinstance(started, Started) else "",
            void=(await self._why_void(stored, pinned, asked, row, held) or "") if waits else "",
            before=before,
            why=why_decided(stored.records, row.addr),
            narrowed=isinstance(held, HeldProfile) and held.apart,
            needs=needed_for(asked, tiers, (pinned.policy, current.policy)),
        )

    async def _why_void(
        self,
        stored: StoredRun,
        pinned: Catalog,
        asked: ApprovalAsked,
        row: ApprovalRow,
        held: object,
    ) -> str | None:
        """Why nobody can say yes to it: what holds now does not let it be done, or would not have
        left it open so long.
        """
        tiers = asked_tiers(asked, pinned, held if isinstance(held, HeldProfile) else None)
        return await not_asked(self._services, stored, pinned, asked) or outlived(
            self._services, asked, tiers, row, held
        )

    # --- claiming ---------------------------------------------------------------------------------

    async def claim(
        self, workspace: str, approval: str, principal: Principal | str, *, take_over: bool = False
    ) -> ApprovalView:
        """Say that one looks at it: a sign to other approvers, which grants nothing and keeps
        nobody from deciding. Said again it is the same.

        ``take_over``: also where somebody else does, in whose place one looks at it from now on.
        Raises as ``approval_claims.claimed``.
        """
        return await self._claimed(
            workspace, approval, principal, ClaimWish.TAKE_OVER if take_over else ClaimWish.CLAIM
        )

    async def release(
        self, workspace: str, approval: str, principal: Principal | str
    ) -> ApprovalView:
        """Say that one looks at it no longer. Raises as ``approval_claims.claimed``."""
        return await self._claimed(workspace, approval, principal, ClaimWish.RELEASE)

    async def _claimed(
        self, workspace: str, approval: str, principal: Principal | str, wish: ClaimWish
    ) -> ApprovalView:
        view, who = await self.one(workspace, approval), principal_of(principal)
        policy = self._services.catalogs.current.policy.approvals
        may = approver_facts(who, view.needs, policy, view.asked_by, apart=view.apart)
        asked = ClaimAsked(by=who.name, wish=wish, gone=view.asked is None, may=may)
        row = await claimed(self._services, view.row, asked)
        return msgspec.structs.replace(
            view, row=msgspec.structs.replace(row, digest=view.row.digest)
        )

    # --- deciding ---------------------------------------------------------------------------------

    async def decide(
        self, workspace: str, approval: str, word: ApproverWord, principal: Principal | str
    ) -> ApprovalView:
        """Say yes or no, once, to exactly what was looked at; when this returns it is durable, and
        the run goes on.

        Raises:
            NotFound: ``approval_not_found``.
            Conflict: ``already_decided``, ``approval_expired``, ``approval_stale``.
            Refused: ``not_an_approver``, ``own_request``, ``approver_unknown``.
            InvalidRequest: the grant that comes with it is none that may be given.
        """
        view, who = await self.one(workspace, approval), principal_of(principal)
        check_why(word.why)
        state = ApprovalState.APPROVED if word.approve else ApprovalState.DENIED
        grant = (
            None
            if word.grant is None or (word.approve and view.void)
            else self._granted_with(view, word, word.grant, who)
        )
        mail = ApprovalMail(state=state, by=who.name, why=word.why, told=view.places)
        return await self._decided(view, who, word.digest, mail, grant)

    async def resubmit(
        self, workspace: str, approval: str, args: Mapping[str, Any], principal: Principal | str
    ) -> ApprovalView:
        """Propose other arguments instead: the run asks anew for exactly that, and this approval is
        superseded. Raises as ``decide``.

        Raises:
            Conflict: it is no single call (``not_resubmittable``).
            InvalidRequest: the arguments are the same, too large, or do not fit the verb's schema.
        """
        view, who = await self.one(workspace, approval), principal_of(principal)
        call = await self._edited(view, args)
        view = msgspec.structs.replace(view, void=await self._void(view, call))
        mail = ApprovalMail(state=ApprovalState.SUPERSEDED, by=who.name, call=call)
        return await self._decided(view, who, view.row.digest, mail, None)

    async def _edited(self, view: ApprovalView, args: Mapping[str, Any]) -> Call:
        if len(view.calls) != 1 or view.row.subject != "call":
            raise Conflict(
                "only the approval of one call can be proposed anew", code="not_resubmittable"
            )
        before = view.calls[0]
        call = Call(verb=before.verb, args=dict(args))
        try:
            encoded = ENCODER.encode(call)
        except (UnicodeError, TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest(
                "the arguments are no JSON that a record can hold", code="invalid_args"
            ) from error
        if len(encoded) > ARGS_BYTES or nesting(encoded.decode()) > ARGS_DEPTH:
            raise InvalidRequest(
                f"arguments have at most {ARGS_BYTES} bytes and nest at most {ARGS_DEPTH} deep",
                code="args_too_large",
            )
        if call_digest(call) == call_digest(before):
            raise InvalidRequest("these are the arguments that are asked for", code="same_args")
        catalog = await self._pinned(view)
        verb = catalog.verbs.get(call.verb)
        if verb is None or not verb.input.accepts(call.args):
            places = "" if verb is None else "; ".join(verb.input.errors(call.args))
            raise InvalidRequest(
                f"the arguments do not fit the verb's schema: {places}"[:500], code="invalid_args"
            )
        return call

    async def _void(self, view: ApprovalView, call: Call) -> str:
        """Why nobody could say yes to another call in this one's place."""
        stored = (await self._services.store.load((view.row.run,))).get(view.row.run)
        if view.asked is None or not isinstance(stored, StoredRun):
            return view.void
        asked = msgspec.structs.replace(view.asked, calls=(call,))
        held = await held_now(self._services, stored)
        return (
            await self._why_void(
                stored, await self._services.catalogs.pinned(stored.catalog), asked, view.row, held
            )
            or ""
        )

    async def _pinned(self, view: ApprovalView) -> Catalog:
        stored = (await self._services.store.load((view.row.run,))).get(view.row.run)
        if not isinstance(stored, StoredRun):
            raise NotFound(f"there is no approval {view.row.id}", code="approval_not_found")
        return await self._services.catalogs.pinned(stored.catalog)

    async def _decided(
        self,
        view: ApprovalView,
        who: Principal,
        digest: str,
        mail: ApprovalMail,
        grant: Grant | None,
    ) -> ApprovalView:
        row, at = view.row, self._services.clock.now()
        policy = self._services.catalogs.current.policy
        over = ApprovalMail(state=ApprovalState.WITHDRAWN, by=who.name, why=view.void)
        became = list[ApprovalState]()
        reads = ApprovalRead(approval=row.id), RunRead(run=row.run)

        def decide(found: ApprovalRow | None, run: RunFound | None) -> Ruling:
            stopped = run is not None and run.interrupted  # and is told so before it goes on
            facts = ApproveFacts(
                state="" if found is None else ApprovalState.WITHDRAWN if stopped else found.state,
                to=mail.state,
                at=at,
                expires_at=0 if found is None else found.expires_at,
                same=view.is_now(found, digest),
                withdrawn=bool(view.void),
                **approver_facts(
                    who, view.needs, policy.approvals, view.asked_by, apart=view.apart
                ),
            )
            made = APPROVE.apply(facts, None, policy)
            if not isinstance(made.outcome, MayDecide):
                return Ruling(refused=str(made.reason))
            became[:] = [made.outcome.state]
            if made.outcome.state is ApprovalState.WITHDRAWN:
                # who said yes is refused, and the run that waits learns why
                ended = ApprovalDecided(id=row.id, state=made.outcome.state, at=at)
                return Ruling(writes=(ended, letter(row, over, at)), run=row.run)
            given: tuple[Write, ...] = () if grant is None else (grant,)
            decided = ApprovalDecided(
                id=row.id,
                state=made.outcome.state,
                at=at,
                by=who.name,
                grant="" if grant is None else grant.grant_id,
            )
            return Ruling(writes=(decided, *given, letter(row, mail, at)), run=row.run)

        outcome = await self._services.store.submit(
            Arrive(workspace=row.workspace, shared=Shared(reads=reads, decide=decide))
        )
        if outcome.refused:
            LOG.warning("approval=%s by=%r refused=%s", row.id, who.name, outcome.refused)
            raise refusal(outcome.refused, f"approval {row.id}")
        if became == [ApprovalState.WITHDRAWN]:
            LOG.warning("approval=%s by=%r withdrawn=%r", row.id, who.name, view.void)
            raise Conflict(
                f"approval {row.id} is void, and its run is told so: {view.void}",
                code="approval_stale",
            )
        LOG.info(
            "approval=%s run=%s state=%s by=%r grant=%s",
            row.id,
            row.run,
            mail.state,
            who.name,
            "" if grant is None else grant.grant_id,
        )
        return msgspec.structs.replace(
            view,
            why=mail.why,
            row=msgspec.structs.replace(
                row,
                state=str(mail.state),
                decided_at=at,
                decided_by=who.name,
                grant="" if grant is None else grant.grant_id,
            ),
        )

    def _granted_with(
        self, view: ApprovalView, word: ApproverWord, wanted: GrantWanted, who: Principal
    ) -> Grant:
        tier = Tier(view.row.tier)
        if not word.approve or tier not in GRANTABLE or view.asked is None:
            raise InvalidRequest(
                "a grant comes with a yes, and never to what is destructive", code="not_grantable"
            )
        level = GRANTABLE[tier]
        verbs, targets = narrowed(
            view.calls, level, self._services.catalogs.current, anybody=wanted.any_target
        )
        offer = GrantOffer(
            principal=view.requester,
            capabilities=verbs,
            ttl_s=wanted.ttl_s,
            risk_level=level,
            uses=wanted.uses,
            targets=targets,
            reason=wanted.reason,
        )
        return new_grant(self._services, offer, who, view.row.id)
