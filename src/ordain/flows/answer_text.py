"""The text of an answer to a wait, whoever gave it."""

from __future__ import annotations

from typing import Any

import msgspec


def said(value: Any) -> str:
    """An answer's text: a session's messages bring ``{text}``, an operator any JSON."""
    if isinstance(value, dict):
        value = value.get("text", "")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any JSON
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
