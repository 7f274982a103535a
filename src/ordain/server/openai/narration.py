"""An answer as it comes: first what is finished, then the model's words as they are written, last the verdict; what was given up is said to be."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import ApprovalEvent, ProgressEvent, QuestionEvent, ReplyEvent, ResetEvent, SessionErasedEvent, TextEvent
from ordain.errors import Transient
from ordain.runtime.brief import at_work
from ordain.runtime.conversation import Acknowledged
from ordain.runtime.plain_answer import REFUSED, PlainAnswer, Quoting, answer_text_of
from ordain.server.answers import message_location
from ordain.server.face import Face
from ordain.server.feed import HEARTBEAT_S, Feed
from ordain.server.openai.asked import OpenAIAsked
from ordain.server.openai.formed import text_alone

ANSWERING = (ReplyEvent, QuestionEvent, ApprovalEvent)


class Narration:
    """What is sent of one message's answer, in pieces; ``answer`` is there once they end."""

    def __init__(self, face: Face, workspace: str, sent: Acknowledged, asked: OpenAIAsked) -> None:
        """Where ``asked`` wants the text to be of a form, nothing is told before the answer stands, and then its words alone."""
        self._face, self._workspace, self._sent = face, workspace, sent
        self._whole, self._schema = asked.bare, asked.schema
        self._quoting = Quoting()
        self._begun = False
        self.answer: MessageAnswer | None = None

    async def pieces(self) -> AsyncGenerator[str | None, None]:
        """Text as it becomes known; None where there was nothing for a while.

        Raises:
            Transient: the server stops; the turn goes on when it is back.
        """
        conversation = self._face.runtime.conversation
        run = (await conversation.so_far(self._workspace, self._sent)).run_id
        if run is not None:
            async for piece in self._live(run):
                yield piece
        self.answer = await conversation.answer(self._workspace, self._sent)
        yield self._closing(answer_text_of(self.answer))

    async def _live(self, run: str) -> AsyncGenerator[str | None, None]:
        header = ""
        with self._feed() as feed:
            while True:
                event = await feed.next(HEARTBEAT_S)
                if event is None and feed.over:
                    details = {"location": message_location(self._sent)}
                    raise Transient("the server stops; the message is kept and goes on when it is back", code="stopping", details=details)
                if event is None:
                    yield None
                elif isinstance(event, SessionErasedEvent) or (isinstance(event, ANSWERING) and event.run == run):
                    return
                elif self._whole or getattr(event, "run", "") != run:
                    continue
                elif isinstance(event, ProgressEvent):
                    header = event.header
                elif isinstance(event, TextEvent):
                    yield self._opening(header) + self._quoting.piece(event.text)
                elif isinstance(event, ResetEvent) and self._begun:
                    self._quoting = Quoting()
                    yield f"\n\n{REFUSED}\n\n"

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
        return f"{at_work(header)}\n\n" if header else ""

    def _closing(self, told: PlainAnswer) -> str:
        if self._whole:
            return text_alone(told.words, self._schema)
        if not self._begun:
            return told.content
        if " ".join(self._quoting.words.split()) == " ".join(told.words.split()):
            return f"\n\n{told.header}"
        return f"\n\n{REFUSED}\n\n{told.content}"
