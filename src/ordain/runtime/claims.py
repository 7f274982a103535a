"""A run's claims, prepared before the write transaction: the facts of the shared rule, and what
follows where it grants the claim.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

import msgspec
from msgspec import Struct, structs

from ordain.contracts.access import Principal
from ordain.contracts.approvals import Grant
from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH
from ordain.effects.effect import Claim
from ordain.errors import FlowFault
from ordain.flows.accounts import shared_accounts
from ordain.flows.kind import Serves
from ordain.flows.shared_claim import SharedClaim
from ordain.ports.approvals import GrantUse
from ordain.ports.sessions import Entry, EntryKind
from ordain.ports.shared import (
    AccountsRead,
    GrantsRead,
    RowRead,
    SessionRead,
    SessionState,
    SharedRead,
)
from ordain.ports.store import StoredRun
from ordain.ports.writes import AccountCharge, EntryPlaced, KeptCatalogs, TableRow, Write
from ordain.rules.attach import ATTACH, POSTPONED, MessageReading
from ordain.rules.attachment import AttachFacts, AttachReason, Filler, SessionBusy
from ordain.rules.bounds import named_bounds, not_granted
from ordain.rules.budget import CARVE, Carved, CarveFacts
from ordain.rules.decision import Decision
from ordain.rules.grant import GRANT, GrantFact, GrantFacts, GrantTaken
from ordain.runtime.accounts import sharing
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.attach_facts import Placing, attach_facts
from ordain.runtime.consent_policy import giver_refused
from ordain.runtime.consents import PendingCall
from ordain.runtime.consequences import Consequences
from ordain.runtime.message_entry import Received, is_bare, received
from ordain.runtime.run_state import RunState
from ordain.runtime.services import PinnedCatalogs, Services
from ordain.runtime.setup import RunSetup


class Claiming(Protocol):
    """What a claim needs of the run that makes it."""

    services: Services
    stored: StoredRun
    catalog: Catalog
    setup: RunSetup
    state: RunState


class _Postponed(Struct):
    """What a stored decision asked the sender to choose between, where it did."""

    a: MessageReading | None = None
    b: MessageReading | None = None


class _Postponement(Struct):
    """A stored decision about a message whose class was postponed."""

    outcome: _Postponed


_POSTPONEMENT = msgspec.json.Decoder(_Postponement)
_CHOICES = ("", "A", "B")
DECLARED = "declared"
"""Why a grant is not for a call: the verb declares something else than when it was given, or was
not there.
"""
GIVER = "giver"
"""Why a grant is not for a call: whoever gave it may not say yes to such a call any more."""


class AttachClaim:
    """The claim of a run that places a message, prepared before the write transaction: the message
    as the transcript keeps it, and what is suggested.
    """

    def __init__(self, claim: Claim[Any], run: Claiming, kept: Entry | None) -> None:
        """``kept`` is the entry that the claim names. The run's own pinned policy decides.

        Raises:
            FlowFault: the run does not keep this message, has placed it, or says of it what the
                transcript does not.
        """
        seq, stored, started = int(claim.args["seq"]), run.stored, run.setup.started
        if (
            kept is None
            or kept.seq != seq
            or kept.kind is not EntryKind.MESSAGE
            or kept.run != stored.id
            or kept.attached not in POSTPONED
        ):
            raise FlowFault(
                "a claim of a place for a message that this run does not keep, or has placed"
            )
        self._message = received(kept, Principal(started.principal, started.scopes), run.catalog)
        given = {
            name: value for name, value in claim.args.items() if name in Placing.__struct_fields__
        }
        self._suggested, self._run = msgspec.convert(given, Placing), run
        self.pinned = PinnedCatalogs(run.services.catalogs)
        self._seq = seq
        bare, named = is_bare(self._message.found), self._message.thread
        self.reads: tuple[SharedRead, ...] = (
            SessionRead(
                session=stored.session,
                seq=seq,
                thread=named,
                bare=bare,
                **_placed_by(self._message),
            ),
        )
        if kept.body is None:
            # what it said is gone with what it left to choose, and nothing of it decides any more
            self._suggested = structs.replace(self._suggested, choice="", options=())
            return
        if {name: value for name, value in claim.args.items() if name not in given} != self._args():
            raise FlowFault("a claim that says of its message what the transcript does not")
        if self._suggested.choice not in _CHOICES or self._suggested.options not in (
            (),
            _options(kept),
        ):
            raise FlowFault("a claim by a choice that its message's decision does not leave")

    def facts(self, read: SessionState) -> AttachFacts:
        """The facts, from the session as the transaction reads it."""
        answer = AnswerReading(read, self._message, self.pinned)
        return attach_facts(read, self._message, answer, self._run.catalog.policy, self._suggested)

    def writes(
        self, facts: AttachFacts, decision: Decision[Any], read: SessionState
    ) -> tuple[Write, ...]:
        """What follows from the decision; a session that is busy leaves the message with the run
        that says so.
        """
        services, stored = self._run.services, self._run.stored
        current = services.catalogs.current
        follows = Consequences(services, read, self._message, self.pinned, begins=current).of(
            facts, decision
        )
        tells = bool(facts.choice) or decision.reason == AttachReason.HALTED
        replies = isinstance(decision.outcome, SessionBusy) or (
            isinstance(decision.outcome, Filler) and tells
        )
        said = stored.id if replies else ""  # from a mere filler nothing follows: nobody answers it
        placed = structs.replace(follows.placed, serves=follows.placed.serves or said)
        again = EntryPlaced(
            session=stored.session, seq=self._seq, instead_of=stored.id, placed=placed
        )
        return (again, KeptCatalogs(stored=current.stored), *follows.writes)

    def _args(self) -> dict[str, Any]:
        """What the claim has to say of its message."""
        return {"session": self._run.stored.session, "seq": self._seq, **_placed_by(self._message)}


def _placed_by(message: Received) -> dict[str, Any]:
    """What the store finds by that a message's decision depends on."""
    return {
        "channel": message.facts.channel,
        "message_id": message.ids.message_id,
        "reply_to": message.ids.reply_to,
        "edits": message.ids.edits,
        "author": message.facts.user,
    }


