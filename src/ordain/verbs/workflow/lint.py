"""Lint of workflow templates as they are written: every problem of a file with its line, and what
of its steps would be refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ordain.contracts.faults import FieldPath
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import VerbSpec, properties_of
from ordain.contracts.workflow import StepCall, WorkflowTemplate, referred
from ordain.verbs.template_lint import ERROR, WARNING
from ordain.verbs.yaml_lint import ToSay


def lint_template(
    template: WorkflowTemplate, verbs: Mapping[str, VerbSpec], settings: Mapping[str, str]
) -> Iterator[ToSay]:
    """What a template leaves to be said that can be loaded; ``verbs`` are those of this house,
    ``settings`` its ``[workflows.verbs]``.
    """
    used = {
        name
        for call in template.calls
        for value in call.args.values()
        if (name := referred(value)) is not None
    }
    for name in sorted(properties_of(template.input_schema).keys() - used):
        yield (
            WARNING,
            ("schema", "properties", name),
            f"no step uses argument {name}",
            "use it, or take it out",
        )
    for number, step in enumerate(template.steps):
        place: FieldPath = ("steps", number)
        yield from _call(template, step, place, verbs, settings)
        if step.compensate is not None:
            yield from _call(template, step.compensate, (*place, "compensate"), verbs, settings)


def _call(
    template: WorkflowTemplate,
    call: StepCall,
    place: FieldPath,
    verbs: Mapping[str, VerbSpec],
    settings: Mapping[str, str],
) -> Iterator[ToSay]:
    spec = verbs.get(call.verb_of(settings))
    if spec is None:
        what = "names no verb of this house" if call.verb_of(settings) else "is not set"
        yield (
            WARNING,
            (*place, "verb"),
            f"{call.named} {what}: the workflow is refused (tool_unavailable)",
            "write the verb, or name it",
        )
        return
    known, needed = properties_of(spec.input_schema), _required(spec.input_schema)
    for name in sorted(call.args.keys() - known.keys()):
        yield (
            ERROR,
            (*place, "args", name),
            f"verb {spec.name} has no argument {name}",
            f"it has {', '.join(sorted(known)) or 'none'}",
        )
    for name in sorted(needed - call.args.keys()):
        yield ERROR, (*place, "args"), f"verb {spec.name} needs argument {name}", "give it a value"
    for name, what in _misfits(spec, call):
        yield ERROR, (*place, "args", name), what, "correct it: the workflow is refused with it"
    for name, value in call.args.items():
        given = referred(value)
        if given is not None and name in needed and given not in template.required:
            yield (
                WARNING,
                (*place, "args", name),
                f"{name} is needed, and argument {given} may be left out",
                "make it required",
            )


def _misfits(spec: VerbSpec, call: StepCall) -> Iterator[tuple[str, str]]:
    """The literals that are no such arguments of the verb, each by itself: what stands for an
    argument of the template is known when it is given.
    """
    schema, known = (
        {key: value for key, value in spec.input_schema.items() if key == "$defs"},
        properties_of(spec.input_schema),
    )
    for name, value in call.args.items():
        if referred(value) is None and name in known:
            found = Schema({**schema, "type": "object", "properties": {name: known[name]}}).faults(
                {name: value}
            )
            yield from (
                (name, f"argument {name} of {spec.name} does not take this: {fault.message[:200]}")
                for fault in found[:1]
            )


def _required(schema: Mapping[str, Any]) -> set[str]:
    found: Any = schema.get("required", [])
    return {str(name) for name in found}
