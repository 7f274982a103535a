"""The OpenAI-compatible adapter where plain words are asked for: an answer counts in whatever
envelope it comes, and what was cut is told as cut.
"""

import json
from typing import Any

import pytest
from msgspec import structs

from ordain.models.openai import OpenAIModel
from ordain.ports.model import SILENCED, ModelError, ModelReply, ModelRequest
from tests.integration.models.test_openai_stream import CHUNKED, DONE, LAST, STOP, chunk, event
from tests.integration.models.wire import playing, send

HI = [event("Hi "), event("there")]
BARE = send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
TYPED = send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n")
CLOSE = {"close": True}


def words(*operations: dict[str, Any], idle_ms: int = 100) -> ModelRequest:
    asked = playing(*operations)
    return structs.replace(
        asked,
        schema=None,
        narrative="content",
        profile=asked.profile.model_copy(update={"idle_ms": idle_ms}),
    )


def data(choice: dict[str, Any], **more: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, **choice}], **more}).encode() + b"\n\n"


ENVELOPES = {
    "done without a reason": [CHUNKED, *map(chunk, HI), chunk(DONE), LAST],
    "silent after its reason": [CHUNKED, *map(chunk, HI), chunk(STOP), {"sleep": 30}],
    "broken off after its reason": [CHUNKED, *map(chunk, HI), chunk(STOP), CLOSE],
    "without a type": [BARE, send(b"".join([*HI, STOP, DONE])), CLOSE],
    "with another type": [TYPED, send(b": ping\n\nevent: message\n" + b"".join([*HI, STOP])),
        CLOSE],
    "a message in the stream": [CHUNKED, chunk(data({"message": {"content": "Hi there"},
        "finish_reason": "stop"})), LAST],
    "a message after its pieces": [
        CHUNKED, *map(chunk, HI), chunk(data({"message": {"content": "Hi there"},
            "finish_reason": "stop"})), LAST
    ],
}  # fmt: skip


@pytest.mark.parametrize("operations", ENVELOPES.values(), ids=ENVELOPES)
async def test_words_count_in_every_envelope(
    wire: OpenAIModel, operations: list[dict[str, Any]]
) -> None:
    """What the protocol says is whole is a whole answer, however little else it says."""
    heard: list[str] = []
    answer = await wire.attempt(words(*operations), heard.append)
    assert isinstance(answer, ModelReply), answer
    assert (answer.text, answer.notice, "".join(heard)) == ("Hi there", None, "Hi there")


@pytest.mark.parametrize("heard", [None, [].append])
async def test_events_that_nobody_asked_for_are_read(wire: OpenAIModel, heard: Any) -> None:
    """An endpoint that always streams is understood where nobody listens."""
    asked = structs.replace(words(CHUNKED, *map(chunk, HI), chunk(STOP), LAST), narrative="")
    answer = await wire.attempt(asked, heard)
    assert isinstance(answer, ModelReply), answer
    assert answer.text == "Hi there"


async def test_words_that_fell_silent_are_kept_and_told_as_cut(wire: OpenAIModel) -> None:
    """Nothing says whether they are whole: the notice does."""
    answer = await wire.attempt(words(CHUNKED, *map(chunk, HI), {"sleep": 30}), [].append)
    assert isinstance(answer, ModelReply), answer
    assert (answer.text, answer.notice) == ("Hi there", SILENCED)
    assert isinstance(
        await wire.attempt(words(CHUNKED, *map(chunk, HI), CLOSE), [].append), ModelError
    )


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (['"Hi \\ud83d there"'], "Hi \ufffd there"),
        (['"Hi \\ud83d"', '"\\ude00 there"'], "Hi \U0001f600 there"),
        (['"Hi \\ude00"', '"\\ud83d there"'], "Hi \ufffd\ufffd there"),
    ],
    ids=["alone", "in two events", "the wrong way round"],
)
async def test_half_a_sign_spoils_no_more_than_itself(
    wire: OpenAIModel, pieces: list[str], text: str
) -> None:
    """Halves that belong together are put together, also while they are heard; another one stands
    as U+FFFD.
    """
    parts = [
        b'data: {"choices":[{"index":0,"delta":{"content":%b}}]}\n\n' % piece.encode()
        for piece in pieces
    ]
    heard: list[str] = []
    answer = await wire.attempt(words(CHUNKED, *map(chunk, parts), chunk(STOP), LAST), heard.append)
    assert isinstance(answer, ModelReply), answer
    assert (answer.text, "".join(heard)) == (text, text)
    body = b'{"choices":[{"message":{"content":%b},"finish_reason":"stop"}]}' % pieces[0].encode()
    head = send(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        % len(body)
        + body
    )
    whole = await wire.attempt(words(head))
    assert isinstance(whole, ModelReply), whole
    assert "\ufffd" in whole.text
