"""An answer that was cut at its length: words count and are told as cut, JSON never does. Over
every wire, as one body and as a stream.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.models.chat_completions import read_completion
from ordain.models.event_stream import CompletionStream
from ordain.models.foreign_answers import read_answer
from ordain.models.narrative import WHOLE
from ordain.models.responses import ResponseStream, read_response
from ordain.ports.model import CUT, ModelError, ModelReply, ModelRequest

Read = Callable[[str, bool], ModelReply | ModelError]


def chat(text: str, plain: bool) -> ModelReply | ModelError:
    said = {"choices": [{"message": {"content": text}, "finish_reason": "length"}]}
    return read_completion(json.dumps(said).encode(), "m", plain=plain)


def chat_stream(text: str, plain: bool) -> ModelReply | ModelError:
    stream = CompletionStream(WHOLE if plain else "content", [].append)
    assert stream.wants(b"text/event-stream")
    for part in ({"delta": {"content": text}}, {"delta": {}, "finish_reason": "length"}):
        stream.take(f"data: {json.dumps({'choices': [part]})}\n\n".encode())
    return stream.conclude("m", "")


def incomplete(text: str) -> dict[str, Any]:
    output = (
        [{"type": "message", "content": [{"type": "output_text", "text": text}]}] if text else []
    )
    return {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": output,
    }


def response(text: str, plain: bool) -> ModelReply | ModelError:
    return read_response(json.dumps(incomplete(text)).encode(), "m", plain=plain)


def response_stream(text: str, plain: bool) -> ModelReply | ModelError:
    stream = ResponseStream(WHOLE if plain else "content", [].append)
    assert stream.wants(b"text/event-stream")
    stream.take(
        (
            f"data: {json.dumps({'type': 'response.incomplete', 'response': incomplete(text)})}\n\n"
        ).encode()
    )
    return stream.conclude("m", "")


def foreign(text: str, plain: bool) -> ModelReply | ModelError:
    asked = ModelRequest(
        profile=ModelProfile(provider="gemini", model="m"),
        purpose="verb",
        system="",
        user="",
        schema_name="s",
        schema=None if plain else {},
        max_tokens=9,
        timeout_s=1,
        inputs={},
        index=0,
    )
    given = ModelResponse(
        parts=[TextPart(text)] if text else [], finish_reason="length", model_name="m"
    )
    return read_answer(given, asked, None)


READERS = [chat, chat_stream, response, response_stream, foreign]


@pytest.mark.parametrize("read", READERS)
def test_words_that_were_cut_are_words(read: Read) -> None:
    """What there is of them is the answer, and the header says that it was cut."""
    said = read("And so on and", True)
    assert isinstance(said, ModelReply)
    assert (said.text, said.notice) == ("And so on and", CUT)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": '])
def test_json_that_was_cut_is_none(read: Read, text: str) -> None:
    """It can read like a whole one."""
    said = read(text, False)
    assert isinstance(said, ModelError)
    assert said.code is ModelErrorCode.TRUNCATED


@pytest.mark.parametrize("read", READERS)
def test_nothing_that_was_cut_is_nothing(read: Read) -> None:
    """Where all tokens went into thoughts that are told apart there is no text."""
    said = read("", True)
    assert isinstance(said, ModelError)
    assert said.code is ModelErrorCode.TRUNCATED
