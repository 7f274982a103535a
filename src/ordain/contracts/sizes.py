"""Sizes as people say them. Pure."""

from __future__ import annotations

KIB = 1024


def said_bytes(count: int) -> str:
    """A bound in bytes: ``20 MiB``, ``10.9 MiB``, ``64 KiB``, ``17 bytes``; cut, never more."""
    for unit, size in (("MiB", KIB * KIB), ("KiB", KIB)):
        if count >= size:
            tenths = count * 10 // size
            return f"{tenths // 10}{f'.{tenths % 10}' if tenths % 10 else ''} {unit}"
    return f"{count} bytes"
