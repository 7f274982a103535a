"""How the JSON Schema of an answer travels: what strict modes take, as the input of a tool, or in
words. Pure.

A tool's input must be an object at the root, without alternatives there. A schema of another shape
(a planner's step is one of two objects) travels as the one property of an object, and the answer is
taken out of it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.profiles import Structured
from ordain.models.refusals import malformed
from ordain.ports.model import ModelError, ModelRequest
from ordain.prompts.constraint import constrained
from ordain.prompts.prompt import Prompt
from ordain.rules.enforcement import OTHER_INPUT, OTHER_TOOL, SEVERAL_CALLS, UNCALLED, may_be_held

WRAPPED = "answer"
SCHEMAS_KEPT = 256
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_STRICT_KEYWORDS = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "$ref",
        "$defs",
        "title",
        "description",
    }
    | {
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    }
)
_NOT_AT_A_ROOT = frozenset({"oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"})
_ENCODER = msgspec.json.Encoder()
# encoded by name and content: a pure function's results, so sharing them is safe
_kept: dict[tuple[str, str, bytes], Raw] = {}


class _Wrapping(Struct, frozen=True):
    answer: Raw


_WRAPPING = msgspec.json.Decoder(_Wrapping)
_OBJECT = msgspec.json.Decoder(dict[str, Raw])


def schema_of(request: ModelRequest) -> dict[str, Any]:
    """The schema of an answer that is held to one."""
    assert request.schema is not None
    return request.schema


def clean_name(name: str) -> str:
    """A schema's name as every provider takes one."""
    return _NOT_A_NAME.sub("_", name)[:64] or WRAPPED


def is_wrapped(schema: Mapping[str, Any]) -> bool:
    """Whether the schema can only travel within an object."""
    return schema.get("type") != "object" or not _NOT_AT_A_ROOT.isdisjoint(schema)


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as that of an object; the same where it is one already. References keep their
    targets at the root.
    """
    if not is_wrapped(schema):
        return schema
    inner = {key: value for key, value in schema.items() if key not in {"$defs", "$schema"}}
    outer: dict[str, Any] = {
        "type": "object",
        "properties": {WRAPPED: inner},
        "required": [WRAPPED],
        "additionalProperties": False,
    }
    return {**outer, "$defs": schema["$defs"]} if "$defs" in schema else outer


class OutputTool(Struct, frozen=True):
    """The one tool that must be called: its input is the answer."""

    name: str
    schema: dict[str, Any]

    def place(self, place: str) -> str:
        """Where a text of the answer stands within the tool's input."""
        return f"{WRAPPED}.{place}" if place and is_wrapped(self.schema) else place

    def answer(self, calls: Sequence[tuple[object, object]]) -> str | ModelError:
        """What was called with, from (name, input as JSON text) of every call; the answer as it was
        written.

        Of a tool that must be called there is one call: any other is told as such (``miscalled``),
        and so is an input that no enforced tool takes. One that is broken or cut off may be of an
        endpoint that keeps to it.
        """
        if not calls:
            return msgspec.structs.replace(malformed(UNCALLED), ignored=True)
        if len(calls) > 1:
            return self._other(SEVERAL_CALLS, calls)
        name, given = calls[0]
        if name != self.name:
            return self._other(OTHER_TOOL, calls)
        text = self._taken(given) if isinstance(given, str) else None
        if text is not None:
            return text
        if not isinstance(given, str) or may_be_held(given, wrapped(self.schema)):
            return malformed("the tool's input is not of its shape")
        return msgspec.structs.replace(malformed(OTHER_INPUT), miscalled=True)

    def _other(self, why: str, calls: Sequence[tuple[object, object]]) -> ModelError:
        """What is no answer; of another tool is what does not have an answer for its input, by
        whatever name it was called.
        """
        others = any(
            name != self.name and not (isinstance(given, str) and self._taken(given))
            for name, given in calls
        )
        return msgspec.structs.replace(malformed(why), miscalled=True, calls=others)

    def _taken(self, given: str) -> str | None:
        try:
            if is_wrapped(self.schema):
                return bytes(_WRAPPING.decode(given).answer).decode()
            _OBJECT.decode(given)
        except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
            return None
        return given


def output_tool(request: ModelRequest) -> OutputTool | None:
    """The tool of a request that is held by one."""
    return tool_of(request, request.held_by)


