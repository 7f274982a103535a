"""What a run did, held against what its first record gave it: read from its records alone, without
the runtime's own account of it.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH
from ordain.effects.calls import Call
from ordain.effects.effect import AnyEffect, Children, ModelCall, Read, Say, VerbCall
from ordain.flows.accounts import shared_accounts
from ordain.flows.kinds import Kinds
from ordain.flows.pricing import bound_of_call
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest
from ordain.journal.folds import Fold
from ordain.journal.records import ChildEndedBody, ClaimBody, DecisionBody, IntentBody, Started
from ordain.ports.store import StoredRun
from ordain.rules.budget import SettleFacts
from ordain.rules.spend import Spend

EFFECTS = msgspec.json.Decoder(AnyEffect)


class _Seen(msgspec.Struct):
    spent: Spend = Spend()


class Bounds:
    """What one run may do, as its records say, and a walk over them that asserts that it did no
    more.
    """

    def __init__(self, stored: StoredRun, catalog: Catalog, kinds: Kinds) -> None:
        """Of a run that began with a recorded grant."""
        self.stored, self.catalog, self.kinds = stored, catalog, kinds
        started = decode(stored.records[0])
        assert isinstance(started, Started)
        assert started.grant is not None
        self.started, self.scope, self.cap = started, started.grant, started.allowance
        agent = kinds.label(started).agent
        bounded = shared_accounts(
            catalog.policy.budget,
            agent,
            started.session,
            EPOCH + timedelta(microseconds=stored.records[0].at),
        )
        self.owes = stored.parent is None and bool(bounded)
        self.spent = Spend()
        self.permits: dict[str, str] = {}
        self.attempts: Counter[str] = Counter()
        self.reserved = False
        self.profiles: set[str] = set()
        self.carvings = 0

    def check(self) -> None:
        """Nothing was deeper, dearer or later than it may be."""
        for record in self.stored.records:
            body: Any = decode(record)
            match body:
                case DecisionBody():
                    self._decision(record.name, body)
                case ClaimBody():
                    self._claim(body)
                case IntentBody():
                    self._intent(EFFECTS.decode(body.effect))
                case ChildEndedBody():
                    self.spent = self.spent.plus(msgspec.json.decode(body.ended, type=_Seen).spent)
                case _:
                    pass
        assert self.cap.covers(self.spent), (self.cap, self.spent)
        fold = Fold(self.stored.id, self.stored.records, self.kinds)
        assert (fold.carved is None) == (self.carvings == 0), (
            "accounts would be given back what was never taken out of them"
        )
        assert fold.spent.model_calls == self.spent.model_calls

    def _decision(self, name: str, body: DecisionBody) -> None:
        outcome: Any = msgspec.json.decode(body.outcome)
        facts: Any = msgspec.json.decode(body.facts)
        if name == "authorize" and outcome["type"] == "allow":
            assert self.scope.permits(facts["verb"])
            assert self.started.depth < self.catalog.policy.verbs.max_depth
            self.permits[body.addr] = outcome["call"]
        elif (
            name == "lane"
            and outcome["type"] == "lane"
            and not facts.get("ahead")
            and facts["purpose"] == "hostile"
        ):
            self.profiles.update(outcome["profiles"])
        elif name == "reserve":
            self.reserved = outcome["type"] == "reserved"
        elif name == "settle":
            used = msgspec.json.decode(body.facts, type=SettleFacts)
            assert min(used.tokens, used.usd_micros, used.calls) >= 0, (
                "spending that gives something back"
            )
            self.spent = self.spent.plus(
                Spend(tokens=used.tokens, usd_micros=used.usd_micros, model_calls=used.calls)
            )

    def _claim(self, body: ClaimBody) -> None:
        claim, outcome = msgspec.json.decode(body.claim), msgspec.json.decode(body.outcome)
        assert claim["name"] == "carve"
        if outcome["type"] == "carved":
            self.carvings += 1
            self.owes = False
            assert self.carvings == 1, "accounts were charged twice, and are given back once"
            self.cap = msgspec.structs.replace(
                self.cap,
                tokens=min(self.cap.tokens, outcome["tokens"]),
                usd_micros=min(self.cap.usd_micros, outcome["usd_micros"]),
            )

    def _intent(self, effect: AnyEffect) -> None:
        match effect:
            case ModelCall():
                assert not self.owes
                assert {effect.profile, effect.hedge} <= {*self.profiles, ""}, (
                    "a model call of a profile that no lane names"
                )
                assert self.reserved, "a model call that nothing is reserved for"
                assert max(effect.deadline, effect.hedge_deadline) <= self.started.deadline
                assert self.started.keep_thoughts or not effect.keep_thoughts
                bound = bound_of_call(self.catalog, effect)
                assert bound.covers(Spend())
                assert self.cap.covers(self.spent.plus(bound))
                self.reserved = False
            case VerbCall():
                assert not self.owes
                self._permit(
                    effect.authorized,
                    self.catalog.verbs[effect.authorized.call.verb].spec.retry.max_attempts,
                )
                assert effect.deadline <= self.started.deadline
            case Children():
                assert not self.owes
                self._children(effect)
            case Say():
                assert not effect.summary_through, "no kind here may sum up a session"
            case Read():
                assert effect.args.get("session", self.started.session) == self.started.session
            case _:
                pass

    def _permit(self, authorized: Any, most: int) -> None:
        assert self.permits[authorized.decision] == call_digest(authorized.call)
        self.attempts[authorized.decision] += 1
        assert self.attempts[authorized.decision] <= most
        self.spent = self.spent.plus(Spend(verb_calls=1))
        assert self.spent.verb_calls <= self.cap.verb_calls

    def _children(self, effect: Children) -> None:
        together = Spend()
        for spawn in effect.spawns:
            if spawn.authorized is not None:
                self._permit(spawn.authorized, 1)
            kind = self.kinds.newest[spawn.flow]
            if kind.label(kind.decode_input(spawn.input)).verb:
                assert spawn.authorized is not None, "a prompt-plan verb that no decision allowed"
                spec = self.catalog.verbs[spawn.authorized.call.verb].spec
                assert spec.composite, "a run for a leaf"
                assert spawn.flow == (spec.flow or "verb_plan"), (
                    "a verb by a run of another kind than it names"
                )
                assert spawn.authorized.call == msgspec.json.decode(spawn.input, type=Call)
            assert spawn.allowance.covers(Spend())
            assert spawn.deadline <= self.started.deadline
            assert self.started.keep_thoughts or not spawn.keep_thoughts
            assert all(self.scope.permits(one) for one in spawn.scope)
            together = together.plus(spawn.allowance)
        left = self.cap.less(self.spent)
        for kind_of in ("tokens", "usd_micros", "model_calls", "verb_calls"):
            assert getattr(together, kind_of) <= max(0, getattr(left, kind_of)), (together, left)
