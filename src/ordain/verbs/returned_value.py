"""What a Python function returned, as plain JSON; what has no such form is a failure by name."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import Trust, VerbSpec
from ordain.ports.verb import AnyLeafResult, LeafFailed, LeafReturned
from ordain.rules.proposals import nesting
from ordain.verbs.functions import AnyFunctionVerb
from ordain.verbs.json_form import Formless, form_of, is_finite
from ordain.verbs.marked_result import Marked

OUTPUT_BYTES_MAX = 1_048_576
"""Largest output as JSON."""
OUTPUT_DEPTH_MAX = 64
"""Deepest nesting of an output."""


def returned(value: Any, verb: AnyFunctionVerb, spec: VerbSpec) -> AnyLeafResult:
    """The value as plain JSON. Encoding and decoding is the one way that leaves nothing else in it,
    and gives the size.
    """
    trust: dict[str, Trust] = {}
    if inspect.iscoroutine(value):  # a plain function around an `async` one
        value.close()
        return bad_output(
            "bad_output", "the function returned what has to be awaited: make it `async`", spec
        )
    try:
        if isinstance(value, Marked):
            marked = cast(Marked[Any], value)
            value, trust = (
                marked.value,
                {str(name): Trust(one) for name, one in marked.trust.items()},
            )
        encoded = msgspec.json.encode(
            {"result": value} if verb.signature.wraps else value, enc_hook=form_of
        )
        if len(encoded) > OUTPUT_BYTES_MAX:
            return bad_output(
                "output_too_large", f"the output is larger than {OUTPUT_BYTES_MAX} bytes", spec
            )
        if nesting(encoded.decode()) > OUTPUT_DEPTH_MAX:
            return bad_output(
                "output_too_deep", f"the output nests deeper than {OUTPUT_DEPTH_MAX}", spec
            )
        output = msgspec.json.decode(encoded)
        if len(msgspec.json.encode(output)) != len(encoded) and _names_twice(encoded):
            return bad_output("bad_output", "two keys of the output are one in JSON", spec)
        # A number that is not finite was encoded as null, silently.
        if b"null" in encoded and not is_finite(
            msgspec.to_builtins(value, str_keys=True, enc_hook=form_of)
        ):
            return bad_output("bad_output", "the output holds a number that is not finite", spec)
    except Formless as error:
        return bad_output("bad_output", f"a value of type {error} has no JSON form", spec)
    except Exception as error:
        # the value is foreign: its fields, hooks and nesting may fail in any way
        return bad_output(
            "bad_output", f"the output has no JSON form ({type(error).__name__})", spec
        )
    if not isinstance(output, dict):
        return bad_output("bad_output", "the output is not an object", spec)
    if spec.output_schema != verb.spec.output_schema:  # the run is pinned to another build's verb
        output = as_declared(
            output, spec.output_schema, cast("dict[str, Any]", spec.output_schema.get("$defs", {}))
        )
    return LeafReturned(output=cast(dict[str, Any], output), trust=trust)


def as_declared(value: Any, schema: Any, defined: Mapping[str, Any]) -> Any:
    """The value without the fields that a schema neither names nor takes: what a later build's verb
    says beside what the run was promised is nothing to it.
    """
    if not isinstance(schema, dict):
        return value
    declared = cast("dict[str, Any]", schema)
    if isinstance(named := declared.get("$ref"), str):
        return as_declared(value, defined.get(named.removeprefix("#/$defs/")), defined)
    if isinstance(value, list):
        return [
            as_declared(one, declared.get("items"), defined) for one in cast("list[Any]", value)
        ]
    if not isinstance(value, dict):
        return value
    fields: dict[str, Any] = declared.get("properties", {})
    taken = declared.get("additionalProperties") is not False
    members = cast("dict[str, Any]", value)
    return {
        name: as_declared(one, fields.get(name), defined)
        for name, one in members.items()
        if taken or name in fields
    }


def _names_twice(encoded: bytes) -> bool:
    """Whether an object has two fields of one name, of which a reader keeps one: Python's ``1`` and
    ``"1"`` are two keys.
    """
    twice = False

    def fields(pairs: list[tuple[str, Any]]) -> None:
        nonlocal twice
        twice = twice or len({name for name, _ in pairs}) < len(pairs)

    json.loads(encoded, object_pairs_hook=fields)
    return twice


def bad_output(code: str, message: str, spec: VerbSpec) -> LeafFailed:
    """What came back is none; ``message`` says why, without what it holds."""
    return LeafFailed(code=code, message=message, happened=unless_harmless(spec))


def unless_harmless(spec: VerbSpec) -> bool | None:
    """``happened`` after a failure in or after the code: of what changes nothing False, of anything
    else nobody knows.
    """
    return False if spec.effect in HARMLESS else None
