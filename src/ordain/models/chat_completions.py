"""The chat-completions wire: what is sent, how an answer is read, what a refusal means. Pure and total.

Three dialects differ in details that matter, and one choice is made for each:

- **Schema.** With ``native_schema`` it travels as ``response_format.json_schema``; ``strict`` is true only where the schema keeps
  OpenAI's strict rules, since the API refuses others outright. llama.cpp and vLLM enforce the schema either way. Without
  ``native_schema`` it stands at the end of the system text, and no ``response_format`` is assumed.
- **Length.** OpenAI itself wants ``max_completion_tokens``, every other server knows ``max_tokens``.
- **Finish.** Only ``stop`` is a whole answer. Missing, unknown and early ends are errors: a truncated answer can be valid JSON.

Messages are put together from fixed words and from the provider's *identifiers* (``rate_limit_exceeded``), never from its sentences:
those quote prompts and keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ordain.contracts.policy import ModelErrorCode
from ordain.ports.model import ModelError, ModelReply, ModelRequest

MESSAGE_CHARS = 300
MODEL_CHARS = 200
RETRY_AFTER_MS_MAX = 24 * 3600 * 1000
SCHEMAS_KEPT = 256

_SCHEMA_PREAMBLE = "\n\nAnswer with one JSON value and nothing else, valid for this JSON Schema:\n"
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_.\[\]]{2,47}")
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_CONTEXT_WORDS = re.compile(r"context (length|size|window)|maximum context|too many tokens", re.IGNORECASE)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_STRICT_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "title", "description"}
    | {"pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
)
_STATUS = {
    401: ModelErrorCode.AUTHENTICATION,
    402: ModelErrorCode.QUOTA_EXCEEDED,
    403: ModelErrorCode.AUTHENTICATION,
    404: ModelErrorCode.NOT_FOUND,
    408: ModelErrorCode.TIMED_OUT,
    413: ModelErrorCode.CONTEXT_TOO_LONG,
    429: ModelErrorCode.RATE_LIMITED,
    503: ModelErrorCode.OVERLOADED,
    529: ModelErrorCode.OVERLOADED,
}
_STATUS_OF_NAME = (
    {"rate_limit_exceeded": 429, "rate_limit_error": 429, "too_many_requests": 429, "invalid_api_key": 401, "authentication_error": 401}
    | {"permission_error": 403, "model_not_found": 404, "not_found_error": 404, "timeout": 408, "timeout_error": 408}
    | {"overloaded": 503, "overloaded_error": 503, "engine_overloaded": 503, "service_unavailable": 503, "unavailable_error": 503}
    | {"invalid_request_error": 400, "BadRequestError": 400}
    | dict.fromkeys(_QUOTA_CODES, 429)
    | dict.fromkeys(_CONTEXT_CODES | _FILTER_CODES, 400)
)
"""The status that a provider's word would have come with, had the answer not begun already."""


class _Message(Struct, frozen=True):
    role: str
    content: str


class _StreamOptions(Struct, frozen=True):
    include_usage: bool


class _Body(Struct, frozen=True, kw_only=True):
    model: str
    messages: tuple[_Message, _Message]
    max_tokens: int | UnsetType = UNSET
    max_completion_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    response_format: Raw | UnsetType = UNSET
    stream: bool | UnsetType = UNSET
    stream_options: _StreamOptions | UnsetType = UNSET


class AnswerMessage(Struct, frozen=True):
    """What the model said, or its refusal."""

    content: str | None = None
    refusal: str | None = None


class Choice(Struct, frozen=True):
    """One answer, and why it ended."""

    message: AnswerMessage
    finish_reason: str | None = None


class Completion(Struct, frozen=True):
    """A whole answer, read from one body or put together from a stream; ``model``, ``usage`` and ``error`` as they came."""

    choices: list[Choice] | None = None
    model: Any = None
    usage: Any = None
    error: Any = None


_ENCODER = msgspec.json.Encoder()
_COMPLETION = msgspec.json.Decoder(Completion)
_ANY = msgspec.json.Decoder()
_formats: dict[tuple[str, bytes], Raw] = {}  # encoded by name and content: a pure function's results, so sharing them is safe


