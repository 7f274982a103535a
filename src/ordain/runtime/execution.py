"""One execution of one run: the Effects port over a journal.

The flow runs again over its records; recorded effects answer at once, recorded decisions are
trusted and their facts compared. Where the records end, ``Beyond`` says what happens: live it goes
on, in replay it stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import inf
from time import perf_counter_ns
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH, MICROSECOND
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded, Join, Spawn
from ordain.effects.effect import AnyEffect, Children, Claim, Effect, ModelCall, VerbCall, Wait
from ordain.effects.results import Abandoned, AnyResult, Joined, Unreserved
from ordain.errors import FlowFault, JournalDiverged
from ordain.flows.pricing import bound_of_call, price_of_call, reserve_facts
from ordain.journal.digests import derived_id
from ordain.journal.lost_time import losses
from ordain.journal.records import (
    BESIDE_FLOW,
    ENCODER,
    HANDED_TO_FLOW,
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    DeliveredBody,
    IntentBody,
    ObservationBody,
    Record,
    RecordKind,
)
from ordain.ports.effects import Interrupted, Suspended
from ordain.rules.authorize import AUTHORIZE, AuthorizeInputs, AuthorizeOutcome
from ordain.rules.budget import CARVE, RESERVE, SETTLE, BudgetRefused, SettleFacts
from ordain.rules.decision import FACTS_BYTES, Decision, Rule
from ordain.rules.grant import GRANT
from ordain.rules.recover import RECOVER, FoundOut, Recovering, RecoverOutcome, found_out_of
from ordain.rules.spend import Spend
from ordain.runtime import recorded_form
from ordain.runtime.beyond import PLAINLY, Beyond, Rereading
from ordain.runtime.decided_authority import TELLING, tell_authority
from ordain.runtime.run_state import CHILDREN_MAX, PortEffect, RunState

R = TypeVar("R")
F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letters of ordain.rules.decision
O = TypeVar("O", bound=Struct)  # noqa: E741 - see above

_DECISION, _DELIVERED = RecordKind.DECISION, RecordKind.DELIVERED
DECISIONS_MAX = 1_000
"""Decisions between two effects: a flow that only decides never lets anybody else go on, and
shipped ones make a dozen.
"""


class Execution:
    """The Effects port for one run. Holds the cursor and the effect number; what the run may do
    stands in its ``Authority``.
    """

    def __init__(
        self,
        run: str,
        records: Sequence[Record],
        beyond: Beyond,
        catalog: Catalog,
        state: RunState,
        reading: Rereading = PLAINLY,
    ) -> None:
        """``records`` begin with ``started``; the flow's input must be put into ``state.values[0]``
        by the caller.
        """
        self.run = run
        self.state = state
        self._read = reading.read
        self._records = [record for record in records if record.kind not in BESIDE_FLOW]
        self._losses = losses(records, reading.read)
        self._cursor = 1
        self._end = len(self._records)
        if self._records and self._records[-1].kind is RecordKind.ENDED:
            self._end -= 1
        self._beyond = beyond
        self._judge = reading.judge
        self._catalog = catalog
        self._effect = 0
        self._counts: dict[str, int] = {}
        self._ids = 0
        self._effecting = PortEffect(state)
        self._now_at, self._now = 0, EPOCH
        self.decisions = 0
        self._decisions_most = DECISIONS_MAX

    @property
    def exhausted(self) -> bool:
        """Whether every record but the end was met."""
        return self._cursor >= self._end

    def _next(self) -> Record | None:
        if self._cursor < self._end:
            return self._records[self._cursor]
        if self._losses:
            self._lose()
        return None

    def _take(self, record: Record) -> None:
        self._cursor += 1
        if self._losses:
            self._lose(record.seq)
        if record.kind in HANDED_TO_FLOW:
            self.state.handed(record)

    def _lose(self, before: float = inf) -> None:
        """Count what was lost before this record, or by the end of the journal."""
        while self._losses and self._losses[0].seq < before:
            self.state.lost_us += self._losses.pop(0).lost_us

    def _diverged(self, addr: object, why: str, record: Record) -> JournalDiverged:
        return JournalDiverged(
            f"run {self.run} at {addr}: {why} (record {record.seq}, {record.kind} {record.name})",
            details={"seq": record.seq},
        )

    def decide(
        self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()
    ) -> Decision[O]:
        """See ``Effects.decide``."""
        state = self.state
        if state.fault is not None or state.under_way:
            state.refuse_call()
        try:
            if state.asks.get(rule.name) is not rule:
                raise FlowFault(
                    f"rule {rule.name} is none that this kind of run declares: it is another's, "
                    "or the port asks it alone"
                )
            decision = self._decide(rule, facts, inputs, recorded_form.references(refs))
            if rule.name in TELLING:
                tell_authority(state, self._catalog, rule, (facts, inputs, refs), decision)
        except BaseException as error:  # whatever it is, nothing may follow it
            state.call_failed(error)
            raise
        return decision

    def authorize(
        self, call: Call, within: CapabilityScope, refs: tuple[int, ...] = (), *, ahead: int = 0
    ) -> Decision[AuthorizeOutcome]:
        """See ``Effects.authorize``."""
        state, authority = self.state, self.state.authority
        if state.fault is not None or state.under_way:
            state.refuse_call()
        try:
            asked = recorded_form.call_form(call)
            inputs = AuthorizeInputs(
                args=asked.args, catalog=self._catalog, bounds=authority.bounds(asked.verb)
            )
            facts = authority.facts_of(
                asked, recorded_form.scope_form(within), self._catalog, state.flow_at, ahead
            )
            decision = self._decide(AUTHORIZE, facts, inputs, recorded_form.references(refs))
            authority.authorized(asked, decision)
        except BaseException as error:  # whatever it is, nothing may follow it
            state.call_failed(error)
            raise
        return decision

    def _decide(
        self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()
    ) -> Decision[O]:
        if self.state.suspended:
            raise Suspended
        address = self.address(rule.name)
        encoded = ENCODER.encode(facts)
        record = self._next()
        if record is None:
            if len(encoded) > FACTS_BYTES:
                raise FlowFault(f"facts of {rule.name} exceed {FACTS_BYTES} bytes")
            began = perf_counter_ns()
            made = rule.apply(facts, inputs, self._catalog.policy)
            self.state.decide_ns += perf_counter_ns() - began
            reason = made.reason if type(made.reason) in rule.reasons else rule.reason(made.reason)
            outcome, given = recorded_form.outcome_form(rule, made.outcome)
            self._beyond.decided(
                rule,
                DecisionBody(
                    addr=address,
                    outcome=outcome,
                    reason=reason,
                    facts=msgspec.Raw(encoded),
                    refs=refs,
                ),
            )
            return Decision(outcome=given, reason=reason, address=address)
        if record.kind is not _DECISION or record.name != rule.name:
            raise self._diverged(address, f"the flow asked rule {rule.name}", record)
        body = self._read(record)
        if not isinstance(body, DecisionBody) or body.addr != address:
            raise self._diverged(address, "other address", record)
        if bytes(body.facts) != encoded:
            raise self._diverged(address, "other facts", record)
        if body.refs != refs:
            raise self._diverged(address, "other references", record)
        self._take(record)
        try:
            recorded: Decision[O] = Decision(
                outcome=rule.read_outcome(body.outcome),
                reason=rule.reason(body.reason),
                address=address,
            )
        except (msgspec.DecodeError, ValueError) as error:
            raise self._diverged(address, f"unreadable decision: {error}", record) from error
        return recorded if self._judge is None else self._judge.judge(recorded, rule, facts, inputs)

    async def perform(self, effect: Effect[R]) -> R:
        """See ``Effects.perform``."""
        with self._effecting:
            asked, encoded = recorded_form.effect_form(effect)
            if isinstance(asked, ModelCall):
                return await self._model_call(asked, encoded)
            if isinstance(asked, Children):
                raise FlowFault(
                    "children are opened by the port's own method, which books what they spend"
                )
            result = await self._perform(asked, encoded)
            if isinstance(asked, VerbCall):
                self.state.authority.attempted(asked, result)
            elif isinstance(asked, Wait):
                self.state.authority.consents.answered(asked, result)
            return result

    async def _model_call(self, call: ModelCall, encoded: msgspec.Raw) -> Any:
        """Reserve the most that it can come to, make it, and book what it came to."""
        bound = bound_of_call(self._catalog, call)
        reserved = self._decide(RESERVE, reserve_facts(self.state.authority, bound), None)
        if isinstance(reserved.outcome, BudgetRefused):
            return Unreserved(reason=reserved.reason)
        try:
            result = await self._perform(call, encoded)
        except Interrupted as interrupted:
            if interrupted.in_flight:
                self._settle(bound.tokens, bound)
            raise
        self._settle(bound.tokens, price_of_call(self._catalog, call, result), (result.seq,))
        return result

    def _settle(self, reserved: int, used: Spend, refs: tuple[int, ...] = ()) -> None:
        facts = SettleFacts(
            reserved=reserved,
            tokens=used.tokens,
            usd_micros=used.usd_micros,
            calls=used.model_calls,
        )
        self._decide(SETTLE, facts, None, refs)
        self.state.authority.book(used)

    async def _perform(self, effect: AnyEffect, encoded: msgspec.Raw) -> Any:
        addr = self._begin()
        record = self._next()
        if record is None:
            return await self._beyond.begin(addr, effect, encoded)
        if record.kind is _DELIVERED:
            raise self._interrupted(record, addr)
        self._announced(record, addr, effect, encoded)
        recover = self._recovered(effect) if isinstance(effect, VerbCall) else None
        if (result := self._observed(addr)) is None:
            return await self._beyond.resume(addr, effect, {}, recover)
        if isinstance(result, Abandoned):
            return self._after_abandoned(addr)
        if self._judge is not None:
            self._judge.rendered(addr, effect, result, self.state.values)
        return result

    def _recovered(self, call: VerbCall) -> Recovering:
        """Read back what was decided after deaths in the midst of the call; what decides after
        another one.
        """

        def decide(found: FoundOut) -> RecoverOutcome:
            return self._decide(
                RECOVER, self.state.recover_facts(call, self._catalog, found), None
            ).outcome

        while (record := self._next()) is not None and record.name == RECOVER.name:
            # what was found out stands in its facts: nobody can find it out again
            body = self._read(record)
            decide(found_out_of(body.facts) if isinstance(body, DecisionBody) else FoundOut())
        return decide

    async def children(self, spawns: Sequence[Spawn[Any]], until: Join) -> tuple[AnyEnded, ...]:
        """See ``Effects.children``."""
        with self._effecting:
            if len(spawns) > CHILDREN_MAX and self._next() is None:
                # before they are encoded, which takes its time
                raise FlowFault(
                    f"{len(spawns)} children of one join: it has {CHILDREN_MAX} at most"
                )
            asked, encoded = recorded_form.effect_form(Children(spawns=tuple(spawns), until=until))
            ends = await self._joined(cast("Children", asked), encoded)
            self.state.authority.ended(ends)
            for spawn, ended in zip(spawns, ends, strict=True):
                self.state.authority.consents.joined(spawn.authorized, ended)
            return ends

    async def _joined(self, effect: Children, encoded: msgspec.Raw) -> tuple[AnyEnded, ...]:
        addr = self._begin()
        record = self._next()
        ended: dict[int, AnyEnded] = {}
        if record is None:
            return await self._beyond.begin(addr, effect, encoded)
        if record.kind is _DELIVERED:
            raise self._interrupted(record, addr)
        self._announced(record, addr, effect, encoded)
        while (record := self._next()) is not None and record.kind is RecordKind.CHILD_ENDED:
            body = self._read(record)
            if (
                not isinstance(body, ChildEndedBody)
                or body.addr != addr
                or body.child != derived_id(self.run, addr, body.index)
            ):
                raise self._diverged(addr, "another child", record)
            self._take(record)
            ended[body.index] = self.state.remember(
                recorded_form.ENDS.decode(body.ended), record.seq
            )
        if (joined := self._observed(addr)) is None:
            return await self._beyond.resume(addr, effect, ended)
        if not isinstance(joined, Joined):
            return self._after_abandoned(addr)
        ends = tuple(ended[index] for index in range(len(effect.spawns)))
        after = self._next()
        if after and after.kind is _DELIVERED and self._delivered(after).addr == addr:
            raise self._interrupted(after, addr).bringing(ends)
        return ends

    async def claim(self, claim: Claim[O]) -> Decision[O]:
        """See ``Effects.claim``. The facts stand in the record: nobody can read that state
        again.
        """
        with self._effecting:
            asked, encoded = recorded_form.claim_form(claim)
            decision = await self._claimed(asked, encoded)
            if asked.name == CARVE.name:
                self.state.authority.carved(decision.outcome)
            elif asked.name == GRANT.name:
                self.state.authority.consents.claimed(asked.args["call"], decision.outcome)
            return decision

    async def _claimed(self, claim: Claim[Any], encoded: msgspec.Raw) -> Decision[Any]:
        if (shared := self.state.shares.get(claim.name)) is None:
            raise FlowFault(f"no shared rule of this kind is named {claim.name}")
        addr = self._begin()
        record = self._next()
        if record is None:
            return await self._beyond.claim(addr, claim)
        if record.kind is _DELIVERED:
            raise self._interrupted(record, addr)
        body = self._read(record)
        if not isinstance(body, ClaimBody) or body.addr != addr or body.claim != encoded:
            raise self._diverged(addr, f"the flow claimed {claim.name}", record)
        self._take(record)
        facts = msgspec.json.decode(body.facts, type=shared.facts)
        outcome = shared.rule.read_outcome(body.outcome)
        recorded: Decision[Any] = Decision(
            outcome=outcome,
            reason=shared.rule.reason(body.reason),
            address=f"{addr}/{claim.name}#0",
        )
        judge = self._judge
        return recorded if judge is None else judge.judge(recorded, shared.rule, facts, None)

    def now(self) -> datetime:
        """See ``Effects.now``."""
        if self._now_at != self.state.flow_at:
            self._now_at = self.state.flow_at
            self._now = EPOCH + self._now_at * MICROSECOND  # quicker than one made of as many
        return self._now

    def new_id(self) -> str:
        """See ``Effects.new_id``."""
        self._ids += 1
        return derived_id(self.run, f"id@{self._effect}", self._ids)

    @property
    def effect(self) -> int:
        """How many effects the flow has begun."""
        return self._effect

    def address(self, rule: str) -> str:
        """The address of the next decision of a rule: ``effect/rule#k``.

        Raises:
            FlowFault: one too many since the last effect.
        """
        self.decisions += 1
        if self.decisions > self._decisions_most:
            raise FlowFault(f"more than {DECISIONS_MAX} decisions between two effects")
        k = self._counts.get(rule, 0)
        self._counts[rule] = k + 1
        return f"{self._effect}/{rule}#{k}"

    def _begin(self) -> int:
        if self.state.suspended:
            # a flow that swallowed it gets it again: its run waits, and nothing may be written for
            # it
            raise Suspended
        addr = self._effect
        self._effect += 1
        self._counts.clear()
        self._decisions_most = self.decisions + DECISIONS_MAX
        return addr

    def _announced(
        self, record: Record, addr: int, effect: AnyEffect, encoded: msgspec.Raw
    ) -> None:
        """The effect was announced: it is the one that the record has."""
        body = self._read(record)
        if not isinstance(body, IntentBody) or body.addr != addr:
            raise self._diverged(addr, "the flow performed an effect", record)
        if body.effect != encoded:
            raise self._diverged(addr, "another effect", record)
        self._take(record)
        self.state.announced(effect)

    def _observed(self, addr: int) -> AnyResult | None:
        record = self._next()
        if record is None:
            return None
        body = self._read(record)
        if not isinstance(body, ObservationBody) or body.addr != addr:
            raise self._diverged(addr, "no observation follows", record)
        self._take(record)
        return self.state.remember(recorded_form.RESULTS.decode(body.result), record.seq)

    def _delivered(self, record: Record) -> DeliveredBody:
        body = self._read(record)
        if not isinstance(body, DeliveredBody):
            raise self._diverged("delivery", "unreadable", record)
        return body

    def _interrupted(self, record: Record, addr: int) -> Interrupted:
        body = self._delivered(record)
        if body.addr != addr:
            raise self._diverged(addr, "an interrupt was delivered elsewhere", record)
        self._take(record)
        self.state.masked = True
        return Interrupted(body.what, body.by, body.why)

    def _after_abandoned(self, addr: int) -> Any:
        record = self._next()
        if record is None or record.kind is not RecordKind.DELIVERED:
            raise JournalDiverged(f"run {self.run} at {addr}: abandoned without an interrupt")
        interrupted = self._interrupted(record, addr)
        interrupted.in_flight = True
        raise interrupted
