"""Every adapter against llmock's whole fault matrix: each fault has its code, in one request, and
the next call works.
"""

import asyncio
import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import Charge, ModelError, ModelPort, ModelReply, ModelRequest
from tests.integration.models.wire import API_KEY, SYSTEM, Protocol, asking

CODES = ModelErrorCode
Script = Callable[..., None]
STATUSES = [
    (400, CODES.REJECTED),
    (401, CODES.AUTHENTICATION),
    (402, CODES.QUOTA_EXCEEDED),
    (403, CODES.AUTHENTICATION),
    (404, CODES.NOT_FOUND),
    (408, CODES.SERVER_ERROR),
    (409, CODES.REJECTED),
    (413, CODES.CONTEXT_TOO_LONG),
    (422, CODES.REJECTED),
    (429, CODES.RATE_LIMITED),
    (500, CODES.SERVER_ERROR),
    (501, CODES.SERVER_ERROR),
    (502, CODES.SERVER_ERROR),
    (503, CODES.OVERLOADED),
    (504, CODES.SERVER_ERROR),
    (529, CODES.OVERLOADED),
]
TOO_LONG = {
    "chat": ("context_length_exceeded", "This model's maximum context length is 10 tokens."),
    "responses": ("context_length_exceeded", "This model's maximum context length is 10 tokens."),
    "anthropic": (None, "prompt is too long: 20 tokens > 10 maximum"),
    "gemini": (
        None,
        "The input token count (20) exceeds the maximum number of tokens allowed (10).",
    ),
}


def served(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/_llmock/requests", timeout=10) as answer:
        return json.load(answer)["requests"]


def failed(answer: ModelReply | ModelError, code: ModelErrorCode) -> ModelError:
    assert isinstance(answer, ModelError), answer
    assert answer.code is code, answer
    assert 0 < len(answer.message) <= 300
    assert API_KEY not in answer.message
    assert SYSTEM not in answer.message
    return answer


def streaming(protocol: Protocol, url: str, **more: Any) -> ModelRequest:
    return asking(
        protocol, url, narrative="text", schema=TEXT_SCHEMA, **{"structured": "native", **more}
    )


SAID = {"text": "Models propose. Code ordains. “Ça va?” 😀", "n": 1}
IN_WORDS = {"type": "reply", "text": json.dumps(SAID, ensure_ascii=False), "times": 1}
TEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text", "n"],
    "additionalProperties": False,
}


async def test_an_answer_of_the_schema(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script
) -> None:
    """B-35 "live backends optional behind the gateway interface": each provider is a profile's
    data, and its answer comes with token counts, in one request.
    """
    script_llmock()
    answer = await spoken.attempt(asking(protocol, llmock_url))
    assert isinstance(answer, ModelReply), answer
    assert isinstance(json.loads(answer.text)["a"], int)
    assert answer.input_tokens
    assert answer.output_tokens
    assert len(served(llmock_url)) == 1


async def test_a_streamed_answer_is_heard(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script
) -> None:
    """What is heard on the way is the narrative of the answer that comes."""
    called = {
        "type": "reply",
        "tool_calls": [{"name": "planner_step", "arguments": SAID}],
        "times": 1,
    }
    for way, reply in (("text", IN_WORDS), ("tool", called)):
        script_llmock(reply)
        heard: list[str] = []
        answer = await spoken.attempt(streaming(protocol, llmock_url, structured=way), heard.append)
        assert isinstance(answer, ModelReply), answer
        assert json.loads(answer.text) == SAID
        assert answer.output_tokens
        assert "".join(heard) == SAID["text"]
        # whose wire has a tool's input in one piece
        assert len(heard) > 1 or (protocol.name, way) == ("gemini", "tool")


@pytest.mark.parametrize(("status", "code"), STATUSES)
async def test_statuses(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    status: int,
    code: ModelErrorCode,
) -> None:
    """A provider's own error body has its code after exactly one request, also where a stream was
    asked for.
    """
    script_llmock({"type": "fail", "status": status, "times": 2})
    failed(await spoken.attempt(asking(protocol, llmock_url)), code)
    failed(await spoken.attempt(streaming(protocol, llmock_url), [].append), code)
    assert len(served(llmock_url)) == 2
    assert isinstance(await spoken.attempt(asking(protocol, llmock_url)), ModelReply)


