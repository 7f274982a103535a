"""What stands beside the text of an answer, and the text where it is to be of a form. Pure."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, NoReturn

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.openai import CompletionUsage, OrdainNote, ResponseFailure
from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError, InvalidRequest, NoAnswer
from ordain.runtime.answer_source import AnswerSource
from ordain.runtime.brief import read_brief
from ordain.runtime.plain_answer import answer_text_of, unlike_header
from ordain.server.openai.answers import SentAnswer, failure_of, note_of
from ordain.server.refusals import NO_ANSWER

REFUSAL_CHARS = 4000
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<inner>.*?)\n```\s*", re.DOTALL)


def usage_of(header: str) -> CompletionUsage:
    """Tokens as the header counts them; none of a text that is no header, nor where no model was
    asked.
    """
    brief = read_brief(header)
    if brief is None or not brief.asked:
        return CompletionUsage()
    return CompletionUsage(
        prompt_tokens=brief.tokens_in,
        completion_tokens=brief.tokens_out,
        total_tokens=brief.tokens_in + brief.tokens_out,
    )


def formed_text(answer: MessageAnswer, source: AnswerSource, schema: dict[str, Any] | None) -> str:
    """The text of a message's answer: as it stands, or where JSON was asked for that alone. Code's
    own word of how things stand is no such answer, and told as it is.

    Raises:
        InvalidRequest: as ``text_alone``.
        NoAnswer: JSON was asked for, and no model gave an answer.
    """
    text = answer_text_of(answer)
    if schema is None or source.by_code:
        return text.content
    failed = failure_of(answer, source)
    if failed is not None and failed.code.startswith(NO_ANSWER):
        raise unanswered(failed, answer.run_id or "")
    try:
        return text_alone(text.words, schema, text.header)
    except InvalidRequest as error:
        if failed is None:
            raise
        # the words are code's, of what was not done: that is said, and not that they are no JSON
        raise InvalidRequest(
            f"{failed.message}\n{text.header}"[:REFUSAL_CHARS], code=error.code
        ) from None


def unanswered(failed: ResponseFailure, run: str) -> NoAnswer:
    """That no model gave an answer, as an error."""
    return NoAnswer(
        f"{failed.message}; the account of it: ordain runs show {run}",
        code=failed.code,
        details={"run_id": run},
    )


def told_as(
    text: str, note: OrdainNote, answer: MessageAnswer, source: AnswerSource, *, formed: bool
) -> SentAnswer:
    """An answer as it is sent with this text."""
    note = note_of(note, answer, source)
    return SentAnswer(
        text=text,
        usage=usage_of(note.header),
        note=note,
        refusal=formed and source.by_code,
        failure=failure_of(answer, source),
    )


def text_alone(words: str, schema: dict[str, Any] | None, header: str = "") -> str:
    """A model's words without a header: as the JSON that was asked for, or as they are, but for
    lines that could be taken for a header's.

    Raises:
        InvalidRequest: as ``as_json``; the message says with the ``header`` what happened.
    """
    try:
        return unlike_header(words) if schema is None else as_json(words, schema)
    except InvalidRequest as error:
        raise InvalidRequest(
            f"{error.message}\n{header}".strip()[:REFUSAL_CHARS], code=error.code
        ) from None


def as_json(words: str, schema: dict[str, Any]) -> str:
    """A model's words where JSON was asked for: that JSON alone.

    Raises:
        InvalidRequest: ``answer_unfit``: they are none, or do not fit the schema; they are never
            repaired.
    """
    fenced = _FENCED.fullmatch(words)
    text = words if fenced is None else fenced["inner"]
    try:
        value: Any = json.loads(
            text, object_pairs_hook=_fields, parse_constant=_refused, parse_float=_finite
        )
        errors = Schema(schema).errors(value) if schema else ()
    except (ValueError, RecursionError):
        raise InvalidRequest("the answer is no JSON", code="answer_unfit") from None
    except ConfigurationError as error:
        raise InvalidRequest(f"response_format: {error.message}", code="invalid_schema") from None
    if errors:
        raise InvalidRequest(
            f"the answer does not fit the schema: {errors[0]}", code="answer_unfit"
        )
    return text.strip()


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two fields of one name readers keep another one each."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a field stands there twice")
    return found


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError("a number is out of range")
    return value
