"""How a schema travels, as pure functions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.schema import Schema
from ordain.models.schemas import (
    OutputTool,
    clean_name,
    is_closed,
    is_wrapped,
    parameter_counts,
    wrapped,
)
from ordain.ports.model import ModelError
from ordain.rules.enforcement import NOT_HELD

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
STRING = {"type": "string"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
ROOTS: list[dict[str, Any]] = [
    {"oneOf": [CLOSED, {"type": "null"}]},
    {"anyOf": [STRING, CLOSED]},
    {"type": "array", "items": STRING},
    {"type": "object", "oneOf": [CLOSED]},
    {"enum": ["a", 1]},
    {"$ref": "#/$defs/x", "$defs": {"x": CLOSED}},
    {},
]


@given(VALUES, st.sampled_from([CLOSED, *ROOTS]))
def test_what_went_in_comes_out(value: object, schema: dict[str, Any]) -> None:
    """An answer is the same after the way through a tool's input; one of another shape than an
    object only travels within one.
    """
    tool = OutputTool("step", schema)
    text = json.dumps(value)
    given = json.dumps({"answer": value}) if is_wrapped(schema) else text
    found = tool.answer([("step", given)])
    if not is_wrapped(schema) and not isinstance(value, dict):
        assert isinstance(found, ModelError)
    else:
        assert isinstance(found, str)
        assert json.loads(found) == value


@given(VALUES, st.sampled_from(ROOTS[:-1]))
def test_the_object_around_a_schema_permits_the_same(value: object, schema: dict[str, Any]) -> None:
    """The wrapped schema accepts exactly the wrapped answers that the schema accepts; references
    find their targets.
    """
    outer = wrapped(schema)
    assert (outer["type"], is_wrapped(outer)) == ("object", False)
    assert Schema(outer).accepts({"answer": value}) == Schema(schema).accepts(value)
    assert not Schema(outer).accepts({})


def test_an_object_needs_no_other_around_it() -> None:
    """A schema that a tool's input may have travels as it is, and its texts stand where they
    stood.
    """
    assert wrapped(CLOSED) is CLOSED
    assert OutputTool("x", CLOSED).place("a.b") == "a.b"
    assert OutputTool("x", ROOTS[0]).place("a.b") == "answer.a.b"
    assert OutputTool("x", ROOTS[0]).place("") == ""


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [("other", '{"a": 1}')],
        [("step", '{"a": 1}'), ("step", '{"a": 1}')],
        [(None, "{}")],
        [("step", None)],
        [("step", {"a": 1})],
        [("step", "")],
        [("step", '{"a": ')],
        [("step", "[]")],
        [("step", '"\ud800"')],
        [("step", "[" * 100_000)],
    ],
)
def test_any_other_call_is_malformed(calls: list[tuple[object, object]]) -> None:
    """No call, two, another tool's, and inputs that are no JSON object are typed errors without any
    of their content.
    """
    for schema in (CLOSED, ROOTS[0]):
        found = OutputTool("step", schema).answer(calls)
        assert isinstance(found, ModelError)
        assert found.code is ModelErrorCode.MALFORMED
        assert "other" not in found.message.replace("another", "")


@pytest.mark.parametrize(
    ("calls", "miscalled"),
    [
        ([], False),
        ([("other", '{"answer": {"a": 1}}')], True),
        ([("other", '{"a": 1}')], True),
        ([("step", '{"answer": {"a": 1}}'), ("other", "{}")], True),
        ([("step", '{"answer": {"a": 1}}')] * 2, True),
        ([("step", "I would say one.")], True),
        ([("step", "")], True),
        ([("step", "[]")], True),
        ([("step", '{"b": 1}')], True),
        ([("step", '{"answer": {"a": 1')], False),
        ([("step", '{"answer": {"a": 1}} there')], False),
        ([("step", None)], False),
    ],
)
def test_a_forced_tool_that_is_called_wrongly_is_told_so(
    calls: list[tuple[object, object]], miscalled: bool
) -> None:
    """Another tool, several calls, an input that no enforced tool takes; of one that is broken
    nobody knows, and no call at all is ignored for sure.
    """
    found = OutputTool("step", ROOTS[1]).answer(calls)
    assert isinstance(found, ModelError)
    assert (found.miscalled, found.ignored) == (miscalled, not calls)
    assert (found.message in NOT_HELD) is (miscalled or not calls)


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        (CLOSED, True),
        ({**CLOSED, "properties": {"a": {"type": "array", "items": CLOSED}}}, True),
        (
            {
                **CLOSED,
                "properties": {
                    "a": {"enum": [1, "x"]},
                    "b": {"const": None},
                    "c": {"anyOf": [STRING, {"type": "null"}]},
                },
            },
            True,
        ),
        ({**CLOSED, "additionalProperties": True}, False),
        ({"type": "object"}, False),
        ({**CLOSED, "properties": {"a": {"type": "object"}}}, False),
        ({**CLOSED, "properties": {"a": {"type": "array"}}}, False),
        ({**CLOSED, "properties": {"a": {}}}, False),
        ({**CLOSED, "properties": {"a": True}}, False),
        ({**CLOSED, "properties": {"a": {"anyOf": [STRING, {"type": "object"}]}}}, False),
        ({**CLOSED, "properties": {"a": {"$ref": "#/$defs/x"}}}, False),
        (True, False),
    ],
)
def test_closed_schemas(schema: object, *, closed: bool) -> None:
    """A schema is closed where no part of it would take what it does not name."""
    assert is_closed(schema) is closed


def test_parameters_are_counted_throughout() -> None:
    """Optional properties and properties of alternative types, at any depth."""
    inner = {
        "type": "object",
        "properties": {"x": STRING, "y": {"type": ["string", "null"]}},
        "required": ["x"],
    }
    outer = {
        "type": "object",
        "properties": {"a": {"anyOf": [STRING, inner]}, "b": {"type": "array", "items": inner}},
        "required": [],
    }
    assert parameter_counts(outer) == (4, 3)


@given(st.text(max_size=100))
def test_names_are_taken_by_every_provider(name: str) -> None:
    """Letters, digits, underscores and dashes, at most 64 and at least one."""
    cleaned = clean_name(name)
    assert 1 <= len(cleaned) <= 64
    assert all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in cleaned)
