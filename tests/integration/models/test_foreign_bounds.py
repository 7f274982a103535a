"""A hostile endpoint behind a foreign library: it holds up nobody, hides no refusal, and writes in
no log.
"""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.event_stream import AFTER_END_S
from ordain.models.foreign_answers import ALTERNATING
from ordain.models.foreign_bodies import HOLDER, TOO_MANY, WEIGHT_MOST
from ordain.models.providers import build_models
from ordain.ports.model import ModelError, ModelPort, ModelReply, ModelRequest
from tests.integration.models.wire import (
    API_KEY,
    PROTOCOLS,
    Protocol,
    http,
    http_json,
    playing,
    profile,
    send,
)

CODES = ModelErrorCode
MANY: list[Any] = [{}] * (WEIGHT_MOST // HOLDER + 1)
BODIES: dict[str, list[Any]] = {
    "anthropic": [
        {"content": MANY},
        {"content": [{"type": "text", "text": "a", "citations": MANY}]},
        {"error": {"details": MANY}},
    ],
    "gemini": [
        {"candidates": MANY},
        {"candidates": [{"content": {"parts": MANY}, "finishReason": "STOP"}]},
        {"candidates": [{"content": {"parts": [{"text": "a"}]}, "safetyRatings": MANY}]},
    ],
}


@pytest.fixture(params=[one for one in PROTOCOLS if one.name in BODIES], ids=lambda one: one.name)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return request.param


@pytest.fixture
async def model(protocol: Protocol, wire_url: str) -> AsyncIterator[ModelPort]:
    built = build_models({"m": profile(protocol, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    yield built
    await built.close()


def asked(protocol: Protocol, *operations: dict[str, Any], narrative: str = "") -> ModelRequest:
    own = profile(protocol, "http://x", structured="text")
    return structs.replace(playing(*operations), profile=own, narrative=narrative)


def events(*values: Any) -> dict[str, Any]:
    """A stream of these, each with its type as its name, where it has one."""
    lines = [
        (f"event: {value['type']}\n" if "type" in value else "") + f"data: {json.dumps(value)}\n\n"
        for value in values
    ]
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    return send((head + "".join(lines)).encode())


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("number", range(3))
async def test_values_without_number_are_no_answer(
    protocol: Protocol, model: ModelPort, number: int, streams: bool
) -> None:
    """Of a body well within its bytes, or an event: a library takes a minute over them, and
    gigabytes.
    """
    body = BODIES[protocol.name][number]
    event = body if protocol.name == "gemini" else {"type": "message_start", "message": body}
    operation = events(event) if streams else http_json(body)
    answer = await model.attempt(
        asked(protocol, operation, {"close": True}, narrative="content" if streams else ""),
        [].append if streams else None,
    )
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.message) == (CODES.MALFORMED, TOO_MANY)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":',
        b"[" * 5_000 + b"]" * 5_000,
        b'{"error":{"code":' + b"9" * 5_000 + b"}}",
        json.dumps({"error": {"details": MANY}}).encode(),
        b'"' + b"a" * 5_000_000 + b'"',
    ],
    ids=["cut", "deep", "a huge number", "many values", "large"],
)
@pytest.mark.parametrize(
    ("status", "code"), [(429, CODES.RATE_LIMITED), (401, CODES.AUTHENTICATION)]
)
async def test_a_refusals_status_stands_whatever_its_body(
    protocol: Protocol, model: ModelPort, body: bytes, status: int, code: ModelErrorCode
) -> None:
    """And with it the delay that its headers ask for."""
    refused = http(body, f"{status} No", "retry-after: 3", "content-type: application/json")
    answer = await model.attempt(asked(protocol, refused, {"close": True}))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.retry_after_ms) == (code, 3000)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
async def test_a_compressed_refusal_is_one(
    protocol: Protocol, model: ModelPort, encoding: str
) -> None:
    """Nobody asked for that, and nobody needs its words."""
    refused = http(b"\x1f\x8b\x00", "503 No", f"content-encoding: {encoding}", "retry-after: 3")
    answer = await model.attempt(asked(protocol, refused))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.retry_after_ms) == (CODES.OVERLOADED, 3000)


async def test_a_refusal_whose_body_never_ends_is_not_waited_for(
    protocol: Protocol, model: ModelPort
) -> None:
    """Longer than a moment: the status is there."""
    head = send(b"HTTP/1.1 429 No\r\ncontent-length: 100\r\nretry-after: 3\r\n\r\n")
    async with asyncio.timeout(20):
        answer = await model.attempt(asked(protocol, head, {"sleep": 60}))
    assert isinstance(answer, ModelError)
    assert answer.code is CODES.RATE_LIMITED


async def test_no_warning_of_a_library_quotes_an_answer(
    protocol: Protocol, model: ModelPort
) -> None:
    """They go to the log, past whatever strikes keys there."""
    odd = {
        "anthropic": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "wire",
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [
                {"type": "code_execution_tool_result", "tool_use_id": "x", "content": API_KEY},
                {"type": "text", "text": "a"},
            ],
        },
        "gemini": {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "a"}]},
                    "finishReason": f"KEY={API_KEY}",
                }
            ]
        },
    }[protocol.name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        await model.attempt(asked(protocol, http_json(odd)))
    assert [str(one.message) for one in told if API_KEY[:12] in str(one.message)] == []


async def test_an_event_is_counted_with_all_its_lines(protocol: Protocol, model: ModelPort) -> None:
    """A library puts its lines together; each by itself is light."""
    value = json.dumps({"type": "message_start", "message": {"content": MANY}})
    if protocol.name == "gemini":
        value = json.dumps({"candidates": [{"content": {"parts": MANY}}]})
    lines = "".join(f"data: {part}\n" for part in value.replace("}, ", "},\n").split("\n"))
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    answer = await model.attempt(
        asked(protocol, send(f"{head}{lines}\n".encode()), {"close": True}, narrative="content"),
        [].append,
    )
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.message) == (CODES.MALFORMED, TOO_MANY)


