"""What a refusal of a model's endpoint means: one closed code, the provider's identifiers, its
delay. Pure and total.

Messages are put together from fixed words and from the provider's *identifiers*
(``rate_limit_exceeded``, ``RESOURCE_EXHAUSTED``), never from its sentences: those quote prompts and
keys.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, cast

import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.named_delay import named_delay_ms
from ordain.contracts.profiles import Structured
from ordain.models.replies import counted, counts_within
from ordain.ports.model import Charge, Leave, ModelError

MESSAGE_CHARS = 300
NO_TIME = ModelError(
    code=ModelErrorCode.TIMED_OUT,
    message="no time left; nothing was sent",
    known=Charge.NOTHING_SENT,
)
NOT_UNICODE = ModelError(
    code=ModelErrorCode.REJECTED,
    message="the prompt is not valid Unicode; nothing was sent",
    known=Charge.NOTHING_SENT,
)

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_.\[\]]{2,47}|[A-Z][A-Z_]{2,47}")
_CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
)
_CONTEXT_WORDS = re.compile(
    r"context (length|size|window)|maximum context|too many tokens", re.IGNORECASE
)
_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
    }
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_STATUS = {
    401: ModelErrorCode.AUTHENTICATION,
    402: ModelErrorCode.QUOTA_EXCEEDED,
    403: ModelErrorCode.AUTHENTICATION,
    404: ModelErrorCode.NOT_FOUND,
    # it gave up on this request, and names no reason why another one should fare so
    408: ModelErrorCode.SERVER_ERROR,
    413: ModelErrorCode.CONTEXT_TOO_LONG,
    429: ModelErrorCode.RATE_LIMITED,
    503: ModelErrorCode.OVERLOADED,
    529: ModelErrorCode.OVERLOADED,
}
_STATUS_OF_NAME = (
    {
        "rate_limit_exceeded": 429,
        "rate_limit_error": 429,
        "too_many_requests": 429,
        "invalid_api_key": 401,
        "authentication_error": 401,
    }
    | {
        "permission_error": 403,
        "model_not_found": 404,
        "not_found_error": 404,
        "timeout": 408,
        "timeout_error": 408,
    }
    | {
        "overloaded": 503,
        "overloaded_error": 503,
        "engine_overloaded": 503,
        "service_unavailable": 503,
        "unavailable_error": 503,
    }
    | {"invalid_request_error": 400, "BadRequestError": 400, "invalid_prompt": 400}
    | dict.fromkeys(_QUOTA_CODES, 429)
    | dict.fromkeys(_CONTEXT_CODES | _FILTER_CODES, 400)
)
"""The status that a provider's word would have come with, had the answer not begun already."""
LEAVES: tuple[tuple[Leave, re.Pattern[str]], ...] = (
    (Leave.LENGTH_RENAMED, re.compile(r"max_tokens|max_completion_tokens")),
    (Leave.STREAM_COUNTS, re.compile(r"stream_options|include_usage")),
    (Leave.STREAM, re.compile(r"\bstream(?:ing)?\b")),
    (Leave.TEMPERATURE, re.compile(r"\btemperature\b")),
    (Leave.SYSTEM, re.compile(r"\bsystem\b|\bdeveloper (?:role|instruction|message)")),
    (Leave.LENGTH, re.compile(r"max_tokens|max_completion_tokens")),
)
"""What may be left out of a chat completion's request or said otherwise, by the words in which a
refusal names it; looked at in this order.
"""
RESPONSE_LEAVES: tuple[tuple[Leave, re.Pattern[str]], ...] = (
    (Leave.STORE, re.compile(r"\bstore\b")),
    (Leave.STREAM, re.compile(r"\bstream(?:ing)?\b")),
    (Leave.TEMPERATURE, re.compile(r"\btemperature\b")),
    (
        Leave.SYSTEM,
        re.compile(r"\binstructions?\b|\bsystem\b|\bdeveloper (?:role|instruction|message)"),
    ),
    (Leave.LENGTH, re.compile(r"max_output_tokens|max_tokens")),
)
"""The same of a response's request."""
DOUBTED: tuple[frozenset[Leave], ...] = (
    frozenset({Leave.STREAM_COUNTS, Leave.TEMPERATURE, Leave.STORE}),
    frozenset({Leave.STREAM, Leave.SYSTEM}),
    frozenset({Leave.LENGTH}),
)
"""What a refusal may mean that names nothing: first what is missed least."""
WAY_WORDS: Mapping[Structured, re.Pattern[str]] = {
    Structured.NATIVE: re.compile(
        r"response[_ ]format|json[_ ]schema|structured[_ ]output|\btext\.format\b|\bguided[_ "
        r"](?:json|decoding)"
    ),
    Structured.TOOL: re.compile(r"\btool[_ -]choice|\btools\b|\bfunction[_ -]call"),
}
"""What holds an answer to its schema, by the words in which a refusal names it."""
_WRONG_REQUEST = frozenset({400, 422})
PLACES = 8
"""So many places of a request that a refusal names are looked at."""
_ANY = msgspec.json.Decoder()