def encode_request(request: ModelRequest, *, modern_length: bool = False, stream: bool = False) -> bytes:
    """The body of one request; ``modern_length`` says ``max_completion_tokens`` instead of ``max_tokens``.

    ``stream`` asks for the answer as events, with token counts at their end.

    Raises:
        UnicodeEncodeError: the prompt holds a lone surrogate, which no wire can carry.
    """
    profile = request.profile
    length = min(request.max_tokens, profile.max_tokens)
    system = request.system
    schema = _ENCODER.encode(request.schema)
    if not profile.native_schema:
        system += _SCHEMA_PREAMBLE + schema.decode()
    return _ENCODER.encode(
        _Body(
            model=profile.model,
            messages=(_Message("system", system), _Message("user", request.user)),
            max_tokens=UNSET if modern_length else length,
            max_completion_tokens=length if modern_length else UNSET,
            temperature=UNSET if profile.temperature is None else profile.temperature,
            response_format=_response_format(request.schema_name, schema, request.schema) if profile.native_schema else UNSET,
            stream=True if stream else UNSET,
            stream_options=_StreamOptions(include_usage=True) if stream else UNSET,
        )
    )


def _response_format(name: str, encoded: bytes, schema: dict[str, Any]) -> Raw:
    """Judging strictness walks the whole schema, so the result is kept by content; a mutated schema has another key."""
    key = (name, encoded)
    found = _formats.get(key)
    if found is None:
        if len(_formats) >= SCHEMAS_KEPT:
            _formats.clear()
        clean = _NOT_A_NAME.sub("_", name)[:64] or "answer"
        inner = {"name": clean, "strict": keeps_strict_rules(schema), "schema": Raw(encoded)}
        found = _formats[key] = Raw(_ENCODER.encode({"type": "json_schema", "json_schema": inner}))
    return found


