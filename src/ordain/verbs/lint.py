"""Lint of verbs as they are written: every problem of a file, each with its line and what to do
about it.

An error keeps the verb from being loaded, or from ever doing what it is for. A warning is what a
reader, a planner or an attacker will stumble over later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from ordain.contracts.faults import MISSING, FieldPath, faults_of, placed
from ordain.contracts.http_call import HttpCall, SecretReference
from ordain.contracts.verbs import (
    Argument,
    ArgumentRole,
    Example,
    OutputField,
    PlanStep,
    Retry,
    SafetyRule,
    TrustClass,
    VerbEffect,
    VerbSpec,
    properties_of,
)
from ordain.errors import ConfigurationError
from ordain.verbs.declaration_lint import lint_spec
from ordain.verbs.folder import (
    NOT_WRITTEN,
    SAID_BY_ORDAIN,
    TEMPLATE_NAMES,
    read_file,
    read_template,
    template_errors,
    templates_of,
    with_own_template,
)
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.template_lint import ERROR, WARNING, argument_uses, close_to
from ordain.verbs.yaml_document import YamlDocument, parse_document

FINDINGS_MAX = 200
_PASSES = 4
_MODELS: Mapping[str, type[BaseModel]] = {
    "": VerbSpec, "http": HttpCall, "plan": PlanStep, "arguments": Argument, "output": OutputField,
        "retry": Retry, "example": Example,
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
    """Everything that is to be said about one YAML file and its templates; a ``shipped`` one may be
    a flow.
    """
    linted = Linted(str(path))
    try:
        linted.document = parse_document(read_file(path.parent.resolve(), path.name), str(path))
    except ConfigurationError as error:
        line = error.details.get("line")
        message = error.message.partition(": ")[2] or error.message
        linted.put(
            Finding(
                file=str(path),
                line=line if isinstance(line, int) else 1,
                severity=ERROR,
                message=message,
            )
        )
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


# --- the declaration ------------------------------------------------------------------------------


def _spec(linted: Linted, fields: dict[str, Any], path: Path, *, shipped: bool) -> None:
    """Validate, note what is wrong, take it out and validate again: so that one mistake does not
    hide the others.
    """
    if fields.get("name") != path.stem:
        linted.add(
            ERROR,
            ("name",),
            f"name must be {path.stem!r}, as the file is named",
            f"write `name: {path.stem}`, or rename the file",
        )
        fields = {**fields, "name": path.stem}
    for said in sorted(SAID_BY_ORDAIN & fields.keys()):
        linted.add(ERROR, (said,), f"{said}: {NOT_WRITTEN}", f"take `{said}` out")
    fields = {key: value for key, value in fields.items() if key not in SAID_BY_ORDAIN}
    fields = with_own_template(fields, path.parent, path.stem)
    gone: set[FieldPath] = set()
    for _ in range(_PASSES):
        try:
            spec = VerbSpec.model_validate_json(
                json.dumps(
                    fields if shipped else {**fields, "trust_class": TrustClass.SKILL},
                    allow_nan=False,
                )
            )
        except ValidationError as error:
            fields = _without_wrong(linted, fields, error, gone)
        else:
            if gone:  # with stand-ins it is not the verb that is written
                return
            if spec.flow is not None and not shipped:
                linted.add(
                    ERROR,
                    ("flow",),
                    "only shipped verbs are flows of Ordain itself",
                    "take `flow` out",
                )
            linted.spec = spec
            return


def _without_wrong(
    linted: Linted, fields: dict[str, Any], error: ValidationError, gone: set[FieldPath]
) -> dict[str, Any]:
    """The fields without what is wrong with them, noted; ``gone`` are the places that were taken
    out before.
    """
    left: dict[str, Any] = json.loads(json.dumps(fields))
    for one in error.errors(include_url=False, include_input=False):
        if one["type"] == "verb_declaration":
            for place, message in faults_of(VerbSpec, error):
                if "role" not in message or not any(taken[-1] == "role" for taken in gone):
                    # a role that was wrong is missed elsewhere
                    linted.add(
                        ERROR, place, message, _HINTS.get(str(place[0]) if place else "", "")
                    )
            continue
        place = _own_place(fields, one["loc"])
        if place is None or (one["type"] == "missing" and place in gone):
            continue
        if one["type"] == "extra_forbidden":
            linted.add(ERROR, place, placed(place, "there is no such key"), _suggested(place))
        elif one["type"] == "missing":
            linted.add(
                ERROR, place[:-1], placed(place, MISSING), _HINTS.get(str(place[-1]), "add it")
            )
        else:
            linted.add(ERROR, place, placed(place, one["msg"].removeprefix("Input ")))
        gone.add(place)
        _replace(
            left,
            place,
            _STAND_INS.get(str(place[-1])) if one["type"] != "extra_forbidden" else None,
        )
    return left


_STAND_INS: Mapping[str, Any] = {"description": "-", "role": "content"}
"""What stands for a value that is wrong or missing, so that the rest can be judged."""


def _own_place(fields: Any, place: FieldPath) -> FieldPath | None:
    """The place as it is written; None where the error is about the other form of a value that may
    have two.
    """
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


def _suggested(place: FieldPath) -> str:
    names = [part for part in place[:-1] if isinstance(part, str)]
    model = next((_MODELS[name] for name in reversed(names) if name in _MODELS), VerbSpec)
    return close_to(str(place[-1]), model.model_fields)


# --- its templates --------------------------------------------------------------------------------


def _templates(linted: Linted, root: Path) -> None:
    spec = linted.spec
    assert spec is not None
    for name in dict.fromkeys(templates_of(spec)):
        place = next(
            (("plan", at) for at, step in enumerate(spec.plan) if step.prompt_template == name),
            ("prompt_template",),
        )
        try:
            text = read_template(root, name, linted.file)
        except ConfigurationError as error:
            hint = (
                f"write {name} beside the verb file"
                if name.endswith(".j2")
                else "its name ends in .j2"
            )
            linted.add(ERROR, place, error.message, hint)
            continue
        linted.templates[name] = text
        for line, message in template_errors(text):
            unknown = _UNKNOWN.match(message)
            hint = close_to(unknown[1], TEMPLATE_NAMES) if unknown else ""
            linted.put(
                Finding(
                    file=str(root / name),
                    line=line or 1,
                    severity=ERROR,
                    message=message.partition(";")[0],
                    hint=hint,
                )
            )
        for severity, line, message, hint in argument_uses(text, properties_of(spec.input_schema)):
            linted.put(
                Finding(
                    file=str(root / name), line=line, severity=severity, message=message, hint=hint
                )
            )
    whole = "\n".join(linted.templates.values())
    for name in (
        properties_of(spec.input_schema)
        if linted.templates and "input_schema" in spec.model_fields_set
        else ()
    ):
        if name not in whole and "input | json" not in whole:
            linted.add(
                WARNING,
                ("input_schema", "properties", name),
                f"no template uses argument {name}",
                "use {{ input." + name + " | json }}",
            )
