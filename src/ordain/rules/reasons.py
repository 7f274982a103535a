"""What a reason is: a code with its meaning. Each rule brings its own closed set; all of them
together are in ``docs/reference/reasons.md``.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a decision is what it is. A rule's own set is a subclass; the text after each code is its
    documentation.
    """

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Reason:
        """A member is its code; its meaning is an attribute."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member
