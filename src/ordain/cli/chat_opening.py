"""The chat's prompt before there is a conversation: it stands there at once, and what is typed
meanwhile is said as soon as somebody can hear it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from prompt_toolkit.completion import Completer, DummyCompleter

from ordain.cli.chat_screen import ChatScreen, prompt_of
from ordain.cli.exit_codes import OK, UNAVAILABLE
from ordain.cli.options import ChatAsked, Talking
from ordain.cli.screen import DIM, ScreenLine, wants_colour
from ordain.rules.plain_reply import cleaned

PUT_AWAY_S = 2.0
"""So long a screen may take to be put away; one that was never shown is given up then."""


class ChatOpening:
    """Implements ``ChatFace`` until there is somebody to talk to."""

    def __init__(self, wanted: Talking) -> None:
        """``wanted`` is what the command line says of where messages go."""
        self.typed: list[str] = []
        self.completer: Completer = DummyCompleter()
        self.screen = ChatScreen(self, colour=wants_colour())
        self._label = prompt_of(wanted.mode, wanted.verb)

    def live(self, columns: int, rows: int) -> Sequence[ScreenLine]:
        """See ``ChatFace``: what waits to be said."""
        lines = [
            line for text in self.typed for line in f"{self._label}{cleaned(text)}".split("\n")
        ]
        return [ScreenLine(text=line, style=DIM, indent="  ") for line in lines[-rows:]]

    def label(self) -> str:
        """See ``ChatFace``."""
        return self._label

    def entered(self, text: str) -> None:
        """See ``ChatFace``: it is said later, as it was typed."""
        self.typed.append(text)
        self.screen.redraw()

    def interrupted(self) -> None:
        """See ``ChatFace``: nothing runs."""
        self.screen.leave()


async def talk_at_terminal(home: Path, asked: ChatAsked) -> int:
    """Show the prompt, and hold the conversation once there is somebody to talk to; the exit code.
    Who leaves before that is not kept waiting.

    Raises:
        OrdainError: as ``chat_meeting.meeting``, once the screen is put away.
    """
    loop, opening = asyncio.get_running_loop(), ChatOpening(asked.to)
    shown = asyncio.ensure_future(opening.screen.run())
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, opening.screen.leave)
    try:
        return await _conversed(opening, shown, home, asked)
    finally:
        opening.screen.leave()
        if (await asyncio.wait({shown}, timeout=PUT_AWAY_S))[1]:  # it never began
            shown.cancel()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        if opening.typed:
            _tell_undelivered(opening.typed)


async def _conversed(
    opening: ChatOpening, shown: asyncio.Task[None], home: Path, asked: ChatAsked
) -> int:
    here, left_early = asyncio.current_task(), False
    assert here is not None

    def left(_: object) -> None:
        nonlocal left_early
        left_early = here.cancel()

    shown.add_done_callback(left)
    try:
        # half a second, in which the prompt is typed at
        await asyncio.to_thread(import_module, "ordain.cli.chat_terminal")
        from ordain.cli.chat_meeting import meeting  # lazy: see above

        async with meeting(home, asked) as (messenger, to):
            shown.remove_done_callback(left)
            return await _talked(opening, shown, messenger, to, whole=asked.whole)
    except asyncio.CancelledError:
        if not left_early:
            raise
        here.uncancel()
        shown.result()
        return UNAVAILABLE if opening.typed else OK
    finally:
        shown.remove_done_callback(left)


async def _talked(
    opening: ChatOpening, shown: asyncio.Task[None], messenger: Any, to: Any, *, whole: bool
) -> int:
    from ordain.cli.chat_lines import goes_on  # lazy: see above
    from ordain.cli.chat_terminal import TerminalChat  # lazy: see above
    from ordain.cli.output import show  # lazy: see above

    opening.screen.face = talking = TerminalChat(messenger, to, opening.screen, whole=whole)
    opening.typed, typed = [], opening.typed
    for text in typed:
        talking.entered(text)
    try:
        return await talking.run(shown)
    finally:
        goes = goes_on(embedded=messenger.embedded) if talking.leaves_running else ""
        show(f"session {talking.session}{goes}")
        _tell_undelivered(talking.undelivered)


def _tell_undelivered(texts: Sequence[str]) -> None:
    from ordain.cli.conversation_lines import one_line  # lazy: see above
    from ordain.cli.output import show  # lazy: see above

    for text in texts:
        show(f"not delivered: {one_line(text)}")
