"""An answer to a wait, whoever gave it: its text, and the value that it comes to by rule ``answer``."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from ordain.rules.answer import AnswerOutcome, AsSaid, Chosen, Conditional, Unclear, Unfit, YesOrNo


def said(value: Any) -> str:
    """An answer's text: a session's messages bring ``{text}``, an operator any JSON."""
    if isinstance(value, dict):
        value = value.get("text", "")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any JSON
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def given_value(outcome: AnswerOutcome, text: str) -> object:
    """What an answer with this outcome gives: a truth value, ``"A"`` or ``"B"``, the text itself; None where it is none."""
    match outcome:
        case YesOrNo(yes=yes):
            return yes
        case Chosen(option=option):
            return option
        case AsSaid():
            return text.strip()
        case Conditional() | Unclear() | Unfit():
            return None
        case _:
            assert_never(outcome)
