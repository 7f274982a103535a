"""The prompt of one step of a prompt-plan verb (VRB-07)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class VerbPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The template's input: the call's arguments and the previous model step's output.

    In a conversation ``message`` is what the user said, ``history`` what was said before as
    ``{role, content}``, and ``summary`` stands for what came before that. ``recalled`` are
    fragments of memory, each with its trust.
    """

    verb: str
    description: str
    step: str
    input: dict[str, Any]
    previous: dict[str, Any] | None
    output_schema: dict[str, Any]
    message: str | None = None
    history: tuple[dict[str, str], ...] = ()
    summary: str | None = None
    recalled: tuple[dict[str, Any], ...] = ()


HISTORY_ENTRY_BYTES = 64
"""What an entry of the history takes in a prompt beside its text."""


def size_bound(source: str, prompt: VerbPrompt, history: tuple[int, int] = (0, 0)) -> int:
    """Upper bound of the rendered prompt in bytes; loops in a template repeat it at most once per
    value of the input.

    ``history`` is (entries, bytes of their texts as JSON) of what is shown once, as JSON, an entry
    a line, and which the prompt itself need not hold yet: the history, and what was recalled.
    """
    encoded = msgspec.json.encode(prompt)
    entries, spoken = history
    return (
        len(source.encode()) * (2 + encoded.count(b","))
        + 4 * len(encoded)
        + 2 * spoken
        + entries * HISTORY_ENTRY_BYTES
    )
