"""What runs and sessions began with, for people who look for one in a list: who asked, and the
first words. Nothing is decided by it.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.errors import JournalError
from ordain.flows.kinds import Kinds
from ordain.journal.codec import decode
from ordain.journal.records import Record, Started

WORDS = 120
"""Characters of the first words."""


class Beginning(Struct, frozen=True, kw_only=True):
    """Who asked ("" where that is gone or unreadable), and the first words on one line."""

    principal: str = ""
    words: str = ""


class _Says(msgspec.Struct, frozen=True, gc=False):
    text: str = ""


def started(first: Record | None) -> Started | None:
    """What a run began as; None where nobody can tell any more."""
    if first is None or first.body is None:
        return None
    try:
        body = decode(first)
    except (JournalError, msgspec.MsgspecError):
        return None
    return body if isinstance(body, Started) else None


def run_beginning(kinds: Kinds, first: Record | None) -> Beginning:
    """A run's, by the record that it begins with."""
    body = started(first)
    return (
        Beginning()
        if body is None
        else Beginning(principal=body.principal, words=_first(kinds.words(body)))
    )


def session_words(first: bytes | str | None) -> str:
    """A session's, by the body of its first message; "" where that is gone or unreadable."""
    try:
        return "" if first is None else _first(msgspec.json.decode(first, type=_Says).text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""


def _first(text: str) -> str:
    said = " ".join(text[: 10 * WORDS].split())
    return said if len(said) <= WORDS and len(text) <= 10 * WORDS else f"{said[: WORDS - 1]}…"
