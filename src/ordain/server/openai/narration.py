"""An answer as it comes: first what is finished, then the model's words as they are written, last
the verdict; what was given up is said to be.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import (
    ApprovalEvent,
    ProgressEvent,
    QuestionEvent,
    ReplyEvent,
    ResetEvent,
    SessionErasedEvent,
    SessionEvent,
    TextEvent,
)
from ordain.contracts.openai import OrdainNote
from ordain.errors import Transient
from ordain.runtime.answer_source import AnswerSource, answer_source
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.brief import at_work
from ordain.runtime.plain_answer import (
    REFUSED,
    PlainAnswer,
    Quoting,
    answer_text_of,
    in_markdown,
)
from ordain.runtime.reason_words import meanings
from ordain.server.answers import message_location
from ordain.server.face import Face
from ordain.server.feed import HEARTBEAT_S, Feed
from ordain.server.openai.answers import SentAnswer
from ordain.server.openai.asked import OpenAIAsked
from ordain.server.openai.formed import formed_text, told_as

ANSWERING = (ReplyEvent, QuestionEvent, ApprovalEvent)
DRAINS_S = 5.0
"""How long the rest of a stream may take to come once its answer stands."""


class Narration:
    """What is sent of one message's answer, in pieces; ``answer`` is there once they end."""

    def __init__(self, face: Face, workspace: str, sent: Acknowledged, asked: OpenAIAsked) -> None:
        """Where ``asked`` wants the text to be JSON, nothing is told before the answer stands, and
        then its words alone.
        """
        self._face, self._workspace, self._sent = face, workspace, sent
        self._whole, self._schema = asked.schema is not None, asked.schema
        self._quoting = Quoting()
        self._begun = False
        self.answer: MessageAnswer | None = None
        self._source = AnswerSource(by_code=False)

    @property
    def refusal(self) -> bool:
        """Whether the piece that came last is code's word in place of an answer of the form that
        was asked for.
        """
        return self._whole and self.answer is not None and self._source.by_code

    def told(self, text: str, note: OrdainNote) -> SentAnswer:
        """The answer, once its pieces have ended, of which this was sent."""
        assert self.answer is not None
        return told_as(text, note, self.answer, self._source, formed=self._whole)

    async def pieces(self) -> AsyncGenerator[str | None, None]:
        """Text as it becomes known; None where there was nothing for a while.

        Raises:
            Transient: the server stops; the turn goes on when it is back.
        """
        with self._feed() as feed:
            # before anything is awaited: what is provisional is told to who listens, and to nobody
            # later
            answer = asyncio.ensure_future(
                self._face.runtime.conversation.answer(self._workspace, self._sent)
            )
            try:
                async with aclosing(self._live(feed, answer)) as live:
                    async for piece in live:
                        yield piece
                found = await answer
            finally:
                answer.cancel()
        runtime = self._face.runtime
        self._source = await answer_source(runtime.services, runtime.search, self._workspace, found)
        self.answer = found
        yield (
            formed_text(found, self._source, self._schema)
            if self._whole
            else self._closing(answer_text_of(found))
        )

    async def _live(
        self, feed: Feed, answer: asyncio.Future[MessageAnswer]
    ) -> AsyncGenerator[str | None, None]:
        """What is written while the message has no answer, until that has come by this way too."""
        header, run, known = "", "", set[str]()
        while not answer.done() or _is_event(answer):
            stood = answer.done()
            event = await _next_of(feed, answer)
            if event is None and feed.over:
                details = {"location": message_location(self._sent)}
                raise Transient(
                    "the server stops; the message is kept and goes on when it is back",
                    code="stopping",
                    details=details,
                )
            if event is None and stood:
                return
            if event is None:
                if not answer.done():
                    yield None
                continue
            of = getattr(event, "run", "")
            if of and of not in known:  # a message that has to be placed has no turn at first
                known.add(of)
                run = await self._run()
            if isinstance(event, SessionErasedEvent) or (
                isinstance(event, ANSWERING) and of == run
            ):
                return
            if self._whole or of != run:
                continue
            if isinstance(event, ProgressEvent):
                header = event.header
            elif isinstance(event, TextEvent):
                yield self._opening(header) + self._quoting.piece(event.text)
            elif isinstance(event, ResetEvent) and self._begun:
                self._quoting = Quoting()
                yield f"\n\n{REFUSED}\n\n"

    async def _run(self) -> str:
        """The run that serves the message, as far as that is decided."""
        return (
            await self._face.runtime.conversation.so_far(self._workspace, self._sent)
        ).run_id or ""

    @contextmanager
    def _feed(self) -> Generator[Feed]:
        feed = Feed(self._face, self._workspace, self._sent.session, self._sent.seq)
        try:
            yield feed
        finally:
            feed.close()

    def _opening(self, header: str) -> str:
        if self._begun:
            return ""
        self._begun = True
        return f"{in_markdown(at_work(header, meanings()))}\n\n" if header else ""

    def _closing(self, told: PlainAnswer) -> str:
        if not self._begun:
            return told.content
        if told.words.startswith(self._quoting.words):
            # what is provisional may end before the answer does
            return f"{self._quoting.piece(told.words[len(self._quoting.words) :])}\n\n{told.header}"
        if " ".join(self._quoting.words.split()) == " ".join(told.words.split()):
            return f"\n\n{told.header}"
        return f"\n\n{REFUSED}\n\n{told.content}"


def _is_event(answer: asyncio.Future[MessageAnswer]) -> bool:
    """Whether an answer that stands is an event of its session: a message from which nothing
    follows has none.
    """
    if answer.exception() is not None:
        return False
    found = answer.result()
    return (found.reply or found.question or found.approval) is not None


async def _next_of(feed: Feed, answer: asyncio.Future[MessageAnswer]) -> SessionEvent | None:
    """The next event; None where there was none for a while, or none before the answer stood."""
    if answer.done():
        return await feed.next(DRAINS_S)
    upcoming = asyncio.ensure_future(feed.next(HEARTBEAT_S))
    try:
        await asyncio.wait({upcoming, answer}, return_when=asyncio.FIRST_COMPLETED)
        return upcoming.result() if upcoming.done() else None
    finally:
        upcoming.cancel()
