"""``act``: the one way to a verb. Authorise (and wait for an approver where that is wanted),
attempt, retry; a prompt-plan verb becomes a child run, a leaf goes to the executor.

``act_all`` carries out several composite verbs beside each other; ``clear`` and ``carry_out_all``
are its two halves, for whoever has all allowed first and then works in waves. A call that hands
work to a card needs an envelope before it is authorised (``flows.envelopes``).

The only module that builds ``Authorized``; what allows it the port decides. A failed verb is an
observation with ``ok: false``, never an exception (B-04).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from ordain.contracts.handoff import Envelope
from ordain.contracts.verbs import Trust, VerbEffect, VerbSpec
from ordain.contracts.work_bounds import WorkBounds
from ordain.effects.calls import Authorized, Call, spelled_call
from ordain.effects.children import (
    NULL,
    AnyEnded,
    Completed,
    Failed,
    Join,
    Spawn,
    TimedOut,
    Unknown,
)
from ordain.effects.results import (
    Resubmitted,
    VerbFailed,
    VerbResult,
    VerbReturned,
    VerbTimedOut,
    VerbUnknown,
)
from ordain.errors import FlowFault
from ordain.flows.approval import authorized, authorized_all
from ordain.flows.context import ALONE, Carrying, FlowContext, TurnKind
from ordain.flows.envelopes import HandingOn, Refs, asked_of, carved, guarded, hand_on
from ordain.flows.images import ImagesShown
from ordain.flows.leaf import call_leaf, held_back
from ordain.flows.transcript import HistoryRef
from ordain.journal.acts import call_end
from ordain.journal.digests import call_digest
from ordain.journal.records import Label, raw
from ordain.rules.acts import Act, ActEnd
from ordain.rules.authorize import AUTHORIZE, Allow, AuthorizeOutcome
from ordain.rules.decision import Decision
from ordain.rules.guardrail import GUARDRAIL, GuardrailOutcome
from ordain.rules.handoff import HANDOFF
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend

VERB_PLAN = "verb_plan"


class VerbPlanInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The input of a composite verb's flow: the call; in a conversation the history that goes with
    it.

    ``narrate``: what the verb says is the turn's answer and may be shown while it is written.
    ``max_tokens`` lowers what one model answer may have; 0 leaves it. ``budget_class`` and
    ``ambiguous`` say what the turn is like, where policy routes by it. ``recalled`` are fragments
    of memory, material for the answer, ``images`` those of the message. ``handoff`` is the envelope
    in which work comes to a card, ``bounds`` what the message lets that use, ``within_ms`` how much
    of its caller's time is left for it; 0 leaves it its own.
    """

    verb: str
    args: dict[str, Any]
    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    budget_class: str = ""
    ambiguous: bool = False
    recalled: tuple[dict[str, Any], ...] = ()
    images: ImagesShown | None = None
    handoff: Envelope | None = None
    bounds: WorkBounds | None = None
    within_ms: int = 0


def turn_kind(given: VerbPlanInput) -> TurnKind:
    """What the turn is like that a composite verb works for."""
    return TurnKind(budget_class=given.budget_class, ambiguous=given.ambiguous, bounds=given.bounds)


def call_label(given: VerbPlanInput) -> Label:
    """What others are told of a run that carries out a composite verb."""
    return Label(verb=given.verb, narrates=given.narrate)


def call_words(given: VerbPlanInput) -> str:
    """The call, for people."""
    return spelled_call(given.verb, given.args)


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
    """What a turn hands to the composite verb that it calls, beside what the turn is like."""

    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    recalled: tuple[dict[str, Any], ...] = ()
    images: ImagesShown | None = None
    within_ms: int = 0


NO_TALK = InConversation()
"""A call outside any conversation."""


class StepResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one plan step did (VRB-08, C3); ``call`` is the digest of a supervised step's verb and
    arguments.

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
    """The output of flow ``verb_plan``: the last model step's object, or the error of the step that
    failed.
    """

    ok: bool
    output: dict[str, Any] | None = None
    trust: dict[str, Trust] = {}
    error: str = ""
    message: str = ""
    step_results: tuple[StepResult, ...] = ()


