"""Who speaks in a chat, and where to: the connection to a server, here or elsewhere, and what is
said over it where nobody sits at a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from ordain.cli.chat_lines import LineChat, Printed, lines_of, one
from ordain.cli.connection import Connection, connect_served, in_workspace
from ordain.cli.messenger import Addressed, Messenger, new_session
from ordain.cli.options import ChatAsked, RemoteServer, Talking
from ordain.cli.person import person
from ordain.collector import tune_collector
from ordain.errors import Refused


@asynccontextmanager
async def meeting(home: Path, asked: ChatAsked) -> AsyncGenerator[tuple[Messenger, Addressed]]:
    """Who speaks for the user, and where to, for as long as the connection is open.

    Raises:
        OrdainError: there can be no such workspace, nobody can be reached there, or what is asked
            for is not there.
    """
    in_workspace(asked.to.workspace)
    async with _connected(home, asked.at) as connection:
        messenger, given = Messenger(connection, asked.to.workspace), asked.to
        for file in given.attach:
            messenger.attach(str(file))
        to = Addressed(
            session=await _session(messenger, given),
            user=given.user or person(),
            mode=given.mode,
            verbs=given.verb,
        )
        with suppress(Refused):
            # a token that may talk need not look at verbs: what is said with one then tells
            await messenger.check_verbs(to.verbs)
        if not asked.words:
            tune_collector(collect=False)  # it stays for as long as somebody talks
        yield messenger, to


async def talk_in_lines(home: Path, asked: ChatAsked) -> int:
    """Say what the command line or the input says, and print what is answered; the exit code.
    Raises as ``meeting``.
    """
    async with meeting(home, asked) as (messenger, to):
        if asked.at.url:  # a token that is not good is told before anything else
            await messenger.transcript(to.session, 1)
        how = Printed(as_json=asked.as_json, whole=asked.whole)
        messages = one(asked.text) if asked.words else lines_of(sys.stdin.fileno())
        return await LineChat(messenger, to, how, commands=not asked.words).run(messages)


def _connected(home: Path, at: RemoteServer) -> AbstractAsyncContextManager[Connection]:
    if not at.url:
        return connect_served(home)
    from ordain.cli.remote import connect_remote  # lazy: most talk to a folder of their own

    return connect_remote(at)


async def _session(messenger: Messenger, to: Talking) -> str:
    return new_session() if to.session is None else await messenger.meant_session(to.session)
