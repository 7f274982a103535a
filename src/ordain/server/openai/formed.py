"""What stands beside the text of an answer, and the text where it is to be of a form. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from ordain.contracts.openai import CompletionUsage
from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError, InvalidRequest
from ordain.rules.header import MARKS
from ordain.rules.plain_reply import cleaned, quoted_lines
from ordain.runtime.brief import read_brief

REFUSAL_CHARS = 4000
_SIGNS = ("CHECK", "TICK", "CROSS", "BALLOT", "SALTIRE", "MULTIPLICATION X", "SQUARE ROOT")
_DOTS = ("DOT", "BULLET", "HYPHENATION POINT", "SPACING POINT")
"""How Unicode calls what is drawn like a header's signs and like what stands between its parts."""
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


def unlike_header(words: str) -> str:
    """A model's words where no header stands and no mark before them: they are cleaned, and a line that looks like a header's stands behind the mark."""
    return "\n".join(quoted_lines(line) if _resembles_header(line) else line for line in cleaned(words).split("\n"))


def _resembles_header(line: str) -> bool:
    """Whether a line opens with what resembles a header's sign and goes on in parts, as every header's does, or names a run."""
    sign, rest = line.lstrip()[:1], line.lstrip()[1:]
    return (sign in MARKS.values() or _is_called(sign, _SIGNS)) and ("ordain run" in rest or any(_is_called(one, _DOTS) for one in rest))


def _is_called(sign: str, names: tuple[str, ...]) -> bool:
    called = unicodedata.name(sign, "") if sign and not sign.isalnum() else ""
    return any(name in called for name in names)


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
