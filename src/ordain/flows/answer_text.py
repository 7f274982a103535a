"""An answer to a wait, whoever gave it: its text, and the value that it comes to by rule
``answer``.
"""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from ordain.rules.answer import (
    AnswerOutcome,
    AsSaid,
    Chosen,
    Conditional,
    HalfAnswer,
    Unfit,
    YesOrNo,
)


def said(value: Any) -> str:
    """An answer's text: a session's messages bring ``{text}``, an operator any JSON."""
    if isinstance(value, dict):
        value = value.get("text", "")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any JSON
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def sorted_as(value: Any) -> str:
    """What a session's message was taken for where it is no whole answer; an operator's answer is
    sorted by nobody.
    """
    said = value.get("sorted", "") if isinstance(value, dict) else ""  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any JSON
    return said if isinstance(said, str) else ""


def given_value(outcome: AnswerOutcome, text: str) -> object:
    """What an answer with this outcome gives: a truth value, ``"A"`` or ``"B"``, the text itself;
    None where it is none.
    """
    match outcome:
        case YesOrNo(yes=yes):
            return yes
        case Chosen(option=option):
            return option
        case AsSaid():
            return text.strip()
        case Conditional() | HalfAnswer() | Unfit():
            return None
        case _:
            assert_never(outcome)
