"""What a verb's declaration says of its answer: JSON of its schema, or words for a person."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.grounds import Ground
from ordain.contracts.verbs import TEXT_OUTPUT_SCHEMA, PlanStep, VerbEffect, VerbSpec, text_of

TELL: dict[str, Any] = {
    "name": "tell",
    "description": "Tell.",
    "effect": VerbEffect.READ,
    "prompt_template": "tell.j2",
    "plan": [PlanStep(name="ask", order=0)],
    "answer": "text",
}


def fields(**content: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"content": content},
        "required": ["content"],
        "additionalProperties": False,
    }


def test_words_have_one_shape() -> None:
    """Who declares words need not say what the output is; a bound of one's own is possible. All
    others ask for JSON, as they always did.
    """
    assert VerbSpec.model_validate(TELL).output_schema == TEXT_OUTPUT_SCHEMA
    own = fields(type="string", maxLength=200)
    assert VerbSpec.model_validate({**TELL, "output_schema": own}).output_schema == own
    assert VerbSpec.model_validate({**TELL, "answer": "json"}).answer == "json"
    older = {key: value for key, value in TELL.items() if key != "answer"}
    assert VerbSpec.model_validate(older).answer == "json"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"plan": []}, "only a prompt plan asks a model for words"),
        ({"output_schema": {"type": "object"}}, "the output is {content} and nothing else"),
        ({"output_schema": fields(type="string")}, "a required string with a maxLength"),
        ({"output_schema": fields(type="integer")}, "a required string with a maxLength"),
        (
            {"output_schema": {**fields(type="string", maxLength=9), "required": []}},
            "a required string with a maxLength",
        ),
        ({"narrates": "text"}, "what is shown is content"),
        ({"grounds": [Ground(output="content", input="text", by="quote")]}, "words have no parts"),
        ({"answer": "prose"}, "Input should be 'json' or 'text'"),
    ],
)
def test_what_words_cannot_be_is_refused(changed: dict[str, Any], said: str) -> None:
    """With the place in the declaration, before anything runs."""
    with pytest.raises(ValidationError) as refused:
        VerbSpec.model_validate({**TELL, **changed})
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"content": "a", "more": "b"}, "a"),
        ({"summary": "a"}, "a"),
        ({"a": "b", "c": "d"}, None),
        ({"content": 5}, None),
        ({}, None),
    ],
)
def test_the_text_of_an_output(output: dict[str, Any], text: str | None) -> None:
    """Its content, or the one text that is all of it."""
    assert text_of(output) == text