async def test_a_prompt_that_is_too_long(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script
) -> None:
    """Each provider's own way to say that the context is too small is understood."""
    code, message = TOO_LONG[protocol.name]
    script_llmock(
        {
            "type": "fail",
            "status": 400,
            "message": message,
            "times": 1,
            **({"code": code} if code else {}),
        }
    )
    failed(await spoken.attempt(asking(protocol, llmock_url)), CODES.CONTEXT_TOO_LONG)


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_delay_comes_back(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script, status: int
) -> None:
    """The delay that a provider asks for comes back to the millisecond and is not waited for."""
    script_llmock({"type": "fail", "status": status, "retry_after": 7.25, "times": 1})
    answer = await spoken.attempt(asking(protocol, llmock_url))
    assert isinstance(answer, ModelError)
    assert answer.retry_after_ms == 7250


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ("disconnect", {CODES.CONNECTION}),
        ("truncate", {CODES.CONNECTION}),
        ("malformed", {CODES.MALFORMED}),
    ],
)
@pytest.mark.parametrize("after", [0, 1, 2, 4])
async def test_broken_streams(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    *,
    fault: str,
    codes: set[ModelErrorCode],
    after: int,
) -> None:
    """A stream that is dropped, cut without a word or garbled is refused, wherever it broke."""
    script_llmock(
        IN_WORDS, {"type": "stream_fault", "kind": fault, "after_chunks": after, "times": 1}
    )
    answer = await spoken.attempt(streaming(protocol, llmock_url, structured="text"), [].append)
    assert [each["fault"] for each in served(llmock_url)] == [f"stream:{fault}@{after}"]
    if (protocol.name, fault, after) == ("anthropic", "malformed", 2):
        # a garbled ping: nothing is lost by it
        assert isinstance(answer, ModelReply)
        assert json.loads(answer.text) == SAID
    else:
        assert (
            failed(answer, answer.code if isinstance(answer, ModelError) else CODES.MALFORMED).code
            in codes
        )


@pytest.mark.parametrize(
    "fault",
    [
        {"type": "delay", "seconds": 20},
        {"type": "slow_first_token", "seconds": 20},
        {"type": "stream_fault", "kind": "stall", "after_chunks": 1, "stall_seconds": 20},
    ],
    ids=lambda fault: fault.get("kind", fault["type"]),
)
async def test_what_takes_too_long(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    fault: dict[str, Any],
) -> None:
    """A late answer, a late first word and a stall within end at the attempt's time-out."""
    script_llmock(IN_WORDS, {**fault, "times": 1})
    answer = await spoken.attempt(
        streaming(protocol, llmock_url, structured="text", timeout_s=0.4), [].append
    )
    failed(answer, CODES.TIMED_OUT)
    script_llmock()


@pytest.mark.parametrize(("after", "code"), [(0, CODES.TIMED_OUT), (9, CODES.CONNECTION)])
async def test_a_stall_in_the_midst_may_pass(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    after: int,
    code: ModelErrorCode,
) -> None:
    """A stream that falls silent once it has said something is given up long before the time-out,
    as a connection that was lost.
    """
    script_llmock(
        IN_WORDS,
        {
            "type": "stream_fault",
            "kind": "stall",
            "after_chunks": after,
            "stall_seconds": 20,
            "times": 1,
        },
    )
    asked = streaming(
        protocol,
        llmock_url,
        structured="text",
        idle_ms=100,
        timeout_s=0.6 if code is CODES.TIMED_OUT else 60,
    )
    answer = failed(await spoken.attempt(asked, [].append), code)
    assert answer.charge is Charge.POSSIBLE
    assert ("stopped in the midst" in answer.message) is (code is CODES.CONNECTION)
    script_llmock()


async def test_cancelling_passes_through(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script
) -> None:
    """An attempt that is given up ends at once, and the adapter goes on working."""
    script_llmock({"type": "delay", "seconds": 20, "times": 1})
    task = asyncio.create_task(spoken.attempt(asking(protocol, llmock_url)))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    script_llmock()
    assert isinstance(await spoken.attempt(asking(protocol, llmock_url)), ModelReply)


@pytest.mark.parametrize(
    ("reason", "code"), [("length", CODES.TRUNCATED), ("content_filter", CODES.FILTERED)]
)
@pytest.mark.parametrize("heard", [True, False], ids=["streamed", "whole"])
async def test_early_ends(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    *,
    reason: str,
    code: ModelErrorCode,
    heard: bool,
) -> None:
    """An answer that a provider stopped early is an error although its text is there."""
    if (protocol.name, reason) == ("responses", "content_filter"):
        return  # llmock's responses know no filter; tests/unit/models/test_responses.py has it
    script_llmock({"type": "reply", "text": '{"a": 1}', "finish_reason": reason, "times": 1})
    asked = asking(protocol, llmock_url, structured="text", narrative="a" if heard else "")
    failed(await spoken.attempt(asked, [].append), code)


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
@pytest.mark.parametrize("heard", [True, False], ids=["streamed", "whole"])
async def test_broken_tool_calls(
    protocol: Protocol,
    spoken: ModelPort,
    llmock_url: str,
    script_llmock: Script,
    *,
    kind: str,
    heard: bool,
) -> None:
    """A call of a tool that nobody offered, or with half an input, is no answer; an input made
    empty on the way fits no schema.
    """
    script_llmock({"type": "tool_fault", "kind": kind, "times": 1})
    answer = await spoken.attempt(
        asking(protocol, llmock_url, narrative="a" if heard else ""), [].append
    )
    if isinstance(answer, ModelReply):
        # llmock itself sends {} where its wire has no place for broken JSON
        assert kind == "malformed_arguments"
        assert answer.text == "{}"
    else:
        failed(answer, CODES.MALFORMED)


async def test_a_text_where_a_tool_was_asked_for(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Script
) -> None:
    """A model that talks instead of calling the tool has not answered."""
    script_llmock({"type": "reply", "text": "I would rather talk.", "times": 1})
    failed(await spoken.attempt(asking(protocol, llmock_url)), CODES.MALFORMED)
