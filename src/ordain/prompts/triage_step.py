"""The triage prompt: what a model sees that may suggest what a message means to its session (RTE-05)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

NAME = "triage_step"
KEYS = frozenset({"type", "thread", "confidence"})
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"enum": ["override", "status_nudge", "answer_to_pending", "filler", "new_request"]},
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


def suggestion_of(value: dict[str, Any]) -> tuple[str, int, float] | None:
    """(type, thread, confidence) of an answer of exactly the contract's shape, else None."""
    if value.keys() != KEYS:
        return None
    kind, thread, confidence = value["type"], value["thread"], value["confidence"]
    if not isinstance(kind, str) or kind not in SCHEMA["properties"]["type"]["enum"]:
        return None
    if isinstance(thread, bool) or not isinstance(thread, int) or not 0 <= thread < 2**31:
        return None
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return None
    return kind, thread, float(confidence)
