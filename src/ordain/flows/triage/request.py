"""What a run that finds out what a message means is given, and what it returns."""

from __future__ import annotations

from msgspec import Struct

from ordain.flows.commission import Commission, MessageFacts, MessageIds
from ordain.rules.attach import MessageReading

AGENT = "triage"
"""The account that asking a model is charged to."""


class TriageInput(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The message, and how the claim finds what it refers to; with ``options`` the sender chooses,
    labelled by ``labels``.
    """

    seq: int
    message: MessageFacts
    ids: MessageIds
    options: tuple[MessageReading, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the message says."""
        return self.message.text


class TriageOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why the message stands where it does; ``narrative`` only where it stands nowhere, because
    nobody chose.
    """

    reason: str = ""
    narrative: str = ""
    error: dict[str, str] | None = None


def triage_input(given: Commission) -> TriageInput:
    """The input of the run that places a message."""
    return TriageInput(
        seq=given.seq,
        message=given.message,
        ids=given.ids,
        options=given.options,
        labels=given.labels,
    )