def malformed(why: str) -> ModelError:
    """The answer is none: ``why`` without any of its content."""
    return ModelError(code=ModelErrorCode.MALFORMED, message=why[:MESSAGE_CHARS])


def why_unreadable(body: bytes, error: Exception, what: str = "a chat completion") -> str:
    """Which of the faults that decoding knows, without any of the content."""
    if body.lstrip()[:1] == b"<":
        return "a page of markup, not JSON"
    if isinstance(error, msgspec.ValidationError):
        return f"not {what}: {error}"  # names our own fields and JSON types, no values
    if isinstance(error, UnicodeDecodeError):
        return "invalid UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else "not JSON"


def read_refusal(
    status: int, headers: Mapping[bytes, bytes], body: bytes, sent: str = ""
) -> ModelError:
    """What an answer other than 2xx means, with what it tells of use. No word of ``sent`` (prompt,
    key) comes back in the message. Never raises.
    """
    if 300 <= status < 400:
        return ModelError(
            code=ModelErrorCode.REJECTED,
            message=f"status {status}: redirects are not followed, correct base_url",
        )
    value = _value_of(body)
    error = error_within(value)
    refused = ModelError(
        code=meaning(status, error),
        message=named(f"status {status}", error, sent),
        retry_after_ms=retry_after_ms(headers),
    )
    return counted(refused, counts_within(value), spoke=False)


def fault_of(
    body: bytes, left: Container[Leave], leaves: Iterable[tuple[Leave, re.Pattern[str]]] = LEAVES
) -> Leave | None:
    """The first part of a request that the body of a refusal names, that may be left out and was
    not yet. Never raises.
    """
    words, _ = _named_in(_error_of(body))
    return next(
        (leave for leave, named_so in leaves if leave not in left and named_so.search(words)), None
    )


def refuses_way(status: int, body: bytes, held: Structured | None) -> bool:
    """Whether a failure with a server's status names how the answer was to be held, which it then
    does not take: some answer so what they do not know. Never raises.
    """
    words = WAY_WORDS.get(held) if held is not None and status >= 500 else None
    return words is not None and words.search(_named_in(_error_of(body))[0]) is not None


def doubted_of(
    status: int, body: bytes, has: frozenset[Leave], *, at_once: bool
) -> frozenset[Leave]:
    """What of a request a refusal may mean that says that the request is wrong, and names no part
    of it; ``has`` is what can still be left out.

    Step by step, or but for the length ``at_once``: where several ways were tried before, few
    attempts are left. Never raises.
    """
    if status not in _WRONG_REQUEST or _named_in(_error_of(body))[1]:
        return frozenset()
    stages = (frozenset(Leave) - {Leave.LENGTH},) if at_once else DOUBTED
    return next((more for stage in stages if (more := stage & has)), frozenset[Leave]())


