"""Laws of what a prompt plan's answer may refer to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ordain.contracts.grounds import Ground
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.grounds import find_ungrounded, find_unquoted
from tests.unit.rules.given import json_values, texts

NUMBER = Ground(output="points/*/refs/*", input="items", by="number")
QUOTE = Ground(output="points/*/quote", input="items/*/text", by="quote", optional=True)
STRING: dict[str, Any] = {"type": "string"}


@given(st.lists(texts, max_size=6), st.lists(st.lists(st.integers(-2, 8), max_size=4), max_size=3))
def test_a_number_counts_only_if_such_an_item_was_given(
    items: list[str], refs: list[list[int]]
) -> None:
    """An answer is grounded exactly where every number is from 1 to the number of items."""
    output = {"points": [{"refs": some} for some in refs]}
    grounded = all(1 <= one <= len(items) for some in refs for one in some)
    assert (find_ungrounded([NUMBER], output, {"items": items}) == "") == grounded


@given(st.text(min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_any_words_of_an_item_may_be_quoted(text: str, start: int, end: int) -> None:
    """A piece of a given text is a quotation of it, whatever it holds; case, blanks and quotation
    marks do not count.
    """
    piece = text[min(start, end) : max(start, end)]
    given = {"items": [{"text": "other"}, {"text": text}]}
    for quote in (piece, f"  {piece}\n", piece.replace('"', "”")):
        grounded = find_ungrounded([QUOTE], {"points": [{"quote": quote}]}, given) == ""
        assert grounded == bool(piece.strip()), piece


@given(json_values, json_values)
def test_any_answer_is_judged(output: Any, given: Any) -> None:
    """Whatever the shapes are, there is a place or none, and never an exception."""
    for value in (
        {"points": output},
        {"points": [output]},
        {"points": [{"refs": output, "quote": output}]},
    ):
        assert isinstance(find_ungrounded([NUMBER, QUOTE], value, {"items": given}), str)


def test_what_was_quoted_needs_no_reference() -> None:
    """A null reference is refused, unless it is optional or code quoted: that the answer says so
    itself is no reason.
    """
    bare = {"points": [{"refs": None, "quote": None}]}
    assert find_ungrounded([NUMBER], bare, {"items": ["x"]}) == "/points/0/refs: required"
    said = {**bare, "method": "quoted"}
    assert find_ungrounded([NUMBER], said, {"items": ["x"]}) == "/points/0/refs: required"
    assert find_ungrounded([NUMBER], said, {"items": ["x"]}, by_code=True) == ""
    assert (
        find_ungrounded([NUMBER], {**said, "method": "analysed"}, {"items": ["x"]}, by_code=True)
        == "/points/0/refs: required"
    )
    assert find_ungrounded([QUOTE], bare, {"items": []}) == ""


@given(
    st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4),
    st.text(alphabet="xyz", min_size=41),
)
def test_who_says_quoted_quotes(items: list[str], invented: str) -> None:
    """An answer that calls itself quoted holds texts of its input only, at whatever place; any
    other answer is not asked.
    """
    given = {"items": [{"text": text} for text in items]}
    quoted = {"method": "quoted", "points": [{"text": text, "refs": None} for text in items]}
    assert find_unquoted(quoted, given) == ""
    assert (
        find_unquoted({**quoted, "gap": [invented]}, given)
        == "/gap/0: not in the input, and method is quoted"
    )
    assert find_unquoted({"method": "analysed", "gap": invented}, given) == ""


def test_a_refusal_names_the_place_and_never_the_words() -> None:
    """What the model wrote is in no message."""
    found = find_ungrounded(
        [QUOTE], {"points": [{"quote": "a secret word"}]}, {"items": [{"text": "x"}]}
    )
    assert found == "/points/0/quote: not in items/*/text"


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        (
            {"output": "nothing/*", "input": "items", "by": "number"},
            "nothing/* is not in output_schema",
        ),
        (
            {"output": "points/*/quote", "input": "texts", "by": "quote"},
            "texts is not in input_schema",
        ),
        ({"output": "points/../x", "input": "items", "by": "quote"}, "pattern"),
        ({"output": "points/*/quote", "input": "items", "by": "meaning"}, "'number' or 'quote'"),
    ],
)
def test_a_ground_that_could_never_hold_is_refused(ground: dict[str, Any], said: str) -> None:
    """A verb that names places its schemas do not have is no verb."""
    points = {"type": "array", "items": {"type": "object", "properties": {"quote": STRING}}}
    fields: dict[str, Any] = {
        "name": "v",
        "description": "d",
        "effect": VerbEffect.READ,
        "plan": [{"name": "s", "order": 0, "prompt_template": "t.j2"}],
        "input_schema": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": STRING}},
        },
        "output_schema": {"type": "object", "properties": {"points": points}},
    }
    assert VerbSpec(
        **fields, grounds=[Ground(output="points/*/quote", input="items/*", by="quote")]
    ).grounds
    with pytest.raises(ValidationError, match=said.replace("*", r"\*")):
        VerbSpec(**fields, grounds=[ground])  # type: ignore[list-item]
    with pytest.raises(ValidationError, match="only a prompt plan"):
        VerbSpec(
            **{**fields, "plan": []},
            grounds=[{"output": "points", "input": "items", "by": "quote"}],
        )  # type: ignore[list-item]
