"""Filling output shapes with quotations."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.schema import Schema
from ordain.models.arguments import fill
from ordain.models.quotation import Unfillable, quote_into
from ordain.models.sentences import split

TEXT = "The kettle sings. The window is open. Nobody is home."
PARTS = ["The kettle sings.", "The window is open.", "Nobody is home."]
STRING = {"type": "string"}


def shape(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, {"quotes": PARTS, "method": "quoted"}),
        ({}, {"quotes": PARTS, "method": "quoted"}),
        (shape(bullets={"type": "array", "items": STRING}), {"bullets": PARTS}),
        (shape(summary=STRING), {"summary": TEXT}),
        (shape(summary=STRING, quoted={"type": "boolean"}), {"summary": TEXT, "quoted": True}),
        (shape(summary=STRING, analysed={"type": "boolean"}), {"summary": TEXT, "analysed": False}),
        (
            shape(["bullets"], bullets={"type": "array", "items": STRING}, note=STRING),
            {"bullets": PARTS},
        ),
        (shape([], note=STRING, bullets={"type": "array", "items": STRING}), {"bullets": PARTS}),
        (shape([], heading=STRING, text=STRING), {"text": TEXT}),
        (shape(kind={"const": "facts"}, all=STRING), {"kind": "facts", "all": TEXT}),
        (
            shape(
                rows={
                    "type": "array",
                    "items": shape(text=STRING, score={"type": ["number", "null"]}),
                }
            ),
            {"rows": [{"text": part, "score": None} for part in PARTS]},
        ),
        (
            shape(rows={"type": "array", "items": STRING, "maxItems": 2}),
            {"rows": [PARTS[0], TEXT[TEXT.index("The window") :]]},
        ),
        (shape(rows={"type": "array", "items": STRING, "maxItems": 1}), {"rows": [TEXT]}),
        (
            shape(rows={"type": "array", "items": {"$ref": "#/$defs/row"}})
            | {"$defs": {"row": shape(quote=STRING)}},
            {"rows": [{"quote": part} for part in PARTS]},
        ),
        ({"oneOf": [shape(count={"type": "integer"}), shape(text=STRING)]}, {"text": TEXT}),
        (shape(inner=shape(list={"type": "array", "items": STRING})), {"inner": {"list": PARTS}}),
    ],
)
def test_shapes_that_quotations_fit(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    """Lists get the sentences, a text gets them all, marks say quoted; the result is valid."""
    filled = quote_into(schema, TEXT, split(TEXT))
    assert filled == expected
    assert Schema(schema).accepts(filled)


def test_a_long_sentence_is_cut_between_words() -> None:
    """An item's bound cuts a sentence between words; every piece is still a part of the text."""
    schema = shape(rows={"type": "array", "items": shape(text={"type": "string", "maxLength": 12})})
    pieces = [row["text"] for row in quote_into(schema, TEXT, split(TEXT))["rows"]]
    assert all(len(piece) <= 12 and piece in TEXT for piece in pieces)
    assert "".join(pieces).replace(" ", "") == TEXT.replace(" ", "")


def test_many_sentences_are_packed_within_both_bounds() -> None:
    """Where number and length are bounded, neighbours are joined as far as the length allows."""
    text = " ".join(["A b c d e f g h i j k l m n o p q r s t u v w x y z a b c."] + ["A b."] * 30)
    schema = shape(
        rows={"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 60}}
    )
    rows = quote_into(schema, text, split(text))["rows"]
    assert all(row in text for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "schema",
    [
        shape(count={"type": "integer"}),
        shape(sure={"type": "boolean"}),
        shape(title=STRING, summary=STRING),
        shape(rows={"type": "array", "items": shape(subject=STRING, object=STRING)}),
        shape(label={"type": "string", "enum": ["a", "b"]}),
        shape(when={"type": "string", "format": "date"}),
        shape(code={"type": "string", "pattern": "^[0-9]+$"}),
        shape(summary={"type": "string", "maxLength": 10}),
        shape(rows={"type": "array", "items": STRING, "minItems": 9}),
        shape(rows={"type": "array", "items": STRING, "maxItems": 0}),
        shape(rows={"type": "array", "items": False}),
        shape(rows={"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 2}),
        shape(),
        {"type": "array", "items": STRING},
        {"type": "object", "required": ["x"]},
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}, "required": ["x"]},
        {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/x"}},
            "required": ["x"],
            "$defs": {"x": {"$ref": "#/$defs/x"}},
        },
        {
            "type": "object",
            "properties": {"x": {"type": "string", "minLength": "many"}},
            "required": ["x"],
        },
        {"type": "object", "properties": {"x": True}, "required": ["x"]},
        {"oneOf": [shape(count={"type": "integer"})]},
    ],
)
def test_shapes_that_would_need_more_than_quoting_are_refused(schema: dict[str, Any]) -> None:
    """Numbers, flags, choices, several texts side by side and bounds that do not fit are not filled
    with something else.
    """
    with pytest.raises(Unfillable):
        quote_into(schema, TEXT, split(TEXT))


KEYWORDS = st.sampled_from(
    [
        *(
            "type",
            "properties",
            "required",
            "items",
            "enum",
            "const",
            "oneOf",
            "anyOf",
            "$ref",
            "$defs",
            "maxItems",
            "maxLength",
        ),
        *("format", "pattern", "additionalProperties", "text", "url", "a"),
    ]
)
VALUES = st.one_of(
    st.sampled_from(
        [
            "object",
            "array",
            "string",
            "integer",
            "text",
            "#/$defs/a",
            "date",
            "uri",
            "^[a-z]+$",
            "(",
            None,
            True,
            False,
            {},
            [],
        ]
    ),
    st.integers(-1, 3),
    st.lists(st.sampled_from(["text", "url", "a", "string", "null", "object"]), max_size=3),
)
SCHEMAS = st.recursive(
    VALUES,
    lambda inner: st.dictionaries(KEYWORDS, inner | st.lists(inner, max_size=2), max_size=4),
    max_leaves=14,
).filter(lambda schema: isinstance(schema, dict))


@given(schema=SCHEMAS)
def test_no_schema_breaks_the_rules(schema: dict[str, Any]) -> None:
    """Whatever a schema says, filling it gives a valid value or says that it cannot."""
    try:
        quoted = quote_into(schema, TEXT, split(TEXT))
    except Unfillable:
        quoted = None
    assert quoted is None or Schema(schema).accepts(quoted)
    filled = fill(schema, TEXT, TEXT + " https://example.org 7")
    assert filled is None or Schema(schema).accepts(filled)
