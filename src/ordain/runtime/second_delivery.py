"""A message that its session was too busy for when its place was found (``UNPLACED``), delivered
again: it is placed anew.

It keeps its number, and what a model suggested of it, or its sender chose, the first time stands:
nobody is asked again. Where the session is still too busy, nothing is written.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.ports.sessions import Entry
from ordain.ports.shared import Ruling, SessionRead, SessionState, Shared
from ordain.ports.store import Arrive, MessageKey
from ordain.ports.writes import EntryPlaced, KeptCatalogs
from ordain.rules.attachment import AttachFacts
from ordain.runtime.attach_facts import Placing
from ordain.runtime.consequences import Consequences
from ordain.runtime.message_entry import Received, is_bare
from ordain.runtime.services import NOT_READ, PinnedCatalogs, Services


class _Decided(Struct):
    """The facts of a stored decision."""

    facts: AttachFacts


_DECIDED = msgspec.json.Decoder(_Decided)


class SecondDelivery:
    """The unit that places the message ``kept`` anew, as ``given`` has it of its entry."""

    def __init__(self, services: Services, kept: Entry, given: Received, key: MessageKey) -> None:
        """``key`` names in ``anew`` the run that left the message without a place."""
        self._services, self._given, self._key, self._seq = services, given, key, kept.seq
        self._suggested = _suggested(kept)
        self.pinned = PinnedCatalogs(services.catalogs)

    def unit(self, workspace: str) -> Arrive:
        """To be submitted, and again where it is refused as ``NOT_READ`` and ``pinned`` has fetched
        what it lacked.
        """
        given, ids = self._given, self._given.ids
        read = SessionRead(
            session=self._key.session,
            channel=given.facts.channel,
            message_id=ids.message_id,
            author=given.facts.user,
            reply_to=ids.reply_to,
            edits=ids.edits,
            seq=self._seq,
            thread=given.thread,
            bare=is_bare(given.found),
        )
        return Arrive(
            workspace=workspace, once=self._key, shared=Shared(reads=(read,), decide=self._decide)
        )

    def _decide(self, state: SessionState) -> Ruling:
        consequences = Consequences(self._services, state, self._given, self.pinned)
        follows = consequences.of(*consequences.decide(self._suggested))
        if self.pinned.missing:
            return Ruling(refused=NOT_READ)
        catalog = self._given.catalog
        again = EntryPlaced(
            session=self._key.session,
            seq=self._seq,
            instead_of=self._key.anew,
            placed=follows.placed,
        )
        return Ruling(
            refused=follows.refused,
            writes=(KeptCatalogs(stored=catalog.stored), again, *follows.writes),
            run=follows.placed.serves,
            accepted=catalog.policy.engine.max_accepted if follows.counts else None,
        )


def _suggested(kept: Entry) -> Placing | None:
    """What was suggested or chosen when the message found no place; None where its decision is
    gone.
    """
    if kept.decision is None:
        return None
    facts = _DECIDED.decode(kept.decision).facts
    return Placing(
        suggests=facts.suggests,
        thread=facts.suggested_thread,
        confidence=facts.confidence,
        choice=facts.choice,
        options=facts.options,
    )
