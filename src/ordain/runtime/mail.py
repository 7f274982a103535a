"""What a mailbox row says, by its kind; a child's end is an ``Ended`` as it stands in its parent's journal."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class InterruptBody(Struct, frozen=True, kw_only=True):
    """What an interrupt says: cancel or override, by whom and why."""

    what: str
    by: str
    why: str = ""


class AnswerBody(Struct, frozen=True, kw_only=True):
    """An answer to a wait."""

    value: Any
    by: str
