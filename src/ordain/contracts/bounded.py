"""What a verb declares of its arguments' values, as part of what it takes (security policy, "What a verb declares").

A list of values, a fixed value and a maximum stand in the schema of the arguments: so a planner sees them, and every way to a call holds it to them.
Of a verb that sends its arguments out the list says which of them go unasked (rule ``authorize``), and another value asks somebody.
"""

from __future__ import annotations

from typing import Any, cast

from ordain.contracts.verbs import Argument, VerbEffect, VerbSpec, properties_of

_NUMBERS = ("number", "integer")


def bounded(spec: VerbSpec) -> VerbSpec:
    """The verb with its arguments' declared bounds in its ``input_schema``; the same one where it declares none."""
    known = properties_of(spec.input_schema)
    held = {name: _held(known[name], argument, spec) for name, argument in spec.arguments.items() if name in known}
    if all(schema == known[name] for name, schema in held.items()):
        return spec
    schema = {**spec.input_schema, "properties": {**known, **held}}
    return spec.model_copy(update={"input_schema": schema})


def is_number(schema: object) -> bool:
    """Whether what fits is a number, or a list of such: what a maximum bounds."""
    found = _members(schema)
    return found.get("type") in _NUMBERS or (found.get("type") == "array" and is_number(found.get("items")))


def _held(schema: object, argument: Argument, spec: VerbSpec) -> object:
    found = schema
    if spec.effect is not VerbEffect.EGRESS:
        found = found if argument.allowed is None else _with(found, {"enum": argument.allowed})
        found = found if argument.fixed is None else _with(found, {"const": argument.fixed})
    most = argument.maximum
    return found if most is None else _at_most(found, int(most) if most.is_integer() else most)


def _at_most(schema: object, maximum: float) -> object:
    """Of numbers, and of each of a list; of anything else nobody knows how much it is, and it is none that fits."""
    found = _members(schema)
    if found.get("type") == "array":
        return {**found, "items": _at_most(found.get("items", {}), maximum)}
    return _with(schema, {"maximum": maximum} if is_number(schema) else {"type": "number", "maximum": maximum})


def _with(schema: object, more: dict[str, Any]) -> object:
    """What fits the schema and this, too."""
    found = _members(schema)
    if (found or schema == {}) and all(found.get(key, value) == value for key, value in more.items()):
        return {**found, **more}
    both: list[object] = [schema, more]
    return {"allOf": both}


def _members(schema: object) -> dict[str, Any]:
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
