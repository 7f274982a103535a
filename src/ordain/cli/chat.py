"""``ordain chat``: which session, which face, and the connection between them."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ordain.cli.chat_lines import LineChat, Printed, lines_of, one
from ordain.cli.chat_terminal import TerminalChat
from ordain.cli.connection import connect_served
from ordain.cli.messenger import Addressed, Messenger, new_session
from ordain.cli.options import ANEW, Talking
from ordain.cli.person import person
from ordain.cli.places import home_of
from ordain.cli.screen import Screen, is_terminal, wants_colour
from ordain.cli.slash import MODES
from ordain.errors import ConfigurationError, NotFound

LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAsked:
    """What the command line says; ``words`` are one message, and without them messages are typed or piped; ``whole``: headers are."""

    words: tuple[str, ...] = ()
    to: Talking = ANEW
    whole: bool = False
    as_json: bool = False


def chat(data_dir: Path | None, asked: ChatAsked) -> int:
    """Hold a conversation; in a terminal until the user leaves, else until every message is answered.

    Raises:
        ConfigurationError: no such mode.
        NotFound: the last session is asked for and there is none.
        OrdainError: a message was refused, or the server has gone.
    """
    if asked.to.mode not in MODES:
        raise ConfigurationError(f"the modes are {', '.join(MODES)}", code="usage")
    return asyncio.run(_chat(home_of(data_dir), asked))


async def _chat(home: Path, asked: ChatAsked) -> int:
    at_terminal = not asked.words and not asked.as_json and is_terminal()
    if at_terminal:
        logging.getLogger().addHandler(
            logging.NullHandler()
        )  # the screen is the conversation's; what goes wrong in a turn stands in its reply
    async with connect_served(home) as connection:
        messenger, given = Messenger(connection, asked.to.workspace), asked.to
        for file in given.attach:
            messenger.attach(str(file))
        to = Addressed(session=await _session(messenger, given.session), user=given.user or person(), mode=given.mode, verbs=given.verb)
        if at_terminal:
            return await _at_terminal(messenger, to, whole=asked.whole)
        how = Printed(as_json=asked.as_json, whole=asked.whole)
        messages = one(_text(asked.words)) if asked.words else lines_of(sys.stdin.fileno())
        return await LineChat(messenger, to, how, commands=not asked.words).run(messages)


async def _at_terminal(messenger: Messenger, to: Addressed, *, whole: bool) -> int:
    talking = TerminalChat(messenger, Screen(sys.stdout.fileno(), colour=wants_colour()), to, whole=whole)
    try:
        return await talking.run(sys.stdin.fileno())
    finally:
        goes_on = "; what runs goes on with the next `ordain serve` or `ordain chat`" if messenger.embedded else "; what runs goes on"
        print(f"session {talking.session}{goes_on if talking.leaves_running else ''}")


async def _session(messenger: Messenger, named: str | None) -> str:
    if named != LAST:
        return named or new_session()
    found = (await messenger.sessions(1))["sessions"]
    if not found:
        raise NotFound("there is no session yet", code="session_not_found")
    return found[0]["sessionId"]


def _text(words: tuple[str, ...]) -> str:
    """The words as one message; bytes that are no text become signs for that."""
    return os.fsencode(" ".join(words)).decode(errors="replace")
