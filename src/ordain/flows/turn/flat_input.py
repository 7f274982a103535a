"""What a turn up to version 3 was given, frozen: for runs that began as such."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.flows.commission import MessageFacts, RecallAsked


class FlatTurnInput(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A message, the place where it stands and the run that the turn takes the place of, field
    beside field.
    """

    session: str
    seq: int
    user: str
    channel: str
    text: str
    mode: ExecMode = ExecMode.BRAIN
    verb: str = ""
    allowed_verbs: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    supervised: bool = False
    max_steps: int = 0
    budget_class: str = ""
    workflow: str = ""
    delegates: tuple[str, ...] = ()
    attachments: int = 0
    locale: str = ""
    after: str = ""
    recall: RecallAsked | None = None

    @property
    def message(self) -> MessageFacts:
        """The message alone, as later versions have it."""
        return msgspec.convert(self, MessageFacts, from_attributes=True)
