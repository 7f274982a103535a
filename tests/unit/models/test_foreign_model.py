"""What pydantic-ai raises and returns, as errors and replies of ours."""

import inspect

import httpx2
import pytest
from pydantic_ai import exceptions as foreign
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.foreign_answers import read_response
from ordain.models.foreign_failures import failure_of
from ordain.models.schemas import OutputTool
from ordain.ports.model import ModelError, ModelReply

CODES = ModelErrorCode
SECRETS = "words with sk-hush-0123456789"
TOOL = OutputTool("step", {"type": "object"})
KINDS = [
    kind
    for _, kind in inspect.getmembers(foreign, inspect.isclass)
    if issubclass(kind, foreign.ModelAPIError | foreign.UnexpectedModelBehavior)
    and not kind.__name__.startswith("_")
]


def raised(kind: type[Exception]) -> Exception:
    """An exception of this class as the library would make it, full of words that must not come
    back.
    """
    names = inspect.signature(kind.__init__).parameters
    given = {
        "model_name": "m",
        "message": SECRETS,
        "status_code": 418,
        "body": {"error": {"message": SECRETS}},
        "timeout": 1.0,
    }
    values = {
        name: given[name]
        for name, value in names.items()
        if name in given and value.default is inspect.Parameter.empty
    }
    if kind is foreign.ModelRequestTimeout:
        return kind("m", 1.0, setting="request_timeout")
    return kind(**values)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_class_is_unmapped(kind: type[Exception]) -> None:
    """Every failure that the library names is one that we name, and none of its words come back."""
    found = failure_of(raised(kind), 0, {}, "")
    assert found.code is not CODES.ADAPTER_BUG, found
    assert 0 < len(found.message) <= 300
    assert "hush" not in found.message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx2.ReadTimeout("x"), CODES.TIMED_OUT),
        (httpx2.PoolTimeout("x"), CODES.TIMED_OUT),
        (httpx2.ConnectError(SECRETS), CODES.CONNECTION),
        (httpx2.ReadError(SECRETS), CODES.CONNECTION),
        (httpx2.RemoteProtocolError("Server disconnected"), CODES.CONNECTION),
        (httpx2.RemoteProtocolError(SECRETS), CODES.MALFORMED),
        (httpx2.ProxyError(SECRETS), CODES.CONNECTION),
        (httpx2.UnsupportedProtocol(SECRETS), CODES.CONNECTION),
    ],
)
def test_the_http_client_is_mapped_too(error: Exception, code: ModelErrorCode) -> None:
    """What its own exceptions mean, raised bare or as the cause of the library's."""
    bare = failure_of(error, 0, {}, "")
    assert bare.code is code
    assert "hush" not in bare.message
    if not isinstance(error, httpx2.TimeoutException):
        outer = foreign.ModelConnectionError("m", SECRETS)
        outer.__cause__ = error
        assert failure_of(outer, 0, {}, "").code is code


@pytest.mark.parametrize(
    "kind", [IndexError, TypeError, KeyError, AssertionError, RecursionError, ValueError]
)
def test_a_bug_is_one_unless_an_answer_was_read(kind: type[Exception]) -> None:
    """What falls over a whole answer calls the answer malformed; of a refusal the status stands;
    anything else is the adapter's bug. No word of it comes back.
    """
    for status, code in ((200, CODES.MALFORMED), (0, CODES.ADAPTER_BUG)):
        found = failure_of(kind(SECRETS), status, {}, "")
        assert found.code is code
        assert kind.__name__ in found.message
        assert "hush" not in found.message
    for status, code in ((401, CODES.AUTHENTICATION), (429, CODES.RATE_LIMITED)):
        found = failure_of(kind(SECRETS), status, {b"retry-after": b"7"}, "")
        assert (found.code, found.retry_after_ms) == (code, 7000)
        assert "hush" not in found.message


def refused(code: int, **error: object) -> foreign.ModelHTTPError:
    return foreign.ModelHTTPError.for_category(
        None, status_code=code, model_name="m", body={"error": {"message": SECRETS, **error}}
    )


def test_identifiers_come_back_and_what_was_sent_does_not() -> None:
    """A provider's own names for the fault are told, unless they stand in the prompt or the key."""
    error = refused(400, type="invalid_request_error", status="INVALID_ARGUMENT")
    assert (
        failure_of(error, 400, {}, "").message
        == "status 400 (invalid_request_error, INVALID_ARGUMENT)"
    )
    assert (
        failure_of(error, 400, {}, "x invalid_request_error INVALID_ARGUMENT").message
        == "status 400"
    )


