"""``ordain plan`` and ``ordain runs``: requests to the HTTP face, and what people see of the
answers.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ordain.cli.connection import Connection, connect
from ordain.cli.erasures import tell_copies
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import (
    json_text,
    moment,
    print_answer,
    print_json,
    print_table,
    show,
    show_foreign,
    show_header,
)
from ordain.cli.places import home_of
from ordain.cli.short_ids import RUN
from ordain.contracts.path_parts import path_part
from ordain.errors import CallerError, ConfigurationError

REST_WAIT_S = 300


def plan_file(data_dir: Path | None, file: str, *, whole: bool, as_json: bool) -> int:
    """Send a planning request and print what became of it, with its header on one line where that
    says it, or ``whole``.

    Raises:
        ConfigurationError: the file cannot be read.
        OrdainError: the request was refused.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="cannot_read"
        ) from error
    try:
        response = asyncio.run(_ask(data_dir, "POST", "/plan/react", content=content, drive=True))
    except CallerError as error:
        if type(error) is not CallerError:  # it is no fault of what the file holds
            raise
        raise CallerError(
            f"{'stdin' if file == '-' else file}: {error.message}", code=error.code
        ) from error
    if as_json:
        print_json(response)
    else:
        print_answer(response, whole=whole)
    return OK if response["status"] == "ok" else FAILED


async def _ask(
    data_dir: Path | None,
    method: str,
    path: str,
    *,
    content: bytes | None = None,
    drive: bool,
    **options: Any,
) -> Any:
    async with connect(home_of(data_dir), drive=drive) as connection:
        return await connection.ask(method, path, content=content, **options)


def print_runs(data_dir: Path | None, asked: dict[str, Any], *, as_json: bool) -> int:
    """Runs, newest first."""
    found = asyncio.run(_ask(data_dir, "GET", "/runs", drive=False, params=asked))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            run["run_id"],
            run["flow"],
            run["status"],
            run["reason"],
            moment(run["created_at"]),
            run["principal"],
            run["words"],
        )
        for run in found["runs"]
    ]
    print_table(
        ("run", "flow", "status", "reason", "created (UTC)", "by", "first words"), rows, fits=True
    )
    if found["next"]:
        show(f"more: --before {found['next']}")
    return OK


def address(run: str, *more: str) -> str:
    """A run's address; whatever was typed for its id stays one part of the path."""
    return "/".join(("/runs", path_part(run), *more))


def print_run(data_dir: Path | None, run: str, *, journal: bool, as_json: bool) -> int:
    """One run, or its whole journal."""
    found, below = asyncio.run(_look_at(data_dir, run, journal=journal))
    if as_json and not journal:
        print_json({**found, "below": below["runs"]})
    elif as_json:
        print_json(found)
    elif journal:
        for record in found["records"]:
            body = json_text(record["body"])
            show(
                f"{record['seq']:>4}  {moment(record['at'])}  {record['kind']:<12} "
                f"{record['name']:<12} {body}"
            )
        for replied, reply in found["raw_cortex"].items():
            show_foreign(f"raw_cortex  {replied}  {reply}")
    else:
        _print_run(found, below)
    return OK


async def _look_at(
    data_dir: Path | None, given: str, *, journal: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run or its journal, and what is below it where that is shown."""
    async with connect(home_of(data_dir), drive=False) as connection:
        run = await connection.whole_id(RUN, given)
        if journal:
            return await connection.ask(
                "GET", address(run, "journal"), params={"debug": "true"}
            ), {}
        return await connection.ask("GET", address(run)), await connection.ask(
            "GET", address(run, "tree")
        )


def _print_run(found: dict[str, Any], below: dict[str, Any]) -> None:
    show_header(found["header"])
    size = found["journal_bytes"]
    show(
        "\n"
        f"{found['records']} records, {size['records']} bytes, {size['payloads']} bytes of "
        "payloads"
    )
    show(f"created {moment(found['created_at'])}, ended {moment(found['ended_at']) or 'not yet'}")
    _show_tree(below)
    if found["erased"]:
        show("its content was erased")
    if found["waiting_at"] is not None:
        show(f"waits at effect {found['waiting_at']}")
    for stopped in found["waits_for_stopped"]:
        show(
            in_folder(
                f"waits for run {stopped}, which has stopped: once that is mended, ordain runs "
                f"resume {stopped}"
            )
        )
    if found["unknown_effects"]:
        numbers = " and ".join(map(str, found["unknown_effects"]))
        how = (
            f"`ordain runs resolve {found['run_id']} {found['unknown_effects'][0]} --happened "
            "--why WHY`, or --no-happened"
        )
        show(in_folder(f"nobody knows what became of effect {numbers}; once you do: {how}"))
    _show_response(found["response"])


def _show_tree(below: dict[str, Any]) -> None:
    """The runs below it, each as far in as it is deep: what it carries out, how it came out, and
    what it cost with all below it.
    """
    if below["runs"]:
        show("below it:")
    for one in below["runs"]:
        what = (
            f"{one['verb']} ({one['flow']})"
            if one["verb"]
            else one["flow"] or "a run that cannot be read"
        )
        said: list[str] = [one[name] for name in ("verdict", "status", "reason") if one[name]]
        came = " · ".join(dict.fromkeys(said))
        spent = (
            f"{one['tokens']} tokens" if one["tokens"] or one["usd_micros"] else "",
            # of a model without a price nobody knows what it cost
            f"${one['usd_micros'] / 1e6:.6f}" if one["usd_micros"] else "",
        )
        cost = ", ".join(filter(None, (*spent, f"{one['duration_ms']} ms")))
        show(f"{'  ' * one['depth']}{what} · {came} · {cost} · run {one['run_id']}")
    if not below["whole"]:
        show("  and more: a run of these, shown by itself, has what is below it")


def _show_response(response: Any) -> None:
    """A planner's answer, or what an embedder's flow returned that is no object; the header tells
    of everything else.
    """
    match response:
        case {"final_answer": {"content": str(content)}}:
            show_foreign(content)
        case None | dict():
            return
        case _:
            show_foreign(json_text(response, indent=2))


def operate(
    data_dir: Path | None, run: str, action: str, body: dict[str, Any], *, as_json: bool
) -> int:
    """Do one thing to a run; without a server the run is driven here until it rests or waits."""
    run, done = asyncio.run(_operate(data_dir, run, action, body))
    if as_json:
        print_json(done)
    else:
        show(
            f"{done['outcome']}: run {run}"
            + (f" is {done['status']}" if done.get("status") else "")
        )
        if action == "erase":
            tell_copies()
    return OK


async def _operate(
    data_dir: Path | None, given: str, action: str, body: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    async with connect(home_of(data_dir), drive=True) as connection:
        run = await connection.whole_id(RUN, given)
        done: dict[str, Any] = await connection.ask(
            "POST", address(run, action), content=json.dumps(body).encode()
        )
        if connection.embedded:
            done["status"] = await _status_after(connection, run)
        return run, done


async def _status_after(connection: Connection, run: str) -> str:
    """Let the engine of this process carry out what was asked before it goes."""
    found = await connection.ask("GET", address(run), params={"wait": REST_WAIT_S})
    return str(found["status"])


def answer(data_dir: Path | None, run: str, effect: int, value: str, *, as_json: bool) -> int:
    """Answer a wait; what is no JSON is a text."""
    try:
        given: Any = json.loads(value)
    except ValueError:
        given = value
    return operate(data_dir, run, "answer", {"effect": effect, "value": given}, as_json=as_json)
