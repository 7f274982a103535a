"""``ordain call``: one verb with its arguments, by the way of every other call: a run, authorised
and journalled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.approval_lines import approval_lines
from ordain.cli.approvals import how_to_decide
from ordain.cli.call_arguments import arguments_of, parsed_input
from ordain.cli.connection import Connection, connect, in_workspace
from ordain.cli.desk import Desk
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import json_text, print_json, show, show_foreign, show_header
from ordain.cli.places import home_of
from ordain.cli.runs import address
from ordain.contracts.path_parts import path_part
from ordain.contracts.shell_words import shell_word
from ordain.errors import Refused
from ordain.runtime.remedies import remedies

WAIT_S = 1
"""How long a run is waited for before it is looked whether it waits for somebody's yes."""
APPROVALS_MAX = 200


class AskedCall(Struct, frozen=True, kw_only=True):
    """What the command line says; ``given`` is a JSON object of arguments, over which ``words``
    go.
    """

    verb: str
    words: tuple[str, ...] = ()
    given: str | None = None
    workspace: str = "default"
    whole: bool = False
    as_json: bool = False


class CameTo(Struct, frozen=True, kw_only=True):
    """The run as it stands: at rest, or with what it waits for somebody's yes to."""

    run: dict[str, Any]
    approvals: Sequence[dict[str, Any]] = ()


def call(data_dir: Path | None, asked: AskedCall) -> int:
    """Call it, and print what came of it. Exit code 1: it was refused, it failed, or it waits for
    somebody's yes.

    Raises:
        NotFound: there is no such verb.
        InvalidRequest: an argument is wrong or missing; no run is begun for it.
        Refused: the token of the environment may not look at what it began.
    """
    came = asyncio.run(_called(home_of(data_dir), asked))
    reply: dict[str, Any] | None = came.run["response"] if came.run["at_rest"] else None
    if asked.as_json:
        print_json(reply if reply is not None else {**came.run, "approvals": list(came.approvals)})
    else:
        _print(came, reply, asked)
    return OK if reply is not None and reply["ok"] else FAILED


async def _called(home: Path, asked: AskedCall) -> CameTo:
    given, headers = (
        {} if asked.given is None else parsed_input(asked.given),
        in_workspace(asked.workspace),
    )
    async with connect(home, drive=True) as connection:
        verb = await connection.ask("GET", f"/verbs/{path_part(asked.verb)}")
        payload = arguments_of(verb["input_schema"], given, asked.words)
        content = json.dumps({"verb_id": asked.verb, "payload": payload}).encode()
        begun = await connection.ask(
            "POST",
            "/verbs/execute",
            content=content,
            headers={**headers, "Prefer": "respond-async"},
        )
        return await _came_to(connection, begun["run_id"], asked.workspace)


async def _came_to(connection: Connection, run: str, workspace: str) -> CameTo:
    desk = Desk(connection=connection, workspace=workspace)
    while True:
        try:
            found = await connection.ask(
                "GET", address(run), params={"wait": WAIT_S}, headers=in_workspace(workspace)
            )
        except Refused as error:
            raise Refused(
                f"run {run} has begun, and this token may not look at it (runs:read)",
                code=error.code,
            ) from error
        if found["at_rest"]:
            return CameTo(run=found)
        if found["status"] == "waiting" and (waits := await _open_approvals(desk, run)):
            return CameTo(run=found, approvals=waits)


async def _open_approvals(desk: Desk, run: str) -> Sequence[dict[str, Any]]:
    """What is open of a run and all below it; nothing where this token may not see it: whoever may
    is asked, and the run is waited for.
    """
    try:
        found = await desk.ask("GET", "/approvals", params={"limit": APPROVALS_MAX})
        return [
            await desk.approval(one["approval_id"])
            for one in found["approvals"]
            if one["root"] == run
        ]
    except Refused:
        return ()


def _print(came: CameTo, reply: dict[str, Any] | None, asked: AskedCall) -> None:
    show_header(came.run["header"], whole=asked.whole or reply is None)
    if reply is not None and reply["ok"]:
        show_foreign(json_text(reply["output"], indent=2))
    elif reply is not None and reply["error"]:
        show_foreign(f"error: {reply['error']['code']}: {reply['error']['message']}")
        if (remedy := reply["error"].get("remedy")) and not remedies(came.run["header"]):
            # the header tells those of models
            show(remedy)
    for approval in came.approvals:
        show(
            "\n" + "\n".join((*approval_lines(approval), *how_to_decide(approval, asked.workspace)))
        )
    if came.approvals:
        show(
            "\n"
            f"{in_folder('what came of it then: ordain runs show')} "
            f"{shell_word(came.run['run_id'])}"
        )
