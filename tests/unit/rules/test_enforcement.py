"""What shows that an endpoint has passed over a schema, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.enforcement import OTHER_SHAPE, WORDS, keeps, passed_over
from ordain.rules.proposals import Parsed, parse_object

FLAT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
THOUGHT = {"type": "string"}
STEP: dict[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "thought": THOUGHT,
                "action": {"type": "object"},
                "final_answer": {"const": None},
            },
            "required": ["thought", "action", "final_answer"],
        },
        {
            "type": "object",
            "properties": {
                "thought": THOUGHT,
                "action": {"type": ["null", "string"]},
                "final_answer": {"type": "object"},
            },
            "required": ["thought", "action", "final_answer"],
        },
    ]
}
"""One of two objects, as a planner's step is."""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Let me think.", WORDS),
        ("", WORDS),
        ("The sea is {blue}.", WORDS),
        ("{blue} is the sea", WORDS),
        ("{'a': 1}", WORDS),
        ("{a: 1}", WORDS),
        ("42", WORDS),
        ('"a"', WORDS),
        ("```json\n[1]\n```", WORDS),
        ("[]", OTHER_SHAPE),
        ('[{"a": 1}]', OTHER_SHAPE),
        ("{}", OTHER_SHAPE),
        ('{"b": 1}', OTHER_SHAPE),
        ('{"b": 1} {"a": 1}', OTHER_SHAPE),
        ('{"b": 1} and that is all', OTHER_SHAPE),
        ('I will call it with {"b": 1}.', OTHER_SHAPE),
        ('```json\n{"b": 1}\n```', OTHER_SHAPE),
        ('<think>e.g. {"a": 1}</think>I will call it.', WORDS),
        ('<think>e.g. {"a": 1}</think>{"b": 1}', OTHER_SHAPE),
        ('<think>e.g. {"a": 1}', WORDS),
    ],
)
def test_what_no_enforced_schema_lets_through_was_passed_over(text: str, why: str) -> None:
    """Words, whatever they quote; a whole value of another type, or without a key that it must
    have, whatever stands around it; what a thought holds is none.
    """
    found = passed_over(text, FLAT)
    assert found is not None
    assert found.why == why


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \n{"a": 1}\n',
        '\ufeff{"a": 1}',
        '<think>e.g. {"b": 1}</think>\n{"a": 1}',
        '{"a": "of another type within"}',
        '{"a": 1, "b": 2}',
        "{",
        '{"a"',
        '{"a": 1, "b": [',
        "[",
        '{"a": 1} {"a": 1}',
        'Sure! Here it is: {"a": 1}',
        '```json\n{"a": 1}\n```',
    ],
)
def test_what_may_have_been_kept_or_serves_is_no_lesson(text: str) -> None:
    """A value of the schema, whatever stands around it; what may be the beginning of one that was
    cut off; and no fault within it is looked for.
    """
    assert passed_over(text, FLAT) is None


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"thought": "t", "action": {}, "final_answer": None}, True),
        ({"thought": "t", "action": {}}, True),
        ({"thought": "t", "final_answer": {}}, True),
        ({"thought": "t"}, False),
        ({"expression": "2+2"}, False),
        ([], False),
        (None, False),
    ],
)
def test_what_may_be_null_may_be_missing(value: object, kept: bool) -> None:
    """As the rules have it that judge proposals: of the choices one is enough."""
    assert keeps(value, STEP) is kept


@pytest.mark.parametrize(
    ("schema", "value", "kept"),
    [
        ({"$ref": "#/$defs/x", "$defs": {"x": FLAT}}, {"b": 1}, False),
        ({"$ref": "#/$defs/x", "$defs": {"x": FLAT}}, {"a": 1}, True),
        ({"$ref": "#/$defs/gone"}, {"b": 1}, True),
        ({"$ref": "http://far.test/schema"}, {"b": 1}, True),
        ({"$ref": "#"}, {"b": 1}, True),
        ({"allOf": [{"type": "object"}, FLAT]}, {"b": 1}, False),
        ({"allOf": [{"type": "object"}, FLAT]}, {"a": 1}, True),
        ({"type": "object", "required": ["a"]}, {}, False),
        ({"type": "object", "properties": {"a": {"enum": [None, 1]}}, "required": ["a"]}, {}, True),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/n"}},
                "required": ["a"],
                "$defs": {"n": {"type": "null"}},
            },
            {},
            True,
        ),
        ({"type": "boolean"}, True, True),
        ({"type": "integer"}, True, False),
        ({"type": "of a kind that is not known"}, {}, True),
        ({"type": 7, "required": 7, "properties": 7, "anyOf": 7, "allOf": 7, "$ref": 7}, {}, True),
        (None, [], True),
    ],
)
def test_what_a_schema_does_not_say_for_certain_is_kept(
    schema: Any, value: object, kept: bool
) -> None:
    """References within it are followed, rounds among them to an end; of others, and of what is no
    schema, nothing is concluded.
    """
    assert keeps(value, schema) is kept


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b", "thought", "action", "final_answer"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    text=st.text()
    | st.tuples(st.text(max_size=9), JSON, st.text(max_size=9)).map(
        lambda parts: f"{parts[0]}{json.dumps(parts[1])}{parts[2]}"
    )
)
def test_no_answer_that_serves_is_ever_given_up(text: str) -> None:
    """For every text: it is judged, and never passed over where the rules read an object of the
    schema out of it.
    """
    found, read = passed_over(text, FLAT), parse_object(text)
    if isinstance(read, Parsed) and keeps(read.value, FLAT) and "<" not in text:
        assert found is None


@given(value=JSON, cut=st.integers(0, 99))
def test_a_kept_schema_is_never_taken_for_one_passed_over(value: Any, cut: int) -> None:
    """An object of the schema, and any beginning of one, is nobody's lesson."""
    text = json.dumps({"a": 1, "b": value})
    assert passed_over(text[: 1 + cut], FLAT) is None


def test_no_schema_is_looked_at_for_long() -> None:
    """Each part is looked at once, however often it is named: ten references in each of forty
    parts, and one that leads back to itself, end.
    """
    ladder = {
        f"a{number}": {"allOf": [{"$ref": f"#/$defs/a{number + 1}"} for _ in range(10)]}
        for number in range(40)
    }
    circle = {"allOf": [{"$ref": "#/$defs/circle"}] * 10, "type": "object"}
    for first in ("a0", "circle"):
        schema = {
            "$ref": f"#/$defs/{first}",
            "$defs": {**ladder, "a40": {"type": "object"}, "circle": circle},
        }
        assert keeps({}, schema)
    assert not keeps([], {"$ref": "#/$defs/circle", "$defs": {"circle": circle}})
