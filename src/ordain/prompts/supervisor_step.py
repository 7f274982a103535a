"""The supervisor prompt: what a model sees that may suggest the supervisor's next move (EXE-11)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.rules.supervise import Move

NAME = "supervisor_step"
STEP_CHARS = 1000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"enum": [str(move) for move in Move]},
    },
    "required": ["decision"],
    "additionalProperties": False,
}
"""The contract of the answer (EXE-12)."""


class SupervisorPrompt(Struct, frozen=True, kw_only=True):
    """The template's input: the steps so far, whether an action or a final answer is pending and what it says, what is left."""

    trace: tuple[dict[str, Any], ...]
    pending: str
    proposal: dict[str, Any]
    steps_left: int


def size_bound(source: str, prompt: SupervisorPrompt, proposal_bytes: int) -> int:
    """Upper bound of the rendered prompt in bytes; the proposal has at most ``proposal_bytes``."""
    shown = sum(min(len(msgspec.json.encode(step)), 4 * (STEP_CHARS + 1)) for step in prompt.trace)
    return len(source.encode()) * (1 + len(prompt.trace)) + 2 * (shown + proposal_bytes) + 200
