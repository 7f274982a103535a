"""What a verb declares of its arguments' values, as part of what it takes (security policy, "What a
verb declares").

A list of values, a fixed value and a maximum stand in the schema of the arguments: so a planner
sees them, and every way to a call holds it to them. Of a verb that sends its arguments out the list
says which of them go unasked (rule ``authorize``), and another value asks somebody.
"""

from __future__ import annotations

from typing import Any, cast

from ordain.contracts.verbs import Argument, VerbEffect, VerbSpec, properties_of

_NUMBERS, _NULL, _LIST = frozenset({"number", "integer"}), frozenset({"null"}), frozenset({"array"})


def bounded(spec: VerbSpec) -> VerbSpec:
    """The verb with its arguments' declared bounds in its ``input_schema``; the same one where it
    declares none.
    """
    known = properties_of(spec.input_schema)
    held = {
        name: _held(known[name], argument, spec)
        for name, argument in spec.arguments.items()
        if name in known
    }
    if all(schema == known[name] for name, schema in held.items()):
        return spec
    schema = {**spec.input_schema, "properties": {**known, **held}}
    return spec.model_copy(update={"input_schema": schema})


def is_number(schema: object) -> bool:
    """Whether what fits is a number, where it is not null, or a list of such: what a maximum
    bounds.
    """
    kinds = _kinds(schema)
    if kinds == _LIST:
        return is_number(_members(schema).get("items"))
    return bool(kinds) and kinds <= _NUMBERS | _NULL and kinds != _NULL


def _held(schema: object, argument: Argument, spec: VerbSpec) -> object:
    found = schema
    if spec.effect is not VerbEffect.EGRESS:
        found = found if argument.allowed is None else _with(found, {"enum": argument.allowed})
        found = found if argument.fixed is None else _with(found, {"const": argument.fixed})
    most = argument.maximum
    return found if most is None else _capped(found, int(most) if most.is_integer() else most)


def _capped(schema: object, maximum: float) -> object:
    found = _members(schema)
    if _kinds(schema) == _LIST and "prefixItems" not in found:
        return {**found, "items": _capped(found.get("items", {}), maximum)}
    return _with(schema, _at_most(schema, maximum))


def _at_most(schema: object, maximum: float) -> dict[str, Any]:
    """A bound of numbers, and of each of a list, its first ones too; of anything else nobody knows
    how much it is, and it is none that fits.

    Null is as if nothing were given, where the schema says that it may be given.
    """
    kinds = _kinds(schema)
    if kinds == _LIST:
        return {"items": _at_most(_members(schema).get("items"), maximum)}
    if kinds and kinds <= _NUMBERS:
        return {"maximum": maximum}
    return {"type": ["number", "null"] if kinds & _NULL else "number", "maximum": maximum}


def _with(schema: object, more: dict[str, Any]) -> object:
    """What fits the schema and this, too; a schema that says it already stays as it is."""
    found = _members(schema)
    if not found:
        return False if schema is False else more
    if "prefixItems" not in found and all(
        found.get(key, value) == value for key, value in more.items()
    ):
        return found if more.items() <= found.items() else {**found, **more}
    both: list[object] = found.get("allOf", [])
    return found if more in both else {**found, "allOf": [*both, more]}


def _kinds(schema: object) -> frozenset[str]:
    """The types that a schema names, whichever form of it fits; none where it leaves that open."""
    found = _members(schema)
    named: Any = found.get("type", [])
    forms: list[Any] = [*found.get("anyOf", []), *found.get("oneOf", [])]
    return frozenset([named] if isinstance(named, str) else named).union(*map(_kinds, forms))


def _members(schema: object) -> dict[str, Any]:
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
