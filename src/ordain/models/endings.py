"""How foreign answers end, and in what shapes their words come: every server has its own word for
it. Pure and total.

Words of every family that is known say the same few things. Plain text may also end without a word,
or with an unknown one: then nobody says that it is short of anything. JSON may not, for what is
missing of it cannot be told by looking.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, cast

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import ModelError


class End(StrEnum):
    """What an answer's end says of it."""

    WHOLE = "whole"
    CUT = "cut"
    FILTERED = "filtered"
    BROKEN = "broken"
    """Its server says that something went wrong."""
    UNSAID = "unsaid"
    UNKNOWN = "unknown"
    """In a word that is not known."""


_WORDS: dict[End, str] = {
    End.WHOLE: "stop stopped stop_sequence stop_token eos eos_token end_of_text "
    "end_of_sequence end "
    "end_turn turn_end complete completed done finish"
    " finished success normal tool_call tool_calls tool_use function_call functioncall calls",
    End.CUT: "length max_tokens max_output_tokens max_new_tokens max_length model_length "
    "token_limit "
    "max_completion_tokens length_limit"
    " model_context_window_exceeded context_window_exceeded context_length "
    "context_length_exceeded error_limit",
    End.FILTERED: "content_filter content_filtered filter filtered safety refusal refused "
    "recitation "
    "blocklist prohibited_content spii sensitive"
    " guardrail guardrail_intervened blocked error_toxic moderation",
    End.BROKEN: "error error_finish abort aborted cancel cancelled canceled user_cancel "
    "network_error "
    "server_error insufficient_system_resource timeout"
    " timed_out failed failure malformed_function_call unexpected_tool_call",
}
_MEANING = {word: end for end, words in _WORDS.items() for word in words.split()}
_UNSAID = frozenset({"", "null", "none", "unspecified"})
_NO_LETTER = re.compile(r"[^a-z]+")
_THOUGHTS = frozenset(
    {
        "thinking",
        "reasoning",
        "thought",
        "redacted_thinking",
        "reasoning_text",
        "summary_text",
        "analysis",
    }
)
"""Types of parts that are no words for whoever asked."""
WORD_CHARS = 64

FILTERED = ModelError(
    code=ModelErrorCode.FILTERED, message="the provider's content filter stopped the answer"
)
REFUSED = ModelError(code=ModelErrorCode.FILTERED, message="the model refused")
BROKEN = ModelError(
    code=ModelErrorCode.SERVER_ERROR,
    message="the endpoint broke the answer off, as its finish reason says",
)


def end_of(reason: str | None) -> End:
    """What a finish reason says, in whatever spelling."""
    word = (
        _NO_LETTER.sub("_", (reason or "")[:WORD_CHARS].casefold())
        .strip("_")
        .removeprefix("finish_reason_")
    )
    return End.UNSAID if word in _UNSAID else _MEANING.get(word, End.UNKNOWN)


def text_of(content: object) -> str:
    """The words of a message: a text, or the texts among its parts; "" where it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_text_of_part, cast("list[object]", content)))
    return _text_of_part(content)


def _text_of_part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    named = cast("dict[str, Any]", part)
    if named.get("type") in _THOUGHTS or named.get("thought") is True:
        return ""
    text = named.get("text")
    if isinstance(text, dict):
        text = cast("dict[str, Any]", text).get("value")
    return text if isinstance(text, str) else ""


def refuses(refusal: object, content: object) -> bool:
    """Whether a message says that the model refuses: beside its content, or as a part of it."""
    if isinstance(refusal, str) and refusal:
        return True
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return any(
        isinstance(part, dict) and cast("dict[str, Any]", part).get("type") == "refusal"
        for part in parts
    )
