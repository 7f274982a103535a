"""Workflow templates: steps that code owns, with the arguments that somebody may fill in
(WFL-01..WFL-04, C5).

Whoever suggests a workflow, a sender or a model, names a template and arguments and nothing else.
An argument only ever becomes a value: no verb, no name and no further step comes of one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, cast

from msgspec import Struct
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ordain.contracts.faults import Fault, FieldPath, placed
from ordain.contracts.lanes import Lane
from ordain.contracts.planner import Strict
from ordain.contracts.verbs import Retry, VerbId, properties_of

TEMPLATE_ID = r"^[a-z][a-z0-9_]{0,63}$"
SETTING_NAME = r"^[a-z][a-z0-9_]{0,31}$"
ARGUMENT_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
STEPS_MAX = 20
ARGUMENTS_MAX = 50
DIALECT = "https://json-schema.org/draft/2020-12/schema"
ARGUMENT, SETTING = "$arg", "$verb"
"""The only keys by which a template refers to something: an argument of its own, a verb that the
settings name.
"""
TemplateId = Annotated[str, StringConstraints(pattern=TEMPLATE_ID)]
SettingName = Annotated[str, StringConstraints(pattern=SETTING_NAME)]
ArgumentName = Annotated[str, StringConstraints(pattern=ARGUMENT_NAME)]


class OutcomePolicy(Strict):
    """Who may suggest a workflow where a message names none (RTE-06), and what becomes of a
    suggestion that is refused.
    """

    ask: Lane | None = Field(
        default=None,
        description=(
            "The lane whose model may name a template and its arguments; absent: none is asked."
        ),
    )
    on_refusal: Literal["refuse", "direct"] = Field(
        default="refuse",
        description=(
            "A suggestion that cannot be carried out ends the turn with its code, or leaves it "
            "the direct answer that it was."
        ),
    )


class NamedVerb(Strict):
    """The verb that ``[workflows.verbs]`` of the settings gives this name."""

    model_config = ConfigDict(validate_by_alias=True, validate_by_name=True)

    setting: SettingName = Field(alias=SETTING)


def _verb_or_setting(given: Any) -> Any:
    """Anything else than a verb's id or a setting's name is told as one fault, not as one of each
    form that it might have had.
    """
    if isinstance(given, (str, NamedVerb)) or (
        isinstance(given, dict) and cast("dict[str, Any]", given).keys() <= {SETTING, "setting"}
    ):
        return cast("Any", given)
    raise PydanticCustomError(
        "workflow_verb",
        (
            f"is a verb's id, or {{{SETTING}: name}}, which the settings fill in: no argument "
            "names "
            "a verb"
        ),
    )


class StepCall(Strict):
    """A verb's call: each argument is a literal, or ``{$arg: name}``, which is the template's
    argument of that name; one that was not given is left out.
    """

    verb: Annotated[VerbId | NamedVerb, BeforeValidator(_verb_or_setting)]
    args: dict[ArgumentName, JsonValue] = Field(default={}, max_length=ARGUMENTS_MAX)

    @property
    def named(self) -> str:
        """The verb as it stands here: its id, or the name in the settings."""
        return (
            f"[workflows.verbs] {self.verb.setting}"
            if isinstance(self.verb, NamedVerb)
            else self.verb
        )

    def verb_of(self, settings: Mapping[str, str]) -> str:
        """The verb's id; "" where the settings name none."""
        return (
            settings.get(self.verb.setting, "") if isinstance(self.verb, NamedVerb) else self.verb
        )

    def args_of(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, those of the template as they were given."""
        found: dict[str, Any] = {}
        for name, value in self.args.items():
            refers = referred(value)
            if refers is None:
                found[name] = value
            elif refers in given:
                found[name] = given[refers]
        return found


class WorkflowStep(StepCall):
    """One step. ``compensate`` undoes it where a later one fails, once it has happened. Time-out
    and attempts only lower what the verb declares.
    """

    compensate: StepCall | None = None
    timeout_ms: int | None = Field(default=None, ge=1, le=3_600_000)
    retry: Retry | None = None


class WorkflowTemplate(Strict):
    """A workflow (C5). ``schema`` is the closed JSON Schema of its arguments."""

    model_config = ConfigDict(validate_by_alias=True, validate_by_name=True)

    id: TemplateId
    version: int = Field(ge=1, le=1_000_000)
    description: str = Field(min_length=1, max_length=1000)
    input_schema: dict[str, JsonValue] = Field(alias="schema", max_length=20)
    steps: list[WorkflowStep] = Field(min_length=1, max_length=STEPS_MAX)

    @property
    def calls(self) -> Iterator[StepCall]:
        """Its steps and what undoes them."""
        for step in self.steps:
            yield step
            if step.compensate is not None:
                yield step.compensate

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that have to be given."""
        found = self.input_schema.get("required")
        return tuple(map(str, found)) if isinstance(found, list) else ()

    @model_validator(mode="after")
    def _lint(self) -> Self:
        """Refuse what could be filled in with anything else than its arguments' values; the error
        carries every fault with its place.
        """
        if faults := tuple(self._faults()):
            first, more = (
                placed(*faults[0]),
                f" (and {len(faults) - 1} more)" if len(faults) > 1 else "",
            )
            raise PydanticCustomError(
                "workflow_template", "{what}{more}", {"what": first, "more": more, "faults": faults}
            )
        return self

    def _faults(self) -> Iterator[Fault]:
        schema, known = self.input_schema, set(properties_of(self.input_schema))
        if schema.get("$schema", DIALECT) != DIALECT:
            yield ("schema", "$schema"), f"it is JSON Schema 2020-12 ({DIALECT})"
        if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
            yield ("schema",), "type is object, and properties are named"
        if schema.get("additionalProperties") is not False:
            yield (
                ("schema",),
                "additionalProperties is false: an argument that nobody declared is refused",
            )
        if "patternProperties" in schema:
            yield ("schema", "patternProperties"), "arguments are named one by one, not by patterns"
        if len(known) > ARGUMENTS_MAX:
            yield ("schema", "properties"), f"more than {ARGUMENTS_MAX} arguments"
        if missing := sorted(set(self.required) - known):
            yield ("schema", "required"), f"names what properties lack: {', '.join(missing)}"
        for number, step in enumerate(self.steps):
            yield from _call_faults(step, ("steps", number), known)
            if step.compensate is not None:
                yield from _call_faults(step.compensate, ("steps", number, "compensate"), known)


def referred(value: JsonValue) -> str | None:
    """The template's argument that a step's argument is; None where it is a literal."""
    if not isinstance(value, dict) or value.keys() != {ARGUMENT}:
        return None
    name = value[ARGUMENT]
    return name if isinstance(name, str) else None


def _call_faults(call: StepCall, place: FieldPath, known: set[str]) -> Iterator[Fault]:
    for name, value in call.args.items():
        refers = referred(value)
        if refers is None and _refers_inside(value):
            yield (
                (*place, "args", name),
                f"{{{ARGUMENT}: name}} stands for a whole value, and for nothing inside of one",
            )
        elif refers is not None and refers not in known:
            yield (*place, "args", name), f"schema has no argument {refers[:64]!r}"


def _refers_inside(value: JsonValue) -> bool:
    """Whether something in a literal looks as if it were filled in."""
    if isinstance(value, dict):
        return any(key in {ARGUMENT, SETTING} for key in value) or any(
            map(_refers_inside, value.values())
        )
    return isinstance(value, list) and any(map(_refers_inside, value))


class FixedCall(Struct, frozen=True, gc=False, kw_only=True):
    """A call of an expanded template, exactly as it will be proposed."""

    verb: str
    args: dict[str, Any]


class FixedStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of an expanded template; ``timeout_ms`` and ``attempts`` are 0 where the verb's own
    hold.
    """

    call: FixedCall
    compensate: FixedCall | None = None
    timeout_ms: int = 0
    attempts: int = 0


def expanded(
    template: WorkflowTemplate, settings: Mapping[str, str], given: Mapping[str, Any]
) -> tuple[FixedStep, ...]:
    """The fixed steps of a template with these arguments, whatever they are: rule ``workflow`` says
    whether they may be. Equal ones give equal steps.
    """
    return tuple(
        FixedStep(
            call=_fixed(step, settings, given),
            compensate=None
            if step.compensate is None
            else _fixed(step.compensate, settings, given),
            timeout_ms=step.timeout_ms or 0,
            attempts=0 if step.retry is None else step.retry.max_attempts,
        )
        for step in template.steps
    )


def calls_of(steps: tuple[FixedStep, ...]) -> tuple[FixedCall, ...]:
    """Every call that the steps may come to, what undoes them included."""
    found = [call for step in steps for call in (step.call, step.compensate) if call is not None]
    return tuple(found)


def steps_digest(template: WorkflowTemplate, steps: tuple[FixedStep, ...]) -> str:
    """The hash of exactly these steps of this version of the template: 32 hexadecimal digits."""
    told = [template.id, template.version, [_told(step) for step in steps]]
    return hashlib.blake2b(
        json.dumps(told, sort_keys=True, separators=(",", ":")).encode(), digest_size=16
    ).hexdigest()


def _fixed(call: StepCall, settings: Mapping[str, str], given: Mapping[str, Any]) -> FixedCall:
    return FixedCall(verb=call.verb_of(settings), args=call.args_of(given))


def _told(step: FixedStep) -> list[Any]:
    undo = None if step.compensate is None else [step.compensate.verb, step.compensate.args]
    return [step.call.verb, step.call.args, undo, step.timeout_ms, step.attempts]
