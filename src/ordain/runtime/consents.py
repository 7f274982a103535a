"""What a run's own records hold of somebody's yes to a call: a fold of its waits and claims, for
rule ``authorize``, which uses each up.

By call digest, so that a yes to one call is none to another; of this run alone, so that it is none
to another run. What is in doubt is so for the whole tree of runs: whoever proposes it anew, below
or above, under whatever key, is told of it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Self

from msgspec import Struct, structs

from ordain.contracts.approvals import Consent, MayAsk, Tier
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import AnyEnded, Unknown
from ordain.effects.effect import ApprovalAsked, Wait
from ordain.effects.results import (
    Approved,
    Expired,
    NotApproved,
    VerbReturned,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.journal.digests import call_digest
from ordain.journal.records import Started
from ordain.rules.acts import ActEnd
from ordain.rules.authorize import Allow, AuthorizeReason, NeedsApproval, RefusedWhy
from ordain.rules.decision import Decision
from ordain.rules.grant import GrantTaken

_APPROVED, _GRANTED = AuthorizeReason.APPROVED, AuthorizeReason.GRANTED


class PendingCall(Struct, frozen=True, kw_only=True):
    """A call that needs a yes, as its decision has it."""

    call: Call
    tier: Tier


class Consents:
    """Whom the run may ask, and what came of asking so far."""

    def __init__(
        self,
        may_ask: MayAsk | None,
        *,
        asks_again: bool = False,
        doubted: tuple[str, ...] | None = None,
        redoes: bool = False,
    ) -> None:
        """Nobody was asked yet. ``asks_again``: of a call of whose end nobody knows a person is
        asked, whatever was granted beforehand; ``redoes``: also where such a call needs nobody's
        yes otherwise. ``doubted`` are such calls of which the parent knew, by digest; where it is
        not None the rule is told of each of them, and of those below.
        """
        self._redoes = redoes
        self.may_ask, self._asks_again, self._tells = may_ask, asks_again, doubted is not None
        self._unknown: dict[str, str] = {}
        self._elsewhere = set(doubted or ())
        self._repeated: set[str] = set()
        self._pending: dict[str, PendingCall] = {}
        self._approved: defaultdict[str, list[Consent]] = defaultdict(list)
        self._granted: dict[str, Consent] = {}
        self._looked: set[str] = set()
        self._refused: dict[str, RefusedWhy] = {}

    @classmethod
    def of(cls, started: Started) -> Self:
        """Those of a run that begins so."""
        return cls(
            started.may_ask,
            asks_again=started.asks_again,
            doubted=started.doubted,
            redoes=started.redoes,
        )

    def begin(self, child: Started, consent: Consent | None) -> Started:
        """What a child begins with: the yes that the call rests on which it carries out, and the
        calls of whose end nobody knows; none of a run of a build before.
        """
        known = self._elsewhere.union(self._unknown.values()) if self._tells else ()
        return structs.replace(
            child, consent=consent, doubted=tuple(sorted(known)), redoes=self._redoes
        )

    def facts(self, call: str) -> dict[str, Any]:
        """What rule ``authorize`` is told of a call with this digest; of a run that may ask nobody,
        no more than that it is in doubt.
        """
        doubted = call in self._unknown.values() or call in self._elsewhere
        known: dict[str, Any] = {"in_doubt": True} if doubted and self._tells else {}
        if self.may_ask is None:
            return known
        if known and self._redoes:
            known["redo"] = True
        known["may_ask"] = self.may_ask
        if approved := self._approved.get(call):
            known |= {"approval": approved[0].id, "by": approved[0].by}
        elif doubted:
            # it may have happened: who granted such calls beforehand did not grant it twice
            known["grant_asked"] = True
        elif (granted := self._granted.get(call)) is not None:
            known |= {"grant": granted.id, "by": granted.by}
        if call in self._looked:
            known["grant_asked"] = True
        if (refused := self._refused.get(call)) is not None:
            known["refused"] = refused
        return known

    def decided(self, call: Call, decision: Decision[Any]) -> Consent | None:
        """A decision of rule ``authorize``: what it needs is to be asked for, what it rests on is
        used up. Gives that, where it rests on a yes.
        """
        outcome = decision.outcome
        if isinstance(outcome, NeedsApproval):
            self._pending[outcome.call] = PendingCall(call=call, tier=outcome.tier)
        elif isinstance(outcome, Allow):
            self._pending.pop(outcome.call, None)
            if decision.reason is _APPROVED:
                approved = self._approved[outcome.call]
                return approved.pop(0) if approved else None
            if decision.reason is _GRANTED:
                self._looked.discard(outcome.call)
                return self._granted.pop(outcome.call, None)
        return None

    def pending(self, call: str) -> PendingCall | None:
        """The call with this digest, where a decision says that it needs a yes."""
        return self._pending.get(call)

    def claimed(self, call: str, outcome: object) -> None:
        """Grants were looked at for a call."""
        self._looked.add(call)
        if isinstance(outcome, GrantTaken):
            self._granted[call] = Consent(id=outcome.grant, by=outcome.by, grant=True)

    def ended_unknown(self, authorized: Authorized) -> None:
        """Nobody knows whether a call happened that went out."""
        if self._asks_again:
            self._unknown[authorized.decision] = call_digest(authorized.call)

    def joined(self, authorized: Authorized | None, ended: AnyEnded) -> None:
        """A child has ended, which carried out this call, if any. What it left in doubt is none of
        anybody's to make anew.
        """
        if isinstance(ended, Unknown) and authorized is not None:
            self.ended_unknown(authorized)
        if self._tells and ended.header is not None:
            acts = ended.header.acts
            self._elsewhere |= {act.call for act in acts if act.end is ActEnd.UNKNOWN}

    def attempted(self, authorized: Authorized, result: object) -> None:
        """An attempt at a call has ended. That a repeat ran settles what those before it left in
        doubt; that it was held back says that it is in doubt elsewhere.
        """
        if isinstance(result, VerbWithdrawn) and result.in_doubt:
            self._elsewhere.add(call_digest(authorized.call))
        if isinstance(result, VerbUnknown):
            self.ended_unknown(authorized)
            if result.repeat is not None:
                self._repeated.add(authorized.decision)
        elif isinstance(result, VerbReturned) and authorized.decision in self._repeated:
            self._unknown.pop(authorized.decision, None)

    def answered(self, wait: Wait, result: object) -> None:
        """A wait for an approver has ended."""
        if wait.approval is None:
            return
        if isinstance(result, Approved):
            for call in wait.approval.calls:
                consent = Consent(id=result.approval, by=result.by, told=result.told)
                self._approved[call_digest(call)].append(consent)
        elif (refused := _why(result)) is not None:
            self._refused |= {call_digest(call): refused for call in wait.approval.calls}

    def may_wait(self, asked: ApprovalAsked) -> bool:
        """Whether the run may ask an approver for this."""
        return self.may_ask is MayAsk.PEOPLE and bool(asked.calls)


def _why(result: object) -> RefusedWhy | None:
    match result:
        case NotApproved():
            return RefusedWhy.DENIED
        case Expired(why=why):
            return RefusedWhy.WITHDRAWN if why else RefusedWhy.EXPIRED
        case _:
            return None
