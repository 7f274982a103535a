"""After a command has changed the settings: the server that holds the folder is told, and whoever
changed them what came of it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.connection import connect, running_server
from ordain.cli.output import show
from ordain.errors import OrdainError

NEEDS_RESTART = "needs_restart"
"""The code of what a running server takes up at its next start."""


class ServerTold(Struct, frozen=True, kw_only=True):
    """What became of it: ``none`` runs, it has ``taken_up`` all, it needs a ``restart`` for some of
    it, or it was ``refused``; ``line`` for people.
    """

    state: str
    line: str = ""


def tell_server(home: Path) -> ServerTold:
    """Have the running server take up what is written now. Never an error: what was written stands
    either way.
    """
    try:
        done = asyncio.run(_reloaded(home))
    except OrdainError as error:
        return ServerTold(
            state="refused",
            line=(
                f"the running server was not told ({error.message}); it takes up what it can by "
                "itself"
            ),
        )
    if done is None:
        return ServerTold(state="none")
    if not done["ok"]:
        why = "; ".join(problem["message"] for problem in done["problems"])
        return ServerTold(
            state="refused", line=f"the running server goes on with what it had: {why}"
        )
    waiting = [
        problem["message"] for problem in done["problems"] if problem["code"] == NEEDS_RESTART
    ]
    if waiting:
        return ServerTold(
            state="restart",
            line=(
                "the running server has taken it up, but for what needs a restart: "
                f"{'; '.join(waiting)}"
            ),
        )
    return ServerTold(state="taken_up", line="the running server has taken it up")


def show_told(told: ServerTold) -> None:
    """What became of it; nothing where no server runs."""
    if told.line:
        show(told.line)


async def _reloaded(home: Path) -> Any:
    if await running_server(home) is None:
        return None
    async with connect(home, drive=False) as connection:
        return await connection.ask("POST", "/verbs/reload")
