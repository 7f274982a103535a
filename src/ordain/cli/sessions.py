"""``ordain sessions``: looking at conversations, and erasing them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from ordain.cli.columns import UNBROKEN
from ordain.cli.connection import connect
from ordain.cli.conversation_lines import Looks, event_lines, thread_lines
from ordain.cli.erasures import tell_copies
from ordain.cli.exit_codes import OK
from ordain.cli.messenger import Messenger
from ordain.cli.output import moment, print_json, print_table, show, show_line
from ordain.cli.places import home_of
from ordain.contracts.events import MessageEvent, SessionEvent


def _with(
    data_dir: Path | None,
    workspace: str,
    work: Callable[[Messenger], Awaitable[Any]],
    *,
    drive: bool = False,
) -> Any:
    async def asked() -> Any:
        async with connect(home_of(data_dir), drive=drive) as connection:
            return await work(Messenger(connection, workspace))

    return asyncio.run(asked())


def print_sessions(
    data_dir: Path | None, workspace: str, limit: int, before: str | None, *, as_json: bool
) -> int:
    """Sessions, the most recently used first."""
    found = _with(data_dir, workspace, lambda messenger: messenger.sessions(limit, before))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["sessionId"],
            one["channel"],
            one["userId"],
            one["head"],
            one["openTurns"],
            moment(one["lastActivityAt"]),
            one["words"],
        )
        for one in found["sessions"]
    ]
    print_table(
        ("session", "channel", "user", "entries", "open", "last used (UTC)", "first words"),
        rows,
        fits=True,
    )
    if found["next"] is not None:
        show(f"more: --before {found['next']}")
    return OK


def print_session(
    data_dir: Path | None, workspace: str, session: str, limit: int, *, as_json: bool
) -> int:
    """A session, its threads and what was said last.

    Raises:
        NotFound: no such session.
    """

    async def both(messenger: Messenger) -> tuple[dict[str, Any], list[SessionEvent]]:
        whole = await messenger.whole_session(session)
        return await messenger.session(whole), list(await messenger.transcript(whole, limit))

    found, events = _with(data_dir, workspace, both)
    if as_json:
        print_json({**found, "entries": [msgspec.to_builtins(event) for event in events]})
        return OK
    show(
        f"session {found['sessionId']}, {found['head']} entries, {found['openTurns']} open"
        + (", erased" if found["erased"] else "")
    )
    for line in thread_lines(found):
        show(line.text)
    for event in events:
        print()
        for line in event_lines(event, None, Looks(columns=UNBROKEN), mine=False, several=False):
            if line.text or not isinstance(event, MessageEvent):
                show(line.text)
    return OK


def erase_session(
    data_dir: Path | None, workspace: str, session: str, why: str, *, as_json: bool
) -> int:
    """Destroy a session's content."""

    async def work(messenger: Messenger) -> tuple[str, dict[str, Any]]:
        whole = await messenger.whole_session(session)
        return whole, await messenger.erase(whole, why)

    session, done = _with(data_dir, workspace, work, drive=True)
    if as_json:
        print_json(done)
    else:
        show_line(f"{done['outcome']}: session {session}, {done['records']} records emptied")
        tell_copies()
    return OK
