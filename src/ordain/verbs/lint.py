"""Lint of verbs as they are written: every problem of a file, each with its line and what to do about it.

An error keeps the verb from being loaded, or from ever doing what it is for. A warning is what a reader, a planner or an attacker will
stumble over later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from ordain.contracts.catalog import Schema
from ordain.contracts.http_call import FieldPath, HttpCall, SecretReference
from ordain.contracts.verbs import (
    FREE_ROLES,
    Argument,
    ArgumentRole,
    Example,
    OutputField,
    PlanStep,
    Retry,
    SafetyRule,
    VerbEffect,
    VerbSpec,
    properties_of,
)
from ordain.errors import ConfigurationError
from ordain.verbs.folder import TEMPLATE_NAMES, faults_of, read_file, read_template, template_errors, templates_of, with_own_template
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.template_lint import ERROR, WARNING, argument_uses, close_to
from ordain.verbs.yaml_document import YamlDocument, parse_document

FINDINGS_MAX = 200
_PASSES = 4
_MODELS: Mapping[str, type[BaseModel]] = {
    "": VerbSpec, "http": HttpCall, "plan": PlanStep, "arguments": Argument, "output": OutputField, "retry": Retry, "example": Example,
    "safety_rules": SafetyRule, "query": SecretReference, "headers": SecretReference,
}  # fmt: skip
_UNKNOWN = re.compile(r"unknown name '([^']*)'")


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that is wrong or risky: where it stands, what it is, and what to do."""

    file: str
    line: int
    severity: str
    message: str
    hint: str = ""


@dataclass(slots=True)
class Linted:
    """A file's findings, and its verb where there is one that can be loaded."""

    file: str
    document: YamlDocument | None = None
    spec: VerbSpec | None = None
    templates: dict[str, str] = field(default_factory=dict[str, str])
    findings: list[Finding] = field(default_factory=list[Finding])

    def add(self, severity: str, place: FieldPath, message: str, hint: str = "") -> None:
        """Note what is at a place of the document."""
        line = self.document.line(place) if self.document is not None else 1
        self.put(Finding(file=self.file, line=line, severity=severity, message=message, hint=hint))

    def put(self, finding: Finding) -> None:
        """Note a finding, once."""
        if finding not in self.findings and len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)

    @property
    def errors(self) -> int:
        """How many findings keep the verb from working."""
        return sum(finding.severity == ERROR for finding in self.findings)


def lint_file(path: Path, access: HttpAccess, *, shipped: bool = False) -> Linted:
    """Everything that is to be said about one YAML file and its templates; a ``shipped`` one may be a flow."""
    linted = Linted(str(path))
    try:
        linted.document = parse_document(read_file(path.parent.resolve(), path.name), str(path))
    except ConfigurationError as error:
        line = error.details.get("line")
        message = error.message.partition(": ")[2] or error.message
        linted.put(Finding(file=str(path), line=line if isinstance(line, int) else 1, severity=ERROR, message=message))
        return linted
    fields = linted.document.value
    if not isinstance(fields, dict):
        linted.add(ERROR, (), "a verb file is a mapping", "begin with `name: " + path.stem + "`")
        return linted
    _spec(linted, cast("dict[str, Any]", fields), path, shipped=shipped)
    if linted.spec is not None:
        _templates(linted, path.parent.resolve())
        for finding in lint_spec(linted.spec, access):
            linted.add(*finding)
    return linted


def lint_spec(spec: VerbSpec, access: HttpAccess) -> Iterator[tuple[str, FieldPath, str, str]]:
    """What a loaded declaration leaves to be said, wherever it was written: (severity, place, message, hint)."""
    yield from _schemas(spec)
    if spec.example is None:
        yield (
            WARNING,
            (),
            "there is no example",
            "add `example: {input: {...}, output: {...}}`: planners learn from it, `ordain verbs test` runs it",
        )
    yield from _effects(spec)
    if spec.http is not None:
        yield from _http(spec, spec.http, access)


# --- the declaration ----------------------------------------------------------------------------------------------------------------


def _spec(linted: Linted, fields: dict[str, Any], path: Path, *, shipped: bool) -> None:
    """Validate, note what is wrong, take it out and validate again: so that one mistake does not hide the others."""
    if fields.get("name") != path.stem:
        linted.add(ERROR, ("name",), f"name must be {path.stem!r}, as the file is named", f"write `name: {path.stem}`, or rename the file")
        fields = {**fields, "name": path.stem}
    fields = with_own_template(fields, path.parent, path.stem)
    gone: set[FieldPath] = set()
    for _ in range(_PASSES):
        try:
            spec = VerbSpec.model_validate_json(json.dumps(fields, allow_nan=False))
        except ValidationError as error:
            fields = _without_wrong(linted, fields, error, gone)
        else:
            if gone:  # with stand-ins it is not the verb that is written
                return
            if spec.flow is not None and not shipped:
                linted.add(ERROR, ("flow",), "only shipped verbs are flows of Ordain itself", "take `flow` out")
            linted.spec = spec
            return