def parts(text: str, reason: str) -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": reason}
        ]
    }


@pytest.mark.parametrize("reason", ["STOP", "", "FINISH_REASON_UNSPECIFIED"])
async def test_an_answer_that_goes_on_behind_its_end_is_not_cut(wire_url: str, reason: str) -> None:
    """A server may say of each piece how it ended: what comes later belongs to the answer."""
    gemini = next(one for one in PROTOCOLS if one.name == "gemini")
    model = build_models({"m": profile(gemini, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    begun = events(parts("a ", reason), parts("b ", reason))
    end = send(f"data: {json.dumps(parts('c', 'STOP'))}\n\n".encode())
    answer = await model.attempt(
        asked(
            gemini, begun, {"sleep": AFTER_END_S + 0.5}, end, {"close": True}, narrative="content"
        ),
        [].append,
    )
    assert isinstance(answer, ModelReply), answer
    assert answer.text == "a b c"
    await model.close()


async def test_what_stands_beside_events_is_the_librarys_to_judge(wire_url: str) -> None:
    """An error in plain JSON has its code, and a whole answer that is none of a stream is one."""
    gemini = next(one for one in PROTOCOLS if one.name == "gemini")
    model = build_models({"m": profile(gemini, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    error = {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}}
    for body, code in ((error, CODES.RATE_LIMITED), (parts("hi", "STOP"), None)):
        answer = await model.attempt(
            asked(gemini, http_json(body), {"close": True}, narrative="content"), [].append
        )
        if code is None:
            assert isinstance(answer, ModelReply), answer
            assert answer.text == "hi"
        else:
            assert isinstance(answer, ModelError)
            assert answer.code is code
    await model.close()


GOOD: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "wire",
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 1},
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": "hi"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}
            ]
        }
    ],
}


@pytest.mark.parametrize(
    "line", [": alive", "id: 7", "retry: 10", "\ufeff", "event", "data: [DONE]"], ids=repr
)
async def test_a_stream_may_hold_what_streams_hold(
    protocol: Protocol, model: ModelPort, line: str
) -> None:
    """Comments, places to come back to, a mark at the beginning, a sign of the end: gateways send
    them, and none of them is an event.
    """
    good = events(*GOOD[protocol.name])
    if line == "event":
        line = "" if protocol.name == "anthropic" else "event: x"
    head, _, rest = base64.b64decode(good["send"]).partition(b"\r\n\r\n")
    around = f"{line}\n\n".encode() if line and line != "\ufeff" else line.encode()
    begun = b"" if "DONE" in line else around
    answer = await model.attempt(
        asked(
            protocol,
            send(head + b"\r\n\r\n" + begun + rest + (around if "DONE" in line else b"")),
            {"close": True},
            narrative="content",
        ),
        [].append,
    )
    assert isinstance(answer, ModelReply), answer
    assert answer.text == "hi"


@pytest.mark.parametrize("then", ["silence", "a reset"])
async def test_an_answer_that_said_its_end_is_whole(
    protocol: Protocol, model: ModelPort, then: str
) -> None:
    """Also where nobody closes the connection, or it breaks: it was heard, and is paid for."""
    good = events(*GOOD[protocol.name])
    good = send(
        base64.b64decode(good["send"]).replace(b"connection: close", b"content-length: 9999")
    )
    after = {"sleep": 60} if then == "silence" else {"close": True}
    async with asyncio.timeout(30):
        answer = await model.attempt(asked(protocol, good, after, narrative="content"), [].append)
    assert isinstance(answer, ModelReply), answer
    assert answer.text == "hi"


async def test_what_is_heard_stands_in_the_order_of_the_answer(wire_url: str) -> None:
    """Parts that take turns are no answer: who listened has heard them as they came."""
    anthropic = next(one for one in PROTOCOLS if one.name == "anthropic")
    built = build_models({"m": profile(anthropic, wire_url, base_url=wire_url)}, {"m": API_KEY})
    model, block = built["m"], {"type": "text", "text": ""}
    begun = {"id": "m", "type": "message", "role": "assistant", "model": "wire", "content": []}
    begun |= {"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}

    def says(*turns: tuple[int, str]) -> dict[str, Any]:
        return events(
            {"type": "message_start", "message": begun},
            *(
                {"type": "content_block_start", "index": at, "content_block": block}
                for at in (0, 1)
            ),
            *(
                {
                    "type": "content_block_delta",
                    "index": at,
                    "delta": {"type": "text_delta", "text": text},
                }
                for at, text in turns
            ),
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
            {"type": "message_stop"},
        )

    for turns, whole in (([(0, "A"), (1, "B")], "AB"), ([(0, "A"), (1, "B"), (0, "C")], None)):
        heard: list[str] = []
        request = asked(anthropic, says(*turns), {"close": True}, narrative="content")
        answer = await model.attempt(structs.replace(request, schema=None), heard.append)
        assert "".join(heard) == "AB"
        if whole is None:
            assert isinstance(answer, ModelError)
            assert answer.message == ALTERNATING
        else:
            assert isinstance(answer, ModelReply)
            assert answer.text == whole
    await model.close()
