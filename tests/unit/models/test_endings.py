"""How answers end and in what shapes their words come, over both wires, whole and as a stream:
words count where they are whole, JSON where that is said.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.chat_completions import read_completion
from ordain.models.endings import End, end_of, text_of
from ordain.models.event_stream import CompletionStream
from ordain.models.narrative import WHOLE
from ordain.models.responses import ResponseStream, read_response
from ordain.models.schemas import OutputTool
from ordain.ports.model import CUT, ENDED_UNKNOWN, ENDED_UNSAID, ModelError, ModelReply

CODES = ModelErrorCode
TEXT = "The sea is wide."
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def whole(
    choice: dict[str, Any], *, plain: bool = True, tool: OutputTool | None = None
) -> ModelReply | ModelError:
    return read_completion(json.dumps({"choices": [choice]}).encode(), "asked", tool, plain=plain)


def streamed(
    *events: Any,
    done: bool = True,
    place: str = WHOLE,
    tool: OutputTool | None = None,
    unsure: bool = False,
) -> Any:
    heard: list[str] = []
    stream = CompletionStream(place, heard.append, tool, unsure=unsure)
    for event in events:
        stream.take(f"data: {json.dumps({'choices': [event]})}\n\n".encode())
    if done:
        stream.take(b"data: [DONE]\n\n")
    reply = stream.conclude("asked", "")
    return "".join(heard), reply


def ends(reply: ModelReply | ModelError) -> tuple[str, str | None] | ModelErrorCode:
    return (reply.text, reply.notice) if isinstance(reply, ModelReply) else reply.code


@pytest.mark.parametrize(
    ("reason", "words", "contract"),
    [
        ("stop", (TEXT, None), (TEXT, None)),
        ("eos", (TEXT, None), (TEXT, None)),
        ("eos_token", (TEXT, None), (TEXT, None)),
        ("end_turn", (TEXT, None), (TEXT, None)),
        ("STOP", (TEXT, None), (TEXT, None)),
        ("FINISH_REASON_STOP", (TEXT, None), (TEXT, None)),
        ("COMPLETE", (TEXT, None), (TEXT, None)),
        ("tool_calls", (TEXT, None), (TEXT, None)),
        (None, (TEXT, None), CODES.MALFORMED),
        ("", (TEXT, None), CODES.MALFORMED),
        ("null", (TEXT, None), CODES.MALFORMED),
        ("banana", (TEXT, ENDED_UNKNOWN), CODES.MALFORMED),
        ("length", (TEXT, CUT), CODES.TRUNCATED),
        ("MAX_TOKENS", (TEXT, CUT), CODES.TRUNCATED),
        ("content_filter", CODES.FILTERED, CODES.FILTERED),
        ("SAFETY", CODES.FILTERED, CODES.FILTERED),
        ("abort", CODES.SERVER_ERROR, CODES.SERVER_ERROR),
        ("insufficient_system_resource", CODES.SERVER_ERROR, CODES.SERVER_ERROR),
    ],
)
def test_every_familys_word_for_an_end_is_understood(
    reason: str | None, words: Any, contract: Any
) -> None:
    """In whatever words a server says it: plain text counts where its body is whole, what is cut or
    of an unknown end is told, and JSON has to be said to be whole.
    """
    choice = {"message": {"content": TEXT}, "finish_reason": reason}
    assert ends(whole(choice)) == words
    assert ends(whole(choice, plain=False)) == contract
    parts = ({"delta": {"content": TEXT}}, {"delta": {}, "finish_reason": reason})
    assert ends(streamed(*parts)[1]) == words
    assert ends(streamed(*parts, place="content")[1]) == contract


def test_a_stream_that_just_ends_is_told_as_such() -> None:
    """Neither a finish reason nor [DONE]: the words are kept, and it is said that nothing says they
    are whole; JSON broke off.
    """
    assert ends(streamed({"delta": {"content": TEXT}}, done=False)[1]) == (TEXT, ENDED_UNSAID)
    assert (
        ends(streamed({"delta": {"content": TEXT}}, done=False, place="content")[1])
        == CODES.CONNECTION
    )
    assert ends(streamed({"delta": {}}, done=False)[1]) == CODES.CONNECTION


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            {
                "message": {
                    "content": [
                        {"type": "text", "text": "The sea "},
                        {"type": "text", "text": "is wide."},
                    ]
                }
            },
            TEXT,
        ),
        (
            {
                "message": {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                        {"type": "text", "text": TEXT},
                    ]
                }
            },
            TEXT,
        ),
        (
            {
                "message": {
                    "content": [{"type": "text", "text": {"value": TEXT, "annotations": []}}]
                }
            },
            TEXT,
        ),
        ({"message": {"content": ["The sea ", "is wide."]}}, TEXT),
        ({"message": {"content": {"type": "text", "text": TEXT}}}, TEXT),
        ({"text": TEXT}, TEXT),
        (
            {
                "message": {
                    "content": TEXT,
                    "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}],
                }
            },
            TEXT,
        ),
        ({"message": {"content": TEXT, "refusal": "I cannot"}}, CODES.FILTERED),
        ({"message": {"content": [{"type": "refusal", "refusal": "I cannot"}]}}, CODES.FILTERED),
        (
            {
                "message": {
                    "content": None,
                    "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}],
                }
            },
            CODES.MALFORMED,
        ),
        ({"message": {"content": []}}, CODES.MALFORMED),
        ({"message": {"content": 7}}, CODES.MALFORMED),
        ({"message": None}, CODES.MALFORMED),
        ({}, CODES.MALFORMED),
    ],
)
def test_words_are_found_in_every_shape(message: dict[str, Any], found: Any) -> None:
    """A text, parts, the older wire's text, beside a call of some tool; a refusal is one, and
    nothing is made of what has no words.
    """
    expected = (found, None) if isinstance(found, str) and found is TEXT else found
    assert ends(whole({**message, "finish_reason": "stop"})) == expected
    piece = {"delta": message["message"]} if "message" in message else message
    assert ends(streamed(piece, {"finish_reason": "stop"})[1]) == expected


def test_no_choices_are_a_failure_in_words() -> None:
    """It has a code and says what is missing."""
    found = read_completion(b'{"choices": []}', "asked", plain=True)
    assert isinstance(found, ModelError)
    assert (found.code, found.message) == (CODES.MALFORMED, "no choices in the answer")


@pytest.mark.parametrize(
    "function", [{"name": "step", "arguments": '{"a": 1}'}, {"name": "step", "arguments": {"a": 1}}]
)
@pytest.mark.parametrize("older", [True, False])
def test_a_tools_input_is_read_in_every_shape(function: dict[str, Any], older: bool) -> None:
    """As text or as an object, by the list of calls or by the older wire's one call."""
    tool = OutputTool("step", {"type": "object"})
    message = (
        {"function_call": function}
        if older
        else {"tool_calls": [{"index": 0, "function": function}]}
    )
    for found in (
        whole({"message": message, "finish_reason": "tool_use"}, plain=False, tool=tool),
        streamed({"delta": message}, {"finish_reason": "tool_use"}, place="a", tool=tool)[1],
    ):
        assert isinstance(found, ModelReply)
        assert json.loads(found.text) == {"a": 1}


