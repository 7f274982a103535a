"""What is to be said of a verb's declaration that could be loaded, wherever it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ordain.contracts.bounded import bounded, is_number
from ordain.contracts.faults import FieldPath, dotted
from ordain.contracts.floor import raised, why_raised
from ordain.contracts.http_call import HttpCall
from ordain.contracts.risk import HARMLESS
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import (
    FREE_ROLES,
    Argument,
    VerbEffect,
    VerbSpec,
    properties_of,
)
from ordain.errors import ConfigurationError
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.template_lint import ERROR, WARNING, close_to


def lint_spec(spec: VerbSpec, access: HttpAccess) -> Iterator[tuple[str, FieldPath, str, str]]:
    """What a loaded declaration leaves to be said, wherever it was written: (severity, place,
    message, hint).
    """
    yield from _schemas(spec)
    if spec.example is None:
        yield (
            WARNING,
            (),
            "there is no example",
            (
                "add `example: {input: {...}, output: {...}}`: planners learn from it, `ordain "
                "verbs "
                "test` runs it"
            ),
        )
    yield from _floor(spec)
    yield from _effects(raised(spec))
    yield from _unreadable(spec)
    if spec.http is not None:
        yield from _http(spec, spec.http, access)


def _schemas(spec: VerbSpec) -> Iterator[tuple[str, FieldPath, str, str]]:
    compiled: dict[str, Schema] = {}
    for name, schema in (
        ("input_schema", bounded(spec).input_schema),
        ("output_schema", spec.output_schema),
    ):
        try:
            compiled[name] = Schema(schema)
        except ConfigurationError as error:
            yield (
                ERROR,
                (name,),
                error.message,
                "JSON Schema 2020-12, without references to elsewhere",
            )
            continue
        if schema.get("type") != "object":
            yield ERROR, (name,), f"{name} describes an object", "type: object"
        if name in spec.model_fields_set:  # what was not written is not to be improved
            yield from _loose(schema, (name,))
    if spec.narrates is not None and spec.narrates not in properties_of(spec.output_schema):
        yield (
            ERROR,
            ("narrates",),
            f"narrates: the output has no field {spec.narrates}",
            close_to(spec.narrates, properties_of(spec.output_schema)),
        )
    for name in sorted(set(spec.output) - properties_of(spec.output_schema).keys()):
        yield (
            ERROR,
            ("output", name),
            f"output: output_schema has no field {name}",
            close_to(name, properties_of(spec.output_schema)),
        )
    for name, schema in (
        properties_of(spec.input_schema).items() if "input_schema" in spec.model_fields_set else ()
    ):
        if isinstance(schema, dict) and "description" not in schema:
            place: FieldPath = ("input_schema", "properties", name)
            yield (
                WARNING,
                place,
                f"argument {name} has no description",
                "say what it means and in which form: planners fill it in by that",
            )
    if spec.example is not None:
        parts = (
            ("input_schema", "input", spec.example.input),
            ("output_schema", "output", spec.example.output),
        )
        for name, part, value in parts:
            if name in compiled and value is not None and (errors := compiled[name].errors(value)):
                yield (
                    ERROR,
                    ("example", part),
                    f"the example's {part} does not fit {name}: {'; '.join(errors)}",
                    "correct the example or the schema",
                )


def _loose(
    schema: Any, place: FieldPath, depth: int = 0
) -> Iterator[tuple[str, FieldPath, str, str]]:
    """Strings, lists and objects without bounds: whatever fills them may be as long as it likes."""
    if not isinstance(schema, dict) or depth > 16:
        return
    members = cast("dict[str, Any]", schema)
    kind, what = members.get("type"), dotted(place)
    bounded = {"enum", "const", "format"} & members.keys()
    if kind == "string" and "maxLength" not in members and not bounded:
        yield WARNING, place, f"{what}: a string without a bound", "add maxLength"
    if kind == "array":
        if "maxItems" not in members:
            yield WARNING, place, f"{what}: a list without a bound", "add maxItems"
        yield from _loose(members.get("items"), (*place, "items"), depth + 1)
    if (
        kind == "object"
        and place[0] == "input_schema"
        and members.get("additionalProperties") is not False
        and depth == 0
    ):
        yield (
            WARNING,
            place,
            f"{what} takes arguments that it does not name",
            "add additionalProperties: false",
        )
    for name, inner in properties_of(members).items():
        yield from _loose(inner, (*place, "properties", name), depth + 1)


def _floor(spec: VerbSpec) -> Iterator[tuple[str, FieldPath, str, str]]:
    """Where the verb's mechanism makes more of it than it declares."""
    used = raised(spec)
    if used.declared_effect is not None:
        # what stands around a verb is no fault of its file
        severity = ERROR if spec.declared_effect is None else WARNING
        repair = f"declare effect: {used.effect}, with the roles that it asks for"
        yield severity, ("effect",), f"stricter than written: {why_raised(used)}", repair
    for name, declared in spec.output.items():
        if (
            "sensitive" in declared.model_fields_set
            and not declared.sensitive
            and used.output[name].sensitive
        ):
            yield (
                WARNING,
                ("output", name),
                f"output {name} is sensitive, as all is that comes from files, memory and secrets",
                "sensitive: true",
            )