class _CarriedOutput(msgspec.Struct):
    output: Any = msgspec.UNSET


def verb_output(output: msgspec.Raw) -> str:
    """What a header shows of a run that carried out a composite verb: the verb's own output, where
    it has one.
    """
    found = msgspec.json.decode(output, type=_CarriedOutput).output
    return bytes(output).decode() if found is msgspec.UNSET else msgspec.json.encode(found).decode()


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call: the result, the seq of the record that holds it (-1 where nothing went
    live), and its child run.

    ``below`` is the header of that run: what was done there. ``asked`` is the digest of the call.
    ``payload`` is what a run that failed gave all the same; ``mode`` is how work was handed on by
    it ("": it was not).
    """

    verb: str
    result: VerbResult
    seq: int
    child: str = ""
    steps: tuple[StepResult, ...] = ()
    denied: str = ""
    below: HeaderFacts | None = None
    asked: str = ""
    payload: dict[str, Any] | None = None
    mode: str = ""


_DENYING = {
    reason.value: reason
    for rule in (AUTHORIZE, HANDOFF, GUARDRAIL)
    for reasons in rule.reasons
    for reason in reasons
}


def denied(verb: str, code: str) -> Acted:
    """A call that rule ``authorize`` refused, or for which the rules before it gave no envelope:
    nothing went live, no record holds a result.
    """
    reason = _DENYING[code]
    return Acted(
        verb=verb,
        result=VerbFailed(code=reason.rpartition(".")[2], message=reason.meaning),
        seq=-1,
        denied=code,
    )


async def act(
    context: FlowContext,
    call: Call,
    refs: Refs = (),
    talk: InConversation = NO_TALK,
    *,
    attempts: int = 0,
) -> Acted:
    """Authorise the call, which may take somebody's yes, and carry it out; ``talk`` is for
    composite verbs in a conversation, which are told too what their turn is like.

    ``attempts`` lowers how often a leaf may be tried, 0 leaves it. Work that is handed to a card
    goes in its envelope, without the conversation.
    """
    if context.catalog.hands_on(call.verb):
        (acted,) = await act_all(context, (call,), refs)
        return acted
    proposed = call
    call, decision = await authorized(context, call, refs)
    if not isinstance(decision.outcome, Allow):
        return msgspec.structs.replace(denied(call.verb, decision.reason), asked=call_digest(call))
    permit = Authorized(call=call, decision=decision.address)
    if not context.catalog.verbs[call.verb].spec.composite:
        result = await call_leaf(context, permit, attempts)
        if held_back(result) and call is proposed:  # which the rule is told of from here on
            return await act(context, call, refs, talk, attempts=attempts)
        return Acted(verb=call.verb, result=result, seq=result.seq, asked=decision.outcome.call)
    (acted,) = await _joined(context, (_Cleared(call=call, permit=permit),), talk)
    return acted


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of a call before it was carried out: by the guardrails, where it hands work on,
    and by the door, with the code of its reason.
    """

    guardrail: Decision[GuardrailOutcome] | None = None
    door: str = ""


NOT_LOOKED = Looked()


