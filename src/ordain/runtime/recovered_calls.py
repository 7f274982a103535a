"""A call that was cut off with its process, taken up again: asked after where its verb says whom,
and then made again, taken as it happened, or left open.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from msgspec import UNSET, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.compiled_verb import CompiledVerb
from ordain.contracts.floor import STRICTNESS
from ordain.contracts.verbs import VerbSpec, properties_of
from ordain.effects.effect import VerbCall
from ordain.effects.results import VerbFailed, VerbResult, VerbUnknown
from ordain.ports.verb import LeafReturned
from ordain.rules.recover import (
    FoundOut,
    Happened,
    RecoverOutcome,
    RepeatCall,
    TakeFound,
    safety_of,
)
from ordain.runtime.calls import OnBehalf, call_verb, is_harmless, leaf_of, result_of
from ordain.runtime.doubted_calls import DIED, leaves_doubt
from ordain.runtime.services import Services

Recover = Callable[[FoundOut], Awaitable[RecoverOutcome]]
"""Puts on record what follows for a call that was cut off, from what was found out of it."""
RECONCILE_TIMEOUT_S = 10.0
VOID = "the process died while the verb ran; it has not taken effect, and cannot any more"


async def recover_verb(
    services: Services, catalog: Catalog, call: VerbCall, by: OnBehalf, decide: Recover
) -> VerbResult:
    """A crash left an intent without an observation: ask where the verb says whom, let rule
    ``recover`` decide, and do that.

    ``call`` has the number of the attempt that was cut off. What ``decide`` gives is durable before
    anything goes out.
    """
    verb = catalog.verbs[call.authorized.call.verb]
    safety, output = safety_of(verb.spec), None
    happened: Happened = UNSET
    if safety in {"voids", "reconcile"}:
        happened, output = await _reconciled(services, catalog, call, by)
    match await decide(FoundOut(happened=happened, stopping=await by.stopping())):
        case RepeatCall(attempt=attempt):
            by = structs.replace(by, doubted=leaves_doubt(verb.spec))
            return await call_verb(services, catalog, structs.replace(call, attempt=attempt), by)
        case TakeFound() if output is not None:
            return result_of(verb, LeafReturned(output=output))
        case _ if safety == "voids" and happened is False:
            return VerbFailed(code="lost", message=VOID)
        case _:
            return _left_open(verb)


def _left_open(verb: CompiledVerb) -> VerbResult:
    return (
        VerbFailed(code="lost", message="the process died while the verb ran")
        if is_harmless(verb)
        else VerbUnknown(message=DIED)
    )


async def _reconciled(
    services: Services, catalog: Catalog, call: VerbCall, by: OnBehalf
) -> tuple[bool | None, dict[str, Any] | None]:
    """What the verb's ``reconcile`` says of the call: whether it happened (None: nothing that can
    be read), and its output then.
    """
    spec = catalog.verbs[call.authorized.call.verb].spec
    reconciler = catalog.verbs.get(spec.reconciler or "")
    if (
        reconciler is None
        or not services.verbs.implements(reconciler.spec.name)
        or not _may_ask(services, reconciler, spec)
    ):
        return None, None
    args: dict[str, Any] = {"key": by.key, "args": call.authorized.call.args}
    if "attempt" in properties_of(reconciler.spec.input_schema):
        args["attempt"] = call.attempt
    found = await services.verbs.run(
        leaf_of(reconciler, args, by, attempt=call.attempt, timeout_s=RECONCILE_TIMEOUT_S)
    )
    if not isinstance(found, LeafReturned):
        return None, None
    happened, output = found.output.get("happened"), found.output.get("output")
    if happened is True and isinstance(output, dict):
        return True, cast("dict[str, Any]", output)
    return (False if happened is False else None), None


def _may_ask(services: Services, reconciler: CompiledVerb, spec: VerbSpec) -> bool:
    """Whether the verb that is asked does no more than the one that was allowed, and is not
    switched off by now.
    """
    current = services.catalogs.current
    off = current.inactive_reason(reconciler.spec.name, current.policy.verbs) is not None
    return not off and STRICTNESS[reconciler.spec.effect] <= STRICTNESS[spec.effect]
