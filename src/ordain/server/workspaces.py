"""Which workspace a request is in; what belongs to another one is not there (404), whoever asks."""

from __future__ import annotations

from typing import Annotated

from ordain.contracts.conversation import WORKSPACE_ID
from ordain.errors import no_run
from ordain.runtime.door import Runtime, RunView
from ordain.server.parameters import from_header

WORKSPACE_HEADER = "Ordain-Workspace"

Workspace = Annotated[
    str,
    from_header(
        alias=WORKSPACE_HEADER,
        pattern=WORKSPACE_ID,
        description="The workspace; `default` where it is absent.",
    ),
]


async def run_in(runtime: Runtime, run: str, workspace: str) -> RunView:
    """A run of the workspace; raises as ``check_run``, before anything of the run is read."""
    await check_run(runtime, run, workspace)
    return await runtime.view(run)


async def check_run(runtime: Runtime, run: str, workspace: str) -> None:
    """Whether there is such a run in the workspace, without reading what it recorded: that may be
    past reading.

    Raises:
        NotFound: no such run, or one of another workspace.
    """
    if await runtime.search.workspace(run) != workspace:
        raise no_run(run)
