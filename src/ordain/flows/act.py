"""``act``: the one way to a verb. Authorise (and wait for an approver where that is wanted), attempt, retry; a prompt-plan verb becomes a child run, a leaf goes to the executor.

The only module that builds ``Authorized``; what allows it the port decides. A failed verb is an observation with ``ok: false``, never an exception (B-04).
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.verbs import Trust, VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import NULL, AnyEnded, Completed, Failed, Join, Spawn, TimedOut, Unknown
from ordain.effects.effect import VerbCall, Wait, WaitFor
from ordain.effects.results import VerbFailed, VerbResult, VerbReturned, VerbTimedOut, VerbUnknown
from ordain.flows.approval import authorized
from ordain.flows.context import ALONE, Carrying, FlowContext, TurnKind
from ordain.flows.transcript import HistoryRef
from ordain.journal.acts import call_end
from ordain.journal.digests import call_digest
from ordain.journal.records import Label, raw
from ordain.rules.acts import Act, ActEnd
from ordain.rules.authorize import AUTHORIZE, Allow
from ordain.rules.header import HeaderFacts
from ordain.rules.retry import RETRY, RetryFacts, TryAgain

VERB_PLAN = "verb_plan"


class VerbPlanInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The input of a composite verb's flow: the call; in a conversation the history that goes with it.

    ``narrate``: what the verb says is the turn's answer and may be shown while it is written. ``max_tokens`` lowers what one model answer
    may have; 0 leaves it. ``budget_class`` and ``ambiguous`` say what the turn is like, where policy routes by it. ``recalled`` are
    fragments of memory, material for the answer.
    """

    verb: str
    args: dict[str, Any]
    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    budget_class: str = ""
    ambiguous: bool = False
    recalled: tuple[dict[str, Any], ...] = ()


def turn_kind(given: VerbPlanInput) -> TurnKind:
    """What the turn is like that a composite verb works for."""
    return TurnKind(budget_class=given.budget_class, ambiguous=given.ambiguous)


def call_label(given: VerbPlanInput) -> Label:
    """What others are told of a run that carries out a composite verb."""
    return Label(verb=given.verb, narrates=given.narrate)


def carried_call(given: VerbPlanInput) -> Call:
    """The call that a run carries out: only a permit of exactly this one opens it."""
    return Call(verb=given.verb, args=given.args)


def carrier_of(spec: VerbSpec) -> str:
    """The kind of run that carries out a verb where it is no leaf."""
    return spec.flow or VERB_PLAN


def carrying_of(context: FlowContext, verb: str) -> Carrying:
    """How a verb of the catalog is carried out where it is no leaf."""
    return context.carrying.get(carrier_of(context.catalog.verbs[verb].spec), ALONE)


