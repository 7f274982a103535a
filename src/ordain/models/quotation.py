"""Filling a JSON Schema's shape with verbatim parts of a text, or not at all.

Every text that is put in is one contiguous piece of the source and together they leave none of its
sentences out. Where a schema asks for what a quotation cannot honestly give (a second text beside
the first, a number, a flag), it is not filled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError
from ordain.models.sentences import Span, has_sentence, split

MARK = "quoted"
"""The value by which an enumeration, such as ``method``, lets an answer say that it was quoted and
not analysed.
"""
_FLAGS = {MARK: True, "verbatim": True, "analysed": False, "analyzed": False}
_TEXT_FIELDS = (
    "text",
    "statement",
    "sentence",
    "quote",
    "fact",
    "bullet",
    "content",
    "summary",
    "step",
    "description",
    "title",
)
_DEPTH = 8


class Unfillable(ValueError):
    """The shape asks for more than quotations; the message says for what."""


def quote_into(schema: Mapping[str, Any], text: str, spans: tuple[Span, ...]) -> dict[str, Any]:
    """An object of the schema's shape that holds every span of the text, marked as quoted where the
    schema has a place for it.

    Raises:
        Unfillable: no such object exists, or the schema is beyond these rules.
    """
    try:
        compiled = Schema(schema)  # first, so that the rules below meet only what a schema can be
    except ConfigurationError as error:
        raise Unfillable("the shape is no valid schema") from error
    value = _Filler(schema, text).fill(schema or {"type": "object"}, spans, 0)
    if not isinstance(value, dict):
        raise Unfillable("the shape is no object")
    filled = cast("dict[str, Any]", value)
    if not compiled.accepts(filled):
        raise Unfillable("the shape has bounds that the quotations do not keep")
    return filled


def say_into(schema: Mapping[str, Any], name: str, text: str) -> dict[str, Any]:
    """An object of the schema's shape that says one text under ``name`` and nothing else: other
    required parts are empty or null.

    Raises:
        Unfillable: no such object exists.
    """
    try:
        compiled = Schema(schema)
    except ConfigurationError as error:
        raise Unfillable("the shape is no valid schema") from error
    declared: Mapping[str, Any] = schema.get("properties") or {}
    said: dict[str, Any] = {}
    for other in schema.get("required") or ():
        shape = declared.get(other)
        part: Mapping[str, Any] = (
            cast("Mapping[str, Any]", shape) if isinstance(shape, Mapping) else {}
        )
        mark = _mark(other, part)
        empty: dict[str, Any] = {"array": [], "object": {}}
        said[other] = (
            mark if mark is not None else None if _nullable(part) else empty.get(_kind(part))
        )
    said[name] = text
    if not compiled.accepts(said):
        raise Unfillable(f"the shape asks for more than {name}, or for another one")
    return said


class _Filler:
    def __init__(self, root: Mapping[str, Any], text: str) -> None:
        self._root = root
        self._text = text

    def fill(self, schema: Mapping[str, Any], spans: Sequence[Span], depth: int) -> Any:
        schema = self._resolved(schema, depth)
        if branches := _branches(schema):
            for branch in branches:
                try:
                    return self.fill(branch, spans, depth + 1)
                except Unfillable:
                    continue
            raise Unfillable("none of the shape's variants can be quoted into")
        match _kind(schema):
            case "object":
                return self._object(schema, spans, depth)
            case "array":
                return self._array(schema, spans, depth)
            case "string":
                return self._string(schema, spans)
            case other:
                raise Unfillable(f"a {other} is no quotation")

    def _resolved(self, schema: Any, depth: int) -> Mapping[str, Any]:
        if depth > _DEPTH or not isinstance(schema, Mapping):
            raise Unfillable("the shape is nested too deeply, or a mere yes or no")
        schema = cast("Mapping[str, Any]", schema)
        reference = schema.get("$ref")
        if reference is None:
            return schema
        found = re.fullmatch(r"#/(\$defs|definitions)/([^/~%]+)", str(reference))
        target: Any = self._root.get(found[1], {}).get(found[2]) if found else None
        return self._resolved(target, depth + 1)

    def _object(
        self, schema: Mapping[str, Any], spans: Sequence[Span], depth: int
    ) -> dict[str, Any]:
        declared: Mapping[str, Mapping[str, Any]] = schema.get("properties") or {}
        properties = {name: self._resolved(part, depth + 1) for name, part in declared.items()}
        required: list[str] = list(schema.get("required") or ())
        if missing := [name for name in required if name not in properties]:
            raise Unfillable(f"{missing[0]} has no declared shape")
        filled: dict[str, Any] = {
            name: mark
            for name, part in properties.items()
            if (mark := _mark(name, part)) is not None
        }
        wanted = [name for name in required if name not in filled]
        for name in [
            name for name in wanted if _nullable(properties[name]) and name not in _TEXT_FIELDS
        ]:
            filled[name] = None
            wanted.remove(name)
        if not properties and schema.get("additionalProperties", True) is not False:
            return {"quotes": self._array({}, spans, depth), "method": MARK}
        if not wanted:
            wanted = self._optional(properties, filled)
        if sum(_kind(properties[name]) == "string" for name in wanted) > 1:
            raise Unfillable("the shape has several texts side by side")
        for name in wanted:
            filled[name] = self.fill(properties[name], spans, depth + 1)
        return {name: filled[name] for name in properties if name in filled}

    def _optional(
        self, properties: Mapping[str, Mapping[str, Any]], filled: Mapping[str, Any]
    ) -> list[str]:
        """Where nothing is required: the one place for quotations, lists before texts."""
        free = [name for name in properties if name not in filled]
        for kind in ("array", "string", "object"):
            found = [name for name in free if _kind(properties[name]) == kind]
            if found:
                return [next((name for name in _TEXT_FIELDS if name in found), found[0])]
        raise Unfillable("the shape has no place for a text")

    def _array(self, schema: Mapping[str, Any], spans: Sequence[Span], depth: int) -> list[Any]:
        items: Any = schema.get("items", {"type": "string"})
        item = self._resolved(items or {"type": "string"}, depth + 1)
        most = schema.get("maxItems")
        pieces = self._pieces(item, spans, depth)
        if isinstance(most, int) and len(pieces) > most:
            if most < 1:
                raise Unfillable("the shape has an empty list")
            pieces = _merged(pieces, most, self._text_bound(item, depth))
        return [self.fill(item, (piece,), depth + 1) for piece in pieces]

    def _pieces(self, item: Mapping[str, Any], spans: Sequence[Span], depth: int) -> list[Span]:
        """One span per item; a sentence that is longer than an item's text may be is cut between
        words.
        """
        bound = self._text_bound(item, depth)
        if bound is None:
            return list(spans)
        return [piece for span in spans for piece in _cut(self._text, span, bound)]

    def _text_bound(self, item: Mapping[str, Any], depth: int) -> int | None:
        if _kind(item) == "object":
            properties: Mapping[str, Mapping[str, Any]] = item.get("properties") or {}
            texts = [
                part
                for name, part in properties.items()
                if name in (item.get("required") or ()) and _mark(name, part) is None
            ]
            bounds = [
                self._text_bound(self._resolved(part, depth + 1), depth + 1)
                for part in texts
                if depth < _DEPTH
            ]
            return min((bound for bound in bounds if bound is not None), default=None)
        bound = item.get("maxLength")
        return bound if isinstance(bound, int) and bound > 0 else None

    def _string(self, schema: Mapping[str, Any], spans: Sequence[Span]) -> str:
        if "enum" in schema or "const" in schema or "pattern" in schema or "format" in schema:
            raise Unfillable("a text of a fixed form is no quotation")
        if not spans:
            raise Unfillable("nothing to quote")
        quoted = self._text[spans[0].start : spans[-1].end]
        bound = schema.get("maxLength")
        if isinstance(bound, int) and len(quoted) > bound:
            raise Unfillable(
                f"the text is longer than the {bound} characters that the shape allows"
            )
        return quoted


def _kind(schema: Mapping[str, Any]) -> str:
    """The type to fill: the declared one, of several the first that can hold a quotation, else what
    the keywords say.
    """
    declared: Any = schema.get("type")
    if isinstance(declared, str):
        return declared
    if isinstance(declared, list):
        several = cast("list[str]", declared)
        return next(
            (kind for kind in ("array", "object", "string") if kind in several),
            several[0] if several else "value",
        )
    if "properties" in schema:
        return "object"
    return (
        "array"
        if "items" in schema
        else "string"
        if not schema or "maxLength" in schema
        else "value"
    )


def _branches(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Any] = schema.get("oneOf") or schema.get("anyOf") or []
    return [cast("Mapping[str, Any]", branch) for branch in found if isinstance(branch, Mapping)]


def _mark(name: str, schema: Mapping[str, Any]) -> Any:
    """The value with which a field says how it was made, or the only value it can have; None where
    it is a field for content.
    """
    if "const" in schema:
        return schema["const"]
    values: Any = schema.get("enum")
    if isinstance(values, list) and MARK in values:
        return MARK
    return _FLAGS.get(name) if schema.get("type") == "boolean" else None


def _nullable(schema: Mapping[str, Any]) -> bool:
    declared: Any = schema.get("type")
    return declared == "null" or (isinstance(declared, list) and "null" in declared)


def _merged(spans: list[Span], most: int, bound: int | None) -> list[Span]:
    """Neighbours joined so that at most ``most`` spans remain: of about the same number of parts,
    or, where that is too long, packed.
    """
    edges = [len(spans) * number // most for number in range(most + 1)]
    even = [Span(spans[start].start, spans[end - 1].end) for start, end in pairwise(edges)]
    if bound is None or all(span.end - span.start <= bound for span in even):
        return even
    packed = [spans[0]]
    for span in spans[1:]:
        if span.end - packed[-1].start <= bound:
            packed[-1] = Span(packed[-1].start, span.end)
        else:
            packed.append(span)
    if len(packed) > most:
        raise Unfillable(f"the text does not fit into {most} parts of {bound} characters")
    return packed


def _cut(text: str, span: Span, bound: int) -> list[Span]:
    pieces: list[Span] = []
    start = span.start
    while span.end - start > bound:
        edge = max(text.rfind(" ", start, start + bound + 1), start)
        end = edge if edge > start else start + bound
        pieces.append(Span(start, end))
        start = end + 1 if edge > start else end
    pieces.append(Span(start, span.end))
    return [piece for piece in pieces if text[piece.start : piece.end].strip()]


def statements(output: Mapping[str, Any]) -> list[str]:
    """What a tool's output says, verbatim, one statement each: sentences of texts, one text per
    listed object, else ``name: value``.
    """
    found: list[str] = []
    for name, value in output.items():
        if value != MARK and not (isinstance(value, bool) and name in _FLAGS):
            # how the output was made is not what it says
            found += _said(name, value)
    return list(dict.fromkeys(found))


def _said(name: str, value: Any) -> list[str]:
    match value:
        case str() if has_sentence(value, spans := split(value)):
            return [value[span.start : span.end] for span in spans]
        case list():
            return [text for item in cast("list[Any]", value) for text in _listed(item)]
        case dict():
            return statements(cast("dict[str, Any]", value))
        case None | "":
            return []
        case str():
            return [f"{name}: {value}"]
        case bool():
            return [f"{name}: {str(value).lower()}"]
        case _:
            return [f"{name}: {value}"]


def _listed(item: Any) -> list[str]:
    if isinstance(item, str):
        return [item] if item.strip() else []
    if not isinstance(item, dict):
        return [] if item is None else [str(item)]
    fields = cast("dict[str, Any]", item)
    for name in _TEXT_FIELDS:
        if isinstance(fields.get(name), str) and fields[name].strip():
            return [fields[name]]
    return statements(fields)