@pytest.mark.parametrize(
    ("more", "words", "contract"),
    [
        ({"status": "completed"}, (TEXT, None), (TEXT, None)),
        ({"status": None}, (TEXT, None), CODES.MALFORMED),
        ({"status": "odd"}, (TEXT, ENDED_UNKNOWN), CODES.MALFORMED),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "length"}},
            (TEXT, CUT),
            CODES.TRUNCATED,
        ),
        ({"status": "incomplete"}, (TEXT, ENDED_UNKNOWN), CODES.MALFORMED),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            CODES.FILTERED,
            CODES.FILTERED,
        ),
        (
            {"status": "failed", "error": {"code": "server_error"}},
            CODES.SERVER_ERROR,
            CODES.SERVER_ERROR,
        ),
        ({"status": "queued"}, CODES.MALFORMED, CODES.MALFORMED),
    ],
)
def test_responses_end_likewise(more: dict[str, Any], words: Any, contract: Any) -> None:
    """The same of the other wire."""
    body = json.dumps(
        {
            "output": [{"type": "message", "content": [{"type": "output_text", "text": TEXT}]}],
            **more,
        }
    ).encode()
    assert ends(read_response(body, "asked", plain=True)) == words
    assert ends(read_response(body, "asked")) == contract


@pytest.mark.parametrize(("last", "notice"), [(b"data: [DONE]\n\n", None), (b"", ENDED_UNSAID)])
def test_a_response_without_its_last_event(last: bytes, notice: str | None) -> None:
    """Its pieces are the words."""
    stream = ResponseStream(WHOLE, lambda _: None)
    stream.take(
        f'data: {{"type": "response.output_text.delta", "delta": "{TEXT}"}}\n\n'.encode() + last
    )
    assert ends(stream.conclude("asked", "")) == (TEXT, notice)


def test_nothing_of_a_thought_is_shown_that_only_ends() -> None:
    """Before an endpoint is known to begin with words nothing is heard of them until a thought has
    ended, or the answer.
    """
    pieces = [
        {"delta": {"content": piece}}
        for piece in ("They ask about", " the sea.</th", "ink>\n\n", "The sea ", "is wide.")
    ]
    heard, reply = streamed(*pieces, {"finish_reason": "stop"}, unsure=True)
    assert heard == TEXT
    assert isinstance(reply, ModelReply)
    heard, _ = streamed(
        {"delta": {"content": "The sea "}},
        {"delta": {"content": "is wide."}},
        {"finish_reason": "stop"},
        unsure=True,
    )
    assert heard == TEXT
    stream = CompletionStream(WHOLE, (early := list[str]()).append)
    stream.take(b'data: {"choices": [{"delta": {"content": "The"}}]}\n\n')
    assert early == ["The"]  # of one that is known, as it comes


@given(ANY)
def test_reading_is_total(value: Any) -> None:
    """Whatever stands for words or for an end."""
    assert isinstance(text_of(value), str)
    if value is None or isinstance(value, str):
        assert end_of(value) in End
    for choice in (
        {"message": {"content": value}, "finish_reason": "stop"},
        {"text": value},
        {"message": {"refusal": value, "tool_calls": value}},
    ):
        assert isinstance(whole(choice), ModelReply | ModelError)
        assert isinstance(
            streamed(choice, {"delta": choice.get("message")})[1], ModelReply | ModelError
        )
