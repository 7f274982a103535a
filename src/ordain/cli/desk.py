"""The approvers' desk, as commands have it: on the server that holds the data folder, else on the
folder as ``local:UID``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.connection import Connection, connect, connect_current, in_workspace
from ordain.cli.places import home_of
from ordain.cli.short_ids import IdKind
from ordain.contracts.path_parts import path_part


class Desk(Struct, frozen=True, kw_only=True):
    """The approvers' part of the face, in one workspace, asked by the user whose data folder it
    is.
    """

    connection: Connection
    workspace: str

    async def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """One request; raises as ``Connection.ask``."""
        headers = {**in_workspace(self.workspace), **self.connection.as_user}
        content = None if body is None else json.dumps(body).encode()
        return await self.connection.ask(method, path, content=content, headers=headers, **options)

    async def whole_id(self, kind: IdKind, given: str) -> str:
        """The id that was meant; raises as ``Connection.whole_id``."""
        headers = {**in_workspace(self.workspace), **self.connection.as_user}
        return await self.connection.whole_id(kind, given, headers)

    async def approval(self, approval: str) -> dict[str, Any]:
        """One approval."""
        found: dict[str, Any] = await self.ask("GET", approval_path(approval))
        return found


def approval_path(approval: str, *more: str) -> str:
    """An approval's address; whatever was typed for its id stays one part of the path."""
    return "/".join(("/approvals", path_part(approval), *more))


def _at(
    desk: AbstractAsyncContextManager[Connection],
    workspace: str,
    work: Callable[[Desk], Awaitable[Any]],
) -> Any:
    async def done() -> Any:
        async with desk as connection:
            return await work(Desk(connection=connection, workspace=workspace))

    return asyncio.run(done())


def looking(data_dir: Path | None, workspace: str, work: Callable[[Desk], Awaitable[Any]]) -> Any:
    """What is found at the desk of a folder, by its server or in this process."""
    return _at(connect_current(home_of(data_dir)), workspace, work)


def doing(data_dir: Path | None, workspace: str, work: Callable[[Desk], Awaitable[Any]]) -> Any:
    """What is done there; where no server runs, this process drives what goes on."""
    return _at(connect(home_of(data_dir), drive=True), workspace, work)
