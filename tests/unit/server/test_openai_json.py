"""A model's words where a client asked for JSON: that JSON, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.errors import InvalidRequest
from ordain.server.openai.asked import OBJECT
from ordain.server.openai.formed import as_json

NUMBER = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}


@pytest.mark.parametrize("words", ['{"a": 1}', ' {"a": 1.5} ', '```json\n{"a": 2}\n```'])
@pytest.mark.parametrize("schema", [OBJECT, NUMBER])
def test_an_object_is_given_as_it_stands(words: str, schema: dict[str, Any]) -> None:
    """Without the fence around it."""
    assert isinstance(json.loads(as_json(words, schema))["a"], float | int)


@pytest.mark.parametrize(
    "words",
    [
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": "x", "a": 1}',
        '{"a": 1, "b": {"c": 1, "c": 2}}',
        "[1]",
        '"x"',
        "null",
        "5",
        "",
        "[" * 5000,
    ],
)
@pytest.mark.parametrize("schema", [OBJECT, NUMBER])
def test_what_some_reader_cannot_read_so_is_none(words: str, schema: dict[str, Any]) -> None:
    """What is no number of JSON, what stands there twice, and what is no object where one was asked
    for.
    """
    with pytest.raises(InvalidRequest) as refused:
        as_json(words, schema)
    assert refused.value.code == "answer_unfit"


def test_a_schema_that_says_nothing_takes_any_json() -> None:
    """A client's own `{}` is no wish for an object."""
    assert as_json("[1]", {}) == "[1]"
