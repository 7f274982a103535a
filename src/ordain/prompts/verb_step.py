"""The prompt of one step of a prompt-plan verb (VRB-07)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class VerbPrompt(Struct, frozen=True, kw_only=True):
    """The template's input: the call's arguments and the previous model step's output."""

    verb: str
    description: str
    step: str
    input: dict[str, Any]
    previous: dict[str, Any] | None
    output_schema: dict[str, Any]


def size_bound(source: str, prompt: VerbPrompt) -> int:
    """Upper bound of the rendered prompt in bytes; loops in a template repeat it at most once per value of the input."""
    encoded = msgspec.json.encode(prompt)
    return len(source.encode()) * (2 + encoded.count(b",")) + 4 * len(encoded)
