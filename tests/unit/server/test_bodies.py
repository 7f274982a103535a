"""What a body holds is counted before any of it is built, and what does not fit is told by its
first place.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ordain.contracts.openai import ChatCompletionRequest, ResponsesRequest
from ordain.contracts.planner import PlannerRequest
from ordain.errors import InvalidRequest
from ordain.server.bodies import BODY_VALUES, BodyBounds, check_json, validated

TEXTS = st.text(alphabet='a"\\,:[]{} é\n', max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def count(value: Any) -> int:
    """A value and all that it holds."""
    if isinstance(value, list):
        return 1 + sum(map(count, value))
    return 1 + sum(map(count, value.values())) if isinstance(value, dict) else 1


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_values_are_counted_as_they_are_built(
    value: Any, indent: int | None, escaped: bool
) -> None:
    """A body of just as many values as it may hold is read, one of one more is not, however texts
    and spaces are written.
    """
    body, held = json.dumps(value, indent=indent, ensure_ascii=escaped).encode(), count(value)
    check_json(body, held)
    if held > 1:
        with pytest.raises(InvalidRequest) as refused:
            check_json(body, held - 1)
        assert (refused.value.code, refused.value.status) == ("too_many_values", 413)


MANY = BODY_VALUES
WIDE = {
    "lists": b"[" + b"[]," * MANY + b"[]]",
    "objects": b"[" + b"{}," * MANY + b"{}]",
    "numbers": b"[" + b"1," * MANY + b"1]",
    "texts": b"[" + b'"",' * MANY + b'""]',
    "keys": b"{" + b'"k":0,' * MANY + b'"k":0}',
    "nests": b"[" + b"[[[[[[[[[[]]]]]]]]]]," * (MANY // 10) + b"[]]",
    "quotes": b'"' * (4 * MANY + 1),
    "escapes": b"[" + b'"\\\\\\"",' * MANY + b"1]",
    "what never ends": b"[" + b"[]," * MANY,
    "what is no text": b"[" + b"[]," * MANY + b"\xff",
    "what is no number": b"[" + b"NaN," * MANY + b"1]",
}


@pytest.mark.parametrize("name", WIDE)
def test_too_many_values_are_refused_before_anything_is_read(name: str) -> None:
    """Whatever else is wrong with the body, that it holds too much is found first: nothing of it
    was decoded.
    """
    with pytest.raises(InvalidRequest) as refused:
        check_json(WIDE[name])
    assert refused.value.code == "too_many_values"


def test_brackets_that_close_nothing_are_no_json() -> None:
    """They are not counted to their end: the parser stops at the first."""
    with pytest.raises(InvalidRequest) as refused:
        check_json(b"]" * 100_000)
    assert refused.value.code == "malformed_json"


def test_the_first_place_alone_is_told() -> None:
    """Of many places that do not fit the refusal names one, and no value."""
    body = json.dumps(
        {
            "goal": {"type": "analysis", "description": "x"},
            **{f"unknown{i}": "secret" for i in range(50)},
        }
    ).encode()
    with pytest.raises(InvalidRequest) as refused:
        validated(PlannerRequest, body)
    (told,) = refused.value.details["errors"]
    assert (told["place"], told["code"]) == ("/unknown0", "extra_forbidden")
    assert "secret" not in str(refused.value.details)


def test_the_bounds_are_those_that_are_given() -> None:
    """What settings allow more of is read."""
    body = json.dumps(
        {
            "goal": {"type": "analysis", "description": "x"},
            "context": {"external_facts": {"x": [[]] * MANY}},
        }
    ).encode()
    with pytest.raises(InvalidRequest):
        validated(PlannerRequest, body)
    assert validated(PlannerRequest, body, BodyBounds(values=2 * MANY)).goal.description == "x"


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        (b'{"a": [{"b": 1, "c": 2, "b": 3}]}', "duplicate_key", "/a/0/b"),
        (b'{"a": [1, {"c/d": NaN}]}', "not_finite", "/a/1/c~1d"),
        (b'{"a": [1, 2.5, -1e999]}', "not_finite", "/a/2"),
        (b'{"a": {"x": 9223372036854775808}}', "not_finite", "/a/x"),
        (b'{"a": {"x": "\\ud800"}}', "invalid_unicode", "/a/x"),
        (b'{"a": {"\\ud800": 1}}', "invalid_unicode", "/a"),
        (b'{"\\ud800": {"q": NaN}}', "not_finite", "/\\ud800/q"),
    ],
)
def test_json_that_is_not_strict_is_refused_by_its_place(
    body: bytes, code: str, place: str
) -> None:
    """Also where that is the key's own fault; nothing but keys is told, as text."""
    with pytest.raises(InvalidRequest) as refused:
        check_json(body)
    assert refused.value.code == code
    assert [(one["place"], one["code"]) for one in refused.value.details["errors"]] == [
        (place, code)
    ]


@pytest.mark.parametrize("body", [b'{"a": NaN', b'{"a": {"b": 1, "b": 2}, ', b"NaN"])
def test_what_ends_too_early_names_no_place_in_it(body: bytes) -> None:
    """It is refused for what was found first, and what it is of cannot be known."""
    with pytest.raises(InvalidRequest) as refused:
        check_json(body)
    assert refused.value.details.get("errors", [{"place": ""}])[0]["place"] == ""


def said(content: Any) -> bytes:
    return json.dumps(
        {"model": "ordain", "messages": [{"role": "user", "content": content}]}
    ).encode()


TEXT, OBJECT = "Input should be a valid string", "Input should be an object"


@pytest.mark.parametrize(
    ("contract", "body", "place", "message"),
    [
        (
            ChatCompletionRequest,
            said([{"type": "text", "text": 1}]),
            "/messages/0/content/0/text",
            TEXT,
        ),
        (
            ChatCompletionRequest,
            said([{"type": "text", "text": "a"}, {"type": "file", "file": "x"}]),
            "/messages/0/content/1/file",
            OBJECT,
        ),
        (
            ChatCompletionRequest,
            said([{"type": "image_url", "image_url": 5}]),
            "/messages/0/content/0/image_url",
            f"{TEXT} or an object",
        ),
        (ChatCompletionRequest, said(["x"]), "/messages/0/content/0", OBJECT),
        (
            ChatCompletionRequest,
            said([{"text": "x"}]),
            "/messages/0/content/0/type",
            "Field required",
        ),
        (ChatCompletionRequest, said(5), "/messages/0/content", f"{TEXT} or a valid array"),
        (
            ResponsesRequest,
            (
                b'{"model": "o", "input": [{"role": "user", "content": [{"type": "text", "text": '
                b"1}]}]}"
            ),
            "/input/0/content/0/text",
            TEXT,
        ),
        (
            ResponsesRequest,
            b'{"model": "o", "input": ""}',
            "/input",
            "String should have at least 1 character",
        ),
        (
            ResponsesRequest,
            b'{"model": "o", "input": []}',
            "/input",
            "List should have at least 1 item after validation, not 0",
        ),
    ],
)
def test_what_may_have_several_shapes_is_refused_as_the_one_that_was_meant(
    contract: type[BaseModel], body: bytes, place: str, message: str
) -> None:
    """By the place as it was written, in which no name of a shape stands; where it is of no kind
    that fits, all of them are told.
    """
    with pytest.raises(InvalidRequest) as refused:
        validated(contract, body)
    assert [(one["place"], one["message"]) for one in refused.value.details["errors"]] == [
        (place, message)
    ]
