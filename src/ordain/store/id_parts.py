"""Rows by the beginning or the end of their id: the condition, in one form for every table. No
pattern, so that nothing in an id is one.
"""

from __future__ import annotations


def named_by(part: str, column: str = "id") -> tuple[str, tuple[str, ...]]:
    """The condition that an id begins or ends with ``part``, and its parameters; "" is no
    condition. Of ids alone: an index on them answers it.
    """
    if not part:
        return "1", ()
    return f"(substr({column}, 1, length(?)) = ? OR substr({column}, -length(?)) = ?)", (part,) * 4
