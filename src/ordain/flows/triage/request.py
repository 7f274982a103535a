"""What a run that finds out what a message means is given, and what it returns."""

from __future__ import annotations

from msgspec import Struct

from ordain.flows.commission import Commission
from ordain.rules.attach import MessageReading

AGENT = "triage"
"""The account that asking a model is charged to."""


class TriageInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message, and how the claim finds what it refers to; with ``options`` the sender chooses, labelled by ``labels``."""

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


class TriageOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why the message stands where it does; ``narrative`` only where it stands nowhere, because nobody chose."""

    reason: str = ""
    narrative: str = ""
    error: dict[str, str] | None = None


def triage_input(given: Commission) -> TriageInput:
    """The input of the run that places a message."""
    message = given.message
    return TriageInput(
        session=given.session,
        seq=given.seq,
        text=message.text,
        channel=message.channel,
        message_id=message.message_id,
        reply_to=message.reply_to,
        edits=message.edits,
        author=message.user,
        options=given.options,
        labels=given.labels,
    )
