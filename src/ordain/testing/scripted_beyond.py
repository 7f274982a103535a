"""Where a scripted run's journal ends: a script answers, and what it answers is written as a live
run would write it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.effects.children import AnyEnded, Cancelled
from ordain.effects.effect import (
    AnyEffect,
    Children,
    Claim,
    Effect,
    ModelCall,
    Read,
    Say,
    VerbCall,
    Wait,
    WaitFor,
)
from ordain.effects.results import (
    Abandoned,
    Answered,
    AnyResult,
    Approved,
    Expired,
    Joined,
    ModelAnswer,
    ModelFailed,
    NotApproved,
    Resubmitted,
    Said,
)
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.codec import Scribe
from ordain.journal.digests import approval_id, derived_id
from ordain.journal.records import (
    Body,
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    DeliveredBody,
    IntentBody,
    ObservationBody,
    Record,
    RecordKind,
    ResumedBody,
    raw,
)
from ordain.ports.effects import Interrupted
from ordain.ports.model import Charge, ModelReply, ModelRequest
from ordain.ports.verb import LeafFailed, LeafReturned, LeafTimedOut
from ordain.rules.budget import CARVE
from ordain.rules.decision import Decision, Rule
from ordain.rules.grant import GRANT
from ordain.rules.recover import Recovering
from ordain.runtime.calls import result_of, too_late
from ordain.runtime.children import started_child
from ordain.runtime.claims import check_claim
from ordain.runtime.flow_time import PERSONS, WAITED
from ordain.runtime.joins import HandedOver, handed_over, why_over
from ordain.runtime.model_answers import Failure, kept_answer, prepare
from ordain.runtime.recorded_form import ENDS, RESULTS
from ordain.runtime.run_state import RunState
from ordain.runtime.setup import RunSetup
from ordain.testing.proposals import NOTICE, Delayed, Failing, Proposal
from ordain.testing.script import (
    Asked,
    Claimed,
    Granting,
    Interrupt,
    Joining,
    Ran,
    ReadSeen,
    RunScript,
    ScriptError,
    ScriptItem,
    Waited,
)
from ordain.testing.scripted_answers import Answers, accounts, grant_facts, told
from ordain.testing.scripted_run import PlayedDecision, made_of

T = TypeVar("T")


def check_template(kind: Kind[Any, Any], catalog: Catalog, template: object) -> None:
    """Live a catalog has what its kinds bring; a test's own is made by hand.

    Raises:
        ScriptError: this template of the kind's is not in the catalog.
    """
    brought = {prompt.template for prompt in kind.prompts if prompt.template}
    if isinstance(template, str) and template in brought - set(catalog.data.prompts):
        known = ", ".join(sorted(catalog.data.prompts)) or "none"
        raise ScriptError(
            f"kind {kind.name}@{kind.version} asks by template {template!r}, and the catalog has "
            f"{known}: make it by catalog_of(KIND, …) of the kind that brings it"
        )


class ScriptedBeyond:
    """Implements ``Beyond`` by a script, and keeps everything that was asked for."""

    def __init__(
        self,
        setup: RunSetup,
        state: RunState,
        scribe: Scribe,
        started: Record,
        script: RunScript,
        kinds: Kinds | None = None,
    ) -> None:
        """Continue after the run's first record. ``kinds`` are those that children may be of; None:
        nobody looks.
        """
        self._setup, self._state, self._scribe, self._kinds = setup, state, scribe, kinds
        self._catalog = setup.catalog
        self._answers = Answers(script)
        self._model_calls: Counter[str] = Counter()
        self.now = started.at
        self.records: list[Record] = [started]
        self.asked: list[Asked] = []
        self.decisions: list[PlayedDecision] = []
        self.requests: list[ModelRequest] = []

    def write(self, kind: RecordKind, name: str, body: Body) -> Record:
        """The next record, dated by the script's clock."""
        record = self._scribe.write(kind, name, body, self.now)
        self.records.append(record)
        return record

    def check_over(self, *, faulted: bool) -> None:
        """The run is over: everything was asked for, unless it broke off.

        Raises:
            ScriptError: something is left.
        """
        if self._answers.listed and self._answers.left and not faulted:
            left = "; ".join(repr(item) for item in self._answers.left)
            raise ScriptError(f"the flow has ended and never asked for: {left}")

    # --- Beyond -----------------------------------------------------------------------------------

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        """See ``Beyond.decided``."""
        self.write(RecordKind.DECISION, rule.name, body)
        self.decisions.append(made_of(rule, body))

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """See ``Beyond.claim``: the script has what the transaction would read, and the rule
        decides.
        """
        self._state.admit_claim()
        self._interrupt_before(addr, claim)
        shared = self._state.shares[claim.name]
        check_claim(claim, self._setup, self._state)
        facts = self._claim_facts(claim)
        self.asked.append(claim)
        made = shared.rule.apply(facts, None, self._catalog.policy)
        body = ClaimBody(
            addr=addr,
            claim=raw(claim),
            outcome=raw(made.outcome),
            reason=made.reason,
            facts=raw(facts),
        )
        self._state.handed(self.write(RecordKind.CLAIM, claim.name, body))
        self.decisions.append(made_of(shared.rule, body))
        return Decision(outcome=made.outcome, reason=made.reason, address=f"{addr}/{claim.name}#0")

    async def begin(self, addr: int, effect: AnyEffect, encoded: Raw) -> Any:
        """See ``Beyond.begin``."""
        self._interrupt_before(addr, effect)
        self._state.admit(effect, len(encoded), self._catalog)
        if isinstance(effect, Children) and self._kinds is not None:
            for index, spawn in enumerate(effect.spawns):
                started_child(self._setup, self._kinds, addr, index, spawn)
        name = str(type(effect).__struct_config__.tag)
        self.write(RecordKind.INTENT, name, IntentBody(addr=addr, effect=encoded))
        self.asked.append(effect)
        if isinstance(effect, Say):
            return self._observe(addr, name, Said())
        if isinstance(effect, Children):
            return self._join(addr, effect)
        return self._carry_out(addr, name, effect)

    async def resume(
        self,
        addr: int,
        effect: Effect[Any],
        ended: dict[int, AnyEnded],
        recover: Recovering | None = None,
    ) -> Any:
        """A scripted run is never broken off."""
        raise AssertionError("a scripted run has no journal to resume from")

    # --- the script -------------------------------------------------------------------------------

    def _interrupt_before(self, addr: int, asked: Asked) -> None:
        """The flow asks for something; an interrupt that has come before reaches it instead."""
        self._answers.hear(asked)
        head = self._answers.left[0] if self._answers.left else None
        if not self._state.masked and isinstance(head, Interrupt) and not head.in_flight:
            self._answers.take()
            raise self._deliver(addr, head)

    def _claim_facts(self, claim: Claim[Any]) -> Any:
        """What the claim's transaction reads; shared accounts of which the script says nothing are
        untouched.
        """
        if claim.name == GRANT.name:
            item = self._answers.take() if self._answers.next_is(Granting) else None
            return grant_facts(claim, item, self._state, self.now)
        shared = self._state.shares[claim.name]
        item = (
            self._answers.take()
            if self._answers.next_is(Claimed) or claim.name != CARVE.name
            else None
        )
        if not isinstance(item, Claimed | None):
            raise self._misfit(claim, item)
        if claim.name == CARVE.name:
            return msgspec.convert(accounts(claim, item), shared.facts)
        if item is None or not isinstance(item.facts, shared.facts):
            raise ScriptError(
                f"claim {claim.name} needs what its transaction reads: "
                f"claimed({shared.facts.__name__}(…))"
            )
        return item.facts

    def _misfit(self, asked: Asked, item: ScriptItem | None) -> ScriptError:
        what = told(asked)
        before = len(self.asked) - bool(self.asked and self.asked[-1] is asked)
        done = f"after {before} effects and claims"
        return ScriptError(
            f"{done} the flow asks for {what}, "
            + ("and the script is over" if item is None else f"the script has {item!r}")
        )

    def _fitting(self, asked: AnyEffect, item: ScriptItem | None, kinds: tuple[type[T], ...]) -> T:
        if not isinstance(item, kinds):
            raise self._misfit(asked, item)
        return item

    # --- effects ----------------------------------------------------------------------------------

    def _carry_out(self, addr: int, name: str, effect: AnyEffect) -> Any:
        """An effect that is one attempt: it is given up for an interrupt, or it comes to something
        by the script.
        """
        prepared = self._unscripted(effect)
        if prepared is not None:
            return self._observe(addr, name, prepared)
        item = self._answers.take()
        if isinstance(item, Interrupt):
            self._observe(addr, name, Abandoned())
            interrupted = self._deliver(addr, item)
            interrupted.in_flight = True
            raise interrupted
        if isinstance(item, Waited) and isinstance(
            item.result, Approved | NotApproved | Resubmitted
        ):
            item = Waited(
                result=structs.replace(item.result, approval=approval_id(self._setup.run, addr))
            )
        began, late = self.now, False
        if isinstance(item, Delayed):
            self.now, item = began + item.ms * 1000, item.item
            deadline = self._on_the_clock(getattr(effect, "deadline", self.now))
            if late := self.now >= deadline > began:
                self.now = deadline
        result = self._result(effect, item, late=late)
        if isinstance(effect, Wait) and effect.what in PERSONS and self.now > began:
            self.write(
                RecordKind.RESUMED, "lost", ResumedBody(by="", why=WAITED, lost_us=self.now - began)
            )
            self._state.lost_us += self.now - began
        return self._observe(addr, name, result)

    def _on_the_clock(self, moment: int) -> int:
        """When a moment of the run's time comes by the script's clock: its time stands still while
        a person has the word.
        """
        return moment + self._state.lost_us

    def _unscripted(self, effect: AnyEffect) -> AnyResult | None:
        """What comes of an effect without anybody being asked: its time is over, its prompt is too
        large, or it is a timer.
        """
        match effect:
            case ModelCall():
                self._model_calls[effect.purpose] += 1
                failure = self._failure(effect)
                left_us = self._on_the_clock(effect.deadline) - self.now
                if left_us <= 0:
                    return failure.of(ModelErrorCode.TIMED_OUT, "deadline passed before the call")
                prompt = self._setup.kind.prompt(effect.purpose)
                if not effect.prompt:
                    check_template(self._setup.kind, self._catalog, prompt.template)
                sent = prepare(self._catalog, effect, self._state.values, prompt, failure)
                if isinstance(sent, ModelFailed):
                    return sent
                request = sent.request(
                    effect,
                    self._catalog.data.profiles[effect.profile],
                    timeout_s=left_us / 1e6,
                    index=self._model_calls[effect.purpose] - 1,
                    heard=False,
                )
                self.requests.append(request)
                return None
            case VerbCall() if self._on_the_clock(effect.deadline) <= self.now:
                return too_late(self._catalog.verbs[effect.authorized.call.verb])
            case Wait(what=WaitFor.TIMER) if not self._answers.next_is(Waited, Interrupt, Delayed):
                self.now = max(self.now, self._on_the_clock(effect.deadline))
                return Expired()
            case _:
                return None

    def _result(self, effect: AnyEffect, item: ScriptItem | None, *, late: bool) -> AnyResult:
        match effect:
            case ModelCall():
                return self._model_result(effect, item, late=late)
            case VerbCall():
                call = effect.authorized.call
                ran = self._fitting(effect, item, (Ran,))
                if ran.verb not in ("", call.verb):
                    raise self._misfit(effect, item)
                result = LeafTimedOut() if late else ran.result
                if isinstance(result, LeafReturned | LeafFailed | LeafTimedOut):
                    return result_of(self._catalog.verbs[call.verb], result)
                return result
            case Read():
                seen = self._fitting(effect, item, (ReadSeen,))
                if seen.what not in ("", effect.what):
                    raise self._misfit(effect, item)
                return seen.result
            case Wait():
                result = self._fitting(effect, item, (Waited,)).result
                if (effect.approval is None) is isinstance(
                    result, Approved | NotApproved | Resubmitted
                ) or (effect.approval is not None and isinstance(result, Answered)):
                    raise self._misfit(effect, item)
                if late or (isinstance(result, Expired) and not result.why):
                    self.now = max(self.now, self._on_the_clock(effect.deadline))
                    return Expired()
                return result
            case _:
                raise self._misfit(effect, item)

    def _failure(self, call: ModelCall) -> Failure:
        profile = self._catalog.data.profiles[call.profile]
        return Failure(profile.provider, profile.model)

    def _model_result(self, call: ModelCall, item: ScriptItem | None, *, late: bool) -> AnyResult:
        said = self._fitting(call, item, (Proposal, Failing, ModelAnswer, ModelFailed))
        if isinstance(said, Proposal | Failing) and said.purpose not in ("", call.purpose):
            raise self._misfit(call, item)
        failure, prompt = self._failure(call), self._setup.kind.prompt(call.purpose)
        sent = prepare(self._catalog, call, self._state.values, prompt, failure)
        assert not isinstance(sent, ModelFailed)
        if late:
            return failure.of(
                ModelErrorCode.TIMED_OUT,
                "the provider did not answer in time",
                charge=Charge.POSSIBLE,
            )
        if isinstance(said, Failing):
            error = said.error
            return failure.of(
                error.code, error.message, retry_after_ms=error.retry_after_ms, charge=error.charge
            )
        if isinstance(said, Proposal):
            text = said.said(plain=sent.inputs.schema is None)
            reply = ModelReply(
                text=text,
                model=failure.model,
                input_tokens=said.input_tokens,
                output_tokens=said.output_tokens,
                notice=NOTICE,
            )
            return kept_answer(call, self._catalog.policy, reply, failure, sent)
        return structs.replace(
            said, prompt_digest=said.prompt_digest or failure.prompt_digest(None)
        )

    def _join(self, addr: int, effect: Children) -> tuple[AnyEnded, ...]:
        """Every child's end, in the order in which they came, until the join is over; an interrupt
        waits for them all.
        """
        run, count = self._setup.run, len(effect.spawns)
        item = self._answers.take()
        if isinstance(item, Delayed):
            self.now, item = self.now + item.ms * 1000, item.item
        interrupt = item if isinstance(item, Interrupt) else None
        if interrupt is not None:
            item = Joining(
                ends=interrupt.ends
                or tuple(Cancelled(child="", reason="cancel") for _ in effect.spawns)
            )
        joining = self._fitting(effect, item, (Joining,))
        if len(joining.ends) != count or sorted(joining.order or range(count)) != list(
            range(count)
        ):
            raise ScriptError(
                f"{count} children were opened; the script ends {len(joining.ends)} of them, in "
                f"order {joining.order}"
            )
        ended: dict[int, AnyEnded] = {}
        why: str | None = None
        counted: tuple[int, ...] = ()
        taken = HandedOver()
        for index in joining.order or range(count):
            child = derived_id(run, addr, index)
            end = handed_over(taken, bytes(raw(structs.replace(joining.ends[index], child=child))))
            record = self.write(
                RecordKind.CHILD_ENDED,
                "child",
                ChildEndedBody(addr=addr, index=index, child=child, ended=end),
            )
            self._state.handed(record)
            ended[index] = self._state.remember(ENDS.decode(end), record.seq)
            taken = taken.plus(record, ended[index])
            if why is None:
                why, counted = why_over(effect.until, count, ended), tuple(sorted(ended))
        self._observe(addr, "children", Joined(counted=counted, why=why or "all ended"))
        ends = tuple(ended[index] for index in range(count))
        if interrupt is not None:
            raise self._deliver(addr, interrupt).bringing(ends)
        return ends

    # --- records ----------------------------------------------------------------------------------

    def _observe(self, addr: int, name: str, result: AnyResult) -> Any:
        body = ObservationBody(addr=addr, result=raw(result))
        record = self.write(RecordKind.OBSERVATION, name, body)
        self._state.handed(record)
        return self._state.remember(RESULTS.decode(body.result), record.seq)

    def _deliver(self, addr: int, item: Interrupt, ended: tuple[AnyEnded, ...] = ()) -> Interrupted:
        body = DeliveredBody(addr=addr, mail=0, what=item.what, by=item.by, why=item.why)
        self._state.handed(self.write(RecordKind.DELIVERED, item.what, body))
        self._state.masked = True
        return Interrupted(item.what, item.by, item.why)