def _options(kept: Entry) -> tuple[MessageReading, ...]:
    """The readings that the decision about a message left to its sender; none where it was swept,
    or left the choice to a model.
    """
    if kept.decision is None:
        return ()
    left = _POSTPONEMENT.decode(kept.decision).outcome
    return () if left.a is None or left.b is None else (left.a, left.b)


class PreparedClaim(Protocol):
    """A claim as prepared before the write transaction: its facts from what the store reads, and
    what is written where the rule grants it.
    """

    reads: tuple[SharedRead, ...]
    """What the store reads."""

    @property
    def pinned(self) -> PinnedCatalogs | None:
        """Catalogs that the decision needs besides the run's own; None where it needs none."""
        ...

    @property
    def facts(self) -> Callable[..., Any]:
        """Makes the shared rule's facts of what was read."""
        ...

    @property
    def writes(self) -> Callable[..., tuple[Write, ...]]:
        """Makes what is written where the rule grants the claim, of its facts, the decision and
        what was read.
        """
        ...


class _CarveClaim:
    """A claim on shared accounts, one of which may be many agents': those that policy says bound
    the run, for no more than its own bound.
    """

    pinned = None

    def __init__(self, claim: Claim[Any], run: Claiming) -> None:
        self._asked = claim.args
        accounts = tuple(claim.args["accounts"])
        self.reads: tuple[SharedRead, ...] = (
            AccountsRead(accounts=accounts, sharing=sharing(run.catalog.policy.budget, accounts)),
        )

    def facts(self, read: list[dict[str, Any]]) -> CarveFacts:
        return msgspec.convert(
            {
                "tokens": self._asked["tokens"],
                "usd_micros": self._asked["usd_micros"],
                "accounts": read,
            },
            CarveFacts,
        )

    def writes(
        self, facts: CarveFacts, decision: Decision[Any], read: list[dict[str, Any]]
    ) -> tuple[Write, ...]:
        carved: Carved = decision.outcome
        return tuple(
            AccountCharge(account=name, tokens=carved.tokens, usd_micros=carved.usd_micros)
            for name in carved.accounts
        )


class _GrantClaim:
    """A claim of a grant for exactly one call, which rule ``authorize`` wants a yes for: those of
    whoever asked for the run.
    """

    pinned = None

    def __init__(self, claim: Claim[Any], run: Claiming) -> None:
        pending = _pending(claim, run.state)
        self._call, self._spec = pending, run.catalog.verbs[pending.call.verb].spec
        self._declared = run.catalog.declared(pending.call.verb)
        self._at, self._digest = run.services.clock.now(), claim.args["call"]
        self._policies = (run.catalog.policy, run.services.catalogs.current.policy)
        self._held = run.state.authority.held
        self.reads: tuple[SharedRead, ...] = (
            GrantsRead(principal=run.setup.started.principal, at=self._at),
        )

    def facts(self, read: Sequence[Grant]) -> GrantFacts:
        found = (
            GrantFact(
                grant=grant.grant_id,
                by=grant.audit.by,
                level=grant.risk_level,
                expires_at=grant.expires_at,
                uses_left=grant.uses_left,
                outside=self._outside(grant),
            )
            for grant in read
        )
        return GrantFacts(
            verb=self._call.call.verb,
            call=self._digest,
            tier=self._call.tier,
            at=self._at,
            grants=tuple(found),
        )

    def _outside(self, grant: Grant) -> str:
        call, tier, policies = self._call.call, self._call.tier, self._policies
        if grant.scope.permits(call.verb) and not grant.is_for(call.verb, self._declared):
            return DECLARED
        return not_granted(grant, self._spec, call.args) or (
            GIVER if giver_refused(grant, tier, call.verb, policies, self._held) else ""
        )

    def writes(
        self, facts: GrantFacts, decision: Decision[Any], read: Sequence[Grant]
    ) -> tuple[Write, ...]:
        taken: GrantTaken = decision.outcome
        grant = next(one for one in read if one.grant_id == taken.grant)
        counted = (
            name
            for name, bound in named_bounds(grant.scope.constraints, self._spec.name)
            if bound.max_calls is not None
        )
        return (GrantUse(grant=taken.grant, bounds=tuple(counted)),)