def _without_wrong(linted: Linted, fields: dict[str, Any], error: ValidationError, gone: set[FieldPath]) -> dict[str, Any]:
    """The fields without what is wrong with them, noted; ``gone`` are the places that were taken out before."""
    left: dict[str, Any] = json.loads(json.dumps(fields))
    for one in error.errors(include_url=False, include_input=False):
        if one["type"] == "verb_declaration":
            for place, message in faults_of(error):
                if "role" not in message or not any(taken[-1] == "role" for taken in gone):  # a role that was wrong is missed elsewhere
                    linted.add(ERROR, place, message, _HINTS.get(str(place[0]) if place else "", ""))
            continue
        place = _own_place(fields, one["loc"])
        if place is None or (one["type"] == "missing" and place in gone):
            continue
        if one["type"] == "extra_forbidden":
            linted.add(ERROR, place, f"{_dotted(place)}: there is no such key", _suggested(place))
        elif one["type"] == "missing":
            linted.add(ERROR, place[:-1], f"{_dotted(place)} is missing", _HINTS.get(str(place[-1]), "add it"))
        else:
            linted.add(ERROR, place, f"{_dotted(place)}: {one['msg']}")
        gone.add(place)
        _replace(left, place, _STAND_INS.get(str(place[-1])) if one["type"] != "extra_forbidden" else None)
    return left


_STAND_INS: Mapping[str, Any] = {"description": "-", "role": "content"}
"""What stands for a value that is wrong or missing, so that the rest can be judged."""


def _own_place(fields: Any, place: FieldPath) -> FieldPath | None:
    """The place as it is written; None where the error is about the other form of a value that may have two."""
    if len(place) < 4 or place[0] != "http" or place[1] not in {"query", "headers"}:
        return place
    value = fields["http"][place[1]][place[2]]
    if isinstance(value, dict) is not (place[3] == "SecretReference"):
        return None
    return (*place[:3], *place[4:])


_HINTS = {
    "description": "say in a sentence what the verb does and when to use it: planners choose by it",
    "effect": "one of: " + ", ".join(VerbEffect),
    "arguments": "one line an argument, `NAME: {role: ROLE}`; roles: " + ", ".join(ArgumentRole),
    "hosts": "list the host of the URL",
}


def _replace(value: Any, place: FieldPath, stand_in: Any) -> None:
    for part in place[:-1]:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return
    if place and isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        members.pop(place[-1], None)
        if stand_in is not None:
            members[place[-1]] = stand_in


def _dotted(place: FieldPath) -> str:
    return ".".join(map(str, place)) or "the verb"


def _suggested(place: FieldPath) -> str:
    names = [part for part in place[:-1] if isinstance(part, str)]
    model = next((_MODELS[name] for name in reversed(names) if name in _MODELS), VerbSpec)
    return close_to(str(place[-1]), model.model_fields)


# --- what the declaration says ------------------------------------------------------------------------------------------------------


def _schemas(spec: VerbSpec) -> Iterator[tuple[str, FieldPath, str, str]]:
    compiled: dict[str, Schema] = {}
    for name, schema in (("input_schema", spec.input_schema), ("output_schema", spec.output_schema)):
        try:
            compiled[name] = Schema(schema)
        except ConfigurationError as error:
            yield ERROR, (name,), error.message, "JSON Schema 2020-12, without references to elsewhere"
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
        yield ERROR, ("output", name), f"output: output_schema has no field {name}", close_to(name, properties_of(spec.output_schema))
    for name, schema in properties_of(spec.input_schema).items() if "input_schema" in spec.model_fields_set else ():
        if isinstance(schema, dict) and "description" not in schema:
            place: FieldPath = ("input_schema", "properties", name)
            yield WARNING, place, f"argument {name} has no description", "say what it means and in which form: planners fill it in by that"
    if spec.example is not None:
        parts = (("input_schema", "input", spec.example.input), ("output_schema", "output", spec.example.output))
        for name, part, value in parts:
            if name in compiled and value is not None and (errors := compiled[name].errors(value)):
                yield (
                    ERROR,
                    ("example", part),
                    f"the example's {part} does not fit {name}: {'; '.join(errors)}",
                    "correct the example or the schema",
                )