class _Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """A call that may be carried out now: its permit, and the envelope where it hands work on; or
    what it came to because it may not.
    """

    call: Call
    permit: Authorized | None = None
    envelope: Envelope | None = None
    denied: Acted | None = None
    looked: Looked = NOT_LOOKED


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that were decided together: how work is handed on, and at most how many at once."""

    calls: tuple[_Cleared, ...]
    mode: str = ""
    width: int = 1

    @property
    def looked(self) -> tuple[Looked, ...]:
        """What was said of each before it was carried out."""
        return tuple(one.looked for one in self.calls)

    def goes(self, number: int) -> bool:
        """Whether this one is to be carried out."""
        return self.calls[number].denied is None


async def act_all(
    context: FlowContext, calls: Sequence[Call], refs: Refs = (), *, mode: str = ""
) -> tuple[Acted, ...]:
    """Authorise each of these composite verbs, which may take one yes to all of them, then carry
    out those that are allowed beside each other, in one join.

    Where work is handed on one at a time, they follow each other.
    """
    cleared = await clear(context, calls, refs, mode=mode)
    going = [number for number, one in enumerate(cleared.calls) if one.denied is None]
    if cleared.width >= len(going):
        return await carry_out_all(context, cleared)
    ended = {
        number: one.denied for number, one in enumerate(cleared.calls) if one.denied is not None
    }
    for first in range(0, len(going), cleared.width):
        wave = going[first : first + cleared.width]
        ended.update(
            zip(
                wave,
                await carry_out_all(context, cleared, wave, later=len(going) - first - len(wave)),
                strict=True,
            )
        )
    return tuple(ended[number] for number in range(len(cleared.calls)))


async def clear(
    context: FlowContext,
    calls: Sequence[Call],
    refs: Refs = (),
    *,
    mode: str = "",
    width: int = 0,
    plan: bool = False,
) -> Cleared:
    """Decide about all of them before anything runs: envelopes, guardrails, the door, and where
    that is wanted one approval of exactly these.

    ``width`` is how many are to be at work at once, 0 all; ``mode`` is how work is to be handed on,
    "" as fits. ``plan``: they are a plan's steps, of which none is left out because fewer may be at
    work at once.
    """
    while True:
        handover = hand_on(context, calls, refs, mode=mode, width=width, plan=plan)
        parts = [
            part and await _guarded(context, call, part, refs)
            for call, part in zip(calls, handover.calls, strict=True)
        ]
        decided = await authorized_all(context, calls, refs, partial(asked_of, tuple(calls), parts))
        if isinstance(decided, Resubmitted):
            calls, refs = (decided.call,), (decided.seq,)
            continue
        cleared = tuple(
            _cleared(call, part, decision, handover.mode)
            for call, part, decision in zip(calls, parts, decided, strict=True)
        )
        return Cleared(calls=cleared, mode=handover.mode, width=handover.width)


async def _guarded(context: FlowContext, call: Call, part: HandingOn, refs: Refs) -> HandingOn:
    """What the guardrails say of a task, with the score of the verb that policy names for that; a
    score that is no number is none.
    """
    verb = context.catalog.policy.guardrails.moderation
    if verb is None or part.envelope is None:
        return guarded(context, call, part, refs, None)
    whole = msgspec.structs.replace(context, scope=context.granted)
    acted = await act(
        whole, Call(verb=verb, args={"text": msgspec.json.encode(call.args).decode()}), refs
    )
    score = acted.result.output.get("score") if isinstance(acted.result, VerbReturned) else None
    number = (
        float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    )
    return guarded(context, call, part, (*refs, acted.seq) if acted.seq >= 0 else refs, number)


def _cleared(
    call: Call, part: HandingOn | None, decision: Decision[AuthorizeOutcome], mode: str
) -> _Cleared:
    """What became of one call; the rules before the door say more of why than that does."""
    looked = Looked(guardrail=None if part is None else part.guardrail, door=str(decision.reason))
    if isinstance(decision.outcome, Allow):
        permit = Authorized(call=call, decision=decision.address)
        return _Cleared(
            call=call,
            permit=permit,
            envelope=None if part is None else part.envelope,
            looked=looked,
        )
    reason = decision.reason if part is None or part.refused is None else part.refused
    return _Cleared(
        call=call,
        denied=msgspec.structs.replace(
            denied(call.verb, reason), asked=call_digest(call), mode=mode
        ),
        looked=looked,
    )


async def carry_out_all(
    context: FlowContext,
    cleared: Cleared,
    numbers: Sequence[int] | None = None,
    *,
    later: int = 0,
    talk: InConversation = NO_TALK,
) -> tuple[Acted, ...]:
    """Carry out these of the calls (None: all) in one join, in their order, and give each what it
    came to; ``later`` more are to have a share of what is left.

    ``talk`` is what they get beside their arguments. What no verb call or no run is left for by
    then is refused, and the others run.
    """
    chosen = (
        cleared.calls if numbers is None else tuple(cleared.calls[number] for number in numbers)
    )
    going = tuple(one for one in chosen if one.denied is None)
    fitting = going[: context.room()]
    ended = await _joined(context, fitting, talk, later=later) if fitting else ()
    done = iter((*ended, *(_left_over(context, one) for one in going[len(fitting) :])))
    return tuple(
        msgspec.structs.replace(next(done), mode=cleared.mode if one.envelope is not None else "")
        if one.denied is None
        else one.denied
        for one in chosen
    )


def _left_over(context: FlowContext, one: _Cleared) -> Acted:
    """A call that was allowed and that nothing is left for once those before it were made: the door
    is asked again, and refuses it.
    """
    decision = context.fx.authorize(one.call, context.scope)
    return msgspec.structs.replace(
        denied(one.call.verb, decision.reason), asked=call_digest(one.call)
    )


async def _joined(
    context: FlowContext, going: Sequence[_Cleared], talk: InConversation, *, later: int = 0
) -> tuple[Acted, ...]:
    """One child for each, and one join that only bounds those that come to no end: a child's own
    deadline is the verb's.
    """
    share = context.share(len(going) + later, calls=len(going) + later)
    waits = any(carrying_of(context, one.call.verb).waits for one in going)
    spawns = [_spawn(context, one, talk, share) for one in going]
    ends = await context.fx.children(
        spawns, Join(deadline=context.hard if waits else context.deadline)
    )
    return tuple(
        msgspec.structs.replace(acted_by_child(one.call.verb, end), asked=call_digest(one.call))
        for one, end in zip(going, ends, strict=True)
    )


def _spawn(
    context: FlowContext, one: _Cleared, talk: InConversation, share: Spend
) -> Spawn[VerbPlanOutput]:
    call, how = one.call, carrying_of(context, one.call.verb)
    spec, envelope = context.catalog.verbs[call.verb].spec, one.envelope
    if not spec.composite:
        raise FlowFault(
            f"{call.verb} is a leaf: it has no run of its own to be carried out beside others"
        )
    given = VerbPlanInput(
        verb=call.verb,
        args=call.args,
        history=talk.history,
        narrate=talk.narrate,
        max_tokens=talk.max_tokens,
        budget_class=context.turn.budget_class,
        ambiguous=context.turn.ambiguous,
        recalled=talk.recalled,
        images=talk.images,
        handoff=None if envelope is None else carved(envelope, share),
        bounds=context.turn.bounds,
        within_ms=talk.within_ms,
    )
    scope = context.scope.allowed if how.inherits else ()
    return Spawn(
        flow=carrier_of(spec),
        input=raw(given),
        scope=scope if envelope is None else (*(envelope.scope or ()), *context.catalog.scoring),
        deadline=context.hard
        if how.waits
        else min(context.deadline, context.now() + spec.timeout_ms * 1000),
        allowance=share,
        keep_thoughts=context.keep_thoughts,
        authorized=one.permit,
    )


def acted_by_child(verb: str, ended: AnyEnded) -> Acted:
    """Read a ``verb_plan`` child's end as a verb result, with origin and trust as the child
    recorded them.
    """
    steps: tuple[StepResult, ...] = ()
    payload: dict[str, Any] | None = None
    match ended:
        case Completed(value=value):
            output = msgspec.json.decode(value, type=VerbPlanOutput)
            steps = output.step_results
            result = VerbReturned(output=output.output or {}, trust=output.trust)
        case Failed(reason=reason, value=value):
            output = (
                VerbPlanOutput(ok=False)
                if value == NULL
                else msgspec.json.decode(value, type=VerbPlanOutput)
            )
            steps, payload = output.step_results, output.output
            result = VerbFailed(code=output.error or reason, message=output.message or reason)
        case TimedOut():
            result = VerbTimedOut()
        case Unknown(reason=reason):
            result = VerbUnknown(message=reason)
        case _:
            result = VerbFailed(code="cancelled", message="the verb's run was cancelled")
    return Acted(
        verb=verb,
        result=result,
        seq=ended.seq,
        child=ended.child,
        steps=steps,
        below=ended.header,
        payload=payload,
    )


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
    return (
        *below,
        Act(
            verb=acted.verb,
            call=acted.asked,
            end=end,
            reads=verb is not None and verb.spec.effect is VerbEffect.READ,
        ),
    )