def _named_in(error: Mapping[str, Any]) -> tuple[str, bool]:
    """The words of a refusal, in lower case, and whether it names a part of the request: by a
    parameter, or by a place as validators do.
    """
    words = [
        _word(error.get(key))[:2000]
        for key in ("param", "message", "detail", "msg", "title", "code")
    ]
    places = list[str]()
    for key in ("detail", "errors"):
        found = error.get(key)
        for one in cast("list[object]", found)[:PLACES] if isinstance(found, list) else []:
            named_so = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
            loc = named_so.get("loc")
            places += (
                [_word(part)[:200] for part in cast("list[object]", loc)[:PLACES]]
                if isinstance(loc, list)
                else []
            )
            words.append(_word(named_so.get("msg"))[:2000])
    return " ".join([*words, *places]).lower(), bool(words[0] or places)


def read_stream_error(value: object, sent: str = "") -> ModelError:
    """What an error that came as an event means: the same as with its status; one that names none
    broke off at the server's fault.

    Whatever it is, the provider had accepted the request before. As in ``read_refusal``, no word of
    ``sent`` comes back. Never raises.
    """
    error = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    message = named("an error within the stream", error, sent)
    return ModelError(
        code=meaning(_status_of(error), error), message=message, known=Charge.POSSIBLE
    )


def _status_of(error: Mapping[str, Any]) -> int:
    for key in ("code", "type"):
        word = _word(error.get(key))
        if re.fullmatch(r"[45][0-9][0-9]", word, re.ASCII):
            return int(word)
        if word in _STATUS_OF_NAME:
            return _STATUS_OF_NAME[word]
    return 400 if _speaks_of_context(error) else 500


def _speaks_of_context(error: Mapping[str, Any]) -> bool:
    return _CONTEXT_WORDS.search(_word(error.get("message"))[:2000]) is not None


def _word(value: object) -> str:
    """A field of a refusal as text; "" for what is neither text nor a whole number: lists and
    objects of a hostile answer may nest without end.
    """
    return str(value) if isinstance(value, str | int) else ""


def meaning(status: int, error: Mapping[str, Any]) -> ModelErrorCode:
    """The code of a status of 400 or more, with what the body says about it."""
    code = _STATUS.get(
        status, ModelErrorCode.SERVER_ERROR if status >= 500 else ModelErrorCode.REJECTED
    )
    said = {_word(error.get(key)) for key in ("code", "type", "status")}
    if code is ModelErrorCode.RATE_LIMITED and said & _QUOTA_CODES:
        code = ModelErrorCode.QUOTA_EXCEEDED
    elif status in {400, 422} and (said & _CONTEXT_CODES or _speaks_of_context(error)):
        code = ModelErrorCode.CONTEXT_TOO_LONG
    elif status in {400, 403} and said & _FILTER_CODES:
        code = ModelErrorCode.FILTERED
    return code


def _error_of(body: bytes) -> dict[str, Any]:
    return error_within(_value_of(body))


def _value_of(body: bytes) -> object:
    try:
        return _ANY.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def error_within(value: object) -> dict[str, Any]:
    """The object of a refusal's body that tells the fault; empty where there is none."""
    if not isinstance(value, dict):
        return {}
    tree = cast("dict[str, Any]", value)
    inner = tree.get("error", tree)  # vLLM's older form has the fields at the top
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def named(what: str, error: Mapping[str, Any], sent: str) -> str:
    """``what`` with the provider's own words for the fault that are identifiers and no part of what
    was sent.
    """
    values = [error.get(key) for key in ("type", "code", "status", "param")]
    found = [
        value
        for value in values
        if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and value not in sent
    ]
    names = list(dict.fromkeys(found))
    return f"{what} ({', '.join(names)})" if names else what


def retry_after_ms(headers: Mapping[bytes, bytes]) -> int | None:
    """The delay that an answer names; see ``named_delay_ms``."""

    def header(name: str) -> str | None:
        value = headers.get(name.encode())
        return None if value is None else value.decode("latin-1")

    return named_delay_ms(header)
