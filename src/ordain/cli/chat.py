"""``ordain chat``: which session, which face, and the connection between them."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

from msgspec import Struct

from ordain.cli.chat_lines import LineChat, Printed, goes_on, lines_of, one
from ordain.cli.connection import Connection, connect_served, in_workspace
from ordain.cli.conversation_lines import one_line
from ordain.cli.messenger import Addressed, Messenger, new_session
from ordain.cli.options import ANEW, HERE, RemoteServer, Talking
from ordain.cli.output import show
from ordain.cli.person import person
from ordain.cli.places import home_of
from ordain.cli.screen import is_terminal, wants_colour
from ordain.cli.slash import MODES
from ordain.collector import tune_collector
from ordain.contracts.nearest import did_you_mean
from ordain.errors import ConfigurationError, InvalidRequest, Refused


class ChatAsked(Struct, frozen=True, kw_only=True):
    """What the command line says; ``words`` are one message, and without them messages are typed or piped; ``whole``: headers are."""

    words: tuple[str, ...] = ()
    to: Talking = ANEW
    at: RemoteServer = HERE
    whole: bool = False
    as_json: bool = False


def chat(data_dir: Path | None, asked: ChatAsked) -> int:
    """Hold a conversation; in a terminal until the user leaves, else until every message is answered.

    Raises:
        InvalidRequest: the message says nothing, or there can be no such workspace.
        ConfigurationError: no such mode, or what is asked for contradicts itself.
        NotFound: the last session is asked for and there is none, or a verb that there is not.
        OrdainError: a message was refused, or the server has gone.
    """
    if asked.to.mode not in MODES:
        raise ConfigurationError(f"the modes are {', '.join(MODES)}{did_you_mean(asked.to.mode, MODES)}", code="usage")
    if asked.at.url and data_dir is not None:
        raise ConfigurationError("--url is a server elsewhere, --data-dir a folder here: give one of them", code="usage")
    if asked.at.token_file is not None and not asked.at.url:
        raise ConfigurationError("--token-file holds the token for --url; for a server here: ORDAIN_TOKEN_FILE", code="usage")
    in_workspace(asked.to.workspace)
    if asked.words and not _text(asked.words).strip():
        raise InvalidRequest("a message has a text", code="empty_message")
    return asyncio.run(_chat(home_of(data_dir), asked))


def _connected(home: Path, at: RemoteServer) -> AbstractAsyncContextManager[Connection]:
    if not at.url:
        return connect_served(home)
    from ordain.cli.remote import connect_remote  # lazy: most talk to a folder of their own

    return connect_remote(at)


async def _chat(home: Path, asked: ChatAsked) -> int:
    at_terminal = not asked.words and not asked.as_json and is_terminal()
    if at_terminal:
        logging.getLogger().addHandler(
            logging.NullHandler()
        )  # the screen is the conversation's; what goes wrong in a turn stands in its reply
    async with _connected(home, asked.at) as connection:
        messenger, given = Messenger(connection, asked.to.workspace), asked.to
        for file in given.attach:
            messenger.attach(str(file))
        to = Addressed(session=await _session(messenger, given), user=given.user or person(), mode=given.mode, verbs=given.verb)
        with suppress(Refused):  # a token that may talk need not look at verbs: what is said with one then tells
            await messenger.check_verbs(to.verbs)
        if not asked.words:
            tune_collector(collect=False)  # it stays for as long as somebody talks
        if at_terminal:
            return await _at_terminal(messenger, to, whole=asked.whole)
        if asked.at.url:  # a token that is not good is told before anything else
            await messenger.transcript(to.session, 1)
        how = Printed(as_json=asked.as_json, whole=asked.whole)
        messages = one(_text(asked.words)) if asked.words else lines_of(sys.stdin.fileno())
        return await LineChat(messenger, to, how, commands=not asked.words).run(messages)


async def _at_terminal(messenger: Messenger, to: Addressed, *, whole: bool) -> int:
    from ordain.cli.chat_terminal import TerminalChat  # lazy: prompt_toolkit, which no message of a command line waits for

    talking = TerminalChat(messenger, to, colour=wants_colour(), whole=whole)
    try:
        return await talking.run()
    finally:
        show(f"session {talking.session}{goes_on(embedded=messenger.embedded) if talking.leaves_running else ''}")
        for text in talking.undelivered:
            show(f"not delivered: {one_line(text)}")


async def _session(messenger: Messenger, to: Talking) -> str:
    return new_session() if to.session is None else await messenger.meant_session(to.session)


def _text(words: tuple[str, ...]) -> str:
    """The words as one message; bytes that are no text become signs for that."""
    return os.fsencode(" ".join(words)).decode(errors="replace")
