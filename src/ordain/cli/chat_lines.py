"""The chat without a terminal: one message after the other, each with its answer; for pipes,
scripts and programs.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from enum import Enum
from typing import Any

from msgspec import Struct, structs

from ordain.cli.chat_approvals import ChatApprovals
from ordain.cli.columns import UNBROKEN
from ordain.cli.conversation_lines import one_line, question_lines, thread_lines
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.messenger import Addressed, Messenger
from ordain.cli.output import MESSAGE, show_header, show_reply, warn
from ordain.cli.slash import (
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
from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import (
    ApprovalEvent,
    MessageEvent,
    OptionView,
    QuestionEvent,
    ReplyEvent,
    SessionEvent,
)
from ordain.contracts.visible import escaped_json, visible_line
from ordain.errors import Conflict, InvalidRequest, OrdainError
from ordain.rules.plain_reply import cleaned

READ_BYTES = 65_536
LINES_AHEAD = 16
INTERRUPTED = 130
BY_SIGNAL = 128
"""The exit code of what a signal ended, less its number."""


class Aside(Enum):
    """What a line of input comes to that says nothing to the session; no text, so that no words can
    equal it.
    """

    DONE = "done"
    LEAVE = "leave"


class Printed(Struct, frozen=True, kw_only=True):
    """How answers are printed: for programs, or for people with whole headers."""

    as_json: bool = False
    whole: bool = False


class LineChat:
    """Says each message, waits for its answer, and prints it: as text, or as every event on a line
    of JSON.
    """

    def __init__(
        self, messenger: Messenger, to: Addressed, how: Printed, *, commands: bool = False
    ) -> None:
        """Into one session; with ``commands`` a line that begins with a slash is one."""
        self._messenger, self._to, self._json, self._whole = messenger, to, how.as_json, how.whole
        self._commands, self._request, self._header = commands, "", ""
        self._approvals, self._awaits = ChatApprovals(messenger), 0
        self._following: asyncio.Task[None] | None = None
        self._seen: dict[str, int] = {}
        self._came = asyncio.Event()
        self._failed = self._asked = False
        self._stopped = self._ended_by = 0
        self._saying, self._waiting_for = False, ""
        self._stopping: asyncio.Task[None] | None = None

    async def run(self, messages: AsyncIterator[str]) -> int:
        """Every message in turn; 1 where an answer was not ok, or the last one was a question.

        Raises:
            OrdainError: a message was refused, or the server has gone.
        """
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(self._run(messages))
        loop.add_signal_handler(signal.SIGINT, self._interrupt, task)
        # as under nohup
        ending = [
            one
            for one in (signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(one) is not signal.SIG_IGN
        ]
        for number in ending:
            loop.add_signal_handler(number, self._end, task, number)
        if not self._json:
            announce(self._to.session)  # whoever reads it may press Ctrl-C from then on
        try:
            return await task
        except asyncio.CancelledError:
            if self._saying or self._waiting_for:
                warn(f"session {self._to.session}{goes_on(embedded=self._messenger.embedded)}")
            return BY_SIGNAL + self._ended_by if self._ended_by else INTERRUPTED
        finally:
            for number in (signal.SIGINT, *ending):
                loop.remove_signal_handler(number)
            if self._following is not None:
                self._following.cancel()

    def _interrupt(self, task: asyncio.Task[int]) -> None:
        """The first Ctrl-C stops the turn, once its message is there; the next one this command."""
        self._stopped += 1
        if self._stopped > 1 or not (self._saying or self._waiting_for):
            task.cancel()
        elif self._waiting_for:
            self._stop()

    def _end(self, task: asyncio.Task[int], number: int) -> None:
        self._ended_by = number
        task.cancel()

    def _stop(self) -> None:
        self._stopping = asyncio.ensure_future(self._say_stop(self._waiting_for))

    async def _say_stop(self, message_id: str) -> None:
        try:
            await self._messenger.say(self._to, STOP, reply_to=message_id)
        except OrdainError as error:
            print(
                visible_line(
                    f"not delivered: {one_line(STOP)}: {error.message} [{error.code}]", MESSAGE
                ),
                file=sys.stderr,
                flush=True,
            )

    async def _run(self, messages: AsyncIterator[str]) -> int:
        after: int | None = None
        if self._json:
            self._print_json({"event": "session", "session_id": self._to.session})
            last = await self._messenger.transcript(self._to.session, 1)
            after = max((getattr(event, "seq", 0) for event in last), default=0)
        async for line in messages:
            text = await self._meant(line) if self._commands else line
            if text is Aside.DONE:
                continue
            if text is Aside.LEAVE:
                break
            self._saying = True
            sent = await self._messenger.say(self._to, text)
            self._request = text if sent.attached in REQUESTS else self._request
            if after is not None and self._following is None:
                self._following = asyncio.ensure_future(self._follow(after))
            self._saying, self._waiting_for = False, sent.message_id
            if self._stopped:  # it came while the message was on its way
                self._stop()
            await self._answered(await self._messenger.answer(self._to.session, sent.session_seq))
            self._waiting_for = ""
            if self._stopped:
                return INTERRUPTED
        return FAILED if self._failed or self._asked else OK

    async def _meant(self, line: str) -> str | Aside:
        """What a line of input says to the session; a command that changes how, only looks, or
        leaves says nothing.

        Raises:
            InvalidRequest: it begins with a slash and is no command, or none that a pipe can use.
            NotFound: the threads of a session in which nothing has been said.
        """
        match meaning(line):
            case None:
                return Aside.DONE
            case SlashWords(text=text):
                return text
            case Unclear(why=why):
                raise InvalidRequest(f"{why}; nothing behind it was said", code="unclear_command")
            case Command(name=Slash.STOP):
                return STOP
            case Command(name=Slash.STATUS | Slash.THREADS as name):
                found = await self._messenger.session(self._to.session)
                if name is Slash.STATUS and found["openTurns"]:
                    return STATUS
                self._print_threads(found)
                return Aside.DONE
            case Command(name=Slash.HELP):
                print("\n".join(help_lines()), file=sys.stderr, flush=True)
                return Aside.DONE
            case Command(name=Slash.QUIT):
                return Aside.LEAVE
            case Command(name=Slash.RETRY) if self._request:
                return self._request
            case Command() as command:
                await self._carry_out(command)
                return Aside.DONE

    async def _carry_out(self, command: Command) -> None:
        match command:
            case Command(name=Slash.MODE, words=(mode,)):
                self._to = structs.replace(self._to, mode=mode)
            case Command(name=Slash.VERB, words=words) if words:
                verbs = () if words == ("-",) else words
                await self._messenger.check_verbs(verbs)
                self._to = structs.replace(self._to, verbs=verbs)
            case Command(name=Slash.WHY):
                self._print_why()
            case Command(name=Slash.ATTACH, words=words):
                print(self._messenger.attach(" ".join(words)), file=sys.stderr, flush=True)
            case Command(name=Slash.APPROVE | Slash.DENY as name, words=words):
                await self._decide(words, approve=name is Slash.APPROVE)
            case Command(name=name):
                raise InvalidRequest(
                    f"{name} means nothing here; a terminal has it", code="unclear_command"
                )

    async def _decide(self, words: Sequence[str], *, approve: bool) -> None:
        """Decide an approval, and wait for what the message that waited for it comes to."""
        done = await self._approvals.decide(self._to.session, words, approve=approve)
        if self._json:
            self._print_json(
                {"event": "approvals", "decided": done.decided, "lines": list(done.lines)}
            )
        else:
            print("\n".join(map(cleaned, done.lines)), end="\n\n", flush=True)
        if done.decided and self._awaits:
            await self._answered(await self._messenger.answer(self._to.session, self._awaits))

    async def _answered(self, answer: MessageAnswer) -> None:
        self._asked = answer.question is not None or answer.approval is not None
        self._awaits = (
            answer.session_seq
            if answer.approval is not None
            else 0
            if answer.session_seq == self._awaits
            else self._awaits
        )
        self._failed = self._failed or (answer.reply is not None and not answer.reply.ok)
        self._header = self._header if answer.reply is None else answer.reply.header
        if not self._json:
            await self._print(answer)
            return
        await self._shown(answer)
        ok = None if answer.reply is None else answer.reply.ok
        facts = {
            "seq": answer.session_seq,
            "message_id": answer.message_id,
            "run": answer.run_id or "",
        }
        self._print_json(
            {
                "event": "answered",
                **facts,
                "attached": answer.attached,
                "reason": answer.reason,
                "ok": ok,
            }
        )

    async def _print(self, answer: MessageAnswer) -> None:
        if answer.approval is not None:
            lines = await self._approvals.shown(answer.approval.approval_id) or [
                answer.approval.text,
                f"approval {answer.approval.approval_id}",
            ]
            print("\n".join(map(cleaned, lines)), end="\n\n", flush=True)
        elif answer.reply is not None:
            show_reply(answer.reply.header, answer.reply.narrative, whole=self._whole)
        elif answer.question is not None:
            asked = answer.question
            options = [OptionView(key=option.key, label=option.label) for option in asked.options]
            print(
                "\n".join(
                    line.text
                    for line in question_lines(asked.text, asked.expected_type, options, UNBROKEN)
                ),
                end="\n\n",
                flush=True,
            )

    def _print_why(self) -> None:
        """The whole header of the last reply.

        Raises:
            InvalidRequest: there was none yet.
        """
        if not self._header:
            raise InvalidRequest("there is no reply yet to ask after", code="unclear_command")
        if self._json:
            self._print_json({"event": "why", "header": self._header})
        else:
            show_header(self._header)
            print(flush=True)

    def _print_threads(self, session: dict[str, Any]) -> None:
        if self._json:
            self._print_json({"event": "threads", "threads": session["threads"]})
        else:
            print("\n".join(line.text for line in thread_lines(session)), end="\n\n", flush=True)

    # --- the stream, for programs -----------------------------------------------------------------

    async def _follow(self, after: int) -> None:
        async for heard in self._messenger.events(self._to.session, after):
            self._print_json(json.loads(heard.data))
            self._note(heard.event)
        raise Conflict(
            f"session {self._to.session} was erased: what is said under its id from now on is "
            "another's",
            code="session_erased",
        )

    def _note(self, event: SessionEvent) -> None:
        if isinstance(event, ReplyEvent | QuestionEvent | ApprovalEvent):
            self._seen[event.run] = event.seq
        elif isinstance(event, MessageEvent):
            self._seen[event.message_id] = event.seq
        self._came.set()

    async def _shown(self, answer: MessageAnswer) -> None:
        """Wait until the stream has said what answers the message, so that a program reads it
        first.
        """
        told = (
            answer.reply is not None or answer.question is not None or answer.approval is not None
        )
        key = answer.run_id if told else answer.message_id
        while self._seen.get(key or "", 0) < answer.session_seq:
            self._came.clear()
            woken = asyncio.ensure_future(self._came.wait())
            waited = {woken} if self._following is None else {woken, self._following}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if self._following is not None and self._following.done():
                self._following.result()

    @staticmethod
    def _print_json(value: object) -> None:
        """ASCII only: no terminal takes any of it for an order."""
        print(escaped_json(json.dumps(value, separators=(",", ":"))), flush=True)


async def one(message: str) -> AsyncGenerator[str, None]:
    """The message of the command line."""
    yield message


async def lines_of(descriptor: int) -> AsyncGenerator[str, None]:
    """The lines of a pipe, file or terminal as they come, without the empty ones; read ahead by a
    few only.
    """
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[str | None](LINES_AHEAD)
    # a read that blocks must not keep the process
    threading.Thread(target=_read, args=(descriptor, loop, queue), daemon=True).start()
    while (line := await queue.get()) is not None:
        if line.strip():
            yield line.rstrip("\r\n")


def _read(
    descriptor: int, loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[str | None]
) -> None:
    """Reads the descriptor itself: a thread that is left behind inside a buffered reader would stop
    the interpreter from ending.
    """
    rest = b""
    with suppress(RuntimeError, OSError, CancelledError):
        # the loop has ended, or the other end has
        while data := os.read(descriptor, READ_BYTES):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                asyncio.run_coroutine_threadsafe(
                    queue.put(line.decode(errors="replace")), loop
                ).result()
    with suppress(RuntimeError, CancelledError):
        for last in (rest.decode(errors="replace"), None):
            asyncio.run_coroutine_threadsafe(queue.put(last), loop).result()


def goes_on(*, embedded: bool) -> str:
    """What becomes of what runs when whoever talked has left."""
    return (
        in_folder("; what runs goes on with the next `ordain serve` or `ordain chat`")
        if embedded
        else "; what runs goes on"
    )


def announce(session: str) -> None:
    """Says on stderr where the conversation is, so that stdout holds answers only."""
    print(cleaned(f"session {session}"), file=sys.stderr, flush=True)
