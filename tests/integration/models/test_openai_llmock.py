"""The OpenAI-compatible adapter against llmock, a fake server that nobody here wrote."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.openai import OpenAIModel
from ordain.ports.model import ModelError, ModelReply
from tests.integration.models.wire import API_KEY, request


async def test_an_answer_of_the_schema(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A native schema travels and the answer is of its shape, with token counts."""
    script_llmock()
    answer = await llmock_model.attempt(request("Give a."))
    assert isinstance(answer, ModelReply)
    assert isinstance(json.loads(answer.text)["a"], int)
    assert answer.input_tokens
    assert answer.output_tokens


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, None, ModelErrorCode.REJECTED),
        (400, "context_length_exceeded", ModelErrorCode.CONTEXT_TOO_LONG),
        (401, None, ModelErrorCode.AUTHENTICATION),
        (403, None, ModelErrorCode.AUTHENTICATION),
        (404, None, ModelErrorCode.NOT_FOUND),
        (429, None, ModelErrorCode.RATE_LIMITED),
        (429, "insufficient_quota", ModelErrorCode.QUOTA_EXCEEDED),
        (500, None, ModelErrorCode.SERVER_ERROR),
        (502, None, ModelErrorCode.SERVER_ERROR),
        (503, None, ModelErrorCode.OVERLOADED),
        (529, None, ModelErrorCode.OVERLOADED),
    ],
)
async def test_provider_errors(
    llmock_model: OpenAIModel,
    script_llmock: Callable[..., None],
    status: int,
    code: str | None,
    expected: ModelErrorCode,
) -> None:
    """A provider's own error bodies are mapped, in one attempt, and the next call works."""
    fault: dict[str, Any] = {"type": "fail", "status": status, "times": 1}
    script_llmock({**fault, "code": code} if code else fault)
    answer = await llmock_model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert answer.code is expected, answer
    assert API_KEY not in answer.message
    assert isinstance(await llmock_model.attempt(request("x")), ModelReply)


async def test_a_rate_limit_says_when(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """Retry-After comes back and is not waited for."""
    script_llmock({"type": "fail", "status": 429, "retry_after": 7, "times": 1})
    answer = await llmock_model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.retry_after_ms) == (ModelErrorCode.RATE_LIMITED, 7000)


async def test_a_slow_answer_times_out(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A held answer ends at the attempt's time-out."""
    script_llmock({"type": "delay", "seconds": 5, "times": 1})
    answer = await llmock_model.attempt(request("x", timeout_s=0.3))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.TIMED_OUT
    script_llmock()


@pytest.mark.parametrize(
    ("reason", "code"),
    [("length", ModelErrorCode.TRUNCATED), ("content_filter", ModelErrorCode.FILTERED)],
)
async def test_early_ends(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None], reason: str, code: ModelErrorCode
) -> None:
    """An answer that a provider stopped early is an error although its text is there."""
    script_llmock({"type": "reply", "text": '{"a": 1}', "finish_reason": reason, "times": 1})
    answer = await llmock_model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert answer.code is code


async def test_tool_calls_without_content_are_no_answer(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A model that calls a tool nobody offered has not answered."""
    script_llmock(
        {"type": "reply", "tool_calls": [{"name": "look_up", "arguments": {}}], "times": 1}
    )
    answer = await llmock_model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.MALFORMED
