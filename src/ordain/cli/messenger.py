"""One session over the HTTP face: say something, wait for the answer, follow the stream. A lost
connection is taken up again.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from msgspec import Struct

from ordain.cli.connection import Connection, in_workspace, refusal
from ordain.cli.short_ids import APPROVAL, LAST, SESSION
from ordain.cli.slash import MODES
from ordain.contracts.conversation import SESSION_ID, Attachment, MessageAnswer, session_path
from ordain.contracts.events import SessionErasedEvent, SessionEvent
from ordain.contracts.path_parts import path_part
from ordain.contracts.visible import visible_line
from ordain.errors import InvalidRequest, NotFound, Transient
from ordain.runtime.attachments import check_file, file_read

WAIT_S = 60
SILENCE_S = 60.0
"""The stream gives a sign of life every fifteen seconds."""
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Before each further try to reach a server that has gone."""
CHANNEL = "other"
NAME_CHARS = 300
SESSION_NAMED = re.compile(SESSION_ID.removeprefix("^").removesuffix("$"))
SESSION_IDS = "letters, digits and . _ : @ + / - behind the first letter or digit, 200 at most"


class Addressed(Struct, frozen=True, kw_only=True):
    """Where messages go and how they ask to be carried out. One verb serves the turn, several are
    all it may use (B-33). ``mode`` as people call it.
    """

    session: str
    user: str
    mode: str = "chat"
    verbs: tuple[str, ...] = ()

    def hints(self) -> dict[str, Any]:
        """Routing hints; a verb that nobody named is not there, so that code gives the mode's own
        (GW-02).
        """
        mode = {"mode": MODES[self.mode]}
        if not self.verbs:
            return mode
        named: dict[str, Any] = (
            {"verb": self.verbs[0]} if len(self.verbs) == 1 else {"allowedVerbs": list(self.verbs)}
        )
        return {**mode, **named}


class UnsentMessage(Struct, frozen=True, kw_only=True):
    """A message as it is sent, as often as it takes."""

    message_id: str
    text: str
    content: bytes


class EventHeard(msgspec.Struct, frozen=True, kw_only=True):
    """One event as it came."""

    data: bytes
    event: SessionEvent


def new_session() -> str:
    """A fresh session's id."""
    return f"cli:{secrets.token_hex(6)}"