def test_delays_are_read_from_the_answer() -> None:
    """Seconds, milliseconds and dates of the answer's own clock; what the library found in a body
    only where no header says it.
    """
    error = refused(429)
    error.retry_after = 3.5
    headers = {
        b"retry-after": b"Sun, 22 Nov 2026 12:00:09 GMT",
        b"date": b"Sun, 22 Nov 2026 12:00:00 GMT",
    }
    assert failure_of(error, 429, headers, "").retry_after_ms == 9000
    assert failure_of(error, 429, {b"retry-after-ms": b"250"}, "").retry_after_ms == 250
    assert failure_of(error, 429, {}, "").retry_after_ms == 3500
    error.retry_after = 1e12
    assert failure_of(error, 429, {}, "").retry_after_ms == 24 * 3600 * 1000


def test_a_refusal_tells_of_its_use() -> None:
    """What stands in the body of a refusal of the use that it came to."""
    error = foreign.ModelHTTPError(
        500, "m", {"error": {"type": "api_error"}, "usage": {"input_tokens": 7, "output_tokens": 3}}
    )
    found = failure_of(error, 500, {}, "")
    assert (found.input_tokens, found.output_tokens) == (7, 3)


def response(*parts: object, finish: str | None = "stop", **more: object) -> ModelResponse:
    return ModelResponse(parts=list(parts), finish_reason=finish, **more)  # type: ignore[arg-type] - any reason, any part


@pytest.mark.parametrize(
    ("finish", "code"),
    [
        ("length", CODES.TRUNCATED),
        ("content_filter", CODES.FILTERED),
        ("error", CODES.MALFORMED),
        (None, CODES.MALFORMED),
        ("odd", CODES.MALFORMED),
    ],
)
def test_only_a_whole_answer_counts(finish: str | None, code: ModelErrorCode) -> None:
    """Missing, unknown and early ends are errors although there is a text; a stream without an end
    broke off.
    """
    found = read_response(response(TextPart("{}"), finish=finish), "m", None)
    assert isinstance(found, ModelError)
    assert found.code is code
    if finish is None:
        cut = read_response(response(TextPart("{}"), finish=None), "m", None, streamed=True)
        assert isinstance(cut, ModelError)
        assert cut.code is CODES.CONNECTION


def test_texts_are_joined_and_thoughts_are_none() -> None:
    """The answer is what was said, in one piece; what was thought on the way is no part of it."""
    usage = RequestUsage(input_tokens=10, output_tokens=3, cache_read_tokens=4)
    found = read_response(
        response(
            ThinkingPart("hm"), TextPart('{"a"'), ThinkingPart("hm"), TextPart(": 1}"), usage=usage
        ),
        "asked",
        None,
    )
    assert found == ModelReply(
        text='{"a": 1}', model="asked", input_tokens=10, output_tokens=3, cached_tokens=4
    )


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [TextPart("{}")],
        [ToolCallPart("other", {"a": 1})],
        [ToolCallPart("step", {"a": 1}), ToolCallPart("step", {"a": 1})],
        [ToolCallPart("step", "{")],
        [ToolCallPart("step", None)],
        [ToolCallPart("step", {"a": "\ud800"})],
    ],
)
def test_only_the_one_tool_s_input_is_an_answer(parts: list[object]) -> None:
    """Anything else where a tool was asked for is malformed."""
    found = read_response(response(*parts, finish="tool_call"), "m", TOOL)
    assert isinstance(found, ModelError)
    assert found.code is CODES.MALFORMED
    good = read_response(
        response(TextPart("prose"), ToolCallPart("step", {"a": 1}), finish="tool_call"), "m", TOOL
    )
    assert isinstance(good, ModelReply)
    assert good.text == '{"a":1}'


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter", "odd"])
def test_an_answer_that_is_none_tells_of_its_use(finish: str) -> None:
    """A tool that was not called, a cut, a filter's stop: what it used its provider counted; a
    stream that broke off has not counted to its end.
    """
    given = ModelResponse(
        parts=[TextPart("words")],
        finish_reason=finish,
        usage=RequestUsage(input_tokens=5, output_tokens=7),
    )  # type: ignore[arg-type]
    found = read_response(given, "m", TOOL)
    assert isinstance(found, ModelError)
    assert (found.input_tokens, found.output_tokens) == (5, 7)
    cut = read_response(ModelResponse(parts=[], usage=given.usage), "m", TOOL, streamed=True)
    assert isinstance(cut, ModelError)
    assert (cut.code, cut.input_tokens) == (CODES.CONNECTION, None)
