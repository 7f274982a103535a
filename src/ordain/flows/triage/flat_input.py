"""What a triage up to version 3 was given, frozen: for runs that began as such."""

from __future__ import annotations

from msgspec import Struct

from ordain.rules.attach import MessageReading


class FlatTriageInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message field by field, and how the claim finds what it refers to; with ``options`` the
    sender chooses, labelled by ``labels``.
    """

    session: str
    seq: int
    text: str
    channel: str
    message_id: str
    reply_to: str = ""
    edits: str = ""
    author: str = ""
    options: tuple[MessageReading, ...] = ()
    labels: tuple[str, ...] = ()