def _loose(schema: Any, place: FieldPath, depth: int = 0) -> Iterator[tuple[str, FieldPath, str, str]]:
    """Strings, lists and objects without bounds: whatever fills them may be as long as it likes."""
    if not isinstance(schema, dict) or depth > 16:
        return
    members = cast("dict[str, Any]", schema)
    kind, what = members.get("type"), _dotted(place)
    bounded = {"enum", "const", "format"} & members.keys()
    if kind == "string" and "maxLength" not in members and not bounded:
        yield WARNING, place, f"{what}: a string without a bound", "add maxLength"
    if kind == "array":
        if "maxItems" not in members:
            yield WARNING, place, f"{what}: a list without a bound", "add maxItems"
        yield from _loose(members.get("items"), (*place, "items"), depth + 1)
    if kind == "object" and place[0] == "input_schema" and members.get("additionalProperties") is not False and depth == 0:
        yield WARNING, place, f"{what} takes arguments that it does not name", "add additionalProperties: false"
    for name, inner in properties_of(members).items():
        yield from _loose(inner, (*place, "properties", name), depth + 1)


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
        open_ones = [name for name in known if name not in spec.arguments or not _listed(spec.arguments[name])]
        if open_ones:
            message = (
                f"egress with open arguments ({', '.join(open_ones)}): a call needs an approval, and is refused where nobody can give one"
            )
            yield (
                WARNING,
                place,
                message,
                "list their values with `allowed`, or `fixed`; inside your own network: effect read with private: true",
            )
    if spec.effect in {VerbEffect.SEND, VerbEffect.PAY, VerbEffect.ADMIN, VerbEffect.DELETE, VerbEffect.SECRET}:
        yield (
            WARNING,
            place,
            f"effect {spec.effect}: every call needs an approval, and is refused where nobody can give one",
            "intended? then leave it",
        )
        if not any(argument.role not in FREE_ROLES for argument in spec.arguments.values()):
            message = f"effect {spec.effect}, but no argument has a role that controls what happens"
            yield WARNING, ("arguments",), message, "roles: recipient, target, amount, when, url, attachment, secret"
    if spec.effect not in {VerbEffect.READ, VerbEffect.EGRESS} and not spec.idempotent:
        if spec.retry.max_attempts > 1:
            message = "several attempts of what is not idempotent may happen several times"
            yield WARNING, ("retry",), message, "idempotent: true if a repeat with the same key changes nothing more, else one attempt"
        elif spec.reconcile is None and not spec.composite:
            message = "after a crash in the middle nobody can say whether it happened"
            yield WARNING, place, message, "idempotent: true if it is, or reconcile: a verb that looks"
        elif spec.reconciler is not None and not spec.voids:
            message = "reconcile without voids: after a crash its yes counts, and its no leaves the outcome unknown"
            repair = "reconcile: {verb: ..., voids: true} where it makes sure that the call cannot take effect any more before it says no"
            yield WARNING, ("reconcile",), message, repair


def _listed(argument: Argument) -> bool:
    return argument.allowed is not None or argument.fixed is not None


def _http(spec: VerbSpec, http: HttpCall, access: HttpAccess) -> Iterator[tuple[str, FieldPath, str, str]]:
    place: FieldPath = ("http",)
    for name in sorted(http.secrets):
        secret = access.secrets.get(name)
        if secret is None:
            yield (
                ERROR,
                place,
                f"secret {name} is not declared",
                f'add to ordain.toml, below [verbs.secrets]: {name} = {{env = "{name.upper()}", hosts = ["{http.host}"]}}',
            )
        elif secret.hosts and http.host not in secret.hosts:
            yield ERROR, place, f"secret {name} is not declared for host {http.host}", "add the host to its `hosts` in ordain.toml"
        elif not secret.value:
            yield WARNING, place, f"secret {name} has no value here: calls fail with secret_missing", "set the variable, or write the file"
    if never := sorted(set(http.hosts) - {http.host}):
        message = f"never asked: {', '.join(never)}; the URL alone says where the request goes, and redirects are not followed"
        yield WARNING, ("http", "hosts"), message, f"hosts: [{http.host}]; a verb a host"
    if http.secrets and http.url.startswith("http://") and not http.private:
        yield WARNING, ("http", "url"), "a secret over a connection that is not encrypted", "https"
    if http.method in {"POST", "PATCH"} and spec.idempotent and http.idempotency_header is None:
        message = f"{http.method} is declared idempotent, but its server is given no key by which to know a repeat"
        yield WARNING, place, message, "add idempotency_header, or take idempotent out"
    if spec.output_schema == {"type": "object"}:
        yield (
            WARNING,
            ("output_schema",),
            "whatever the server answers is taken",
            "describe the output: an answer that does not fit is refused",
        )


def _templates(linted: Linted, root: Path) -> None:
    spec = linted.spec
    assert spec is not None
    for name in dict.fromkeys(templates_of(spec)):
        place = next((("plan", at) for at, step in enumerate(spec.plan) if step.prompt_template == name), ("prompt_template",))
        try:
            text = read_template(root, name, linted.file)
        except ConfigurationError as error:
            hint = f"write {name} beside the verb file" if name.endswith(".j2") else "its name ends in .j2"
            linted.add(ERROR, place, error.message, hint)
            continue
        linted.templates[name] = text
        for line, message in template_errors(text):
            unknown = _UNKNOWN.match(message)
            hint = close_to(unknown[1], TEMPLATE_NAMES) if unknown else ""
            linted.put(Finding(file=str(root / name), line=line or 1, severity=ERROR, message=message.partition(";")[0], hint=hint))
        for severity, line, message, hint in argument_uses(text, properties_of(spec.input_schema)):
            linted.put(Finding(file=str(root / name), line=line, severity=severity, message=message, hint=hint))
    whole = "\n".join(linted.templates.values())
    for name in properties_of(spec.input_schema) if linted.templates and "input_schema" in spec.model_fields_set else ():
        if name not in whole and "input | json" not in whole:
            linted.add(
                WARNING, ("input_schema", "properties", name), f"no template uses argument {name}", "use {{ input." + name + " | json }}"
            )
