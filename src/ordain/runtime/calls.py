"""The verb executor's live side: check the authorisation, check the current catalog, one attempt, check the output."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from ordain.contracts.catalog import Catalog, CompiledVerb
from ordain.contracts.verbs import Trust, VerbEffect, VerbSpec, less_trusted
from ordain.effects.calls import Call
from ordain.effects.effect import VerbCall
from ordain.effects.results import VerbFailed, VerbResult, VerbReturned, VerbTimedOut, VerbUnknown, VerbWithdrawn
from ordain.ports.store import StoredRun
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned
from ordain.rules.authorize import Allow, AuthorizeFacts, AuthorizeInputs, decide_authorize
from ordain.runtime.services import Services

RECONCILE_TIMEOUT_S = 10.0
NOT_STARTED = "not_started"
DIED = "the process died while the verb ran; whether it took effect is unknown"


def withdrawn(services: Services, pinned: Catalog, call: Call) -> str | None:
    """Why the current catalog forbids what the pinned one allowed, or None. Narrowing applies at once, widening never.

    The same rule decides, on the current declarations: activation, schema, effect, declared lists. What depends on the run
    (scope, depth, budget) was decided when the call was authorised.
    """
    current = services.catalogs.current
    if current.digest == pinned.digest:
        return None
    verb = current.verbs.get(call.verb)
    if verb is not None and verb.spec.effect is not pinned.verbs[call.verb].spec.effect:
        return f"{call.verb} now declares effect {verb.spec.effect}"
    if verb is not None and _asks(verb.spec) != _asks(pinned.verbs[call.verb].spec):
        return f"{call.verb} now declares another request"
    facts = AuthorizeFacts(verb=call.verb, call="", in_scope=True, depth=0, verb_calls=0, cap_verb_calls=1)
    again = decide_authorize(facts, AuthorizeInputs(args=call.args, catalog=current), current.policy)
    return None if isinstance(again.outcome, Allow) else f"{again.reason}: {again.reason.meaning}"


def _asks(spec: VerbSpec) -> tuple[object, ...] | None:
    return None if spec.http is None else spec.http.asks()


async def call_verb(services: Services, catalog: Catalog, call: VerbCall, key: str, stored: StoredRun) -> VerbResult:
    """One attempt at an authorised leaf verb, on behalf of the run ``stored``."""
    verb_id = call.authorized.call.verb
    verb = catalog.verbs[verb_id]
    if (why := withdrawn(services, catalog, call.authorized.call)) is not None:
        return VerbWithdrawn(message=why)
    if not services.verbs.implements(verb_id):
        return VerbWithdrawn(message=f"this build has no code for {verb_id}")
    left_us = call.deadline - services.clock.now()
    if left_us <= 0:
        return too_late(verb)
    leaf = _leaf(verb, call.authorized.call.args, key, stored, attempt=call.attempt, timeout_s=left_us / 1e6)
    services.counters.verb_calls += 1
    returned = await services.verbs.run(leaf)
    began = perf_counter_ns()
    result = result_of(verb, returned)
    services.counters.validate_ns += perf_counter_ns() - began
    return result


def too_late(verb: CompiledVerb) -> VerbResult:
    """Of an attempt that never went out, because its time was over."""
    if _harmless(verb):
        return VerbTimedOut(message="deadline passed before the call")
    return VerbFailed(code=NOT_STARTED, message="deadline passed before the call")


def _leaf(verb: CompiledVerb, args: dict[str, Any], key: str, stored: StoredRun, *, attempt: int, timeout_s: float) -> LeafCall:
    return LeafCall(
        spec=verb.spec,
        args=args,
        key=key,
        attempt=attempt,
        timeout_s=timeout_s,
        workspace=stored.workspace,
        session=stored.session or "",
        run=stored.id,
    )


def _harmless(verb: CompiledVerb) -> bool:
    return verb.spec.effect is VerbEffect.READ


def result_of(verb: CompiledVerb, result: AnyLeafResult) -> VerbResult:
    """What one attempt came to, by what the verb declares: its output fits its schema, and a lost effect is not guessed. Pure."""
    if isinstance(result, LeafReturned):
        if not verb.output.accepts(result.output):
            places = "; ".join(verb.output.errors(result.output))
            return VerbFailed(code="bad_output", message=f"the verb ran, but its output does not fit its schema: {places}")
        spec = verb.spec
        trust = {name: spec.output[name].trust if name in spec.output else Trust.FOREIGN for name in result.output}
        trust |= {name: less_trusted(trust[name], lowered) for name, lowered in result.trust.items() if name in trust}
        return VerbReturned(output=result.output, trust={name: one for name, one in trust.items() if one is not Trust.FOREIGN})
    if isinstance(result, LeafFailed):
        if result.happened is None and not _harmless(verb):
            return VerbUnknown(message=f"{result.code}: {result.message}")
        return VerbFailed(code=result.code, message=result.message, retryable=result.retryable, retry_after_ms=result.retry_after_ms)
    if _harmless(verb):
        return VerbTimedOut(message="the verb did not end in time")
    return VerbUnknown(message="the verb did not end in time; whether it took effect is unknown")


def unreadable_result(verb: CompiledVerb, why: str) -> VerbResult:
    """Of a verb that ran, whose result no record can hold: that a read failed so; whether anything else took effect nobody knows."""
    return VerbFailed(code="bad_output", message=why) if _harmless(verb) else VerbUnknown(message=why)


async def recover_verb(services: Services, catalog: Catalog, call: VerbCall, key: str, stored: StoredRun) -> VerbResult:
    """A crash left an intent without an observation: repeat what is safe, ask where a verb says how, else say that nobody knows."""
    verb_id = call.authorized.call.verb
    spec = catalog.verbs[verb_id].spec
    if spec.effect is VerbEffect.READ:
        return await call_verb(services, catalog, call, key, stored)
    if spec.idempotent:
        return _not_denied(await call_verb(services, catalog, call, key, stored))
    if spec.reconcile is not None and spec.reconcile in catalog.verbs and services.verbs.implements(spec.reconcile):
        reconciler = catalog.verbs[spec.reconcile]
        args = {"key": key, "args": call.authorized.call.args}
        asked = _leaf(reconciler, args, key, stored, attempt=1, timeout_s=RECONCILE_TIMEOUT_S)
        found = await services.verbs.run(asked)
        if isinstance(found, LeafReturned):
            if found.output.get("happened") is True and isinstance(found.output.get("output"), dict):
                return result_of(catalog.verbs[verb_id], LeafReturned(output=found.output["output"]))
            if found.output.get("happened") is False:
                return await call_verb(services, catalog, call, key, stored)
    return VerbUnknown(message=DIED)


def _not_denied(again: VerbResult) -> VerbResult:
    """A repetition that did not go live says nothing of the call that was cut off: it may have taken effect."""
    unstarted = isinstance(again, VerbFailed) and again.code == NOT_STARTED
    return VerbUnknown(message=f"{DIED}; not repeated") if unstarted or isinstance(again, VerbWithdrawn) else again
