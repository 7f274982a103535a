"""The verb executor's live side: check the authorisation, check the current catalog, one attempt,
check the output.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.approvals import Consent
from ordain.contracts.catalog import Catalog
from ordain.contracts.compiled_verb import CompiledVerb
from ordain.contracts.handoff import Handed
from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import Trust, VerbSpec, less_trusted
from ordain.effects.calls import Call
from ordain.effects.effect import VerbCall
from ordain.effects.results import (
    VerbFailed,
    VerbResult,
    VerbReturned,
    VerbTimedOut,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.errors import OrdainError
from ordain.ports.store import StoredRun
from ordain.ports.verb import (
    WITHDRAWN,
    AnyLeafResult,
    LeafCall,
    LeafFailed,
    LeafReturned,
    Withdrawing,
    nothing_withdrawn,
)
from ordain.rules.authorize import Allow, AuthorizeFacts, AuthorizeInputs, decide_authorize
from ordain.rules.profile import HeldProfile, NoProfile, enables
from ordain.runtime.configuration import profile_now
from ordain.runtime.consent_policy import consent_void
from ordain.runtime.doubted_calls import NOT_STARTED, still_doubted
from ordain.runtime.handed_on import narrows, no_longer_named
from ordain.runtime.repeated_calls import why_in_doubt
from ordain.runtime.services import Services

_FOREIGN = Trust.FOREIGN
STOPPED = "the run is being stopped"


async def _never() -> bool:
    return False


class OnBehalf(Struct, frozen=True, kw_only=True):
    """The idempotency key of one authorised call, and for whom it is made: the run, and who asked
    for that; the yes that it rests on, where it needs one.

    ``within`` says why the verb that the run itself carries out may not go on. ``doubted``: an
    earlier attempt under the key was cut off with its process, and may have taken effect.
    ``hears_of_doubt``: the run's rules are told of calls in doubt; not so in runs of builds before.
    ``stopping`` looks whether an interrupt lies there for it by now.
    """

    key: str
    run: StoredRun
    principal: str
    consent: Consent | None = None
    within: Withdrawing = nothing_withdrawn
    doubted: bool = False
    hears_of_doubt: bool = False
    stopping: Callable[[], Awaitable[bool]] = _never


class CallBasis(Struct, frozen=True, kw_only=True):
    """What a call that goes out, or a verb that is carried out, rests on: the yes, and whether it
    needs one. ``begun``: its work was handed on by a card.

    Work that has begun goes on where that card only names fewer verbs by now: those that it names
    no more are kept back call by call.
    """

    consent: Consent | None = None
    approved: bool = False
    begun: bool = False


REST_MS = 1000
"""A delay that is named is a rest from here on, as with models; a failure that names a shorter one
is an attempt.
"""
GIVEN = "given"


async def held_now(services: Services, run: StoredRun) -> HeldProfile | NoProfile | None:
    """The profile that holds for a run as things stand now; None where none says anything of it."""
    return await profile_now(
        services.configuration, run.workspace, run.session or "", services.catalogs.current.policy
    )


def withdrawn(
    services: Services,
    pinned: Catalog,
    call: Call,
    held: HeldProfile | NoProfile | None = None,
    *,
    approved: bool = False,
    begun: bool = False,
) -> str | None:
    """Why what was allowed is forbidden by the current catalog, or by the profile that holds now,
    or None. Narrowing applies at once, widening never.

    The same rule decides, on the current declarations: activation, schema, effect, declared lists.
    What depends on the run (scope, depth, budget) was decided when the call was authorised.
    ``held`` is the profile that holds now; ``approved``: somebody's yes to it is on record, or
    asked for, and is taken as given; ``begun`` as in ``CallBasis``.
    """
    current = services.catalogs.current
    if isinstance(held, NoProfile):
        return f"the profile that is pinned cannot be had: {held.name}"
    if current.digest == pinned.digest and held is None:
        return None
    verb = current.verbs.get(call.verb)
    if verb is not None and verb.spec.effect is not pinned.verbs[call.verb].spec.effect:
        return f"{call.verb} now has effect {verb.spec.effect}"
    if verb is not None and _asks(verb.spec) != _asks(pinned.verbs[call.verb].spec):
        return f"{call.verb} now declares another request"
    if (
        approved
        and verb is not None
        and (why := _otherwise(verb.spec, pinned, current, begun=begun)) is not None
    ):
        return why
    if held is not None and verb is not None and not enables(held, verb.spec, current.policy):
        return f"{call.verb} is not enabled by profile {held.name}"
    facts = AuthorizeFacts(
        verb=call.verb,
        call="",
        in_scope=True,
        depth=0,
        verb_calls=0,
        cap_verb_calls=1,
        session=True,
        safety="" if held is None else held.safety,
        approval=GIVEN if approved else "",
        at=services.clock.now() if current.counts_days(call.verb) else 0,
        handed=None if current.card_of(call.verb) is None else Handed.MORE,
    )
    again = decide_authorize(
        facts, AuthorizeInputs(args=call.args, catalog=current), current.policy
    )
    return None if isinstance(again.outcome, Allow) else f"{again.reason}: {again.reason.meaning}"


def _otherwise(spec: VerbSpec, pinned: Catalog, current: Catalog, *, begun: bool) -> str | None:
    """Why what somebody said yes to is not what would run: what the verb declares, what it is made
    of, and whether it stands confirmed.

    A catalog of a build before says nothing of what its verbs are made of: of such a run the rest
    counts.
    """
    if spec != pinned.verbs[spec.name].spec:
        return f"{spec.name} is declared otherwise than when a yes was asked for"
    then, now = pinned.card_of(spec.name), current.card_of(spec.name)
    if then != now and not (begun and narrows(then, now, pinned, current)):
        return f"{spec.name} hands work to another card than when a yes was asked for"
    made_of = pinned.data.declarations.get(spec.name)
    if made_of is not None and made_of != current.data.declarations.get(spec.name):
        return f"{spec.name} was changed since a yes was asked for"
    fixed = pinned.data.fixed.get(spec.name)
    if fixed is not None and fixed != current.data.fixed.get(spec.name):
        return f"settings fix something else of {spec.name} than when a yes was asked for"
    if spec.name in current.unconfirmed - pinned.unconfirmed:
        return f"{spec.name} was changed since a yes was asked for, and nobody has confirmed it"
    return None


def _asks(spec: VerbSpec) -> tuple[object, ...] | None:
    return None if spec.http is None else spec.http.asks()


async def call_verb(
    services: Services, catalog: Catalog, call: VerbCall, by: OnBehalf
) -> VerbResult:
    """One attempt at an authorised leaf verb."""
    result = await _attempt(services, catalog, call, by)
    return still_doubted(result) if by.doubted else result


async def _attempt(
    services: Services, catalog: Catalog, call: VerbCall, by: OnBehalf
) -> VerbResult:
    verb_id = call.authorized.call.verb
    verb = catalog.verbs[verb_id]
    if (why := await _withdrawn(services, catalog, call.authorized.call, by)) is not None:
        return VerbWithdrawn(message=why)
    if not services.verbs.implements(verb_id):
        return VerbWithdrawn(message=f"this build has no code for {verb_id}")
    left_us = call.deadline - (now := services.clock.now())
    if left_us <= 0:
        return too_late(verb)
    if doubt := await _perhaps_done(services, catalog, call, by):
        return VerbWithdrawn(message=doubt, in_doubt=True)
    found: str | None = None

    async def last_look() -> str | None:
        nonlocal found
        try:
            found = (
                STOPPED
                if await by.stopping()
                else await _withdrawn(services, catalog, call.authorized.call, by)
            )
        except OrdainError as error:
            found = f"nobody can tell whether it may still go out: {error.code}"
        return found

    leaf = structs.replace(
        leaf_of(verb, call.authorized.call.args, by, attempt=call.attempt, timeout_s=left_us / 1e6),
        at_us=now,
        last_look=last_look,
    )
    services.counters.verb_calls += 1
    returned = await services.verbs.run(leaf)
    if found is not None and _is_withdrawn(returned):
        return VerbWithdrawn(message=found)
    began = perf_counter_ns()
    result = result_of(verb, returned)
    services.counters.validate_ns += perf_counter_ns() - began
    return result


def _is_withdrawn(returned: AnyLeafResult) -> bool:
    """Whether what the last look said has kept all of it back: who has let something go before says
    that it may have happened.
    """
    return (
        isinstance(returned, LeafFailed)
        and returned.code == WITHDRAWN
        and returned.happened is False
    )


async def _withdrawn(services: Services, catalog: Catalog, call: Call, by: OnBehalf) -> str | None:
    why = await forbidden(
        services,
        by.run,
        catalog,
        call,
        CallBasis(consent=by.consent, approved=by.consent is not None),
    )
    return await by.within() if why is None else why


async def forbidden(
    services: Services, run: StoredRun, pinned: Catalog, call: Call, basis: CallBasis
) -> str | None:
    """Why a run's call that was allowed does not go out: by what holds now, or because the yes that
    it rests on counts no more.
    """
    if (why := no_longer_named(run, pinned, services.catalogs.current, call.verb)) is not None:
        return why
    held = await held_now(services, run)
    why = withdrawn(services, pinned, call, held, approved=basis.approved, begun=basis.begun)
    if why is not None or basis.consent is None:
        return why
    return await consent_void(
        services, run, pinned, call, basis.consent, held if isinstance(held, HeldProfile) else None
    )


async def _perhaps_done(services: Services, catalog: Catalog, call: VerbCall, by: OnBehalf) -> str:
    """Why an attempt at a call that changes something may be the second time that it is made, where
    no person who was told of that said yes to it; "" where it is not.
    """
    if by.doubted or not by.hears_of_doubt or is_harmless(catalog.verbs[call.authorized.call.verb]):
        return ""
    yes = None if by.consent is None or by.consent.grant else by.consent
    if yes is not None and yes.told is None:  # a build before took it, and kept nothing of that
        return ""
    asked, told = call.authorized.call, () if yes is None else yes.told or ()
    return await why_in_doubt(services.store, by.run, asked, catalog, services.looking(), told)


def too_late(verb: CompiledVerb) -> VerbResult:
    """Of an attempt that never went out, because its time was over."""
    if is_harmless(verb):
        return VerbTimedOut(message="deadline passed before the call")
    return VerbFailed(code=NOT_STARTED, message="deadline passed before the call")


def leaf_of(
    verb: CompiledVerb, args: dict[str, Any], by: OnBehalf, *, attempt: int, timeout_s: float
) -> LeafCall:
    """One attempt at a verb, as its executor has it."""
    return LeafCall(
        spec=verb.spec,
        args=args,
        key=by.key,
        attempt=attempt,
        timeout_s=timeout_s,
        workspace=by.run.workspace,
        session=by.run.session or "",
        run=by.run.id,
        principal=by.principal,
    )


def is_harmless(verb: CompiledVerb) -> bool:
    """Whether it changes nothing, however often it is called."""
    return verb.spec.effect in HARMLESS


def result_of(verb: CompiledVerb, result: AnyLeafResult) -> VerbResult:
    """What one attempt came to, by what the verb declares: its output fits its schema, and a lost
    effect is not guessed. Pure.
    """
    if isinstance(result, LeafReturned):
        if not verb.output.accepts(result.output):
            places = "; ".join(verb.output.errors(result.output))
            return unreadable_result(
                verb, f"the verb ran, but its output does not fit its schema: {places}"
            )
        spec = verb.spec
        trust = {
            name: spec.output[name].trust if name in spec.output else _FOREIGN
            for name in result.output
        }
        trust |= {
            name: less_trusted(trust[name], lowered)
            for name, lowered in result.trust.items()
            if name in trust
        }
        return VerbReturned(
            output=result.output,
            trust={name: one for name, one in trust.items() if one is not _FOREIGN},
        )
    if isinstance(result, LeafFailed):
        if result.happened is None and not is_harmless(verb):
            return VerbUnknown(message=f"{result.code}: {result.message}")
        after_ms = result.retry_after_ms
        rests = result.retryable and after_ms >= REST_MS
        return VerbFailed(
            code=result.code,
            message=result.message,
            retryable=result.retryable,
            retry_after_ms=after_ms,
            apart=rests,
        )
    if is_harmless(verb):
        return VerbTimedOut(message="the verb did not end in time")
    return VerbUnknown(message="the verb did not end in time; whether it took effect is unknown")


def unreadable_result(verb: CompiledVerb, why: str) -> VerbResult:
    """Of a verb that ran, whose result no record can hold or its schema does not take: that a read
    failed so; whether anything else took effect nobody knows.
    """
    return (
        VerbFailed(code="bad_output", message=why)
        if is_harmless(verb)
        else VerbUnknown(message=why)
    )
