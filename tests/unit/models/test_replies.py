"""What an answer's counts are, in whatever words and however often they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.event_stream import CompletionStream
from ordain.models.narrative import WHOLE
from ordain.models.refusals import malformed, read_refusal
from ordain.models.replies import Counts, count, counted, counts_of, counts_within, later
from ordain.models.responses import ResponseStream
from ordain.ports.model import ModelError, ModelReply

CHAT = {"prompt_tokens": 12, "completion_tokens": 6}
RESPONSE = {"input_tokens": 12, "output_tokens": 6}
NONE = {"prompt_tokens": 0, "completion_tokens": 0}
WORD = {"choices": [{"index": 0, "delta": {"content": "hello"}}]}
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
BOOM = {"error": {"message": "boom"}}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*CHAT, *RESPONSE, "usage", "error"]), inner)
    ),
)


def used(said: ModelReply | ModelError) -> tuple[int | None, int | None]:
    return said.input_tokens, said.output_tokens


def chat(*events: dict[str, Any]) -> ModelReply | ModelError:
    stream = CompletionStream(WHOLE, lambda _: None)
    stream.take("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode())
    return stream.conclude("m", "")


def responses(*events: dict[str, Any]) -> ModelReply | ModelError:
    stream = ResponseStream(WHOLE, lambda _: None)
    stream.take("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode())
    return stream.conclude("m", "")


def usage(told: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [], "usage": told}


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([WORD, usage(CHAT), BOOM], (12, 6)),
        ([usage(CHAT), BOOM], (12, 6)),
        ([WORD, {**BOOM, "usage": CHAT}], (12, 6)),
        ([WORD, BOOM], (None, None)),
        ([WORD, usage({"prompt_tokens": 12, "completion_tokens": 0}), BOOM], (12, None)),
        ([usage({"prompt_tokens": 12, "completion_tokens": 0}), BOOM], (12, 0)),
    ],
)
def test_what_a_stream_told_before_its_error_is_told(
    events: list[dict[str, Any]], told: tuple[int | None, int | None]
) -> None:
    """An error ends an answer, so what was told of its use is all of it; of one that said a word no
    output can be none.
    """
    said = chat(*events)
    assert isinstance(said, ModelError)
    assert (said.code, used(said)) == (ModelErrorCode.SERVER_ERROR, told)


def test_what_a_response_told_before_its_error_is_told() -> None:
    """The same of the other wire, within a response or beside the error."""
    begun = {
        "type": "response.in_progress",
        "response": {"status": "in_progress", "usage": RESPONSE},
    }
    for events in (
        [begun, {"type": "error", "code": "server_error"}],
        [{"type": "error", "code": "server_error", "usage": RESPONSE}],
    ):
        said = responses(*events)
        assert isinstance(said, ModelError)
        assert used(said) == (12, 6)


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([WORD, {**END, "usage": CHAT}, usage(NONE)], (12, 6)),
        ([WORD, END, usage(NONE)], (None, None)),
        ([WORD, END, usage(NONE), usage(CHAT)], (12, 6)),
        (
            [{**WORD, "usage": {"prompt_tokens": 12, "completion_tokens": 1}}, END, usage(CHAT)],
            (12, 6),
        ),
        (
            [WORD, END, usage(CHAT), usage({"prompt_tokens": 12, "completion_tokens": None})],
            (12, 6),
        ),
    ],
)
def test_a_later_count_of_nothing_takes_none_back(
    events: list[dict[str, Any]], told: tuple[int | None, int | None]
) -> None:
    """Counts add up: what was told of use stays, and an answer with words has used something,
    whatever is said of it.
    """
    assert used(chat(*events)) == told


def test_a_response_keeps_what_it_told() -> None:
    """A response that completes with counts of nothing has those that it told on the way."""
    output = [{"type": "message", "content": [{"type": "output_text", "text": "hello"}]}]
    whole = {
        "status": "completed",
        "output": output,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    begun = {
        "type": "response.in_progress",
        "response": {"status": "in_progress", "usage": RESPONSE},
    }
    assert used(responses(begun, {"type": "response.completed", "response": whole})) == (12, 6)
    assert used(responses({"type": "response.completed", "response": whole})) == (None, None)


@pytest.mark.parametrize("status", [400, 429, 500, 503])
@pytest.mark.parametrize("told", [CHAT, RESPONSE])
def test_a_refusal_tells_of_its_use(status: int, told: dict[str, int]) -> None:
    """In its body, beside the fault or within it; where it tells none there is none."""
    for body in (
        {"error": {"message": "no"}, "usage": told},
        {"error": {"message": "no", "usage": told}},
        {"detail": "no", "usage": told},
    ):
        assert used(read_refusal(status, {}, json.dumps(body).encode())) == (12, 6)
    for bare in (b"", b"[]", b"<p>", b'{"error": "no"}', b'{"usage": 3}'):
        assert read_refusal(status, {}, bare).input_tokens is None


@given(VALUES, VALUES, st.booleans())
def test_counting_is_total(first: Any, second: Any, spoke: bool) -> None:
    """Whatever stands for counts, each that comes of it is one or none."""
    found = later(counts_of(first), counts_within(second))
    assert counts_of(found) is found
    for error in (
        counted(malformed("x"), found, spoke=spoke),
        counted(malformed("x"), Counts(), spoke=spoke),
    ):
        assert all(one is None or count(one) is not None for one in used(error))