class Messenger:
    """Speaks into sessions of one workspace and listens to them."""

    def __init__(self, connection: Connection, workspace: str) -> None:
        """Over a connection that somebody else opens and closes."""
        self._connection, self._headers = connection, in_workspace(workspace)
        self._user = dict(connection.as_user)
        self.embedded = connection.embedded
        self._files: list[Attachment] = []

    def attach(self, named: str) -> str:
        """A file goes with the next message; what is told of that.

        Raises:
            InvalidRequest: none is named, it is too large, or no file that a message may bring,
                which is told now and not with the message.
            ConfigurationError: it cannot be read.
        """
        if not named:
            raise InvalidRequest("name the file: /attach FILE", code="unclear_command")
        file = file_read(Path(named).expanduser())
        check_file(file)
        self._files.append(file)
        return (
            f"{visible_line(file.name, NAME_CHARS)} goes with the next message "
            f"({len(self._files)} file{'s' if len(self._files) > 1 else ''})"
        )

    def _attached(self) -> dict[str, Any]:
        """The files that go now: once, also where the message is refused because of one of them."""
        files, self._files = self._files, []
        return (
            {
                "attachments": [
                    file.model_dump(mode="json", by_alias=True, exclude_none=True) for file in files
                ]
            }
            if files
            else {}
        )

    def outgoing(self, to: Addressed, text: str, *, reply_to: str | None = None) -> UnsentMessage:
        """A message with an id of its own, and with the files that were attached."""
        context: dict[str, Any] = {"routingHints": to.hints()}
        message_id = new_message_id()
        body = {
            "sessionId": to.session,
            "userId": to.user,
            "channel": CHANNEL,
            "message": {"text": text, **({} if reply_to else self._attached())},
            "context": context if reply_to is None else {**context, "replyTo": reply_to},
            "messageId": message_id,
        }
        return UnsentMessage(message_id=message_id, text=text, content=json.dumps(body).encode())

    async def deliver(self, message: UnsentMessage) -> MessageAnswer:
        """Send a message; when this returns it is durable. The answer so far; sent again after a
        lost connection it is the same message.

        Raises:
            OrdainError: it was refused, or the server stays away (``server_gone``).
        """
        headers = {"Prefer": "respond-async", "Content-Type": "application/json"}
        return MessageAnswer.model_validate(
            await self._asked("POST", "/messages", content=message.content, headers=headers)
        )

    async def say(self, to: Addressed, text: str, *, reply_to: str | None = None) -> MessageAnswer:
        """Make a message and send it.

        Raises: as ``deliver``.
        """
        return await self.deliver(self.outgoing(to, text, reply_to=reply_to))

    async def answer(self, session: str, seq: int) -> MessageAnswer:
        """Wait until a message is answered: by a reply, by a question, by an approval that it waits
        for, or because nothing follows from it.

        Raises: as ``say``.
        """
        while True:
            said = await self._asked(
                "GET", session_path(session, "messages", str(seq)), params={"wait": WAIT_S}
            )
            answer = MessageAnswer.model_validate(said)
            if (
                answer.reply is not None
                or answer.question is not None
                or answer.approval is not None
                or answer.run_id is None
            ):
                return answer

    async def events(self, session: str, after: int) -> AsyncGenerator[EventHeard, None]:
        """The session's events after entry ``after``, until it is erased; the session exists.

        Raises: as ``say``.
        """
        failed = 0
        while True:
            try:
                async with aclosing(self._events(session, after)) as events:
                    async for heard in events:
                        failed, after = 0, getattr(heard.event, "seq", after)
                        yield heard
                        if isinstance(heard.event, SessionErasedEvent):
                            return
                ended: Exception = Transient("the server closed the stream", code="server_gone")
            except (httpx2.HTTPError, Transient) as error:
                ended = error
            await self._pause(failed, ended)
            failed += 1

    async def _events(self, session: str, after: int) -> AsyncGenerator[EventHeard, None]:
        timeout = httpx2.Timeout(None, connect=SILENCE_S, read=SILENCE_S)
        path = session_path(session, "events")
        async with self._connection.http.stream(
            "GET", path, params={"after": after}, headers=self._headers, timeout=timeout
        ) as response:
            if not response.is_success:
                await response.aread()
                raise refusal(response)
            async for data in sent_events(response):
                yield EventHeard(data=data, event=msgspec.json.decode(data, type=SessionEvent))

    async def transcript(self, session: str, last: int) -> Sequence[SessionEvent]:
        """The last entries of a session; none where there is no such session."""
        try:
            said = await self._asked(
                "GET", session_path(session, "messages"), params={"limit": last}
            )
        except NotFound:
            return ()
        return msgspec.convert(said["entries"], type=list[SessionEvent])

    async def session(self, session: str) -> dict[str, Any]:
        """A session and its threads.

        Raises:
            NotFound: nothing has been said in it.
        """
        return await self._asked("GET", session_path(session))

    async def whole_session(self, given: str) -> str:
        """The id of the session that was meant. One that somebody chose may be a part of others, so
        it is looked for as it is first.

        Raises:
            InvalidRequest: it is part of several (``ambiguous_id``).
        """
        if given != LAST:
            with suppress(NotFound):
                await self.session(given)
                return given
        return await self._connection.whole_id(SESSION, given, self._headers)

    async def meant_session(self, named: str) -> str:
        """A session to talk in: the latest one, or that of exactly this id, which need not exist
        yet.

        Raises:
            NotFound: the latest one, and there is none.
            InvalidRequest: no session can have this id (``invalid_session_id``).
        """
        if named == LAST:
            return await self.whole_session(named)
        if not SESSION_NAMED.fullmatch(named):
            raise InvalidRequest(
                f"{named} is no session's id: {SESSION_IDS}", code="invalid_session_id"
            )
        return named

    async def whole_approval(self, given: str) -> str:
        """The same of an approval."""
        return await self._connection.whole_id(APPROVAL, given, {**self._headers, **self._user})

    async def sessions(self, limit: int, before: str | None = None) -> dict[str, Any]:
        """Sessions, the most recently used first."""
        asked = {"limit": limit} if before is None else {"limit": limit, "before": before}
        return await self._asked("GET", "/sessions", params=asked)

    async def approvals(self, session: str) -> dict[str, Any]:
        """What runs of a session wait for somebody's yes for."""
        return await self._asked(
            "GET", "/approvals", params={"session": session}, headers=self._user
        )

    async def approval(self, approval: str) -> dict[str, Any]:
        """One approval, with its exact arguments."""
        return await self._asked("GET", f"/approvals/{path_part(approval)}", headers=self._user)

    async def decide(
        self, approval: str, *, approve: bool, digest: str, why: str
    ) -> dict[str, Any]:
        """Say yes or no. Sent once: where the connection is lost nobody here knows whether it
        counted, and the approval says so.
        """
        path = f"/approvals/{path_part(approval)}/{'approve' if approve else 'deny'}"
        content = json.dumps({"digest": digest, "why": why}).encode()
        done: dict[str, Any] = await self._connection.ask(
            "POST", path, content=content, headers={**self._headers, **self._user}
        )
        return done

    async def check_verbs(self, verbs: Sequence[str]) -> None:
        """Whether there are such verbs, before a message names them.

        Raises:
            NotFound: there is none of that id; the message says which was probably meant.
        """
        for verb in verbs:
            await self._asked("GET", f"/verbs/{path_part(verb)}")

    async def verb_names(self) -> Sequence[str]:
        """The verbs that can be called."""
        found: dict[str, Any] = await self._asked("GET", "/verbs")
        return [verb["verb_id"] for verb in found["verbs"] if verb["active"]]

    async def erase(self, session: str, why: str) -> dict[str, Any]:
        """Destroy a session's content."""
        return await self._asked(
            "POST", session_path(session, "erase"), content=json.dumps({"why": why}).encode()
        )

    async def _asked(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> Any:
        """One request that may be sent again: each of these comes to the same however often it
        arrives.
        """
        failed = 0
        while True:
            try:
                return await self._connection.ask(
                    method, path, headers={**self._headers, **(headers or {})}, **options
                )
            except Transient as error:
                await self._pause(failed, error)
                failed += 1

    async def _pause(self, failed: int, error: Exception) -> None:
        if failed >= len(PAUSES_S) or self.embedded:
            raise (
                error
                if isinstance(error, Transient)
                else Transient("the server went away", code="server_gone")
            ) from error
        await asyncio.sleep(PAUSES_S[failed])


def new_message_id() -> str:
    """An id for a message; the same one is the same message."""
    return f"cli-{secrets.token_hex(8)}"


async def sent_events(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """The data of server-sent events, one line each; comments and other fields are passed over."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield line[len(b"data: ") :]