def tool_of(request: ModelRequest, held: Structured | None) -> OutputTool | None:
    """The tool of a request where it is held so."""
    if request.schema is None or held is not Structured.TOOL:
        return None
    return OutputTool(clean_name(request.schema_name), request.schema)


def system_text(request: ModelRequest, held: Structured | None) -> str:
    """The system text, with the schema in words where nothing else carries it."""
    if request.schema is None or held is not Structured.TEXT:
        return request.system
    return constrained(Prompt(request.system, ""), request.schema).system


def native_format(request: ModelRequest) -> Raw:
    """Name, strictness and schema as OpenAI's native formats carry them."""
    schema = schema_of(request)

    def make(encoded: bytes) -> dict[str, Any]:
        return {
            "name": clean_name(request.schema_name),
            "strict": keeps_strict_rules(schema),
            "schema": Raw(encoded),
        }

    return _encoded("native", request, make)


def tool_definition(request: ModelRequest) -> Raw:
    """Name, strictness and input schema as OpenAI's functions carry them."""
    inner = wrapped(schema_of(request))

    def make(_: bytes) -> dict[str, Any]:
        return {
            "name": clean_name(request.schema_name),
            "description": "Takes the answer.",
            "strict": keeps_strict_rules(inner),
            "parameters": inner,
        }

    return _encoded("tool", request, make)


def _encoded(kind: str, request: ModelRequest, make: Callable[[bytes], dict[str, Any]]) -> Raw:
    """Judging strictness walks the whole schema, so the result is kept by content; a mutated schema
    has another key.
    """
    encoded = _ENCODER.encode(request.schema)
    key = (kind, request.schema_name, encoded)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= SCHEMAS_KEPT:
            _kept.clear()
        found = _kept[key] = Raw(_ENCODER.encode(make(encoded)))
    return found


def keeps_strict_rules(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode would take the schema: an object at the root, each object closed
    with every property required.
    """
    return schema.get("type") == "object" and _strict(schema)


def _strict(schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return False
    node = cast("Mapping[str, Any]", schema)
    if not _STRICT_KEYWORDS.issuperset(node):
        return False
    if "object" in _types(node) or "properties" in node:
        properties: Mapping[str, Any] = node.get("properties") or {}
        if node.get("additionalProperties") is not False or set(node.get("required", ())) != set(
            properties
        ):
            return False
    parts: list[object] = [
        *(node.get("properties") or {}).values(),
        *(node.get("$defs") or {}).values(),
        *(node.get("anyOf") or ()),
    ]
    if "items" in node:
        parts.append(node["items"])
    return all(_strict(part) for part in parts)


def _types(node: Mapping[str, Any]) -> tuple[str, ...]:
    kind = node.get("type")
    return (kind,) if isinstance(kind, str) else tuple(cast("list[str]", kind or ()))


def is_closed(schema: object) -> bool:
    """Whether nothing in the schema is open or unsaid: every object closed, every part of a named
    type or a choice of such parts.
    """
    if not isinstance(schema, Mapping):
        return False
    node = cast("Mapping[str, Any]", schema)
    if "$ref" in node:
        return False  # followed nowhere, so its target counts as open
    kinds = _types(node)
    choices: list[object] = [*(node.get("anyOf") or ()), *(node.get("oneOf") or ())]
    if not (kinds or choices or "const" in node or node.get("enum")):
        return False
    if "object" in kinds and node.get("additionalProperties") is not False:
        return False
    if "array" in kinds and "items" not in node:
        return False
    parts: list[object] = [*(node.get("properties") or {}).values(), *choices]
    if "items" in node:
        parts.append(node["items"])
    return all(is_closed(part) for part in parts)


def parameter_counts(schema: Mapping[str, Any]) -> tuple[int, int]:
    """How many properties within the schema are optional, and how many are of alternative types."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    optional = len(set(properties) - set(schema.get("required") or ()))
    union = sum(
        1
        for part in properties.values()
        if "anyOf" in part or "oneOf" in part or len(_types(part)) > 1
    )
    parts: list[Any] = [
        *properties.values(),
        *(schema.get("anyOf") or ()),
        *(schema.get("oneOf") or ()),
    ]
    if "items" in schema:
        parts.append(schema["items"])
    for part in parts:
        inner = parameter_counts(part)
        optional, union = optional + inner[0], union + inner[1]
    return optional, union
