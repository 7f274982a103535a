"""``ordain verbs explain``: what would become of a call, and why. Nothing is carried out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ordain.app import shipped_kinds
from ordain.catalogs import build_catalog, build_verbs, own_verbs
from ordain.cli.call_arguments import parsed_input
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import json_text, print_json, show, show_foreign
from ordain.cli.places import home_of
from ordain.contracts.catalog import UNCONFIRMED, Catalog
from ordain.contracts.floor import why_raised
from ordain.contracts.nearest import no_such
from ordain.contracts.remedies import confirming
from ordain.contracts.risk import HARMLESS, risk_of
from ordain.contracts.verbs import (
    FREE_ROLES,
    Argument,
    VerbEffect,
    VerbSpec,
    properties_of,
)
from ordain.errors import ConfigurationError, NotFound
from ordain.runtime.rehearsal import Rehearsed, rehearse_verb
from ordain.settings import load_settings
from ordain.verbs.functions import VerbError
from ordain.verbs.http_verb import preview

MAY_APPROVE = (
    "whoever has the scope approvals, as far as [approvals] of the policy lets them; a call waits "
    "for them in a conversation, or where its caller does not (Prefer: respond-async)"
)


def print_explanation(data_dir: Path | None, name: str, given: str | None, *, as_json: bool) -> int:
    """Explain a call with these arguments, else with the example's. Exit code 1: the call would be
    refused.

    Raises:
        NotFound: there is no such verb.
        InvalidRequest: the arguments are no JSON object.
    """
    settings = load_settings(home=home_of(data_dir))
    registry, _ = build_verbs(settings, own_verbs(settings))
    catalog = build_catalog(settings, registry, shipped_kinds())
    if name not in catalog.verbs:
        raise NotFound(no_such("verb", name, catalog.verbs), code="unknown_verb")
    spec = catalog.verbs[name].spec
    args = (
        parsed_input(given)
        if given is not None
        else dict(spec.example.input)
        if spec.example
        else {}
    )
    told = explained(catalog, spec, args, registry.origins.get(name, "the card of that name"))
    if as_json:
        print_json(told)
    else:
        _print(told)
    return OK if told["goes_live"] else FAILED


def explained(
    catalog: Catalog, spec: VerbSpec, args: dict[str, Any], origin: str
) -> dict[str, Any]:
    """Everything that can be said before a call is made."""
    told: dict[str, Any] = {
        "verb": spec.name,
        "written_in": origin,
        "effect": str(spec.effect),
        "effect_raised": why_raised(spec),
        "trust_class": str(spec.trust_class),
        "confirmed": spec.name not in catalog.unconfirmed,
        "risk": risk_of(spec).model_dump(mode="json"),
        "arguments": [_argument(spec, name) for name in properties_of(spec.input_schema)],
        "input": args,
        "input_problems": list(catalog.verbs[spec.name].input.errors(args)),
        "scope": "a caller of the verb names it itself; a plan may use it only if its toolset does",
        "may_approve": MAY_APPROVE,
        "timeout_ms": spec.timeout_ms,
        "attempts": spec.retry.max_attempts,
        "after_a_crash": _after_a_crash(spec),
        "decisions": [],
        "goes_live": "",
        "error": None,
        "inactive": catalog.inactive_reason(spec.name, catalog.policy.verbs),
    }
    try:
        rehearsed = rehearse_verb(shipped_kinds(), catalog, spec.name, args)
    except ConfigurationError as error:
        return {**told, "error": {"code": "prompt", "message": error.message}}
    told["decisions"] = [
        {
            "rule": one.rule,
            "outcome": one.outcome,
            "reason": one.reason,
            "meaning": one.meaning,
            "facts": one.facts,
        }
        for one in rehearsed.decisions
    ]
    told["goes_live"], told["error"] = rehearsed.goes_live, rehearsed.error
    if rehearsed.goes_live and spec.http is not None:
        try:
            told["request"] = preview(spec, args)
        except (VerbError, ValueError) as error:
            message = (
                error.message
                if isinstance(error, VerbError)
                else "an argument is no text that can be sent"
            )
            told |= {"goes_live": "", "error": {"code": "bad_input", "message": message}}
    return {**told, **_model(catalog, rehearsed)}


def _argument(spec: VerbSpec, name: str) -> dict[str, Any]:
    declared = spec.arguments.get(name)
    required = cast("list[str]", spec.input_schema.get("required") or [])
    told: dict[str, Any] = {
        "name": name,
        "required": name in required,
        "role": None if declared is None else str(declared.role),
    }
    if declared is not None:
        told["controls"] = declared.role not in FREE_ROLES
        told |= {key: value for key, value in _bounds(declared).items() if value is not None}
    return told


def _bounds(declared: Argument) -> dict[str, Any]:
    bounds = declared.model_dump(mode="json", exclude={"role"}, exclude_none=True)
    return {
        key: value if key != "allowed" else f"{len(value)} values" for key, value in bounds.items()
    }


def _after_a_crash(spec: VerbSpec) -> str:
    if spec.composite:
        return "its run goes on where it was"
    if spec.effect is VerbEffect.READ:
        return "repeated: a read changes nothing"
    if spec.idempotent:
        return "repeated with the same idempotency key"
    if spec.reconciler is not None and spec.voids:
        return (
            f"{spec.reconciler} is asked whether it happened; if not, it has voided the call, "
            "which is made again with the same key"
        )
    if spec.reconciler is not None:
        return (
            f"{spec.reconciler} is asked whether it happened; if not yet, it is unknown: a call "
            "under way may still arrive (reconcile: voids)"
        )
    if spec.effect in HARMLESS:
        return "not repeated: it has failed (`lost`), and has changed nothing"
    return in_folder("unknown: a person says whether it happened (ordain runs resolve)")


def _model(catalog: Catalog, rehearsed: Rehearsed) -> dict[str, Any]:
    call, prompt = rehearsed.call, rehearsed.prompt
    if call is None or prompt is None:
        return {}
    profile = catalog.data.profiles[call.profile]
    size = len(prompt.system.encode()) + len(prompt.user.encode())
    return {
        "model": {
            "profile": call.profile,
            "provider": profile.provider,
            "model": profile.model,
            "prompt_bytes": size,
            "bound_tokens": call.bound_tokens,
            "max_tokens": call.max_tokens,
            "within_bound": size <= call.bound_tokens,
        },
        "prompt": {"system": prompt.system, "user": prompt.user},
    }


def _print(told: dict[str, Any]) -> None:
    for line in _lines(told):
        show(line)
    if "prompt" in told:
        show("\nthe prompt of the first step, system part:")
        show_foreign(told["prompt"]["system"])
        show("\nuser part:")
        show_foreign(told["prompt"]["user"])


def _lines(told: dict[str, Any]) -> Iterator[str]:
    risk = told["risk"]
    yield f"{told['verb']}, from {told['written_in']}"
    yield (
        f"effect: {told['effect']} (risk {risk['risk_level']}, side effects "
        f"{risk['side_effects']}, data egress {risk['data_egress']})"
    )
    if told["effect_raised"]:
        yield f"  stricter than written: {told['effect_raised']}"
    yield (
        f"comes from: {told['trust_class']}; its declaration is "
        f"{'' if told['confirmed'] else 'not '}confirmed"
    )
    for argument in told["arguments"]:
        more = ", ".join(
            f"{key} {value}"
            for key, value in argument.items()
            if key not in {"name", "required", "role", "controls"}
        )
        role = (
            "no role"
            if argument["role"] is None
            else f"role {argument['role']}"
            + (", controls what happens" if argument["controls"] else "")
        )
        yield (
            (
                f"argument {argument['name']}: "
                f"{'required' if argument['required'] else 'optional'}, "
                f"{role}"
            )
            + (f", {more}" if more else "")
        )
    yield f"input: {json_text(told['input'])}"
    yield (
        "  fits the schema"
        if not told["input_problems"]
        else f"  does not fit: {'; '.join(told['input_problems'])}"
    )
    yield "decisions, in order:"
    for one in told["decisions"]:
        more = {key: value for key, value in one["outcome"].items() if key != "type" and value}
        yield (
            f"  {one['rule']}: {one['outcome']['type']} {json_text(more) if more else ''}"
        ).rstrip()
        yield f"    why: {one['reason']}: {one['meaning']}"
        yield f"    facts: {json_text(one['facts'])}"
    if told["goes_live"]:
        yield f"then it goes live: {told['goes_live']}"
    else:
        error = told["error"] or {"code": "", "message": "nothing follows"}
        yield f"it does not go live: {error['code']}: {error['message']}"
        if told["inactive"] == UNCONFIRMED:
            yield f"  {confirming(told['verb'])}"
    if "request" in told:
        request = told["request"]
        yield f"request: {request['method']} {request['url']}"
        yield from (f"  {name}: {value}" for name, value in request["headers"].items())
        if request["body"] is not None:
            yield f"  body: {request['body']}"
    if "model" in told:
        model = told["model"]
        yield f"model: profile {model['profile']} ({model['provider']}, {model['model']})"
        yield (
            f"  the prompt has {model['prompt_bytes']} bytes; reserved: {model['bound_tokens']} "
            f"tokens for it, {model['max_tokens']} for the answer"
        )
    yield f"time: {told['timeout_ms']} ms an attempt, attempts: {told['attempts']}"
    yield f"after a crash in the middle: {told['after_a_crash']}"
    yield f"scope: {told['scope']}"
    yield f"who may approve: {told['may_approve']}"
