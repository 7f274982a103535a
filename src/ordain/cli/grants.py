"""``ordain grants``: those that stand, giving one and taking it back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.approval_lines import INDENT
from ordain.cli.desk import Desk, doing, looking
from ordain.cli.exit_codes import OK
from ordain.cli.output import moment, print_json, print_table, show
from ordain.cli.short_ids import GRANT
from ordain.contracts.access import parse_lifetime_s
from ordain.contracts.path_parts import path_part


class GrantWords(Struct, frozen=True, kw_only=True):
    """A grant as the command line names it."""

    principal: str
    verbs: tuple[str, ...]
    lasts: str
    uses: int | None = None
    targets: tuple[str, ...] = ()
    only_egress: bool = False
    why: str = ""


def print_grants(
    data_dir: Path | None, workspace: str, asked: dict[str, Any], *, as_json: bool
) -> int:
    """Grants that stand, or all."""
    found = looking(data_dir, workspace, lambda desk: desk.ask("GET", "/grants", params=asked))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["grantId"],
            one["principal"],
            ",".join(one["scope"]["capabilities"]),
            _narrowed(one["scope"]),
            one["riskLevel"],
            "until then" if one["usesLeft"] is None else one["usesLeft"],
            moment(one["expiresAt"]),
            one["audit"]["by"],
            "stands" if one["stands"] else _ended(one["audit"]),
        )
        for one in found["grants"]
    ]
    print_table(
        (
            "grant",
            "for runs of",
            "verbs",
            "to and about",
            "risk",
            "uses left",
            "expires (UTC)",
            "given by",
            "state",
        ),
        rows,
    )
    if found["next"] is not None:
        show(f"more: --before {found['next']}")
    return OK


def _ended(audit: dict[str, Any]) -> str:
    if not audit["revokedBy"]:
        return "over"
    return (
        "revoked by "
        f"{audit['revokedBy']}{': ' + audit['revokedWhy'] if audit['revokedWhy'] else ''}"
    )


def _narrowed(scope: dict[str, Any]) -> str:
    targets: Sequence[str] = scope["targets"] or ()
    bounds = [f"{name} {json.dumps(bound)}" for name, bound in scope["constraints"].items()]
    whom = "anybody" if scope["targets"] is None else ", ".join(targets) or "nobody"
    return ", ".join([whom, *bounds])


def give_grant(data_dir: Path | None, workspace: str, words: GrantWords, *, as_json: bool) -> int:
    """Give a grant."""
    body = {
        "principal": words.principal,
        "scope": {"capabilities": list(words.verbs), "targets": list(words.targets) or None},
        "riskLevel": "read" if words.only_egress else "write",
        "ttlSeconds": parse_lifetime_s(words.lasts),
        "uses": words.uses,
        "reason": words.why,
    }
    made = doing(data_dir, workspace, lambda desk: desk.ask("POST", "/grants", body))
    return _print_grant("given", made, as_json=as_json)


def revoke_grant(
    data_dir: Path | None, workspace: str, grant: str, why: str, *, as_json: bool
) -> int:
    """Take a grant back."""

    async def work(desk: Desk) -> dict[str, Any]:
        whole = await desk.whole_id(GRANT, grant)
        return await desk.ask("POST", f"/grants/{path_part(whole)}/revoke", {"why": why})

    done = doing(data_dir, workspace, work)
    return _print_grant("revoked", done, as_json=as_json)


def _print_grant(became: str, grant: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(grant)
        return OK
    left = (
        ""
        if grant["usesLeft"] is None or not grant["stands"]
        else f", {grant['usesLeft']} uses left"
    )
    verbs = ", ".join(grant["scope"]["capabilities"])
    show(
        f"{became}: grant {grant['grantId']}, {verbs} for runs of {grant['principal']}, until "
        f"{moment(grant['expiresAt'])} UTC{left}"
    )
    for line in grant["words"].split("\n"):
        show(f"{INDENT}{line}")
    return OK
