"""The chat at a terminal: what is typed, what is said and what is on the way, at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import ParamSpec

from msgspec import structs

from ordain.cli.chat_approvals import ChatApprovals
from ordain.cli.chat_screen import ChatScreen, prompt_of
from ordain.cli.completions import SlashCompleter
from ordain.cli.conversation_lines import (
    EMPTY,
    Looks,
    answer_lines,
    event_lines,
    header_lines,
    live_lines,
    notice,
    thread_lines,
    waits_line,
    words,
)
from ordain.cli.exit_codes import OK, UNAVAILABLE
from ordain.cli.hints import in_folder
from ordain.cli.markdown_lines import markdown_lines
from ordain.cli.messenger import Addressed, Messenger, UnsentMessage
from ordain.cli.outbox import LEAVING_S, Outbox
from ordain.cli.output import people_read
from ordain.cli.screen import BOLD, CYAN, WITHIN, ScreenLine
from ordain.cli.slash import (
    MODES,
    REQUESTS,
    STATUS,
    STOP,
    Command,
    Slash,
    SlashWords,
    Unclear,
    help_lines,
    meaning,
)
from ordain.cli.talk import Talk
from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import (
    ApprovalEvent,
    ErasedEvent,
    MessageEvent,
    QuestionEvent,
    ReplyEvent,
    SaidEvent,
    SessionErasedEvent,
    SessionEvent,
    SummaryEvent,
)
from ordain.errors import OrdainError
from ordain.rules.plain_reply import cleaned

P = ParamSpec("P")
TICK_S = 0.1
EARLIER = 6
"""Entries of a session that went on before which are shown when it is taken up again."""
EARLIER_READ = 40
SESSIONS_OFFERED = 50
"""The latest sessions, that Tab completes."""
DURABLE = (
    MessageEvent,
    QuestionEvent,
    ApprovalEvent,
    ReplyEvent,
    SaidEvent,
    SummaryEvent,
    ErasedEvent,
)


class TerminalChat:
    """One conversation at a terminal, until the user leaves."""

    def __init__(
        self, messenger: Messenger, to: Addressed, screen: ChatScreen, *, whole: bool = False
    ) -> None:
        """Into the session that ``to`` names, which need not exist yet; headers are ``whole``, or
        on one line where that says it.
        """
        self._whole, self._header, self._screen = whole, "", screen
        self._messenger, self._to, self._talk = messenger, to, Talk()
        self._approvals = ChatApprovals(messenger)
        self._outbox = Outbox(messenger, lambda told: self._say(notice(told), EMPTY))
        self.completer = SlashCompleter(self._names)
        self._mine: set[str] = set()
        self._since: dict[str, float] = {}
        self._after = 0
        self._request = ""
        self._stop_sent = ""
        self._frame = 0
        self._ticking = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: asyncio.Task[None] | None = None
        self._changing: asyncio.Task[None] | None = None
        self._ahead: list[str] = []
        self._unsaid: list[str] = []
        self._left = False

    async def run(self, shown: Awaitable[None]) -> int:
        """Talk until the user leaves, as long as the screen is shown; what runs then goes on. Exit
        code 3: of something that was said nobody knows whether it arrived.
        """
        opening = asyncio.ensure_future(self._open(self._to.session))
        opening.add_done_callback(
            lambda _: self._screen.leave() if opening.cancelled() or opening.exception() else None
        )
        try:
            await shown
            await self._settle()
            await self._outbox.settle()
            if opening.done():
                opening.result()
        finally:
            for task in (opening, *self._tasks):
                task.cancel()
        return UNAVAILABLE if self.undelivered else OK

    async def _settle(self) -> None:
        """Give a command that changes where words go a moment to be done, and so what was typed
        behind it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVING_S):
                while self._changing is not None:
                    await asyncio.wait({self._changing})

    @property
    def undelivered(self) -> Sequence[str]:
        """See ``Outbox``; so is what was typed behind a command that failed or is not done, or
        behind the one that leaves.
        """
        return (*self._outbox.undelivered, *self._unsaid, *self._ahead)

    @property
    def leaves_running(self) -> bool:
        """Whether a turn has not been answered."""
        return bool(self._talk.turns)

    @property
    def session(self) -> str:
        """The session that is spoken into."""
        return self._to.session

    def _spawn(
        self, work: Callable[P, Coroutine[None, None, None]], *args: P.args, **named: P.kwargs
    ) -> asyncio.Task[None]:
        """A task whose failure is shown and ends nothing else. Work begins inside it: one that is
        cancelled before leaves nothing behind.
        """

        async def guarded() -> None:
            try:
                await work(*args, **named)
            except OrdainError as error:
                self._say(notice(in_folder(f"{error.message} [{error.code}]")), EMPTY)

        task = asyncio.ensure_future(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _change(
        self, work: Callable[P, Coroutine[None, None, None]], *args: P.args, **named: P.kwargs
    ) -> None:
        """Work that changes where words go, or what goes with them: what is typed behind it is said
        when it is done, and not at all where it failed.
        """

        async def changed() -> None:
            try:
                await work(*args, **named)
            except Exception:
                # whatever it was: what waits behind it is not for where it would go now
                self._changed(failed=True)
                raise
            self._changed(failed=False)

        self._changing = self._spawn(changed)

    def _changed(self, *, failed: bool) -> None:
        self._changing, self._ahead, ahead = None, [], self._ahead
        for text in ahead:
            meant = meaning(text)
            if failed and (
                isinstance(meant, SlashWords)
                or (isinstance(meant, Command) and not meant.only_looks)
            ):
                self._unsaid.append(meant.text if isinstance(meant, SlashWords) else text)
                self._say(notice(f"not said, since what stands before it failed: {cleaned(text)}"))
            else:
                self.entered(text)

    # --- the screen -------------------------------------------------------------------------------

    def live(self, columns: int, rows: int) -> Sequence[ScreenLine]:
        """See ``ChatFace``."""
        now, turns = time.monotonic(), self._talk.turns
        seconds = [int(now - self._since.setdefault(turn.run, now)) for turn in turns]
        return live_lines(turns, seconds, self._frame, self._looks(columns), rows)

    def _looks(self, columns: int) -> Looks:
        """A model's words are Markdown, unless nobody wants to see how they look."""
        return Looks(
            columns=columns,
            whole=self._whole,
            said=markdown_lines if self._screen.colour else words,
        )

    def label(self) -> str:
        """See ``ChatFace``."""
        return prompt_of(self._to.mode, self._to.verbs)

    def _say(self, *lines: ScreenLine) -> None:
        self._screen.say(lines)

    # --- what is typed ----------------------------------------------------------------------------

    def interrupted(self) -> None:
        """See ``ChatFace``: once stops what runs; where nothing runs, or it was asked to stop
        already, it leaves.
        """
        running = self._talk.running
        if running is None or running.run == self._stop_sent:
            self._screen.leave()
            return
        self._stop_sent = running.run
        self._send(STOP, running.message_id)

    async def _names(self, command: Slash) -> Sequence[str]:
        """What may stand behind a command; nothing where nobody can say."""
        try:
            match command:
                case Slash.MODE:
                    return tuple(MODES)
                case Slash.VERB:
                    return await self._messenger.verb_names()
                case Slash.SESSION:
                    return [
                        one["sessionId"]
                        for one in (await self._messenger.sessions(SESSIONS_OFFERED))["sessions"]
                    ]
                case Slash.APPROVE | Slash.DENY:
                    return [
                        one["approval_id"]
                        for one in (await self._messenger.approvals(self._to.session))["approvals"]
                    ]
                case _:
                    return ()
        except OrdainError:
            return ()

    def entered(self, text: str) -> None:
        """See ``ChatFace``. What is typed while it is being changed where words go waits for
        that.
        """
        if self._changing is not None or self._left:
            self._ahead.append(text)
            return
        match meaning(text):
            case SlashWords(text=said):
                self._send(said)
            case Command() as command:
                self._command(command)
            case Unclear(why=why):
                self._say(notice(why))
            case None:
                pass

    def _send(self, text: str, reply_to: str = "") -> None:
        self._say(
            *(
                ScreenLine(text=line, style=BOLD, indent="  ")
                for line in f"{self.label()}{cleaned(text)}".split("\n")
            ),
            EMPTY,
        )
        if text in self._unsaid:  # it is said after all
            self._unsaid.remove(text)
        message = self._outbox.put(self._to, text, reply_to or None)
        self._mine.add(message.message_id)
        self._spawn(self._sent, message, self._to, reply_to)

    async def _sent(self, message: UnsentMessage, to: Addressed, reply_to: str) -> None:
        try:
            sent = await self._outbox.deliver(message)
        except OrdainError:
            # refused: what was said is not lost, and may be said again without what was wrong
            self._request = self._request if reply_to else message.text
            raise
        if sent.attached in REQUESTS and not reply_to:
            self._request = message.text
        if to.session == self._to.session and self._following is None:
            self._follow()
        answer = await self._messenger.answer(to.session, sent.session_seq)
        if to.session == self._to.session:
            self._answered(answer)

    def _answered(self, answer: MessageAnswer) -> None:
        self._talk.answered(answer, followed=self._following is not None)
        self._say(*answer_lines(answer))

    # --- what is heard ----------------------------------------------------------------------------

    async def _open(self, session: str) -> None:
        """Take a session up: what was said last, then its stream from there. One that does not
        exist begins with its first message.
        """
        # where that fails the chat stays where it was
        earlier = await self._messenger.transcript(session, EARLIER_READ)
        if self._following is not None:
            self._following.cancel()
        self._to, self._talk, self._following, self._after = (
            structs.replace(self._to, session=session),
            Talk(),
            None,
            0,
        )
        self._say(notice(f"session {session}; /help lists commands, Ctrl-D leaves"), EMPTY)
        for at, event in enumerate(earlier):
            self._heard(event, show=at >= len(earlier) - EARLIER)
        self._screen.remember(
            [
                event.text
                for event in earlier
                if isinstance(event, MessageEvent) and event.user == self._to.user
            ]
        )
        self._request = next(
            (
                e.text
                for e in reversed(earlier)
                if isinstance(e, MessageEvent) and e.attached in REQUESTS
            ),
            "",
        )
        if earlier:
            self._follow()

    def _follow(self) -> None:
        self._following = following = self._spawn(self._followed, self._to.session)
        following.add_done_callback(self._followed_to_the_end)

    async def _followed(self, session: str) -> None:
        async for heard in self._messenger.events(session, self._after):
            self._heard(heard.event, show=True)

    def _followed_to_the_end(self, following: asyncio.Task[None]) -> None:
        """The server stayed away: the next message takes the stream up again where it broke off."""
        if self._following is following:
            self._following = None

    def _heard(self, event: SessionEvent, *, show: bool) -> None:
        if isinstance(event, SessionErasedEvent):
            self._talk, self._after = Talk(), 0
            self._say(
                notice("this session was erased; what is said now begins another under its id"),
                EMPTY,
            )
            return
        several = len(self._talk.turns) > 1
        turn = self._talk.take(event)
        if isinstance(event, ReplyEvent):
            self._header = event.header
        if isinstance(event, DURABLE) and show:
            mine = event.message_id in self._mine
            looks = self._looks(self._screen.columns)
            lines = event_lines(event, turn, looks, mine=mine, several=several)
            if isinstance(event, ApprovalEvent):
                self._spawn(self._asked_for, event, lines)
            else:
                self._say(*lines)
        if isinstance(event, DURABLE):
            self._after = event.seq
            self._screen.redraw()
        self._wake()

    def _wake(self) -> None:
        """Let the clock of the live part run while something is at work."""
        if self._talk.running is not None and not self._ticking:
            self._ticking = True
            self._spawn(self._tick)

    async def _tick(self) -> None:
        while self._talk.running is not None:
            self._frame += 1
            self._screen.redraw()
            await asyncio.sleep(TICK_S)
        self._ticking = False
        self._screen.redraw()

    # --- commands ---------------------------------------------------------------------------------

    def _command(self, command: Command) -> None:
        target = self._talk.target
        anchor = "" if target is None else target.message_id
        match command.name:
            case Slash.STOP:
                self._send(STOP, anchor)
            case Slash.STATUS if target is not None:
                self._send(STATUS, anchor)
            case Slash.APPROVE | Slash.DENY:
                self._spawn(self._decide, command.words, approve=command.name is Slash.APPROVE)
            case Slash.WHY:
                self._why()
            case Slash.RETRY:
                self._retry()
            case Slash.ATTACH:
                self._change(self._attach, " ".join(command.words))
            case Slash.MODE:
                self._to = structs.replace(
                    self._to, mode=command.words[0] if command.words else self._to.mode
                )
                self._say(notice(f"mode {self._to.mode}"))
            case Slash.VERB:
                self._change(self._verbs, command.words)
            case Slash.SESSION:
                self._session(command.words)
            case Slash.STATUS | Slash.THREADS:
                self._spawn(self._threads)
            case Slash.HELP:
                self._say(
                    *(ScreenLine(text=line, style=CYAN, indent="    ") for line in help_lines()),
                    EMPTY,
                )
            case Slash.QUIT:
                self._left = True
                self._screen.leave()

    def _session(self, words: Sequence[str]) -> None:
        if words:
            self._change(self._go, words[0])
        else:
            self._say(notice(f"session {self._to.session}"))

    async def _go(self, named: str) -> None:
        await self._open(await self._messenger.meant_session(named))

    def _why(self) -> None:
        told = (
            header_lines(people_read(self._header, whole=True))
            if self._header
            else [notice("there is no reply yet to ask after")]
        )
        self._say(*told, EMPTY)

    def _retry(self) -> None:
        if self._request:
            self._send(self._request)
        else:
            self._say(notice("there is no request to send again"))

    async def _verbs(self, words: Sequence[str]) -> None:
        if words:
            verbs = () if tuple(words) == ("-",) else tuple(words)
            await self._messenger.check_verbs(verbs)
            self._to = structs.replace(self._to, verbs=verbs)
        named = ", ".join(self._to.verbs)
        self._say(notice("no verb named: each mode has its own" if not named else f"verbs {named}"))

    async def _attach(self, named: str) -> None:
        self._say(notice(self._messenger.attach(named)))

    async def _decide(self, words: Sequence[str], *, approve: bool) -> None:
        done = await self._approvals.decide(self._to.session, words, approve=approve)
        self._say_lines(done.lines)

    async def _asked_for(self, event: ApprovalEvent, otherwise: Sequence[ScreenLine]) -> None:
        """An open approval as whoever decides it has to see it; of another what was said of it."""
        exact = await self._approvals.shown(event.approval)
        self._say(*([waits_line(event.tier)] if exact else otherwise))
        self._say_lines(exact)

    def _say_lines(self, lines: Sequence[str]) -> None:
        if lines:
            self._say(
                *(
                    ScreenLine(text=part, style=CYAN, indent=WITHIN)
                    for line in lines
                    for part in cleaned(line).split("\n")
                ),
                EMPTY,
            )

    async def _threads(self) -> None:
        self._say(*thread_lines(await self._messenger.session(self._to.session)), EMPTY)
