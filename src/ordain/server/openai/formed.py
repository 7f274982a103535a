"""What stands beside the text of an answer, and the text where it is to be of a form. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from ordain.contracts.openai import CompletionUsage
from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError, InvalidRequest
from ordain.runtime.brief import read_brief
from ordain.runtime.plain_answer import unlike_header

REFUSAL_CHARS = 4000
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<inner>.*?)\n```\s*", re.DOTALL)


def usage_of(header: str) -> CompletionUsage:
    """Tokens as the header counts them; none of a text that is no header, nor where no model was asked."""
    brief = read_brief(header)
    if brief is None or not brief.usd:
        return CompletionUsage()
    return CompletionUsage(
        prompt_tokens=brief.tokens_in, completion_tokens=brief.tokens_out, total_tokens=brief.tokens_in + brief.tokens_out
    )


def text_alone(words: str, schema: dict[str, Any] | None, header: str = "") -> str:
    """A model's words without a header: as the JSON that was asked for, or as they are, but for lines that could be taken for a header's.

    Raises:
        InvalidRequest: as ``as_json``; the message says with the ``header`` what happened.
    """
    try:
        return unlike_header(words) if schema is None else as_json(words, schema)
    except InvalidRequest as error:
        raise InvalidRequest(f"{error.message}\n{header}".strip()[:REFUSAL_CHARS], code=error.code) from None


def as_json(words: str, schema: dict[str, Any]) -> str:
    """A model's words where JSON was asked for: that JSON alone.

    Raises:
        InvalidRequest: ``answer_unfit``: they are none, or do not fit the schema; they are never repaired.
    """
    fenced = _FENCED.fullmatch(words)
    text = words if fenced is None else fenced["inner"]
    try:
        value: Any = json.loads(text)
        errors = Schema(schema).errors(value) if schema else ()
    except (ValueError, RecursionError):
        raise InvalidRequest("the answer is no JSON", code="answer_unfit") from None
    except ConfigurationError as error:
        raise InvalidRequest(f"response_format: {error.message}", code="invalid_schema") from None
    if errors:
        raise InvalidRequest(f"the answer does not fit the schema: {errors[0]}", code="answer_unfit")
    return text.strip()
