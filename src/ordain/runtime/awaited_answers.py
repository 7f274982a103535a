"""Waiting for what becomes of a message that was accepted.

Of a message that was accepted here a moment ago is known, without a look, that nothing was said to
it yet; and its reply is told with the commit that it comes in. Only who waits for anything else, or
was told less than all, reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ordain.contracts.conversation import MessageAnswer
from ordain.errors import NotFound, Refused, Transient
from ordain.ports.sessions import Entry, EntryKind
from ordain.rules.attach import UNPLACED
from ordain.runtime.message_answer import Served, answer_of
from ordain.runtime.services import Services

BUSY = {
    "session_busy": (
        "session {} has as many turns going as it may: answer or stop one, or wait until one "
        "has ended"
    ),
    "busy": "too many turns are accepted already, of all sessions; session {} is not to blame",
}
_ASKS = (EntryKind.QUESTION, EntryKind.APPROVAL)


class Acknowledged(Struct, frozen=True, kw_only=True):
    """A durable message: its number and id, and whether it had come before; ``tells`` is the run
    that only tells how things stand.

    ``served`` is how it was placed when it was accepted, which holds as long as the session's
    ``Streams.stirred`` is that number; None where that has to be read.
    """

    session: str
    seq: int
    message_id: str
    duplicate: bool
    tells: str = ""
    served: Served | None = None
    stirred: int = 0


def busy(services: Services, code: str, session: str) -> Refused:
    """What a message is refused with that has no place (``BUSY``)."""
    retry = services.catalogs.current.policy.engine.retry_after_s
    return Refused(BUSY[code].format(session), code=code, status=429, retry_after_s=retry)


class AwaitedAnswers:
    """Tells what became of messages, at once or when it has."""

    def __init__(self, services: Services) -> None:
        """Reads through the sessions' port."""
        self._services = services

    async def answer(self, workspace: str, received: Acknowledged) -> MessageAnswer:
        """See ``Conversation.answer``."""
        streams, session = self._services.streams, received.session
        with streams.watching(workspace, session) as reader:
            served = received.served
            if streams.stirred(workspace, session) != received.stirred:
                served = None
            while True:
                said = reader.looks()
                if streams.closed:
                    # before anything is read: the store may be closed, too
                    raise Transient(
                        f"the engine stopped; message {received.message_id} is answered by the "
                        "next one",
                        code="stopping",
                    )
                if served is not None and said is not None and not _asks(served, said):
                    found = _told(served, said, session)
                else:
                    served, found = None, await self._read(workspace, received)
                if found is not None and found.attached == UNPLACED:
                    raise busy(self._services, UNPLACED, session)
                if found is not None:
                    return found
                await reader.woken.wait()

    async def so_far(self, workspace: str, received: Acknowledged) -> MessageAnswer:
        """What is known of a message now: its class and the run that serves it."""
        message, answer = await self._entries(workspace, received)
        return answer_of(message, answer, received.session, duplicate=received.duplicate)

    async def _read(self, workspace: str, received: Acknowledged) -> MessageAnswer | None:
        message, answer = await self._entries(workspace, received)
        return (
            answer_of(message, answer, received.session, duplicate=received.duplicate)
            if answer is not None or not message.run
            else None
        )

    async def _entries(self, workspace: str, received: Acknowledged) -> tuple[Entry, Entry | None]:
        found = await self._services.sessions.answer(workspace, received.session, received.seq)
        if found is None or found[0].message_id != received.message_id:
            # erased since, and another message by now
            raise NotFound(
                f"session {received.session} has no message {received.seq}",
                code="message_not_found",
            )
        return found


def _asks(served: Served, said: Sequence[Entry]) -> bool:
    """Whether the message's run has asked something: whether that is open still is read; and so is
    what is told without its content.
    """
    return any(
        entry.run == served.run and (entry.kind in _ASKS or entry.body is None) for entry in said
    )


def _told(served: Served, said: Sequence[Entry], session: str) -> MessageAnswer | None:
    """The answer, where the reply of the message's run is among what was said."""
    for entry in reversed(said):
        if entry.kind is EntryKind.REPLY and entry.run == served.run:
            return answer_of(served, entry, session)
    return None