def keeps_strict_rules(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode would take the schema: an object at the root, each object closed with every property required."""
    return schema.get("type") == "object" and _strict(schema)


def _strict(schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return False
    node = cast("Mapping[str, Any]", schema)
    if not _STRICT_KEYWORDS.issuperset(node):
        return False
    if "object" in _types(node) or "properties" in node:
        properties: Mapping[str, Any] = node.get("properties") or {}
        if node.get("additionalProperties") is not False or set(node.get("required", ())) != set(properties):
            return False
    parts: list[object] = [*(node.get("properties") or {}).values(), *(node.get("$defs") or {}).values(), *(node.get("anyOf") or ())]
    if "items" in node:
        parts.append(node["items"])
    return all(_strict(part) for part in parts)


def _types(node: Mapping[str, Any]) -> tuple[str, ...]:
    kind = node.get("type")
    return (kind,) if isinstance(kind, str) else tuple(cast("list[str]", kind or ()))


def read_completion(body: bytes, asked: str) -> ModelReply | ModelError:
    """Read the body of a 2xx answer; ``asked`` is the model's name where the answer gives none. Never raises."""
    try:
        completion = _COMPLETION.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return malformed(why_unreadable(body, error))
    return conclude(completion, asked)


def conclude(completion: Completion, asked: str) -> ModelReply | ModelError:
    """Judge a whole answer; ``asked`` as for ``read_completion``. Never raises."""
    if completion.error:
        return malformed("an error with a status of success")
    if not completion.choices:
        return malformed("no choices in the answer")
    choice = completion.choices[0]
    failure = _finish(choice)
    if failure is not None:
        return failure
    model = completion.model if isinstance(completion.model, str) and completion.model else asked
    counts: Any = completion.usage
    usage = cast("dict[str, Any]", counts) if isinstance(counts, dict) else {}
    return ModelReply(
        text=choice.message.content or "",
        model=model[:MODEL_CHARS],
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _finish(choice: Choice) -> ModelError | None:
    message = choice.message
    if message.refusal:
        return ModelError(code=ModelErrorCode.FILTERED, message="the model refused")
    match choice.finish_reason:
        case None:
            return malformed("finish_reason is missing")
        case "length":
            return ModelError(code=ModelErrorCode.TRUNCATED, message="the answer was cut at its length limit")
        case "content_filter":
            return ModelError(code=ModelErrorCode.FILTERED, message="the provider's content filter stopped the answer")
        case "stop" | "tool_calls" | "function_call" if message.content:
            return None  # a server that names tools although none were offered still gave the whole text
        case "stop" | "tool_calls" | "function_call" as reason:
            return malformed(f"finish_reason {reason} without content")
        case _:
            return malformed("unknown finish_reason")


def why_unreadable(body: bytes, error: Exception) -> str:
    """Which of the faults that decoding knows, without any of the content."""
    if body.lstrip()[:1] == b"<":
        return "a page of markup, not JSON"
    if isinstance(error, msgspec.ValidationError):
        return f"not a chat completion: {error}"  # names our own fields and JSON types, no values
    if isinstance(error, UnicodeDecodeError):
        return "invalid UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else "not JSON"


def read_refusal(status: int, headers: Mapping[bytes, bytes], body: bytes, sent: str = "") -> ModelError:
    """What an answer other than 2xx means. No word of ``sent`` (prompt, key) comes back in the message. Never raises."""
    if 300 <= status < 400:
        return ModelError(code=ModelErrorCode.REJECTED, message=f"status {status}: redirects are not followed, correct base_url")
    error = _error_of(body)
    names = _identifiers(error, sent)
    return ModelError(code=_meaning(status, error), message=_named(f"status {status}", names), retry_after_ms=retry_after_ms(headers))


def read_stream_error(value: object, sent: str = "") -> ModelError:
    """What an error that came as an event means: the same as with its status; one that names none broke off at the server's fault.

    As in ``read_refusal``, no word of ``sent`` comes back. Never raises.
    """
    error = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return ModelError(code=_meaning(_status_of(error), error), message=_named("an error within the stream", _identifiers(error, sent)))


def _status_of(error: Mapping[str, Any]) -> int:
    for key in ("code", "type"):
        word = str(error.get(key))
        if re.fullmatch(r"[45][0-9][0-9]", word, re.ASCII):
            return int(word)
        if word in _STATUS_OF_NAME:
            return _STATUS_OF_NAME[word]
    return 400 if _speaks_of_context(error) else 500


def _speaks_of_context(error: Mapping[str, Any]) -> bool:
    return _CONTEXT_WORDS.search(str(error.get("message", ""))[:2000]) is not None


def _meaning(status: int, error: Mapping[str, Any]) -> ModelErrorCode:
    code = _STATUS.get(status, ModelErrorCode.SERVER_ERROR if status >= 500 else ModelErrorCode.REJECTED)
    said = {str(error.get(key)) for key in ("code", "type")}
    if code is ModelErrorCode.RATE_LIMITED and said & _QUOTA_CODES:
        code = ModelErrorCode.QUOTA_EXCEEDED
    elif status in {400, 422} and (said & _CONTEXT_CODES or _speaks_of_context(error)):
        code = ModelErrorCode.CONTEXT_TOO_LONG
    elif status in {400, 403} and said & _FILTER_CODES:
        code = ModelErrorCode.FILTERED
    return code


def _error_of(body: bytes) -> dict[str, Any]:
    try:
        value = _ANY.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    tree = cast("dict[str, Any]", value)
    inner = tree.get("error", tree)  # vLLM's older form has the fields at the top
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def _identifiers(error: object, sent: str) -> list[str]:
    """The provider's own words for the fault that are identifiers and no part of what was sent."""
    if not isinstance(error, dict):
        return []
    fields = cast("dict[str, object]", error)
    values = [fields.get(key) for key in ("type", "code", "param")]
    found = [value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and value not in sent]
    return list(dict.fromkeys(found))


def _named(what: str, names: list[str]) -> str:
    return f"{what} ({', '.join(names)})" if names else what


def retry_after_ms(headers: Mapping[bytes, bytes]) -> int | None:
    """The delay a server asks for, in milliseconds: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date.

    A date counts from the answer's own ``Date``, so that it does not depend on two clocks; without one it says nothing.
    """
    milliseconds = _number(headers.get(b"retry-after-ms"))
    if milliseconds is None:
        seconds = _number(headers.get(b"retry-after"))
        milliseconds = _until(headers) if seconds is None else seconds * 1000
    if milliseconds is None:
        return None
    return int(min(max(milliseconds, 0), RETRY_AFTER_MS_MAX))


def _number(value: bytes | None) -> float | None:
    return float(value) if value is not None and re.fullmatch(rb"[0-9]{1,12}(\.[0-9]{1,6})?", value.strip()) else None


def _until(headers: Mapping[bytes, bytes]) -> float | None:
    try:
        later, now = (parsedate_to_datetime(headers[name].decode("ascii")) for name in (b"retry-after", b"date"))
        return (later - now).total_seconds() * 1000
    except (KeyError, ValueError, TypeError, OverflowError):  # absent, no date, or one with and one without a zone
        return None


def malformed(why: str) -> ModelError:
    """The answer is none: ``why`` without any of its content."""
    return ModelError(code=ModelErrorCode.MALFORMED, message=why[:MESSAGE_CHARS])


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
