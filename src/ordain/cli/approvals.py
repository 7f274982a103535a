"""``ordain approvals``: what waits for a yes, exactly what that is, and giving it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.approval_lines import approval_lines, in_review
from ordain.cli.desk import Desk, approval_path, doing, looking
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import moment, print_json, print_table, show
from ordain.cli.short_ids import APPROVAL
from ordain.contracts.access import parse_lifetime_s
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.path_parts import path_part
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError

REST_WAIT_S = 300
YES = "yes"


class ApprovalDecision(Struct, frozen=True, kw_only=True):
    """What the command line says of an approval; ``digest`` None: it is shown and asked for at the
    terminal.
    """

    approval: str
    approve: bool
    digest: str | None = None
    why: str = ""
    grant_for: str | None = None
    grant_uses: int | None = None
    grant_any_target: bool = False


def print_approvals(
    data_dir: Path | None, workspace: str, asked: dict[str, Any], *, as_json: bool
) -> int:
    """What waits for a yes, or was decided."""
    found = looking(data_dir, workspace, lambda desk: desk.ask("GET", "/approvals", params=asked))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["approval_id"],
            _standing(one),
            one["tier"],
            one["what"] or "(gone)",
            one["requester"],
            moment(one["expires_at"]),
        )
        for one in found["approvals"]
    ]
    print_table(("approval", "state", "tier", "what", "asked for by", "open until (UTC)"), rows)
    if found["next"] is not None:
        show(f"more: --before {found['next']}")
    return OK


def _standing(one: dict[str, Any]) -> str:
    return ", ".join(filter(None, (one["state"], in_review(one))))


def print_approval(data_dir: Path | None, workspace: str, approval: str, *, as_json: bool) -> int:
    """One approval; of one that is open, how to decide it."""

    async def work(desk: Desk) -> dict[str, Any]:
        return await desk.approval(await desk.whole_id(APPROVAL, approval))

    found = looking(data_dir, workspace, work)
    if as_json:
        print_json(found)
        return OK
    _print_shown(found, workspace)
    return OK


def how_to_decide(found: dict[str, Any], workspace: str) -> Sequence[str]:
    """The commands that decide an open approval, exactly as it was shown."""
    approval, place = shell_word(found["approval_id"]), _place(workspace)
    return (
        (
            f"{in_folder('ordain approvals approve')} {approval} --digest "
            f"{shell_word(found['digest'])}{place}"
        ),
        f"{in_folder('ordain approvals deny')} {approval}{place}",
    )


def _place(workspace: str) -> str:
    return "" if workspace == DEFAULT_WORKSPACE else f" --workspace {shell_word(workspace)}"


def decide(data_dir: Path | None, workspace: str, word: ApprovalDecision, *, as_json: bool) -> int:
    """Say yes or no; without a server the run is driven here until it rests or waits.

    Raises:
        ConfigurationError: a yes without the digest of what was looked at, where nobody can be
            asked (``usage``).
        OrdainError: as the face refuses it.
    """
    grant = _grant_with(word)
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    if word.approve and word.digest is None and as_json:
        looking = f"ordain approvals show {shell_word(word.approval)}{_place(workspace)}"
        raise ConfigurationError(
            f"say what you looked at: --digest, as `{looking}` tells it", code="usage"
        )

    async def work(desk: Desk) -> dict[str, Any] | None:
        digest, approval = word.digest, await desk.whole_id(APPROVAL, word.approval)
        if digest is None:
            found = await desk.approval(approval)
            if word.approve and found["state"] == "open" and not asks:
                raise _unsaid(found, workspace)
            if (
                word.approve
                and found["state"] == "open"
                and not await asyncio.to_thread(_agreed, found)
            ):
                return None
            digest = found["digest"]
        body = {"digest": digest, "why": word.why, **({} if grant is None else {"grant": grant})}
        return await _settled(
            desk,
            await desk.ask(
                "POST", approval_path(approval, "approve" if word.approve else "deny"), body
            ),
        )

    return _print_decided(doing(data_dir, workspace, work), as_json=as_json)


def _unsaid(found: dict[str, Any], workspace: str) -> ConfigurationError:
    """Nobody can be asked, so it is shown, and a yes to exactly that is a command of its own."""
    _print_shown(found, workspace)
    return ConfigurationError(
        "nothing was decided, since nobody can be asked here: the first command above says yes to "
        "exactly what it shows",
        code="usage",
    )


def _print_shown(found: dict[str, Any], workspace: str) -> None:
    _print_lines(found)
    if found["state"] == "open" and not found["changed"]:
        show("\n" + "\n".join(how_to_decide(found, workspace)))


def resubmit(
    data_dir: Path | None, workspace: str, approval: str, args: str, *, as_json: bool
) -> int:
    """Propose other arguments, which the run then asks for.

    Raises:
        ConfigurationError: they are no JSON object (``usage``).
        OrdainError: as the face refuses it.
    """
    try:
        given = json.loads(sys.stdin.read() if args == "-" else args)
    except ValueError as error:
        raise ConfigurationError("arguments are written as a JSON object", code="usage") from error
    if not isinstance(given, dict):
        raise ConfigurationError("arguments are written as a JSON object", code="usage")

    async def work(desk: Desk) -> dict[str, Any]:
        path = approval_path(await desk.whole_id(APPROVAL, approval), "resubmit")
        return await _settled(desk, await desk.ask("POST", path, {"args": given}))

    return _print_decided(doing(data_dir, workspace, work), as_json=as_json)


async def _settled(desk: Desk, done: dict[str, Any]) -> dict[str, Any]:
    """Let the engine of this process, where it is one, carry out what was decided before it
    goes.
    """
    if desk.connection.embedded:
        run = await desk.ask(
            "GET", f"/runs/{path_part(done['root'])}", params={"wait": REST_WAIT_S}
        )
        done["status"] = run["status"]
    return done


def _print_decided(done: dict[str, Any] | None, *, as_json: bool) -> int:
    if done is None:
        show("nothing was decided")
        return FAILED
    if as_json:
        print_json(done)
        return OK
    show(
        f"{done['state']}: {done['what']} (approval {done['approval_id']}), by {done['decided_by']}"
    )
    if done["grant_id"]:
        show(f"grant {done['grant_id']} stands for more such calls by {done['requester']}")
    status = f" is {done['status']}" if done.get("status") else ""
    show(f"run {done['root']}{status}" if status else f"run {done['root']} goes on")
    return OK


def _agreed(found: dict[str, Any]) -> bool:
    """Show it, and ask."""
    _print_lines(found)
    try:
        return input(f"\nApprove exactly this? Type {YES}: ").strip().casefold() == YES
    except EOFError:
        return False


def _print_lines(found: dict[str, Any]) -> None:
    for line in approval_lines(found):
        show(line)


def _grant_with(word: ApprovalDecision) -> dict[str, Any] | None:
    if word.grant_for is None:
        if word.grant_uses is not None or word.grant_any_target:
            raise ConfigurationError(
                "a grant has an end: --grant-for 45m, 12h or 30d", code="usage"
            )
        return None
    lasts_s = parse_lifetime_s(word.grant_for)
    return {
        "ttlSeconds": lasts_s,
        "uses": word.grant_uses,
        "anyTarget": word.grant_any_target,
        "reason": word.why,
    }


def claim(
    data_dir: Path | None, workspace: str, approval: str, *, take_over: bool, as_json: bool
) -> int:
    """Say that one looks at it."""
    return _claimed(
        data_dir, (workspace, approval, "claim"), {"take_over": take_over}, as_json=as_json
    )


def release(data_dir: Path | None, workspace: str, approval: str, *, as_json: bool) -> int:
    """Say that one looks at it no longer."""
    return _claimed(data_dir, (workspace, approval, "release"), {}, as_json=as_json)


def _claimed(
    data_dir: Path | None, of: tuple[str, str, str], body: dict[str, Any], *, as_json: bool
) -> int:
    workspace, approval, word = of

    async def work(desk: Desk) -> dict[str, Any]:
        return await desk.ask(
            "POST", approval_path(await desk.whole_id(APPROVAL, approval), word), body
        )

    done = doing(data_dir, workspace, work)
    if as_json:
        print_json(done)
        return OK
    became = (
        f"{in_review(done)}, which others may decide all the same"
        if done["claimed_by"]
        else "nobody says that they look at it"
    )
    show(f"{done['what']} (approval {done['approval_id']}): {became}")
    return OK
