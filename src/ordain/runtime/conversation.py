"""The conversation's side of the door: a message in, acknowledged once it is durable, and what
became of it out (ING-01, ING-08).

Every channel ends in ``receive``. A message gets exactly one consequence, in the transaction that
accepts it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence

import msgspec
from msgspec import Struct

from ordain.contracts.access import Principal, principal_of
from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.events import SessionEvent
from ordain.errors import Conflict, InvalidRequest, NotFound, Refused, Transient
from ordain.journal.records import ENCODER
from ordain.ports.sessions import (
    ERASED_SESSION,
    OUR_IDS,
    Entry,
    EntryKind,
    NewEntry,
    Placed,
    SessionRow,
    Thread,
    sent_id,
)
from ordain.ports.shared import (
    ConfigFound,
    Ruling,
    SessionOpening,
    SessionRead,
    SessionState,
    Shared,
)
from ordain.ports.store import WITHOUT_PLACE, Arrive, MessageKey, Outcome, StoredRun
from ordain.ports.writes import KeptCatalogs, Write
from ordain.rules.attach import UNPLACED, Attached
from ordain.rules.configure import Configured, ConfigureReason
from ordain.runtime.attachments import Attachments, TakenFiles
from ordain.runtime.awaited_answers import BUSY, Acknowledged, AwaitedAnswers, busy
from ordain.runtime.consequences import Consequence, Consequences
from ordain.runtime.continuation import Placement
from ordain.runtime.entries import spoken
from ordain.runtime.library import Memory
from ordain.runtime.message_answer import Served
from ordain.runtime.message_entry import Received, body_of, is_bare, message_of, received
from ordain.runtime.second_delivery import SecondDelivery
from ordain.runtime.services import NOT_READ, PinnedCatalogs, Services

LOG = logging.getLogger("ordain.session")
BEGUN, UNPINNED = "begun", "unpinned"
"""What a session was to begin with comes too late; and it cannot be pinned for want of room."""
THREADS_LISTED = 200


class Conversation:
    """Receives messages, and tells what became of them."""

    def __init__(self, services: Services, library: Memory) -> None:
        """Writes through the store's port, reads through the sessions'; the documents of messages
        go into the ``library``.
        """
        self._services, self._attachments = services, Attachments(library)
        self._awaited, self._stored_catalog = AwaitedAnswers(services), ""
        services.store.listen(services.streams.heard)

    async def receive(
        self,
        message: Message,
        *,
        workspace: str,
        principal: Principal | str,
        source: str = "",
        place: Placement | None = None,
    ) -> Acknowledged:
        """Accept a message; when this returns, the message and its consequence are durable.

        ``source`` is the way by which it came (HUB-06): a label, and no part of what makes two
        messages the same. ``place`` is that of a message which brings its whole conversation
        (``runtime.continuation``): it gets an id of ours, and every delivery counts.

        Raises:
            Conflict: the message id was used before with another content (``message_id_reused``).
            Refused: the session has as many turns going as it may (``session_busy``), or the engine
                has (``busy``); or somebody else has begun or pinned the session just now, which was
                to begin with something or to be pinned (``busy``).
            InvalidRequest: the message id is one of ours; or as ``Attachments.taken``.
            StorageUnavailable: nothing can be written.
        """
        whose = workspace, principal
        if not message.message.attachments:  # as most
            return await self._received(message, whose, source, place, TakenFiles())
        catalog, by = self._services.catalogs.current, principal_of(principal).name
        async with self._attachments.taken(message, workspace, by, catalog) as taken:
            acknowledged = await self._received(message, whose, source, place, taken)
            taken.kept = not acknowledged.duplicate
            return acknowledged

    async def _received(
        self,
        message: Message,
        whose: tuple[str, Principal | str],
        source: str,
        place: Placement | None,
        files: TakenFiles,
    ) -> Acknowledged:
        services, (workspace, principal), form = (
            self._services,
            whose,
            "" if place is None else place.form,
        )
        message_id = (
            sent_id(place.sent, services.clock.new_run_id())
            if place
            else message.message_id or services.clock.new_run_id()
        )
        if message.session_id.startswith(ERASED_SESSION):
            raise InvalidRequest(
                f"session ids that begin with {ERASED_SESSION} are those of what was erased",
                code="session_id_reserved",
            )
        if message_id.startswith(OUR_IDS) and not place:
            raise InvalidRequest(
                f"message ids that begin with {OUR_IDS} are Ordain's own",
                code="message_id_reserved",
            )
        try:
            body = ENCODER.encode(body_of(message, files.files, form))
        except UnicodeError:
            raise InvalidRequest(
                "a text holds half a surrogate pair", code="invalid_unicode", status=400
            ) from None
        given = message_of(
            message, message_id, principal, services.catalogs.current, source, files.files
        ).formed(form)
        made, pinned = list[Consequence](), PinnedCatalogs(services.catalogs)
        stirred = services.streams.stirred(workspace, message.session_id)
        entry = self._entry(message, body, given)

        def decide(state: SessionState, *found: ConfigFound) -> Ruling:
            first = None if place is None else _first(place, state, found)
            if first is not None and first.refused:
                return Ruling(refused=first.refused)
            state, before = (state, ()) if first is None else (first.state, first.writes)
            consequences = Consequences(services, state, given, pinned)
            follows = consequences.of(*consequences.decide())
            if pinned.missing:
                return Ruling(refused=NOT_READ)
            made[:] = [follows]
            entered = msgspec.structs.replace(entry, placed=follows.placed)
            return self._decided((*before, entered, *files.writes), follows, given)

        key = MessageKey(
            session=message.session_id, channel=entry.channel, message_id=message_id, body=body
        )
        reads = (
            self._read(message, entry, given),
            *(() if place is None or place.pin is None else (place.pin.read,)),
        )
        unit = Arrive(workspace=workspace, once=key, shared=Shared(reads=reads, decide=decide))
        outcome = await self._submitted(unit, pinned)
        while outcome.refused == WITHOUT_PLACE:
            # again where another delivery was placed meanwhile, and found no place either
            outcome = await self._placed_anew(
                workspace, msgspec.structs.replace(key, anew=outcome.run), outcome, principal
            )
        acknowledged = self._acknowledged(outcome, message.session_id, given)
        if not made or acknowledged.duplicate or outcome.refused:
            return acknowledged
        return _as_placed(acknowledged, made[0].placed, stirred)

    async def _submitted(self, unit: Arrive, pinned: PinnedCatalogs) -> Outcome:
        outcome = await self._services.store.submit(unit)
        while outcome.refused == NOT_READ and await pinned.fetch():
            outcome = await self._services.store.submit(unit)
        return outcome

    async def _placed_anew(
        self, workspace: str, key: MessageKey, before: Outcome, principal: Principal | str
    ) -> Outcome:
        """As of any message that came before; or the session is too busy still."""
        page = await self._services.sessions.entries(
            workspace, key.session, after=before.seq - 1, limit=1
        )
        if not page or page[0].body is None:
            # erased meanwhile, as any message that came before may be
            return msgspec.structs.replace(before, refused="same")
        given = received(page[0], principal, self._services.catalogs.current)
        again = SecondDelivery(self._services, page[0], given, key)
        outcome = await self._submitted(again.unit(workspace), again.pinned)
        return msgspec.structs.replace(outcome, seq=before.seq, refused=outcome.refused or "same")

    def _entry(self, message: Message, body: bytes, given: Received) -> NewEntry:
        return NewEntry(
            kind=EntryKind.MESSAGE,
            body=body,
            size=spoken(given.facts.text),
            at=self._services.clock.now(),
            session=message.session_id,
            channel=given.facts.channel,
            message_id=given.ids.message_id,
            edits=given.ids.edits,
            timestamp_ms=given.timestamp_ms,
            author=given.facts.user,
        )

    def _read(self, message: Message, entry: NewEntry, given: Received) -> SessionRead:
        return SessionRead(
            session=message.session_id,
            channel=entry.channel,
            message_id=entry.message_id,
            author=entry.author,
            reply_to=given.ids.reply_to,
            edits=entry.edits,
            thread=given.thread,
            bare=is_bare(given.found),
            opening=SessionOpening(
                user=message.user_id, key=self._services.clock.new_key(), at=entry.at
            ),
        )

    def _decided(self, entered: tuple[Write, ...], follows: Consequence, given: Received) -> Ruling:
        """Message, decision and consequence: all of it, or where it is refused not even the session
        is made.
        """
        catalog = given.catalog
        kept = KeptCatalogs(stored=catalog.stored if self._stored_catalog != catalog.digest else ())
        return Ruling(
            refused=follows.refused,
            writes=(kept, *entered, *follows.writes),
            run=follows.placed.serves,
            accepted=catalog.policy.engine.max_accepted if follows.counts else None,
        )

    def _acknowledged(self, outcome: Outcome, session: str, given: Received) -> Acknowledged:
        if outcome.refused in BUSY:
            raise busy(self._services, outcome.refused, session)
        if outcome.refused == BEGUN:
            raise Refused(
                f"session {session} was begun or pinned by somebody else just now",
                code="busy",
                status=429,
                retry_after_s=1,
            )
        if outcome.refused == UNPINNED:
            raise Conflict(
                f"the session cannot be pinned: {ConfigureReason.FULL.meaning}",
                code="profile_unfit",
            )
        if outcome.refused == "message_id_reused":
            raise Conflict(
                f"message id {given.ids.message_id} came before with another content",
                code="message_id_reused",
            )
        if outcome.refused == "attachment_gone":
            raise Transient(
                "what came with the message was given up meanwhile: send it again",
                code="attachment_gone",
            )
        duplicate = outcome.refused == "same"
        if not duplicate:
            self._stored_catalog = given.catalog.digest
        asked, message_id = given.facts, given.ids.message_id
        LOG.info(
            # quoted: what a sender may choose must not look like a line of ours
            "session=%s seq=%d correlation=%r mode=%s verb=%r source=%r trace_verb=%r%s",
            *(session, outcome.seq, message_id, asked.mode, asked.verb),
            *(asked.source, asked.trace_verb, " duplicate" if duplicate else ""),
        )
        return Acknowledged(
            session=session, seq=outcome.seq, message_id=message_id, duplicate=duplicate
        )

    # --- what became of it ------------------------------------------------------------------------

    async def answer(self, workspace: str, received: Acknowledged) -> MessageAnswer:
        """Wait until the message is answered: by a reply, by a question back, by an approval that
        it waits for, or because nothing follows from it.

        Raises:
            Transient: the engine stops; the message is kept and answered when it is back.
            Refused: the session had as many turns going as it may when the message's place was
                found (``session_busy``). It may be delivered again.
        """
        return await self._awaited.answer(workspace, received)

    async def so_far(self, workspace: str, received: Acknowledged) -> MessageAnswer:
        """What is known of a message now: its class and the run that serves it."""
        return await self._awaited.so_far(workspace, received)

    # --- looking ----------------------------------------------------------------------------------

    async def sessions(
        self, workspace: str, *, limit: int = 50, before: str | None = None, named: str = ""
    ) -> Sequence[SessionRow]:
        """Sessions, the most recently used first; ``named``: whose id begins or ends so."""
        return await self._services.sessions.sessions(
            workspace, limit=limit, before=before, named=named
        )

    async def session(self, workspace: str, session: str) -> SessionRow:
        """A session.

        Raises:
            NotFound: no such session in this workspace.
        """
        row = await self._services.sessions.session(workspace, session)
        if row is None:
            raise NotFound(f"there is no session {session}", code="session_not_found")
        return row

    async def head(self, workspace: str, session: str) -> int:
        """How many entries a session has; none where it has not begun."""
        row = await self._services.sessions.session(workspace, session)
        return 0 if row is None else row.head

    async def threads(self, workspace: str, session: str) -> Sequence[Thread]:
        """A session's threads: every live one first, then the most recently touched."""
        return await self._services.sessions.threads(workspace, session, limit=THREADS_LISTED)

    async def readable_run(self, workspace: str, session: str) -> StoredRun | None:
        """A turn of the session that can be read, the latest first; each is read by itself, for a
        run may be long and the first one will do.
        """
        for thread in await self.threads(workspace, session):
            found = (await self._services.store.load((thread.run,))).get(thread.run)
            if isinstance(found, StoredRun) and found.key:
                return found
        return None

    async def transcript(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        """Entries after a number, in order; after -1 the last ones."""
        return await self._services.sessions.entries(workspace, session, after=after, limit=limit)

    def events(
        self, workspace: str, session: str, after: int = 0
    ) -> AsyncGenerator[SessionEvent, None]:
        """Every event of a session after entry ``after``, until it is erased or the engine stops;
        one that does not exist yet begins with its first message.
        """
        return self._services.streams.events(workspace, session, after)


def _as_placed(accepted: Acknowledged, placed: Placed, stirred: int) -> Acknowledged:
    """What is known of a message by its consequence; of one that no run serves there is no more to
    wait for, and it is read.
    """
    served = Served(
        seq=accepted.seq,
        message_id=accepted.message_id,
        attached=placed.attached,
        reason=placed.reason,
        thread=placed.thread,
        run=placed.serves,
        anchor=placed.anchor,
    )
    return msgspec.structs.replace(
        accepted,
        tells=placed.serves if placed.attached == Attached.STATUS_NUDGE else "",
        served=served if placed.serves and placed.attached != UNPLACED else None,
        stirred=stirred,
    )


class _First(Struct, frozen=True, kw_only=True):
    """What comes in before a message: the session as it is then, and the writes; or why there can
    be none.
    """

    state: SessionState
    writes: tuple[Write, ...] = ()
    refused: str = ""


def _first(place: Placement, state: SessionState, found: Sequence[ConfigFound]) -> _First:
    """The history that the session begins with, and the profile that it is bound to."""
    writes: list[Write] = []
    if place.imports is not None:
        if state.seq > 1:
            return _First(state=state, refused=BEGUN)
        writes.append(place.imports)
        state = msgspec.structs.replace(state, seq=state.seq + 1)
    if place.pin is not None:
        pinning = place.pin.decided(*found)
        if not isinstance(pinning.outcome, Configured):
            return _First(
                state=state, refused=UNPINNED if pinning.reason is ConfigureReason.FULL else BEGUN
            )
        writes += place.pin.writes(pinning.outcome)
        state = msgspec.structs.replace(state, profiled=True)
    return _First(state=state, writes=tuple(writes))