def _pending(claim: Claim[Any], state: RunState) -> PendingCall:
    """The call that a grant is claimed for.

    Raises:
        FlowFault: no decision of this run says that it needs a yes.
    """
    pending = state.authority.consents.pending(str(claim.args.get("call")))
    if pending is None or claim.args != {"verb": pending.call.verb, "call": claim.args["call"]}:
        raise FlowFault("a claim of a grant for a call that no decision of this run says needs one")
    return pending


def check_claim(claim: Claim[Any], setup: RunSetup, state: RunState) -> None:
    """A claim is one that this run may make.

    Raises:
        FlowFault: it is not; nothing is read or changed.
    """
    if claim.name == ATTACH.name:
        _check_attaching(claim, setup)
    elif claim.name == CARVE.name:
        _check_carving(claim, setup, state)
    elif claim.name == GRANT.name:
        _pending(claim, state)


def _check_attaching(claim: Claim[Any], setup: RunSetup) -> None:
    """Of a message's place only a run decides that was opened for that, and in its own session."""
    if setup.kind.serves is not Serves.PLACING or claim.args["session"] != setup.started.session:
        raise FlowFault("a claim of a message's place that is not this run's to decide")


def _check_carving(claim: Claim[Any], setup: RunSetup, state: RunState) -> None:
    """Accounts are those that policy says bound this run now, for no more than its own bound,
    once.
    """
    now = EPOCH + timedelta(microseconds=state.handed_at)
    accounts = shared_accounts(setup.catalog.policy.budget, setup.agent, setup.started.session, now)
    cap, asked = state.authority.cap, claim.args
    if asked["accounts"] != accounts or not (
        0 <= asked["tokens"] <= cap.tokens and 0 <= asked["usd_micros"] <= cap.usd_micros
    ):
        raise FlowFault(
            "a claim on shared accounts that are not this run's, or for more than its own bound"
        )
    if not state.authority.owes_carving:
        raise FlowFault("a claim on shared accounts of a run that has its share, or needs none")


class _RowsClaim:
    """A claim of a kind's own: on rows of its tables, and on nothing else."""

    pinned = None

    def __init__(self, claim: Claim[Any], own: SharedClaim[Any, Any]) -> None:
        self._claim, self._args = own, claim.args
        self.reads: tuple[SharedRead, ...] = own.reads(claim.args)
        self._check(RowRead, self.reads)

    def facts(self, *read: Any) -> Struct:
        return self._claim.facts(self._args, *read)

    def writes(self, facts: Struct, decision: Decision[Any], *_: Any) -> tuple[Write, ...]:
        writes = self._claim.writes(facts, decision.outcome)
        self._check(TableRow, writes)
        return writes

    def _check(self, kind: type[RowRead] | type[TableRow], rows: Sequence[Any]) -> None:
        tables = {table.name for table in self._claim.tables}
        if not all(type(row) is kind and row.table in tables for row in rows):
            raise FlowFault(
                f"claim {self._claim.name} reads or writes what is no row of its tables"
            )


async def _attaching(claim: Claim[Any], run: Claiming) -> PreparedClaim:
    seq, stored = int(claim.args["seq"]), run.stored
    page = (
        await run.services.sessions.entries(
            stored.workspace, stored.session, after=seq - 1, limit=1
        )
        if seq > 0
        else ()
    )
    return AttachClaim(claim, run, page[0] if page else None)


async def _carving(claim: Claim[Any], run: Claiming) -> PreparedClaim:
    return _CarveClaim(claim, run)


async def _granting(claim: Claim[Any], run: Claiming) -> PreparedClaim:
    return _GrantClaim(claim, run)


_CLAIMS: Mapping[str, Callable[[Claim[Any], Claiming], Awaitable[PreparedClaim]]] = {
    ATTACH.name: _attaching,
    CARVE.name: _carving,
    GRANT.name: _granting,
}


async def prepared(claim: Claim[Any], run: Claiming) -> PreparedClaim:
    """A claim made ready. Raises as ``check_claim``."""
    check_claim(claim, run.setup, run.state)
    own = next((own for own in run.setup.kind.claims if own.name == claim.name), None)
    return await _CLAIMS[claim.name](claim, run) if own is None else _RowsClaim(claim, own)