def _effects(spec: VerbSpec) -> Iterator[tuple[str, FieldPath, str, str]]:
    known, place = properties_of(spec.input_schema), ("effect",)
    if spec.composite and spec.effect is not VerbEffect.READ and not spec.arguments:
        yield (
            WARNING,
            place,
            f"a plan with effect {spec.effect} and no roles",
            "a plan asks models only: effect read, unless its output is sent on",
        )
    if spec.effect is VerbEffect.EGRESS:
        open_ones = [
            name
            for name in known
            if name not in spec.arguments or not _listed(spec.arguments[name])
        ]
        if open_ones:
            message = (
                f"egress with open arguments ({', '.join(open_ones)}): a call needs an approval, "
                "and is refused where nobody can give one"
            )
            yield (
                WARNING,
                place,
                message,
                (
                    "list their values with `allowed`, or `fixed`; inside your own network: effect "
                    "read with private: true"
                ),
            )
    if spec.effect in {
        VerbEffect.SEND,
        VerbEffect.PAY,
        VerbEffect.ADMIN,
        VerbEffect.DELETE,
        VerbEffect.SECRET,
    }:
        yield (
            WARNING,
            place,
            (
                f"effect {spec.effect}: every call needs an approval, and is refused where "
                "nobody can "
                "give one"
            ),
            "intended? then leave it",
        )
        if not any(argument.role not in FREE_ROLES for argument in spec.arguments.values()):
            message = f"effect {spec.effect}, but no argument has a role that controls what happens"
            yield (
                WARNING,
                ("arguments",),
                message,
                "roles: recipient, target, amount, when, url, attachment, secret",
            )
    if spec.effect not in HARMLESS and not spec.idempotent:
        if spec.retry.max_attempts > 1:
            message = "several attempts of what is not idempotent may happen several times"
            yield (
                WARNING,
                ("retry",),
                message,
                (
                    "idempotent: true if a repeat with the same key changes nothing more, else one "
                    "attempt"
                ),
            )
        elif spec.reconcile is None and not spec.composite:
            message = "after a crash in the middle nobody can say whether it happened"
            yield (
                WARNING,
                place,
                message,
                "idempotent: true if it is, or reconcile: a verb that looks",
            )
        elif spec.reconciler is not None and not spec.voids:
            message = (
                "reconcile without voids: after a crash its yes counts, and its no leaves the "
                "outcome unknown"
            )
            repair = (
                "reconcile: {verb: ..., voids: true} where it makes sure that the call cannot "
                "take effect any more before it says no"
            )
            yield WARNING, ("reconcile",), message, repair


def _unreadable(spec: VerbSpec) -> Iterator[tuple[str, FieldPath, str, str]]:
    """Bounds of arguments that can be written in a way in which nobody can read them: a call with
    such a value is refused.
    """
    known = properties_of(spec.input_schema)
    for name, argument in spec.arguments.items():
        schema, place = known.get(name), ("input_schema", "properties", name)
        if argument.maximum is not None and not is_number(schema):
            yield (
                WARNING,
                place,
                (
                    f"argument {name} has a maximum, and is no number: whatever else it is "
                    "given is "
                    "refused"
                ),
                "type: number",
            )
        if argument.within_days is not None and not (
            isinstance(schema, dict) and cast("dict[str, Any]", schema).get("format") in _MOMENTS
        ):
            message = (
                f"argument {name} has within_days: a value that is no date or moment in ISO 8601 "
                "is refused"
            )
            yield WARNING, place, message, "format: date-time, or format: date"


_MOMENTS = ("date", "date-time")


def _listed(argument: Argument) -> bool:
    return argument.allowed is not None or argument.fixed is not None


def _http(
    spec: VerbSpec, http: HttpCall, access: HttpAccess
) -> Iterator[tuple[str, FieldPath, str, str]]:
    place: FieldPath = ("http",)
    for name in sorted(http.secrets):
        secret = access.secrets.get(name)
        if secret is None:
            yield (
                ERROR,
                place,
                f"secret {name} is not declared",
                (
                    f"add to ordain.toml, below [verbs.secrets]: {name} = {{env = "
                    f'"{name.upper()}", '
                    f'hosts = ["{http.host}"]}}'
                ),
            )
        elif secret.hosts and http.host not in secret.hosts:
            yield (
                ERROR,
                place,
                f"secret {name} is not declared for host {http.host}",
                "add the host to its `hosts` in ordain.toml",
            )
        elif not secret.value:
            yield (
                WARNING,
                place,
                f"secret {name} has no value here: calls fail with secret_missing",
                "set the variable, or write the file",
            )
    if never := sorted(set(http.hosts) - {http.host}):
        message = (
            f"never asked: {', '.join(never)}; the URL alone says where the request goes, and "
            "redirects are not followed"
        )
        yield WARNING, ("http", "hosts"), message, f"hosts: [{http.host}]; a verb a host"
    if http.secrets and http.url.startswith("http://") and not http.private:
        yield WARNING, ("http", "url"), "a secret over a connection that is not encrypted", "https"
    if http.method in {"POST", "PATCH"} and spec.idempotent and http.idempotency_header is None:
        message = (
            f"{http.method} is declared idempotent, but its server is given no key by which to "
            "know a repeat"
        )
        yield WARNING, place, message, "add idempotency_header, or take idempotent out"
    if spec.output_schema == {"type": "object"}:
        yield (
            WARNING,
            ("output_schema",),
            "whatever the server answers is taken",
            "describe the output: an answer that does not fit is refused",
        )
