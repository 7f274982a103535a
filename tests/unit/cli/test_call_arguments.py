"""``key=value``: the schema says what a value is, and each thing that is wrong is told by its
name.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.call_arguments import arguments_of, parsed_input
from ordain.errors import InvalidRequest

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "sure": {"type": "boolean"},
        "to": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "mode": {"enum": ["low", "normal", "high"]},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "where": {
            "type": "object",
            "properties": {"town": {"type": "string"}, "zip": {"type": "integer"}},
            "additionalProperties": False,
        },
        "free": {"type": "object"},
        "open": {},
        "a.b": {"type": "integer"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["text=5"], {"text": "5"}),
        (["text=a=b, c"], {"text": "a=b, c"}),
        (["text="], {"text": ""}),
        (["count=-5", "ratio=2", "sure=true"], {"count": -5, "ratio": 2, "sure": True}),
        (["to=a@b.org, c@d.org"], {"to": ["a@b.org", "c@d.org"]}),
        (["to=a@b.org", "to=c@d.org"], {"to": ["a@b.org", "c@d.org"]}),
        (['to=["a,b"]'], {"to": ["a,b"]}),
        (["to=5"], {"to": ["5"]}),
        (["to="], {"to": []}),
        (["numbers=1,2"], {"numbers": [1, 2]}),
        (["mode=high"], {"mode": "high"}),
        (["maybe=null"], {"maybe": None}),
        (["maybe=5"], {"maybe": "5"}),
        (["either=5"], {"either": 5}),
        (["either=five"], {"either": "five"}),
        (["where.town=Berlin", "where.zip=10115"], {"where": {"town": "Berlin", "zip": 10115}}),
        (['where={"town": "Berlin"}', "where.zip=1"], {"where": {"town": "Berlin", "zip": 1}}),
        (["free.any.thing=1"], {"free": {"any.thing": 1}}),
        (['open={"a": [1]}'], {"open": {"a": [1]}}),
        (["open=NaN"], {"open": "NaN"}),
        (["open=word"], {"open": "word"}),
        (["a.b=3"], {"a.b": 3}),
    ],
)
def test_values_are_what_the_schema_says(words: list[str], meant: dict[str, Any]) -> None:
    """A text stays one, numbers and JSON are read, a list takes commas, several, or JSON; a part
    has a dot.
    """
    assert arguments_of(SCHEMA, {}, words) == meant


def test_what_is_typed_goes_over_what_is_given() -> None:
    """And leaves that as it was."""
    whole = {"text": "a", "where": {"town": "Berlin"}}
    assert arguments_of(SCHEMA, whole, ["text=b", "where.zip=1"]) == {
        "text": "b",
        "where": {"town": "Berlin", "zip": 1},
    }
    assert whole == {"text": "a", "where": {"town": "Berlin"}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["count=many"], 'count: "many" is not of type "integer"'),
        (["numbers=1,x"], 'numbers.1: "x" is not of type "integer"'),
        (["where.zip=x"], 'where.zip: "x" is not of type "integer"'),
        (["mode=hgih"], "did you mean high?"),
        (["cuont=1"], "cuont: there is no such argument; did you mean count?"),
        (["where.twon=x"], "where.twon: there is no such argument; did you mean town?"),
        (["qqqq=1"], "qqqq: there is no such argument; known: text, count,"),
        (["count=1", "count=2"], "count: it is given twice"),
        (["word"], "'word' is no key=value"),
        (['{"text": 1}'], "is no key=value; a JSON object goes to --input"),
        (["=x"], "'=x' is no key=value"),
        (["where=5", "where.zip=1"], "where: what is given has no parts"),
        (["ratio=1e400"], "ratio: 1e400 is larger than a number can be"),
        (["open=[1, -1e999]"], "open: -1e999 is larger than a number can be"),
    ],
)
def test_what_is_wrong_is_told_by_its_name(words: list[str], said: str) -> None:
    """Before anything is called for it."""
    with pytest.raises(InvalidRequest) as refused:
        arguments_of(SCHEMA, {}, words)
    assert refused.value.code == "invalid_arguments"
    assert said in refused.value.message


def test_what_is_missing_is_named() -> None:
    """Also within another."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "object", "required": ["b"]}},
        "required": ["c"],
    }
    with pytest.raises(InvalidRequest) as refused:
        arguments_of(schema, {"a": {}}, [])
    assert set(refused.value.message.split("; ")) == {"a.b: it is missing", "c: it is missing"}


@given(st.lists(st.text(max_size=30), max_size=4))
def test_every_line_is_arguments_or_refused(words: list[str]) -> None:
    """Whatever is typed; what comes out is JSON."""
    with suppress(InvalidRequest):
        json.dumps(arguments_of({"type": "object"}, {}, words))


def test_a_number_that_is_none_is_refused_in_json_too() -> None:
    """It would be told as null."""
    with pytest.raises(InvalidRequest, match="1e400 is larger than a number can be"):
        parsed_input('{"ratio": 1e400}')