class InConversation(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn hands to the composite verb that it calls (``VerbPlanInput``), beside what the turn is like."""

    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    recalled: tuple[dict[str, Any], ...] = ()


NO_TALK = InConversation()
"""A call outside any conversation."""


class StepResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one plan step did (VRB-08, C3); ``call`` is the digest of a supervised step's verb and arguments.

    ``skipped``: the plan ended before it, or its call was denied, so that it never ran.
    """

    step_name: str
    order: int
    ok: bool
    services: tuple[str, ...] = ()
    prompt_digest: str = ""
    error: str = ""
    call: str = ""
    skipped: bool = False


class VerbPlanOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The output of flow ``verb_plan``: the last model step's object, or the error of the step that failed."""

    ok: bool
    output: dict[str, Any] | None = None
    trust: dict[str, Trust] = {}
    error: str = ""
    message: str = ""
    step_results: tuple[StepResult, ...] = ()


class _CarriedOutput(msgspec.Struct):
    output: Any = msgspec.UNSET


def verb_output(output: msgspec.Raw) -> str:
    """What a header shows of a run that carried out a composite verb: the verb's own output, where it has one."""
    found = msgspec.json.decode(output, type=_CarriedOutput).output
    return bytes(output).decode() if found is msgspec.UNSET else msgspec.json.encode(found).decode()


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call: the result, the seq of the record that holds it (-1 where nothing went live), and its child run.

    ``below`` is the header of that run: what was done there. ``asked`` is the digest of the call.
    """

    verb: str
    result: VerbResult
    seq: int
    child: str = ""
    steps: tuple[StepResult, ...] = ()
    denied: str = ""
    below: HeaderFacts | None = None
    asked: str = ""


def denied(verb: str, code: str) -> Acted:
    """A call that rule ``authorize`` refused: nothing went live, no record holds a result."""
    reason = AUTHORIZE.reason(code)
    return Acted(verb=verb, result=VerbFailed(code=reason.rpartition(".")[2], message=reason.meaning), seq=-1, denied=code)


async def act(context: FlowContext, call: Call, refs: tuple[int, ...] = (), talk: InConversation = NO_TALK, *, attempts: int = 0) -> Acted:
    """Authorise the call, which may take somebody's yes, and carry it out; ``talk`` is for composite verbs in a conversation, which are told too what their turn is like.

    ``attempts`` lowers how often a leaf may be tried, 0 leaves it.
    """
    call, decision = await authorized(context, call, refs)
    if not isinstance(decision.outcome, Allow):
        return msgspec.structs.replace(denied(call.verb, decision.reason), asked=call_digest(call))
    permit = Authorized(call=call, decision=decision.address)
    if not context.catalog.verbs[call.verb].spec.composite:
        return msgspec.structs.replace(await _leaf(context, permit, attempts), asked=decision.outcome.call)
    given = VerbPlanInput(
        verb=call.verb,
        args=call.args,
        history=talk.history,
        narrate=talk.narrate,
        max_tokens=talk.max_tokens,
        budget_class=context.turn.budget_class,
        ambiguous=context.turn.ambiguous,
        recalled=talk.recalled,
    )
    return msgspec.structs.replace(await _plan(context, permit, given), asked=decision.outcome.call)


async def _leaf(context: FlowContext, permit: Authorized, attempts: int) -> Acted:
    verb = permit.call.verb
    spec = context.catalog.verbs[verb].spec
    most = min(attempts or spec.retry.max_attempts, spec.retry.max_attempts)
    attempt = rests = rested_ms = 0
    while True:
        attempt += 1
        deadline = min(context.deadline, context.now() + spec.timeout_ms * 1000)
        result = await context.fx.perform(VerbCall(authorized=permit, deadline=deadline, attempt=attempt))
        resting = isinstance(result, VerbFailed) and result.apart
        rests += resting
        if not isinstance(result, (VerbFailed, VerbTimedOut)) or (most == 1 and not resting):
            return Acted(verb=verb, result=result, seq=result.seq)
        facts = RetryFacts(
            verb=verb,
            code=result.code if isinstance(result, VerbFailed) else "timed_out",
            retryable=isinstance(result, VerbTimedOut) or result.retryable,
            attempt=attempt - rests,
            max_attempts=most,
            left_ms=max(0, context.left_ms()),
            verb_calls=context.account.spent.verb_calls,
            cap_verb_calls=context.account.cap.verb_calls,
            retry_after_ms=(result.retry_after_ms if isinstance(result, VerbFailed) else 0) or msgspec.UNSET,
            rested_ms=rested_ms if resting else msgspec.UNSET,
        )
        outcome = context.fx.decide(RETRY, facts, None, (result.seq,)).outcome
        if not isinstance(outcome, TryAgain):
            return Acted(verb=verb, result=result, seq=result.seq)
        rested_ms += outcome.wait_ms if resting else 0
        if outcome.wait_ms:
            await context.fx.perform(
                Wait(what=WaitFor.TIMER, about=f"another try of {verb}", deadline=context.now() + outcome.wait_ms * 1000)
            )


async def _plan(context: FlowContext, permit: Authorized, given: VerbPlanInput) -> Acted:
    call = permit.call
    spec = context.catalog.verbs[call.verb].spec
    how = carrying_of(context, call.verb)
    if how.waits:
        within = deadline = context.hard
    else:
        within, deadline = context.deadline, min(context.deadline, context.now() + spec.timeout_ms * 1000)
    spawn: Spawn[VerbPlanOutput] = Spawn(
        flow=carrier_of(spec),
        input=raw(given),
        scope=context.scope.allowed if how.inherits else (),
        deadline=deadline,
        allowance=context.share(1, calls=1),
        keep_thoughts=context.keep_thoughts,
        authorized=permit,
    )
    # The child's own deadline is the verb's; the join only bounds a child that came to no end.
    (ended,) = await context.fx.children((spawn,), Join(deadline=within))
    return acted_by_child(call.verb, ended)


def acted_by_child(verb: str, ended: AnyEnded) -> Acted:
    """Read a ``verb_plan`` child's end as a verb result, with origin and trust as the child recorded them."""
    steps: tuple[StepResult, ...] = ()
    result: VerbResult
    match ended:
        case Completed(value=value):
            output = msgspec.json.decode(value, type=VerbPlanOutput)
            steps = output.step_results
            result = VerbReturned(output=output.output or {}, trust=output.trust)
        case Failed(reason=reason, value=value):
            output = VerbPlanOutput(ok=False) if value == NULL else msgspec.json.decode(value, type=VerbPlanOutput)
            steps = output.step_results
            result = VerbFailed(code=output.error or reason, message=output.message or reason)
        case TimedOut():
            result = VerbTimedOut()
        case Unknown(reason=reason):
            result = VerbUnknown(message=reason)
        case _:
            result = VerbFailed(code="cancelled", message="the verb's run was cancelled")
    return Acted(verb=verb, result=result, seq=ended.seq, child=ended.child, steps=steps, below=ended.header)


def acts_of(context: FlowContext, acted: Acted) -> tuple[Act, ...]:
    """The acts that a call came to, as the run's header has them: those of its run, then itself."""
    below = () if acted.below is None else acted.below.acts
    match acted.result:
        case VerbReturned():
            end = call_end(ActEnd.DONE, acted.below)
        case VerbUnknown():
            end = call_end(ActEnd.UNKNOWN, acted.below)
        case _:
            end = ActEnd.DENIED if acted.denied else ActEnd.FAILED
    verb = context.catalog.verbs.get(acted.verb)
    return (*below, Act(verb=acted.verb, call=acted.asked, end=end, reads=verb is not None and verb.spec.effect is VerbEffect.READ))
