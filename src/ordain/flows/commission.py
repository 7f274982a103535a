"""What a conversation commissions of a run: the message, where it stands, and what it concerns."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ordain.contracts.conversation import Recall, RoutingHints
from ordain.rules.attach import MessageReading


class MessageFacts(Struct, frozen=True, kw_only=True):
    """A message as the transcript keeps it, with its identity. ``attachments`` counts them; times in milliseconds."""

    text: str
    user: str
    channel: str
    message_id: str
    reply_to: str = ""
    edits: str = ""
    locale: str = ""
    hints: RoutingHints = RoutingHints()
    recall: Recall | None = None
    attachments: int = 0
    principal: str
    timestamp_ms: int = 0


class Telling(StrEnum):
    """What is to be told of a run: how far it is, or what had happened when it was stopped."""

    PROGRESS = "progress"
    STOPPED = "stopped"


class Commission(Struct, frozen=True, kw_only=True):
    """A run that follows from a message. ``after`` is the run that it takes the place of.

    To tell of a run: which, what it was ``about``, and how many turns ``queued`` behind it never began. To find out what a message means:
    the readings that the sender chooses between, with their labels; none where a model is asked.
    """

    session: str
    seq: int
    message: MessageFacts
    after: str = ""
    run: str = ""
    intent: str = ""
    telling: Telling = Telling.PROGRESS
    queued: int = 0
    options: tuple[MessageReading, ...] = ()
    labels: tuple[str, ...] = ()
