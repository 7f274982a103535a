"""The router prompt: what a model sees that may suggest a turn's path (EXE-09)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.rules.route import CLASSES, Path

NAME = "router_step"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"enum": [str(path) for path in Path]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "budget_class": {"enum": [str(size) for size in CLASSES]},
    },
    "required": ["path", "confidence", "budget_class"],
    "additionalProperties": False,
}
"""The contract of the answer (EXE-10)."""


class RouterPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The template's input: mode, verb and last user message, and as ``context`` what code knows of the turn besides."""

    mode: str
    verb: str
    message: str
    supervised: bool
    context: dict[str, Any] = {}


def size_bound(source: str, prompt: RouterPrompt) -> int:
    """Upper bound of the rendered prompt in bytes. A template of an older catalog shows no context: its runs reserved nothing for it."""
    if "context" not in source:
        prompt = msgspec.structs.replace(prompt, context={})
    return len(source.encode()) + 4 * len(msgspec.json.encode(prompt))
