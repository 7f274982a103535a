"""One execution of one run: the Effects port over a journal.

The flow runs again over its records; recorded effects answer at once, recorded decisions are trusted and their facts
compared. Where the records end, ``Beyond`` says what happens: live it goes on, in replay it stops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from time import perf_counter_ns
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from ordain.contracts.moments import EPOCH
from ordain.effects.children import AnyEnded, Join, Spawn
from ordain.effects.effect import Children, Claim, Effect
from ordain.effects.results import Abandoned, AnyResult, Joined
from ordain.errors import JournalDiverged
from ordain.flows.prompting import Values
from ordain.journal.codec import Read, decode
from ordain.journal.digests import derived_id
from ordain.journal.records import (
    BESIDE_FLOW,
    ENCODER,
    HANDED_TO_FLOW,
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    DeliveredBody,
    IntentBody,
    Kind,
    ObservationBody,
    Record,
)
from ordain.ports.effects import Interrupted, Suspended
from ordain.rules.decision import FACTS_BYTES, Decision, Rule
from ordain.rules.shared import SHARED

R = TypeVar("R")
F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letters of ordain.rules.decision
O = TypeVar("O", bound=Struct)  # noqa: E741 - see above

RESULTS: msgspec.json.Decoder[AnyResult] = msgspec.json.Decoder(AnyResult)
ENDS: msgspec.json.Decoder[AnyEnded] = msgspec.json.Decoder(AnyEnded)


class Beyond(Protocol):
    """What happens where the journal ends."""

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        """A decision was made that no record holds yet."""
        ...

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """Claim ``addr`` has no record: decide it in the write transaction."""
        ...

    async def begin(self, addr: int, effect: Effect[Any]) -> Any:
        """Effect ``addr`` has no record: announce it and carry it out."""
        ...

    async def resume(self, addr: int, effect: Effect[Any], ended: dict[int, AnyEnded]) -> Any:
        """Effect ``addr`` was announced but has no observation; ``ended`` are the children already recorded."""
        ...


class Judge(Protocol):
    """Looks on while recorded decisions are read back: replay compares, a policy diff may replace."""

    def judge(self, decision: Decision[Any], rule: Rule[Any, Any, Any], facts: Struct, inputs: object) -> Decision[Any]:
        """The decision to hand to the flow."""
        ...

    def rendered(self, addr: int, effect: Effect[Any], result: Any, values: Values) -> None:
        """A recorded effect and its result, before the flow gets it."""
        ...


class _Purpose(Struct):
    purpose: str


class _ModelIntent(Struct):
    effect: _Purpose


def answered_calls(records: Sequence[Record]) -> Counter[str]:
    """How many model calls of each purpose came to an end; an attempt that was lost with the process did not, the next takes its place."""
    answered: Counter[str] = Counter()
    purpose = ""
    for record in records:
        if record.name == "model_call" and record.body is not None:
            if record.kind is Kind.INTENT:
                purpose = msgspec.json.decode(record.body, type=_ModelIntent).effect.purpose
            elif record.kind is Kind.OBSERVATION and b'"code":"lost"' not in record.body:
                answered[purpose] += 1
    return answered


def handed(records: Sequence[Record], seqs: Iterable[int]) -> Values:
    """What these records handed to the flow.

    Raises:
        Erased: one of them was erased or swept.
    """
    values = Values()
    for seq in seqs:
        body = decode(records[seq])
        if isinstance(body, ObservationBody):
            values[seq] = RESULTS.decode(body.result)
        elif isinstance(body, ChildEndedBody):
            values[seq] = ENDS.decode(body.ended)
    return values


@lru_cache(maxsize=256)
def _outcome_decoder(outcome: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(outcome)


class Execution:
    """The Effects port for one run. Holds the cursor, the effect number and what each record handed to the flow."""

    def __init__(
        self, run: str, records: Sequence[Record], beyond: Beyond, policy: Any, judge: Judge | None = None, *, read: Read = decode
    ) -> None:
        """``records`` begin with ``started``; the flow's input must be put into ``values[0]`` by the caller."""
        self.run = run
        self._read = read
        self._records = [record for record in records if record.kind not in BESIDE_FLOW]
        self._cursor = 1
        self._beyond = beyond
        self._judge = judge
        self._policy = policy
        self._effect = 0
        self._counts: dict[str, int] = {}
        self._ids = 0
        self.handed_at = records[0].at
        self.values = Values()
        self.masked = False
        self.suspended = False
        self.decisions = 0
        self.decide_ns = 0

    @property
    def exhausted(self) -> bool:
        """Whether every record but the end was met."""
        rest = self._records[self._cursor :]
        return not rest or rest[0].kind is Kind.ENDED

    def _next(self) -> Record | None:
        if self._cursor < len(self._records):
            record = self._records[self._cursor]
            if record.kind is not Kind.ENDED:
                return record
        return None

    def _take(self, record: Record) -> None:
        self._cursor += 1
        if record.kind in HANDED_TO_FLOW:
            self.handed_at = record.at

    def handed(self, record: Record) -> None:
        """A record was written live and handed to the flow: the flow's time moves."""
        self.handed_at = record.at

    def _diverged(self, addr: object, why: str, record: Record) -> JournalDiverged:
        return JournalDiverged(
            f"run {self.run} at {addr}: {why} (record {record.seq}, {record.kind} {record.name})", details={"seq": record.seq}
        )

    # --- the port ---------------------------------------------------------------------------------------------------------------

    def decide(self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()) -> Decision[O]:
        """See ``Effects.decide``."""
        self._check_here()
        address = self.address(rule.name)
        encoded = ENCODER.encode(facts)
        record = self._next()
        if record is None:
            if len(encoded) > FACTS_BYTES:
                raise JournalDiverged(f"facts of {rule.name} exceed {FACTS_BYTES} bytes")
            began = perf_counter_ns()
            made = rule.apply(facts, inputs, self._policy)
            self.decide_ns += perf_counter_ns() - began
            outcome = msgspec.Raw(ENCODER.encode(made.outcome))
            self._beyond.decided(
                rule, DecisionBody(addr=address, outcome=outcome, reason=made.reason, facts=msgspec.Raw(encoded), refs=refs)
            )
            return Decision(outcome=made.outcome, reason=made.reason, address=address)
        body = self._decision(record, rule, address)
        if bytes(body.facts) != encoded:
            raise self._diverged(address, "other facts", record)
        if body.refs != refs:
            raise self._diverged(address, "other references", record)
        self._take(record)
        try:
            recorded: Decision[O] = Decision(
                outcome=_outcome_decoder(rule.outcome).decode(body.outcome), reason=rule.reason(body.reason), address=address
            )
        except (msgspec.DecodeError, ValueError) as error:
            raise self._diverged(address, f"unreadable decision: {error}", record) from error
        return recorded if self._judge is None else self._judge.judge(recorded, rule, facts, inputs)

    def _decision(self, record: Record, rule: Rule[Any, Any, Any], address: str) -> DecisionBody:
        if record.kind is not Kind.DECISION or record.name != rule.name:
            raise self._diverged(address, f"the flow asked rule {rule.name}", record)
        body = self._read(record)
        if not isinstance(body, DecisionBody) or body.addr != address:
            raise self._diverged(address, "other address", record)
        return body

    async def perform(self, effect: Effect[R]) -> R:
        """See ``Effects.perform``."""
        addr = self._begin()
        record = self._next()
        if record is None:
            return await self._beyond.begin(addr, effect)
        if record.kind is Kind.DELIVERED:
            raise self._interrupted(record, addr)
        self._announced(record, addr, effect)
        result: Any = self._observed(addr)
        if result is None:
            return await self._beyond.resume(addr, effect, {})
        if isinstance(result, Abandoned):
            return self._after_abandoned(addr)
        if self._judge is not None:
            self._judge.rendered(addr, effect, result, self.values)
        return result

    async def children(self, spawns: Sequence[Spawn[Any]], until: Join) -> tuple[AnyEnded, ...]:
        """See ``Effects.children``."""
        addr = self._begin()
        effect = Children(spawns=tuple(spawns), until=until)
        record = self._next()
        ended: dict[int, AnyEnded] = {}
        if record is None:
            return await self._beyond.begin(addr, effect)
        if record.kind is Kind.DELIVERED:
            raise self._interrupted(record, addr)
        self._announced(record, addr, effect)
        while (record := self._next()) is not None and record.kind is Kind.CHILD_ENDED:
            body = self._read(record)
            if not isinstance(body, ChildEndedBody) or body.addr != addr or body.child != derived_id(self.run, addr, body.index):
                raise self._diverged(addr, "another child", record)
            self._take(record)
            ended[body.index] = self.remember(ENDS.decode(body.ended), record.seq)
        joined = self._observed(addr)
        if joined is None:
            return await self._beyond.resume(addr, effect, ended)
        if not isinstance(joined, Joined):
            return self._after_abandoned(addr)
        following = self._next()
        if following is not None and following.kind is Kind.DELIVERED and self._delivered(following).addr == addr:
            raise self._interrupted(following, addr)
        return tuple(ended[index] for index in range(len(spawns)))

    async def claim(self, claim: Claim[O]) -> Decision[O]:
        """See ``Effects.claim``. The facts stand in the record: nobody can read that state again."""
        shared = SHARED[claim.name]
        addr = self._begin()
        record = self._next()
        if record is None:
            return await self._beyond.claim(addr, claim)
        if record.kind is Kind.DELIVERED:
            raise self._interrupted(record, addr)
        body = self._read(record)
        if not isinstance(body, ClaimBody) or body.addr != addr or bytes(body.claim) != ENCODER.encode(claim):
            raise self._diverged(addr, f"the flow claimed {claim.name}", record)
        self._take(record)
        facts = msgspec.json.decode(body.facts, type=shared.facts)
        outcome = _outcome_decoder(shared.rule.outcome).decode(body.outcome)
        recorded: Decision[Any] = Decision(outcome=outcome, reason=shared.rule.reason(body.reason), address=f"{addr}/{claim.name}#0")
        return recorded if self._judge is None else self._judge.judge(recorded, shared.rule, facts, None)

    def now(self) -> datetime:
        """See ``Effects.now``."""
        return EPOCH + timedelta(microseconds=self.handed_at)

    def new_id(self) -> str:
        """See ``Effects.new_id``."""
        self._ids += 1
        return derived_id(self.run, f"id@{self._effect}", self._ids)

    @property
    def effect(self) -> int:
        """How many effects the flow has begun."""
        return self._effect

    def address(self, rule: str) -> str:
        """The address of the next decision of a rule: ``effect/rule#k``."""
        self.decisions += 1
        k = self._counts.get(rule, 0)
        self._counts[rule] = k + 1
        return f"{self._effect}/{rule}#{k}"

    # --- reading back -----------------------------------------------------------------------------------------------------------

    def _check_here(self) -> None:
        """A flow that swallowed ``Suspended`` gets it again: its run waits, and nothing may be written for it."""
        if self.suspended:
            raise Suspended

    def _begin(self) -> int:
        self._check_here()
        addr = self._effect
        self._effect += 1
        self._counts.clear()
        return addr

    def _announced(self, record: Record, addr: int, effect: Effect[Any]) -> None:
        body = self._read(record)
        if not isinstance(body, IntentBody) or body.addr != addr:
            raise self._diverged(addr, "the flow performed an effect", record)
        if bytes(body.effect) != ENCODER.encode(effect):
            raise self._diverged(addr, "another effect", record)
        self._take(record)

    def _observed(self, addr: int) -> AnyResult | None:
        record = self._next()
        if record is None:
            return None
        body = self._read(record)
        if not isinstance(body, ObservationBody) or body.addr != addr:
            raise self._diverged(addr, "no observation follows", record)
        self._take(record)
        return self.remember(RESULTS.decode(body.result), record.seq)

    def remember(self, value: Any, seq: int) -> Any:
        """Give a result its place in the journal, and keep it for references."""
        msgspec.structs.force_setattr(value, "seq", seq)
        self.values[seq] = value
        return value

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
        self.masked = True
        return Interrupted(body.what, body.by, body.why)

    def _after_abandoned(self, addr: int) -> Any:
        record = self._next()
        if record is None or record.kind is not Kind.DELIVERED:
            raise JournalDiverged(f"run {self.run} at {addr}: abandoned without an interrupt")
        interrupted = self._interrupted(record, addr)
        interrupted.in_flight = True
        raise interrupted
