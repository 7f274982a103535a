"""The wire of /v1/responses, without a wire."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.responses import ResponseStream, read_response
from ordain.models.schemas import OutputTool
from ordain.ports.model import ModelError, ModelReply

CODES = ModelErrorCode
TOOL = OutputTool("step", {"type": "object"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "status",
                    "output",
                    "content",
                    "type",
                    "text",
                    "error",
                    "usage",
                    "model",
                    "incomplete_details",
                    "reason",
                ]
            ),
            inner
            | st.sampled_from(
                ["completed", "incomplete", "failed", "message", "output_text", "function_call"]
            ),
            max_size=5,
        )
    ),
    max_leaves=20,
)


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def text(said: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": said}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "object": "response",
        "status": "completed",
        "model": "m-1",
        "output": list(output),
        **more,
    }


def read(value: Any, tool: OutputTool | None = None) -> ModelReply | ModelError:
    return read_response(json.dumps(value).encode(), "asked", tool)


def events(*found: Any) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in found)


def streamed(
    raw: bytes, tool: OutputTool | None = None, cuts: list[int] | None = None
) -> tuple[str, ModelReply | ModelError]:
    heard: list[str] = []
    stream = ResponseStream("content", heard.append, tool)
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts or []), len(raw)]
    for start, end in pairwise(edges):
        if not stream.take(raw[start:end]):
            break
    return "".join(heard), stream.conclude("asked", "")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({}, CODES.MALFORMED),
        ({"status": "completed"}, CODES.MALFORMED),
        (response(), CODES.MALFORMED),
        (response(message()), CODES.MALFORMED),
        (response(message(text(""))), CODES.MALFORMED),
        (response(message(text(7))), CODES.MALFORMED),
        (response(message(text("{}")), error={"code": "server_error"}), CODES.MALFORMED),
        (response(message(text("{}")), status="queued"), CODES.MALFORMED),
        (response(message(text("{}")), status="in_progress"), CODES.MALFORMED),
        (response(message(text("{}")), status="cancelled"), CODES.MALFORMED),
        (response(message(text("{}")), status="odd"), CODES.MALFORMED),
        (response(message(text("{}")), status=None), CODES.MALFORMED),
        (response(message({"type": "refusal", "refusal": "I cannot"})), CODES.FILTERED),
        (response(message(text("{}"), {"type": "refusal", "refusal": "no"})), CODES.FILTERED),
        (
            response(
                message(text("{}")),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
            CODES.TRUNCATED,
        ),
        (
            response(
                message(text("{}")),
                status="incomplete",
                incomplete_details={"reason": "content_filter"},
            ),
            CODES.FILTERED,
        ),
        (
            response(message(text("{}")), status="incomplete", incomplete_details=None),
            CODES.MALFORMED,
        ),
        (response(status="failed", error={"code": "server_error"}), CODES.SERVER_ERROR),
        (response(status="failed", error={"code": "rate_limit_exceeded"}), CODES.RATE_LIMITED),
        (response(status="failed", error={"code": "invalid_prompt"}), CODES.REJECTED),
        (response(status="failed", error=None), CODES.SERVER_ERROR),
        (response({"type": "function_call", "name": "other", "arguments": "{}"}), CODES.MALFORMED),
    ],
)
def test_what_is_no_answer_has_its_code(value: Any, code: ModelErrorCode) -> None:
    """Whatever is missing, unknown, early, refused or failed is a typed error, in one body and as
    the end of a stream.
    """
    found = read(value)
    assert isinstance(found, ModelError)
    assert found.code is code
    kinds = {"failed": "response.failed", "incomplete": "response.incomplete"}
    end = {"type": kinds.get(str(value.get("status")), "response.completed"), "response": value}
    heard, again = streamed(
        events({"type": "response.output_text.delta", "delta": '{"content": "a'}, end)
    )
    if value.get("status") == "completed" and not value.get("output"):
        # a server that leaves the output out is taken at its pieces
        assert isinstance(again, ModelReply)
    else:
        assert (heard, again) == ("a", found)


def test_no_depth_of_an_error_raises() -> None:
    """However deep the words for a fault nest, they are a typed error: just below what can be
    decoded is the worst.
    """
    for depth in range(800, 1100):
        deep = b"[" * depth + b"]" * depth
        for field in (b"code", b"type", b"message"):
            found = read_response(
                b'{"object":"response","status":"failed","error":{"%b":%b}}' % (field, deep),
                "asked",
                None,
            )
            assert isinstance(found, ModelError)


def test_a_whole_answer() -> None:
    """The texts of all messages make the answer; reasoning is none; counts are given, zero ones are
    none.
    """
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 7}
    whole = response(
        {"type": "reasoning", "summary": []}, message(text('{"a"'), text(": 1}")), usage=usage
    )
    assert read(whole) == ModelReply(
        text='{"a": 1}', model="m-1", input_tokens=100, output_tokens=7, cached_tokens=64
    )
    bare = response(
        message(text("{}")), usage={"input_tokens": 0, "output_tokens": "7"}, model=None
    )
    assert read(bare) == ModelReply(text="{}", model="asked", input_tokens=None, output_tokens=None)


def test_a_tool_holds_the_answer() -> None:
    """The input of the one tool is the answer; a text beside it is not."""
    call = {"type": "function_call", "name": "step", "arguments": '{"a": 1}'}
    found = read(response(message(text("prose")), call), TOOL)
    assert isinstance(found, ModelReply)
    assert found.text == '{"a": 1}'
    for output in (
        [],
        [message(text('{"a": 1}'))],
        [call, call],
        [{**call, "name": "other"}],
        [{**call, "arguments": '{"a": '}],
    ):
        refused = read(response(*output), TOOL)
        assert isinstance(refused, ModelError)
        assert refused.code is CODES.MALFORMED


@given(st.text(max_size=60), st.lists(st.integers(0, 10_000), max_size=12), st.booleans())
def test_a_stream_says_what_one_body_would(content: str, cuts: list[int], by_tool: bool) -> None:
    """However the bytes are cut, what was heard is the narrative and the answer that of the whole
    response at the end.
    """
    answer = json.dumps({"content": content}, ensure_ascii=False)
    kind = "response.function_call_arguments.delta" if by_tool else "response.output_text.delta"
    pieces = [
        {"type": kind, "output_index": 0, "delta": answer[at : at + 3]}
        for at in range(0, len(answer), 3)
    ]
    item = (
        {"type": "function_call", "name": "step", "arguments": answer}
        if by_tool
        else message(text(answer))
    )
    whole = response(item)
    raw = events(
        {"type": "response.created", "response": response(status="in_progress")},
        *pieces,
        {"type": "response.completed", "response": whole},
    )
    tool = TOOL if by_tool else None
    assert streamed(raw, tool, cuts) == (content, read(whole, tool))


@given(st.integers(0, 2000))
def test_no_cut_stream_is_an_answer(end: int) -> None:
    """Whatever is missing of the last event, the stream broke off."""
    pieces = [
        {"type": "response.output_text.delta", "delta": part} for part in ('{"content"', ': "a"}')
    ]
    raw = events(
        *pieces,
        {"type": "response.completed", "response": response(message(text('{"content": "a"}')))},
    )
    _, found = streamed(raw[: min(end, len(raw) - 1)])
    assert isinstance(found, ModelError)
    assert found.code in {CODES.CONNECTION, CODES.MALFORMED}
    assert isinstance(streamed(raw)[1], ModelReply)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (
            {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
            CODES.RATE_LIMITED,
        ),
        ({"type": "error", "error": {"type": "overloaded_error"}}, CODES.OVERLOADED),
        ({"error": {"code": 503}, "type": "x"}, CODES.OVERLOADED),
        ({"type": "error"}, CODES.SERVER_ERROR),
        ({"no": "type"}, CODES.MALFORMED),
        ([], CODES.MALFORMED),
        ({"type": "response.completed"}, CODES.MALFORMED),
    ],
)
def test_errors_within_a_stream(event: Any, code: ModelErrorCode) -> None:
    """An event that is an error ends the answer with its code; one that is none is malformed."""
    _, found = streamed(events({"type": "response.output_text.delta", "delta": "{}"}, event))
    assert isinstance(found, ModelError)
    assert found.code is code


@given(JSON | st.text(), st.booleans())
def test_reading_is_total(value: object, by_tool: bool) -> None:
    """Any JSON is a reply or a typed error, as a body and as an event."""
    tool = TOOL if by_tool else None
    for found in (read(value, tool), streamed(events(value), tool)[1]):
        assert isinstance(found, ModelReply | ModelError)
        if isinstance(found, ModelError):
            assert len(found.message) <= 300


@pytest.mark.parametrize(
    "value",
    [
        response(message(text("words"))),
        response(
            message(text("{")),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
        response(message({"type": "refusal", "refusal": "no"})),
        response(message(text("{}")), status="odd"),
    ],
)
def test_a_whole_response_that_is_no_answer_tells_of_its_use(value: dict[str, Any]) -> None:
    """Whatever is wrong with it, what it used its provider counted."""
    found = read({**value, "usage": {"input_tokens": 5, "output_tokens": 7}}, TOOL)
    assert isinstance(found, ModelError)
    assert (found.input_tokens, found.output_tokens) == (5, 7)
