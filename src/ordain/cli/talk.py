"""What of a session is on the way: the turns that have not been answered, and the provisional text
of each. Pure; both faces follow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import (
    ApprovalEvent,
    MessageEvent,
    ProgressEvent,
    QuestionEvent,
    ReplyEvent,
    ResetEvent,
    SessionEvent,
    TextEvent,
)


class Turn(Struct, frozen=True, kw_only=True):
    """A turn that has not been answered: the message that began it, whether it waits for the user,
    and what is shown of it so far.

    ``named``: code chose that its reply names the message it answers.
    """

    run: str
    message_id: str = ""
    text: str = ""
    named: bool = False
    waiting: bool = False
    header: str = ""
    attempt: int = 0
    words: str = ""

    @property
    def shows(self) -> str:
        """The provisional text, once the header of finished work stands above it."""
        return self.words if self.header else ""


class Talk:
    """Follows a session's events in their order."""

    def __init__(self) -> None:
        """Nothing is on the way."""
        self._turns: dict[str, Turn] = {}

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns that have not been answered, oldest first."""
        return tuple(self._turns.values())

    @property
    def running(self) -> Turn | None:
        """The latest turn that is at work, if there is one."""
        return next((turn for turn in reversed(self.turns) if not turn.waiting), None)

    @property
    def target(self) -> Turn | None:
        """What a bare stop or a question after the state would mean: what is at work, else what
        waits.
        """
        return self.running or (self.turns[-1] if self._turns else None)

    def take(self, event: SessionEvent) -> Turn | None:
        """Follow one event; returns the turn that a reply, a question or an approval belongs to, as
        it was before.
        """
        match event:
            case MessageEvent():
                self._message(event)
            case ReplyEvent(run=run):
                return self._turns.pop(run, None)
            case QuestionEvent(run=run) | ApprovalEvent(run=run):
                turn = self._turn(run)
                self._turns[run] = structs.replace(
                    turn, waiting=True, header="", words="", attempt=0
                )
                return turn
            case ProgressEvent(run=run, header=header):
                self._turns[run] = structs.replace(self._turn(run), header=header)
            case ResetEvent(run=run, attempt=attempt):
                self._turns[run] = structs.replace(self._turn(run), attempt=attempt, words="")
            case TextEvent():
                self._text(event)
            case _:
                pass
        return None

    def answered(self, answer: MessageAnswer, *, followed: bool = False) -> None:
        """What became of a message: if another run came to serve it, or none did, nothing is on the
        way under the old one.

        ``followed``: a reply's event comes as well, perhaps later than this, and takes its turn
        with it.
        """
        for run, turn in tuple(self._turns.items()):
            moved = run != answer.run_id or (answer.reply is not None and not followed)
            if turn.message_id == answer.message_id and moved:
                del self._turns[run]

    def _turn(self, run: str) -> Turn:
        return self._turns.get(run) or Turn(run=run)

    def _message(self, event: MessageEvent) -> None:
        if not event.run:
            return
        known = self._turn(event.run)
        if known.message_id or known.waiting:
            self._turns[event.run] = structs.replace(known, waiting=False)
            return  # an answer to what the turn asked; it goes on
        # Passing events are not numbered with the durable ones: what the run has done may be told
        # before the message that began it.
        self._turns[event.run] = structs.replace(
            known, message_id=event.message_id, text=event.text, named=bool(event.anchor)
        )

    def _text(self, event: TextEvent) -> None:
        turn = self._turn(event.run)
        kept = turn.words[: event.offset] if event.attempt == turn.attempt else ""
        self._turns[event.run] = structs.replace(
            turn, attempt=event.attempt, words=kept + event.text
        )
