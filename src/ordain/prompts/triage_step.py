"""The triage prompt: what a model sees that may suggest what a message means to its session (RTE-05)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.rules.suggestion import SUGGESTED

NAME = "triage_step"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"enum": [str(kind) for kind in SUGGESTED]},
        "thread": {"type": "integer", "minimum": 0},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["type", "thread", "confidence"],
    "additionalProperties": False,
}
"""The contract of the answer; thread 0 is none."""


class TriagePrompt(Struct, frozen=True, kw_only=True):
    """The template's input: the message, and the session's threads with what each is about, where it stands and what it asks."""

    message: str
    threads: tuple[dict[str, Any], ...]


def size_bound(source: str, prompt: TriagePrompt) -> int:
    """Upper bound of the rendered prompt in bytes."""
    return len(source.encode()) * (1 + len(prompt.threads)) + 4 * len(msgspec.json.encode(prompt))
