"""What a run may do, as its port has it: computed from its first record and the decisions on
record, never from what its flow says.

Live, resumed and replayed a run has the same authority at the same place, and all that its flow can
do is use less. Old journals hold the facts that flows supplied themselves; they equal what is
computed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import structs

from ordain.contracts.access import lacking
from ordain.contracts.approvals import Consent
from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.moments import LATEST_US
from ordain.contracts.scope import CapabilityScope, Constraint
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import AnyEnded, Spawn
from ordain.effects.effect import Children, Effect, ModelCall, Read, Say, VerbCall, Wait, WaitFor
from ordain.effects.results import ReadValue, VerbFailed, VerbUnknown
from ordain.errors import FlowFault
from ordain.flows.kind import Kind
from ordain.journal.digests import call_digest
from ordain.journal.records import Started
from ordain.rules.authorize import Allow, AuthorizeFacts
from ordain.rules.bounds import bounds_of, counts_calls
from ordain.rules.decision import Decision
from ordain.rules.lane import LaneChosen, LaneFacts
from ordain.rules.profile import (
    HeldProfile,
    PinsSeen,
    ProfiledBy,
    ProfileFacts,
    ProfileInputs,
    ProfileOutcome,
)
from ordain.rules.spend import Carved, Spend
from ordain.runtime.consents import Consents
from ordain.runtime.handings import Handings, OwnBounds

RUNS_MAX = 10_000
"""Runs below one root. A join lends its children what is left of it in equal shares, and gets back
what they did not use.
"""


class Authority:
    """A run's scope, depth, bounds and spending so far. Implements ``flows.context.Account``."""

    def __init__(
        self,
        started: Started,
        kind: Kind[Any, Any],
        given: Any,
        scope: CapabilityScope,
        *,
        charged: bool,
    ) -> None:
        """Of a run of this kind with this input. ``scope`` is its grant; ``charged``: shared
        accounts have to be carved before it spends.
        """
        self._kind, self._given, self._root = kind, given, started.parent is None
        self.scope = scope
        self.depth = started.depth
        self.deadline = started.deadline
        self.keep_thoughts = started.keep_thoughts
        self._session = started.session
        self._raising = started.label.verb if kind.raises and started.label is not None else ""
        self._scopes = started.scopes
        self.cap = started.allowance
        self.spent = Spend()
        self.runs_left = RUNS_MAX if started.runs is None else started.runs
        self.owes_carving = charged
        self.consents = Consents.of(started)
        self.handings = Handings(started.chain)
        self._permits: dict[str, str] = {}
        self._consented: dict[str, Consent] = {}
        self._called: defaultdict[str, int] = defaultdict(int)
        self._attempts: defaultdict[str, int] = defaultdict(int)
        self._profiles: dict[str, set[str]] = {}
        self.owes_profile = started.profiled
        self.held = started.profile

    # --- facts ------------------------------------------------------------------------------------

    def facts_of(
        self, call: Call, within: CapabilityScope, catalog: Catalog, at: int, ahead: int = 0
    ) -> AuthorizeFacts:
        """The facts of rule ``authorize`` at a moment of the run's time; the flow may hold itself
        to less than its scope, and say that calls are ``ahead`` of this one.
        """
        verb, digest = catalog.verbs.get(call.verb), call_digest(call)
        return AuthorizeFacts(
            verb=call.verb,
            call=digest,
            in_scope=self.scope.permits(call.verb) and within.permits(call.verb),
            depth=self.depth,
            verb_calls=self.spent.verb_calls,
            cap_verb_calls=self.cap.verb_calls,
            session=bool(self._session),
            reserved=verb is not None and verb.spec.entry and self._reserved(verb.spec),
            lacks=() if verb is None else self._lacks(verb.spec),
            safety="" if self.held is None else self.held.safety,
            unconfirmed=call.verb in catalog.unconfirmed,
            calls=self._called[call.verb] if counts_calls(self.bounds(call.verb)) else 0,
            no_runs=verb is not None and verb.spec.composite and self.runs_left <= 0,
            taken=self._taken(verb is not None and verb.spec.composite, ahead),
            raised=catalog.verbs[self._raising].spec.max_recursion_depth
            if self._raising in catalog.verbs
            else 0,
            at=at if catalog.counts_days(call.verb) else 0,
            handed=None
            if catalog.card_of(call.verb) is None
            else self.handings.handed(digest, catalog),
            **self.consents.facts(digest),
        )

    def _taken(self, composite: bool, ahead: int) -> int:
        """How many calls are ahead, where those leave nothing; what is gone without them is told by
        other facts.
        """
        left = self.cap.verb_calls - self.spent.verb_calls
        left = min(left, self.runs_left) if composite else left
        return ahead if 0 < left <= ahead else 0

    def bounds(self, verb: str) -> tuple[Constraint, ...]:
        """The bounds of a verb's calls. Runs of builds before, which could ask nobody, were held to
        none.
        """
        bounded = self.scope.constraints if self.consents.may_ask is not None else None
        return bounds_of(bounded, verb) if bounded else ()

    def _lacks(self, verb: VerbSpec) -> tuple[str, ...]:
        """The scopes that the verb needs and the token that asked for the run has not."""
        return lacking(verb.scopes, self._scopes, reads=verb.effect is VerbEffect.READ)

    def _reserved(self, entry: VerbSpec) -> bool:
        """Whether the run does not enter by it, nor escalates to it, which is the one way to a
        chain (ACH-03).

        Outside of sessions the rule has always refused those that are for sessions only.
        """
        if entry.name in self._kind.escalates:
            return False
        enters = self._root and self._kind.enters and entry.name != CHAIN_VERB
        return not enters and (bool(self._session) or not entry.session_only)

    def authorized(self, call: Call, decision: Decision[Any]) -> None:
        """Keep what a decision of rule ``authorize`` about a call allows, or asks for."""
        consent = self.consents.decided(call, decision)
        if isinstance(decision.outcome, Allow):
            self._permits[decision.address] = decision.outcome.call
            self._called[call.verb] += 1
            if consent is not None:
                self._consented[decision.address] = consent

    def given(self, permit: str) -> Consent | None:
        """The yes that the decision at this address rests on; None where the call needed none."""
        return self._consented.get(permit)

    def lane_chosen(self, facts: LaneFacts, inputs: Any, outcome: object) -> None:
        """Keep the model profiles that a decision of rule ``lane`` names for a prompt of the run's
        own; none of what a child will ask.
        """
        if isinstance(outcome, LaneChosen) and facts.ahead is not True:
            purpose = facts.purpose
            if any(
                prompt.purpose == purpose and prompt.lane is inputs.by_purpose
                for prompt in self._kind.prompts
            ):
                self._profiles.setdefault(purpose, set()).update(outcome.profiles)

    def profiled(
        self,
        decided: ProfileOutcome,
        facts: ProfileFacts,
        inputs: ProfileInputs,
        seen: object,
        catalog: Catalog,
    ) -> None:
        """Keep which profile holds, and have no more than that leaves. ``seen`` is what the
        decision refers to, as it was handed to the flow.

        Raises:
            FlowFault: it was not decided from what stands on record, or holds already.
        """
        read = (
            msgspec.to_builtins(inputs.seen) == seen.value
            if isinstance(seen, ReadValue)
            else inputs.seen == PinsSeen()
        )
        by_pins = self.owes_profile is ProfiledBy.PINS
        if (
            self.owes_profile is None
            or not read
            or facts != inputs.seen.facts(unread=by_pins and not isinstance(seen, ReadValue))
        ):
            raise FlowFault("a profile decided anew, or from what no record holds")
        if isinstance(decided, HeldProfile):
            self.owes_profile, self.held = None, decided
            self.scope = decided.leaves(self.scope, catalog)

    @property
    def own(self) -> OwnBounds:
        """What a decision about a handoff of this run has to be made of."""
        return OwnBounds(self.consents.may_ask, self.held, self.scope)

    def book(self, amount: Spend) -> None:
        """Add to what was spent."""
        self.spent = self.spent.plus(amount)

    def attempted(self, call: VerbCall, result: object) -> None:
        """One attempt ended. Where the verb named a rest, it is none that its permit covers."""
        self.consents.attempted(call.authorized, result)
        failed = result.repeat if isinstance(result, VerbUnknown) else result
        if isinstance(failed, VerbFailed) and failed.apart:
            self._attempts[call.authorized.decision] -= 1

    def ended(self, ends: Sequence[AnyEnded]) -> None:
        """A join is over: what the children spent was the run's, and so were the runs below
        them.
        """
        for end in ends:
            self.book(end.spent)
            # a child of a build before had its own bound
            self.runs_left = max(0, self.runs_left - end.runs)

    def carved(self, outcome: object) -> None:
        """Shared accounts were claimed: the run has what they gave, at the most; where they refused
        it may not spend.
        """
        if isinstance(outcome, Carved):
            self.owes_carving = False
            tokens, money = (
                min(self.cap.tokens, outcome.tokens),
                min(self.cap.usd_micros, outcome.usd_micros),
            )
            self.cap = structs.replace(self.cap, tokens=tokens, usd_micros=money)

    # --- effects ----------------------------------------------------------------------------------

    def made(self, effect: Effect[Any]) -> None:
        """An effect was announced, now or on record: it uses its permits and counts."""
        match effect:
            case VerbCall():
                self._attempts[effect.authorized.decision] += 1
                self.book(Spend(verb_calls=1))
            case Children():
                self.runs_left -= len(effect.spawns)
                for spawn in effect.spawns:
                    if spawn.authorized is not None:
                        self._attempts[spawn.authorized.decision] += 1
                        self.book(Spend(verb_calls=1))
            case _:
                pass

    def check(self, effect: Effect[Any], catalog: Catalog) -> None:
        """An effect is about to go live: it is within what the run may do.

        Raises:
            FlowFault: it is not; nothing goes live.
        """
        match effect:
            case ModelCall():
                self._check_model_call(effect)
            case VerbCall():
                self._check_verb_call(effect, catalog)
            case Children():
                self._check_spawns(effect.spawns)
                self.handings.check(effect.spawns, catalog)
                _check_time("a join", effect.until.deadline)
            case Wait():
                _check_time("a wait", effect.deadline)
                self._check_approval(effect)
            case Say() if effect.summary_through:
                self._check_summary(effect.summary_through)
            case Read() if self._session != effect.args.get("session", self._session):
                raise FlowFault("a read of another session")
            case _:
                pass

    def _check_approval(self, wait: Wait) -> None:
        """An approver is asked only by a run that may wait for people, and for calls; and as
        nothing else.
        """
        asked = wait.approval
        if asked is not None and asked.apart != (self.held is not None and self.held.apart):
            raise FlowFault("a wait for an approver whom the profile that holds does not name")
        if asked is not None and (
            wait.what is not WaitFor.APPROVAL
            or wait.question is not None
            or not self.consents.may_wait(asked)
        ):
            raise FlowFault(
                "a wait for an approver that this run may not ask, or for nothing that one could "
                "approve"
            )

    def _check_model_call(self, call: ModelCall) -> None:
        """Of a profile that a lane on record names for it; it ends with the run at the latest, and
        only after the shared accounts were asked.
        """
        self._check_spending()
        named = self._profiles.get(call.purpose)
        if not named or call.profile not in named or (call.hedge and call.hedge not in named):
            raise FlowFault(
                f"a model call of a profile that no lane on record names for {call.purpose}"
            )
        if min(call.max_tokens, call.bound_tokens, call.hedge_max_tokens) < 0:
            raise FlowFault("a model call with a bound below nothing")
        if call.hedge == call.profile:
            raise FlowFault(
                "a model call beside itself: whatever one of them comes to would stand for both"
            )
        if max(call.deadline, call.hedge_deadline) > self.deadline:
            raise FlowFault("a model call after the run's deadline")
        if call.keep_thoughts and not self.keep_thoughts:
            raise FlowFault("a model call whose thoughts would be kept where they may not be")

    def _check_summary(self, through: int) -> None:
        """Only a session's own run sums it up, and nothing but what was said before the message
        that it answers.
        """
        own = (
            self._kind.sums_up(self._given)
            if self._kind.sums_up is not None and self._root and self._session
            else 0
        )
        if not 0 < through < own:
            raise FlowFault("a summary of what this run may not sum up")

    def _check_verb_call(self, call: VerbCall, catalog: Catalog) -> None:
        """It is what a decision allowed, as often as the verb's declared retries allow, within
        calls and time.
        """
        self._check_spending()
        # of what there is not no decision allowed anything
        verb = catalog.verbs.get(call.authorized.call.verb)
        self._check_permit(call.authorized, 0 if verb is None else verb.spec.retry.max_attempts)
        if call.deadline > self.deadline:
            raise FlowFault("a verb call after the run's deadline")
        if self.spent.verb_calls >= self.cap.verb_calls:
            raise FlowFault("the run's verb calls are spent")

    def _check_spawns(self, spawns: Sequence[Spawn[Any]]) -> None:
        """Children get no more than their parent has, and all together no more than it has left."""
        self._check_spending()
        if len(spawns) > self.runs_left:
            bound = (
                f"below one root there are {RUNS_MAX} at most, and the children of a join share "
                "what is left of them"
            )
            raise FlowFault(
                f"{len(spawns)} children where {max(0, self.runs_left)} more runs may be opened: "
                f"{bound}"
            )
        permits = [spawn.authorized for spawn in spawns if spawn.authorized is not None]
        if len({permit.decision for permit in permits}) != len(permits):
            raise FlowFault("one permit for several children")
        for permit in permits:
            self._check_permit(permit, 1)
        total = Spend(verb_calls=len(permits))
        for spawn in spawns:
            total = total.plus(spawn.allowance)
            if (
                not spawn.allowance.covers(Spend())
                or spawn.deadline > self.deadline
                or (spawn.keep_thoughts and not self.keep_thoughts)
                or not self.scope.covers(
                    CapabilityScope(allowed=spawn.scope, constraints=self.scope.constraints)
                )
            ):
                raise FlowFault(f"a child run of {spawn.flow} would get more than its parent has")
        if not _covers(self.cap.less(self.spent), total):
            raise FlowFault("the children together would get more than their parent has left")

    def _check_permit(self, authorized: Authorized, most: int) -> None:
        """A decision of this run allowed exactly this, and it was not carried out as often as it
        may be.
        """
        digest = call_digest(authorized.call)
        if (
            authorized.digest not in ("", digest)
            or self._permits.get(authorized.decision) != digest
        ):
            raise FlowFault(
                f"call of {authorized.call.verb} is not what decision {authorized.decision} allowed"
            )
        if self._attempts[authorized.decision] >= most:
            raise FlowFault(
                f"decision {authorized.decision} allows {most} attempts, and they were made"
            )

    def _check_spending(self) -> None:
        if self.owes_carving:
            raise FlowFault("policy bounds shared accounts, and they have given the run nothing")
        if self.owes_profile is not None:
            raise FlowFault("which pinned profile holds for the run is not decided")


def _check_time(what: str, deadline: int | None) -> None:
    """A person may answer long after the run's own deadline; a moment there must be."""
    if deadline is not None and deadline > LATEST_US:
        raise FlowFault(f"{what} for a moment that never comes")


def _covers(left: Spend, total: Spend) -> bool:
    """Whether what is left covers it; of what is overdrawn nothing can be given, and giving none of
    it is no fault.
    """
    kinds = ("tokens", "usd_micros", "model_calls", "verb_calls")
    return all(getattr(total, kind) <= max(0, getattr(left, kind)) for kind in kinds)
