"""The chat-completions wire as pure functions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.errors import ConfigurationError
from ordain.models.chat_completions import encode_request, read_completion
from ordain.models.openai import OpenAIModel, api_url
from ordain.models.refusals import read_refusal, refuses_way
from ordain.models.schemas import OutputTool, keeps_strict_rules
from ordain.ports.model import ModelError, ModelReply, ModelRequest

STRING = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def request(schema: dict[str, Any], user: str = "u", name: str = "step") -> ModelRequest:
    return ModelRequest(
        profile=ModelProfile(provider="openai", model="m"),
        purpose="planner",
        system="s",
        user=user,
        schema_name=name,
        schema=schema,
        max_tokens=9000,
        timeout_s=1,
        inputs={},
        index=0,
    )


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"),
        (" http://[::1]:8080/v1/ ", "http://[::1]:8080/v1/chat/completions"),
        ("https://api.example.org/openai/v1", "https://api.example.org/openai/v1/chat/completions"),
        (
            "https://api.example.org/v1/chat/completions/",
            "https://api.example.org/v1/chat/completions",
        ),
        ("https://api.example.org/chat/completions", "https://api.example.org/chat/completions"),
    ],
)
def test_base_urls_are_completed(base: str, url: str) -> None:
    """A bare host gets /v1; a base with a path keeps it; slashes at the end do not matter."""
    assert api_url(base, "chat") == url


@pytest.mark.parametrize(
    "base",
    [
        "",
        "localhost:8080",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "http://user:word@host/v1",
        "http://host/v1?key=word",
        "http://host/#word",
        "http://host:0",
        "http://host:99999",
        "http://host/a b",
        "http://hóst/v1",
        "http://[::1",
    ],
)
def test_other_addresses_are_refused(base: str) -> None:
    """Only http and https, without user, query or fragment; the refusal does not repeat what may be
    a secret.
    """
    with pytest.raises(ConfigurationError) as caught:
        OpenAIModel(base)
    assert "word" not in caught.value.message


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ümlaut", "nul\x00"])
def test_a_key_that_no_header_carries_is_refused(key: str) -> None:
    """A key with blanks, line breaks or foreign signs is refused without being repeated."""
    with pytest.raises(ConfigurationError) as caught:
        OpenAIModel("http://127.0.0.1:1", key)
    assert key not in caught.value.message


def test_the_key_shows_nowhere() -> None:
    """The key is in no representation of the adapter."""
    model = OpenAIModel("http://127.0.0.1:1", " sk-hush \n")
    assert "hush" not in repr(model) + str(model) + f"{model}"


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (closed(a=STRING), True),
        (closed(a=closed(b={"type": ["integer", "null"]})), True),
        (closed(a={"anyOf": [closed(b=STRING), {"type": "null"}]}), True),
        (closed(a={"type": "array", "items": closed(b=STRING)}), True),
        (closed(a={"$ref": "#/$defs/x"}) | {"$defs": {"x": closed(b=STRING)}}, True),
        (closed(a={"type": "object"}), False),
        (closed(a=STRING) | {"required": []}, False),
        ({"type": "object", "properties": {"a": STRING}, "required": ["a"]}, False),
        (closed(a={"type": "array", "items": {"type": "object"}}), False),
        (closed(a={"type": "string", "maxLength": 4}), False),
        ({"oneOf": [closed(a=STRING)]}, False),
        (closed(a={"oneOf": [closed(b=STRING)]}), False),
        (closed(a=True), False),
        ({"type": "array", "items": STRING}, False),
    ],
)
def test_strict_only_where_the_rules_are_kept(schema: dict[str, Any], strict: bool) -> None:
    """Strict is sent exactly where each object is closed with everything required and no other
    keyword is used.
    """
    assert keeps_strict_rules(schema) is strict
    body = json.loads(encode_request(request(schema)))
    assert body["response_format"]["json_schema"] == {
        "name": "step",
        "strict": strict,
        "schema": schema,
    }


def test_a_changed_schema_is_sent_as_it_is() -> None:
    """What was encoded before is never sent for a schema that has changed since."""
    schema = closed(a=STRING)
    encode_request(request(schema))
    schema["properties"]["b"] = STRING
    assert (
        json.loads(encode_request(request(schema)))["response_format"]["json_schema"]["schema"]
        == schema
    )


def test_names_and_length_fit_the_endpoint() -> None:
    """The schema's name is made valid, the length is the smaller bound, and OpenAI's own field is
    used where it is wanted.
    """
    body = json.loads(
        encode_request(request(closed(), name="verb brain.chat/ü" * 9), modern_length=True)
    )
    assert body["response_format"]["json_schema"]["name"].startswith("verb_brain_chat__")
    assert len(body["response_format"]["json_schema"]["name"]) == 64
    assert body["max_completion_tokens"] == 4096
    assert "max_tokens" not in body


async def test_a_prompt_that_no_wire_carries_is_rejected() -> None:
    """A lone surrogate in the prompt is a typed rejection; nothing is sent."""
    answer = await OpenAIModel("http://127.0.0.1:1").attempt(request(closed(), user="\ud800"))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.REJECTED


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["stop", "length"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "content",
                    "finish_reason",
                    "usage",
                    "error",
                    "code",
                    "type",
                    "refusal",
                ]
            ),
            inner,
        )
    ),
)


@given(
    body=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()),
    status=st.integers(300, 999),
)
def test_reading_is_total(body: bytes, status: int) -> None:
    """Any bytes are a reply or an error of the closed set, for any status."""
    answer = read_completion(body, "asked")
    assert isinstance(answer, ModelReply) or answer.code in {
        ModelErrorCode.MALFORMED,
        ModelErrorCode.TRUNCATED,
        ModelErrorCode.FILTERED,
    }
    refusal = read_refusal(status, {b"retry-after": body}, body)
    assert refusal.code is not ModelErrorCode.ADAPTER_BUG
    assert len(refusal.message) <= 300


USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 3}}


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ({"message": {"content": "words"}, "finish_reason": "stop"}, ModelErrorCode.MALFORMED),
        ({"message": {"content": '{"a"'}, "finish_reason": "length"}, ModelErrorCode.TRUNCATED),
        ({"message": {"content": "{}"}, "finish_reason": None}, ModelErrorCode.MALFORMED),
        ({"message": {"content": "{}"}, "finish_reason": "odd"}, ModelErrorCode.MALFORMED),
        ({"message": {"content": "{}"}, "finish_reason": "error"}, ModelErrorCode.SERVER_ERROR),
        ({"message": {"refusal": "no"}, "finish_reason": "stop"}, ModelErrorCode.FILTERED),
        ({"message": {}, "finish_reason": "content_filter"}, ModelErrorCode.FILTERED),
    ],
)
def test_a_whole_answer_that_is_none_tells_of_its_use(
    choice: dict[str, Any], code: ModelErrorCode
) -> None:
    """Whatever is wrong with it, what it used its provider counted."""
    body = json.dumps({"choices": [choice], "usage": USAGE}).encode()
    found = read_completion(body, "m", OutputTool("step", {"type": "object"}))
    assert isinstance(found, ModelError)
    assert (found.code, found.input_tokens, found.output_tokens, found.cached_tokens) == (
        code,
        5,
        7,
        3,
    )
    untold = read_completion(
        json.dumps({"choices": [choice]}).encode(), "m", OutputTool("step", {"type": "object"})
    )
    assert isinstance(untold, ModelError)
    assert (untold.input_tokens, untold.output_tokens) == (None, None)


@pytest.mark.parametrize(
    ("status", "held", "words", "refuses"),
    [
        (500, Structured.TOOL, "tool choice requires --enable-auto-tool-choice", True),
        (500, Structured.TOOL, "tools are not supported", True),
        (501, Structured.NATIVE, "response_format is not supported", True),
        (500, Structured.NATIVE, "tools are not supported", False),
        (500, Structured.TEXT, "response_format is not supported", False),
        (500, None, "tools are not supported", False),
        (500, Structured.TOOL, "out of memory", False),
        (400, Structured.TOOL, "tools are not supported", False),
    ],
)
def test_a_server_error_refuses_the_way_that_it_names(
    status: int, held: Structured | None, words: str, refuses: bool
) -> None:
    """Only a server's own status, and only the way in which this answer was to be held; a refusal
    with another status is one anyway.
    """
    for body in ({"error": {"message": words}}, {"detail": words}, {"message": words}):
        assert refuses_way(status, json.dumps(body).encode(), held) is refuses
    assert not refuses_way(status, words.encode(), held)
