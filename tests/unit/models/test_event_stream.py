"""A chat completion put together from events, without a wire."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.chat_completions import read_completion
from ordain.models.event_stream import STREAM_BYTES, CompletionStream, Events
from ordain.models.refusals import read_stream_error
from ordain.ports.model import Charge, ModelError, ModelReply

LINES = st.sampled_from(
    [
        "data: a",
        "data:b",
        "data:  c",
        "data",
        "data:",
        ": ping",
        "event: x",
        "id: 1",
        "nonsense",
        "",
        "",
        "data: é😀",
    ]
)
ENDS = st.sampled_from(["\n", "\r", "\r\n"])


def said(content: str | None = None, finish_reason: Any = None, **more: Any) -> str:
    delta = {} if content is None else {"content": content}
    return json.dumps(
        {
            "model": "m-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
            **more,
        }
    )


def stream(*events: str) -> bytes:
    return "".join(f"data: {event}\n\n" for event in events).encode()


def played(
    *chunks: bytes, place: str = "content", sent: str = ""
) -> tuple[list[str], ModelReply | ModelError]:
    heard: list[str] = []
    reading = CompletionStream(place, heard.append)
    for chunk in chunks:
        if not reading.take(chunk):
            break
    return heard, reading.conclude("asked", sent)


def expected(text: str) -> list[bytes]:
    """The same reading, of the whole text at once."""
    found: list[bytes] = []
    data: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]:
        if not line:
            found += ["\n".join(data).encode()] if "\n".join(data) else []
            data = []
        name, _, value = line.partition(":")
        data += [value.removeprefix(" ")] if name == "data" else []
    return found


@given(
    st.lists(st.tuples(LINES, ENDS), max_size=20),
    st.lists(st.integers(0, 400), max_size=10) | st.just(list(range(400))),
)
def test_events_are_the_same_however_the_bytes_are_cut(
    lines: list[tuple[str, str]], cuts: list[int]
) -> None:
    """LF, CR and CRLF end lines, comments and other fields are passed over, data of several lines
    is one event.
    """
    text = "".join(line + end for line, end in lines)
    raw = text.encode()
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    events = Events()
    assert [
        data for at in range(len(edges) - 1) for data in events.feed(raw[edges[at] : edges[at + 1]])
    ] == expected(text)


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    """A mark before the first line is passed over."""
    assert Events().feed(b"\xef\xbb\xbfdata: a\n\n") == [b"a"]


@given(st.text(max_size=60), st.lists(st.integers(0, 10_000), max_size=12))
def test_a_stream_says_what_one_body_would(content: str, cuts: list[int]) -> None:
    """Pieces make the whole text, what was heard makes the narrative, and counts come from the last
    event that has them.
    """
    assume("think" not in content.lower())  # a thought is not heard
    answer = json.dumps({"thought": "x", "content": content}, ensure_ascii=False)
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    pieces = [said(answer[start : start + 3]) for start in range(0, len(answer), 3)]
    raw = stream(
        said(""), *pieces, said(None, "stop"), json.dumps({"choices": [], "usage": usage}), "[DONE]"
    )
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    heard, reply = played(*[raw[edges[at] : edges[at + 1]] for at in range(len(edges) - 1)])
    assert reply == ModelReply(text=answer, model="m-1", input_tokens=11, output_tokens=7)
    assert "".join(heard) == content


@given(st.integers(0, 400))
def test_no_cut_stream_is_a_whole_answer(end: int) -> None:
    """Whatever is missing at the end, up to the finish reason, the answer is refused: it broke off,
    or nothing of it came.
    """
    raw = stream(said('{"content": "whole'), said('"}'), said(None, "stop"), "[DONE]")
    needed = raw.index(b"[DONE]") - len(b"data: ")
    _, reply = played(raw[: min(end, needed - 1)])
    assert isinstance(reply, ModelError)
    assert reply.code in {ModelErrorCode.MALFORMED, ModelErrorCode.CONNECTION}
    assert isinstance(played(raw[:needed])[1], ModelReply)


@pytest.mark.parametrize(
    "reason", [None, "stop", "length", "content_filter", "tool_calls", "abort"]
)
@pytest.mark.parametrize("content", ["", "{}"])
def test_the_end_means_what_it_means_in_one_body(reason: str | None, content: str) -> None:
    """Every finish reason, with and without text, has the same meaning as in an answer that came
    whole.
    """
    whole = {
        "model": "m-1",
        "choices": [{"message": {"content": content}, "finish_reason": reason}],
    }
    assert played(stream(said(content), said(None, reason), "[DONE]"))[1] == read_completion(
        json.dumps(whole).encode(), "asked"
    )


@pytest.mark.parametrize(
    "event",
    [
        "{",
        "[]",
        '"x"',
        "1",
        "<html>",
        '{"choices": {}}',
        '{"choices": [{"delta": 1}]}',
        said("x", 1),
        '{"x": ' + "[" * 100_000,
        "\ud800",
    ],
)
def test_a_malformed_event_ends_the_answer(event: str) -> None:
    """An event that is none is a typed error with none of its content, whatever comes after it."""
    raw = b"data: " + event.encode("utf-8", "surrogatepass") + b"\n\n"
    heard, reply = played(
        stream(said('{"content": "a')), raw, stream(said('b"}', "stop"), "[DONE]")
    )
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.MALFORMED
    assert reply.message.startswith("an event of the stream: ")
    assert heard == ["a"]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"choices": []}, "{}"),
        ({"choices": None, "prompt_filter_results": []}, "{}"),
        ({"choices": [{"index": 0, "delta": None, "finish_reason": ""}]}, "{}"),
        (
            {
                "choices": [
                    {
                        "index": 1,
                        "delta": {"content": "of another choice"},
                        "finish_reason": "length",
                    }
                ]
            },
            "{}",
        ),
        (
            {
                "choices": [
                    {"delta": {"role": "assistant", "content": None, "reasoning_content": "hm"}}
                ]
            },
            "{}",
        ),
        (
            {"choices": [{"delta": {"content": " "}}], "model": None, "usage": None, "error": None},
            " {} ",
        ),
    ],
)
def test_what_servers_add_is_passed_over(event: dict[str, Any], text: str) -> None:
    """Empty choices, other choices, thoughts and absent fields change nothing."""
    _, reply = played(
        stream(json.dumps(event), said("{}"), said(None, "stop"), json.dumps(event), "[DONE]"),
        place="a",
    )
    assert reply == ModelReply(text=text, model="m-1", input_tokens=None, output_tokens=None)


def test_a_refusal_is_filtered() -> None:
    """A refusal that comes in pieces is one."""
    parts = [json.dumps({"choices": [{"delta": {"refusal": word}}]}) for word in ("I ", "cannot")]
    _, reply = played(stream(*parts, said(None, "stop"), "[DONE]"))
    assert reply == ModelError(code=ModelErrorCode.FILTERED, message="the model refused")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "rate_limit_exceeded"}, ModelErrorCode.RATE_LIMITED),
        ({"code": 429}, ModelErrorCode.RATE_LIMITED),
        ({"code": "429", "type": "insufficient_quota"}, ModelErrorCode.QUOTA_EXCEEDED),
        ({"code": None, "type": "insufficient_quota"}, ModelErrorCode.QUOTA_EXCEEDED),
        (
            {"code": "context_length_exceeded", "type": "invalid_request_error"},
            ModelErrorCode.CONTEXT_TOO_LONG,
        ),
        ({"message": "This model's maximum context length is 9"}, ModelErrorCode.CONTEXT_TOO_LONG),
        ({"code": 400, "message": "exceeds the context window"}, ModelErrorCode.CONTEXT_TOO_LONG),
        ({"code": "content_filter"}, ModelErrorCode.FILTERED),
        ({"type": "overloaded_error"}, ModelErrorCode.OVERLOADED),
        ({"code": 503}, ModelErrorCode.OVERLOADED),
        ({"code": 502}, ModelErrorCode.SERVER_ERROR),
        ({"type": "authentication_error"}, ModelErrorCode.AUTHENTICATION),
        ({"type": "invalid_request_error"}, ModelErrorCode.REJECTED),
        ({"code": "model_not_found"}, ModelErrorCode.NOT_FOUND),
        ({"type": "timeout"}, ModelErrorCode.SERVER_ERROR),
        ({"type": "server_error"}, ModelErrorCode.SERVER_ERROR),
        ({"code": "something_else"}, ModelErrorCode.SERVER_ERROR),
        ({"code": True}, ModelErrorCode.SERVER_ERROR),
        ("a text", ModelErrorCode.SERVER_ERROR),
        ([1], ModelErrorCode.SERVER_ERROR),
    ],
)
def test_an_error_within_the_stream(error: Any, code: ModelErrorCode) -> None:
    """An error that comes as an event is mapped by its code, also after text and after a finish
    reason.
    """
    _, reply = played(
        stream(said('{"content": "a"}', "stop"), json.dumps({"error": error}), "[DONE]")
    )
    assert isinstance(reply, ModelError)
    assert reply.code is code
    assert reply.message.startswith("an error within the stream")
    assert reply.charge is Charge.POSSIBLE
    if isinstance(error, dict):
        assert played(stream(json.dumps({"object": "error", **error})))[1] == reply


def test_an_error_repeats_nothing_that_was_sent() -> None:
    """An identifier is repeated only where it is no part of what was sent; sentences never are."""
    error = {"message": "about hush_words", "code": "hush_words", "type": "server_error"}
    assert (
        read_stream_error(error, "say hush_words now").message
        == "an error within the stream (server_error)"
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_error_has_a_code(value: Any) -> None:
    """Whatever stands for an error, it is mapped and bounded."""
    for given_value in (value, {"code": value, "type": value, "message": value}):
        assert len(read_stream_error(given_value).message) <= 300


@given(
    st.lists(
        st.binary(max_size=60)
        | st.sampled_from([b"data: ", b"\n\n", b"\r", said("x").encode(), b"[DONE]"]),
        max_size=20,
    )
)
def test_no_bytes_break_the_reading(chunks: list[bytes]) -> None:
    """Any bytes give a reply or a typed error."""
    assert isinstance(played(*chunks)[1], ModelReply | ModelError)


def test_an_endless_stream_ends_at_the_bound() -> None:
    """Beyond the bound nothing is taken, and the answer is malformed."""
    reading = CompletionStream("content", lambda _: None)
    chunk = b": " + b"." * 1_000_000
    taken = 0
    while reading.take(chunk):
        taken += len(chunk)
    assert taken <= STREAM_BYTES
    reply = reading.conclude("asked", "")
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.MALFORMED
    assert str(STREAM_BYTES) in reply.message
