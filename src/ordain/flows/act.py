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

import msgspec

from ordain.contracts.handoff import Envelope
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.results import Resubmitted, VerbReturned
from ordain.errors import FlowFault
from ordain.flows.acted import Acted, acted_by_child, denied
from ordain.flows.approval import authorized, authorized_all
from ordain.flows.carried import (
    NO_TALK,
    InConversation,
    VerbPlanInput,
    VerbPlanOutput,
    carrier_of,
    carrying_of,
)
from ordain.flows.context import FlowContext
from ordain.flows.envelopes import HandingOn, Refs, asked_of, carved, guarded, hand_on
from ordain.flows.leaf import call_leaf, held_back
from ordain.journal.digests import call_digest
from ordain.journal.records import raw
from ordain.rules.authorize import Allow, AuthorizeOutcome
from ordain.rules.decision import Decision
from ordain.rules.guardrail import GuardrailOutcome
from ordain.rules.spend import Spend


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
