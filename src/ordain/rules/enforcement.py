"""Whether an answer can have come from an endpoint that held it to its schema: what an enforced
schema never lets through was passed over (LLM-01).

An enforced schema gives a text that is, but for thoughts, one JSON value of it, or the beginning of
one that was cut off. An answer that holds a value of its schema all the same serves, whatever
stands around it, and is nobody's lesson: a wrong one costs an endpoint its best way for good. So
only what is certain counts: the root's type and the keys that it must have. A key that may be
``null`` may be missing, as the rules that judge proposals have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from ordain.rules.proposals import Parsed, parse_object
from ordain.rules.thought_tags import without_thoughts

WORDS = "words where an answer of its schema was asked for"
OTHER_SHAPE = "an answer of another shape where one of its schema was asked for"
UNCALLED = "the tool that holds the answer was not called"
OTHER_TOOL = "a call of a tool that was not offered"
SEVERAL_CALLS = "several tool calls where one was asked for"
OTHER_INPUT = "the input of the tool that holds the answer is none that it takes"
NOT_HELD = frozenset({WORDS, OTHER_SHAPE, UNCALLED, OTHER_TOOL, SEVERAL_CALLS, OTHER_INPUT})
"""What is told of an endpoint that answers, and not in the way that it was told to."""
NO_CONTENT = "an answer without content"
NO_TEXT = "an answer without text"
UNTOLD = "completed without a text"
CALLS_ONLY = f"{OTHER_TOOL}, and no text"
NO_WORDS = frozenset({NO_CONTENT, NO_TEXT, UNTOLD, CALLS_ONLY})
"""What is told of an endpoint whose answer, a whole one, has no words in it."""
PARTS_MOST = 200
"""So many parts of a schema are looked at, one within another or beside it; what lies beyond is
held to be kept.
"""
_NO_JSON = re.compile(r'\{\s*[^\s"}]')
"""What begins as an object, and can be the beginning of none."""
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": (int, float),
}
_DECODER = json.JSONDecoder(parse_int=float, parse_float=float)


class PassedOver(Struct, frozen=True, kw_only=True):
    """An answer that no enforced schema lets through: ``why``, ``text`` without its thoughts, and
    the object in it, None where there is none.
    """

    why: str
    text: str
    said: dict[str, Any] | None


def passed_over(text: str, schema: Mapping[str, Any] | None) -> PassedOver | None:
    """What shows that the schema was passed over; None where it may have been kept, or the answer
    serves as it is. Total.
    """
    text = without_thoughts(text)
    bare = _bare(text)
    begins = _begins(bare)
    if begins and _may_be_kept(bare, schema):
        return None
    found = parse_object(text)
    said = found.value if isinstance(found, Parsed) else None
    if said is not None and keeps(said, schema):
        return None
    return PassedOver(
        why=OTHER_SHAPE if begins or said is not None else WORDS, text=text, said=said
    )


def may_be_held(text: str, schema: Mapping[str, Any] | None) -> bool:
    """Whether an enforced schema may have let a text through that serves as no answer: broken or
    cut off as it is, it begins as a value of it. Total.
    """
    bare = _bare(text)
    return _begins(bare) and _may_be_kept(bare, schema)


def _bare(text: str) -> str:
    return text.strip().removeprefix("\ufeff").strip()


def _begins(bare: str) -> bool:
    return bare[:1] in ("{", "[") and not _NO_JSON.match(bare)


def _may_be_kept(text: str, schema: Mapping[str, Any] | None) -> bool:
    """Of what begins as JSON: it is broken or cut off, or its first value is of the schema."""
    try:
        value, _ = _DECODER.raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        return True
    return keeps(value, schema)


def keeps(value: object, schema: Mapping[str, Any] | None) -> bool:
    """Whether a whole value has the type of the schema's root, and the keys that it must have. Each
    part of the schema is looked at once, however often it is named.
    """
    return True if schema is None else _keeps(value, schema, schema, {})


def _keeps(value: Any, schema: object, root: Mapping[str, Any], looked: dict[int, bool]) -> bool:
    """``looked`` is what is known of parts by identity; of one that leads back to itself, that it
    is kept.
    """
    if not isinstance(schema, Mapping):
        return True
    if (known := looked.get(id(cast("object", schema)))) is None:
        looked[id(cast("object", schema))] = True
        known = looked[id(cast("object", schema))] = _kept(
            value, cast("Mapping[str, Any]", schema), root, looked
        )
    return known


def _kept(
    value: Any, node: Mapping[str, Any], root: Mapping[str, Any], looked: dict[int, bool]
) -> bool:
    if len(looked) > PARTS_MOST:
        return True
    kinds = _kinds(node)
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        return False
    if isinstance(value, dict) and _lacks(cast("dict[str, Any]", value), node, root):
        return False
    if "$ref" in node and not _keeps(value, _target(node["$ref"], root), root, looked):
        return False
    if not all(_keeps(value, part, root, looked) for part in _parts(node, "allOf")):
        return False
    choices = [choices for key in ("anyOf", "oneOf") if (choices := _parts(node, key))]
    return all(any(_keeps(value, part, root, looked) for part in parts) for parts in choices)


def _lacks(value: Mapping[str, Any], node: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    required, properties = _parts(node, "required"), node.get("properties")
    known: Mapping[str, Any] = (
        cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}
    )
    return any(
        isinstance(key, str) and key not in value and not _may_be_null(known.get(key), root)
        for key in required
    )


def _may_be_null(schema: object, root: Mapping[str, Any]) -> bool:
    if not isinstance(schema, Mapping):
        return False
    node = cast("Mapping[str, Any]", schema)
    if "const" in node:
        return node["const"] is None
    if "enum" in node:
        return None in _parts(node, "enum")
    return bool({"type", "$ref", "anyOf", "oneOf", "allOf"} & node.keys()) and _keeps(
        None, node, root, {}
    )


def _kinds(node: Mapping[str, Any]) -> list[Any]:
    kind = node.get("type")
    return (
        cast("list[Any]", kind)
        if isinstance(kind, list)
        else [kind]
        if isinstance(kind, str)
        else []
    )


def _is_of(value: object, kind: object) -> bool:
    """A word for a kind that is not known says nothing."""
    if not isinstance(kind, str) or kind not in _KINDS:
        return True
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _parts(node: Mapping[str, Any], key: str) -> list[Any]:
    parts = node.get(key)
    return cast("list[Any]", parts) if isinstance(parts, list) else []


def _target(reference: object, root: Mapping[str, Any]) -> object:
    """What a reference within the schema means; of any other nothing is known."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for step in filter(None, reference[1:].split("/")):
        if not isinstance(found, Mapping):
            return None
        found = cast("Mapping[str, Any]", found).get(step.replace("~1", "/").replace("~0", "~"))
    return found
