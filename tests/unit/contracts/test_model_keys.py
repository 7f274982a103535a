"""What is told of a key that nobody knows, and of the key that it stands in place of."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ordain.contracts.conversation import Message
from ordain.contracts.cortex import CortexChatRequest
from ordain.contracts.model_keys import first_misfit, misfit_words, read_contract
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verbs import VerbRequest
from ordain.errors import InvalidRequest
from ordain.server.bodies import validated
from ordain.server.sent_json import spelled

PLAN = {
    "caller": "debug-shell",
    "goal": {"type": "analysis", "description": "x"},
    "toolset": [{"tool_id": "extract_facts"}],
}
SAID = {"sessionId": "s1", "userId": "ada", "message": {"text": "hi"}}
MISSPELT: list[tuple[type[BaseModel], dict[str, Any], str, str]] = [
    (PlannerRequest, {**PLAN, "limit": {}}, "/limit", "limits"),
    (
        PlannerRequest,
        {**PLAN, "goal": {"type": "analysis", "descripton": "x"}},
        "/goal/descripton",
        "description",
    ),
    (
        PlannerRequest,
        {**PLAN, "toolset": [{"tool": "extract_facts"}]},
        "/toolset/0/tool",
        "tool_id",
    ),
    (Message, {**SAID, "contxt": {}}, "/contxt", "context"),
    (Message, {"sessionId": "s1", "userID": "ada", "message": {"text": "hi"}}, "/userID", "userId"),
    (
        Message,
        {**SAID, "context": {"routingHints": {"modes": "agent"}}},
        "/context/routingHints/modes",
        "mode",
    ),
    (
        Message,
        {**SAID, "message": {"text": "hi", "atachments": []}},
        "/message/atachments",
        "attachments",
    ),
    (CortexChatRequest, {"promt": "hi"}, "/promt", "prompt"),
    (
        VerbRequest,
        {"verb_id": "math.evaluate", "payload": {}, "requestid": "1"},
        "/requestid",
        "request_id",
    ),
]


@pytest.mark.parametrize(("model", "given", "place", "meant"), MISSPELT)
def test_a_misspelt_key_of_a_request_is_told_with_the_one_that_was_meant(
    model: type[BaseModel], given: dict[str, Any], place: str, meant: str
) -> None:
    """By the place of what was typed, also where what it stands for is wanted; the same over HTTP
    and in Python.
    """
    with pytest.raises(InvalidRequest) as refused:
        validated(model, spelled(given))
    words = f"there is no such key; did you mean {meant}?"
    assert refused.value.details["errors"] == [
        {"place": place, "code": "extra_forbidden", "message": words}
    ]
    with pytest.raises(ValidationError) as raised:
        read_contract(model, given)
    assert words in str(raised.value)


def test_a_key_like_no_other_is_told_without_a_guess() -> None:
    """Nothing is suggested for what resembles nothing; what is wanted beside it stays what is told
    first.
    """
    with pytest.raises(ValidationError) as raised:
        read_contract(Message, {**SAID, "zebra": 1})
    (only,) = raised.value.errors()
    assert (only["msg"], only["type"]) == ("there is no such key", "extra_forbidden")
    with pytest.raises(ValidationError) as raised:
        Message.model_validate({"sessionId": "s1", "message": {"text": "hi"}, "zebra": 1})
    first = first_misfit(Message, raised.value.errors())
    assert (first["loc"], misfit_words(Message, first)) == (("userId",), "Field required")


def test_other_errors_are_pydantics_own() -> None:
    """A value that does not fit is told as ever."""
    with pytest.raises(ValidationError) as raised:
        read_contract(Message, {**SAID, "userId": 7})
    assert [one["type"] for one in raised.value.errors()] == ["string_type"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("opnai", "; did you mean openai?"),
        ("OpenAI", "; did you mean openai?"),
        ("zz", ""),
        (3, ""),
    ],
)
def test_a_word_that_is_none_of_several_is_told_the_one_that_was_meant(
    given: object, meant: str
) -> None:
    """Whoever wrote a value of a closed set wrong is told them all, and the likeliest."""
    with pytest.raises(ValidationError) as refused:
        ModelProfile.model_validate({"provider": given, "model": "m"})
    told = misfit_words(ModelProfile, refused.value.errors()[0])
    assert told.startswith("Input should be 'openai', ")
    assert told.endswith(f"'offline'{meant}")
    without = refused.value.errors(include_input=False)[0]
    assert misfit_words(ModelProfile, without).endswith("'offline'")
