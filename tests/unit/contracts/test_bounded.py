"""What a verb declares of its arguments' values is part of what it takes: the schema that planners
see and every call is held to.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.bounded import bounded
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import VerbSpec


def spec(effect: str, schema: object, **declared: Any) -> VerbSpec:
    """A verb with one argument."""
    return VerbSpec.model_validate_json(
        json.dumps(
            {
                "name": "shop.order",
                "description": "Order it.",
                "effect": effect,
                "input_schema": {
                    "type": "object",
                    "properties": {"x": schema, "to": {"type": "string"}},
                    "additionalProperties": False,
                },
                "arguments": {"x": {"role": "label", **declared}, "to": {"role": "recipient"}},
            }
        )
    )


def takes(verb: VerbSpec, value: object) -> bool:
    """Whether the verb takes this."""
    return Schema(bounded(verb).input_schema).accepts({"x": value})


@pytest.mark.parametrize(
    ("schema", "declared", "good", "bad"),
    [
        ({"type": "number"}, {"maximum": 100}, [100, 99.5, -3], [101, 100.01, 1e300]),
        ({"type": "integer", "maximum": 500}, {"maximum": 100}, [100], [101, 500]),
        ({"type": "integer", "maximum": 50}, {"maximum": 100}, [50], [51, 100]),
        ({"type": "string"}, {"maximum": 100}, [], ["5", "1000000", "ten"]),
        ({}, {"maximum": 100}, [5], [101, "5", [5], None, True]),
        (True, {"maximum": 100}, [5], [101, "5"]),
        (
            {"type": "array", "items": {"type": "number"}},
            {"maximum": 100},
            [[1, 100], []],
            [[1, 101]],
        ),
        ({"type": "array"}, {"maximum": 100}, [[1, 100]], [[1, 101], ["101"]]),
        ({"type": "array", "items": True}, {"maximum": 100}, [[1, 100]], [[101], ["1"]]),
        (
            {"type": "array", "prefixItems": [{"type": "number"}]},
            {"maximum": 100},
            [[1], [1, 100]],
            [[101], [1, 101]],
        ),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            {"maximum": 100},
            [[[100]]],
            [[[101]], [101]],
        ),
        (
            {"anyOf": [{"type": "number"}, {"type": "null"}]},
            {"maximum": 100},
            [100, None],
            [101, "5"],
        ),
        ({"type": ["integer", "null"]}, {"maximum": 100}, [100, None], [101, 5.5]),
        (
            {"anyOf": [{"type": "number"}, {"type": "string"}]},
            {"maximum": 100},
            [100],
            [101, "5", None],
        ),
        (
            {"type": "number", "allOf": [{"minimum": 1}], "maximum": 500},
            {"maximum": 100},
            [1, 100],
            [0, 101],
        ),
        (False, {"maximum": 100}, [], [5]),
        ({"type": "string"}, {"allowed": ["a", "b"]}, ["a", "b"], ["c", "", "A"]),
        ({"enum": ["b", "c"]}, {"allowed": ["a", "b"]}, ["b"], ["a", "c"]),
        ({"type": "string"}, {"allowed": []}, [], ["a"]),
        ({"type": "string"}, {"fixed": "a"}, ["a"], ["b", ""]),
        ({"type": "integer"}, {"fixed": 1}, [1], [2, True]),
        ({"type": "string"}, {"fixed": "a", "allowed": ["a", "b"]}, ["a"], ["b"]),
    ],
)
@pytest.mark.parametrize("effect", ["private", "send", "admin", "pay", "secret"])
def test_a_declared_bound_is_part_of_what_a_verb_takes(
    effect: str, schema: object, declared: dict[str, Any], good: list[object], bad: list[object]
) -> None:
    """A maximum, a list and a fixed value hold whatever the schema permits besides, and what it
    forbids stays forbidden.
    """
    verb = spec(effect, schema, **declared)
    once = bounded(verb)
    assert bounded(once) is once
    assert [value for value in good if not takes(verb, value)] == []
    assert [value for value in bad if takes(verb, value)] == []


def test_a_list_of_what_goes_out_unasked_refuses_nothing() -> None:
    """Of an egress verb other values are somebody's to say yes to; its maximum holds all the
    same.
    """
    assert takes(spec("egress", {"type": "string"}, allowed=["a"]), "b")
    assert takes(spec("egress", {"type": "string"}, fixed="a"), "b")
    assert not takes(spec("egress", {"type": "number"}, maximum=5), 6)


def test_a_verb_that_bounds_nothing_is_as_it_was() -> None:
    """Nothing of it changes, and so neither does the digest of what it declares."""
    plain = spec("send", {"type": "string"})
    assert bounded(plain) is plain
    once = bounded(spec("send", {"type": "number"}, maximum=5))
    assert bounded(once) is once


@given(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)
    ),
    st.floats(-1e6, 1e6) | st.integers(-1000, 1000),
)
def test_what_is_taken_is_no_more_than_the_bound(value: object, most: float) -> None:
    """Narrowing never allows more: whatever a bounded verb takes is a number within the bound, and
    the verb without it takes it too.
    """
    free, held = spec("pay", {}), spec("pay", {}, maximum=most)
    if takes(held, value):
        assert isinstance(value, int | float)
        assert not isinstance(value, bool)
        assert value <= most
        assert takes(free, value)
