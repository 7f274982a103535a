"""What people see of an approval in a terminal: what will happen in code's words, the exact
arguments, who may say yes and until when. Pure.

Arguments are a model's or a user's: they stand as the face spells them, so that nothing in them
controls, hides or passes for something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordain.cli.output import json_text, moment
from ordain.contracts.legible_text import literal

INDENT = "  "


def approval_lines(found: Mapping[str, Any]) -> list[str]:
    """An approval, as the face shows it."""
    lines = [
        (
            f"approval {found['approval_id']} · {found['state']} · {found['subject']}, tier "
            f"{found['tier']}"
        )
    ]
    if not found["calls"]:
        return [*lines, "its content is gone"]
    lines += ["What will happen:", *(f"{INDENT}{line}" for line in found["words"].split("\n"))]
    lines += ["Exactly these calls:"]
    for number, call in enumerate(found["calls"], 1):
        lines.append(f"{INDENT}{number}. {call['verb']} {call['shown']}")
    if found["detail"]:
        lines.append(f"bound to: {json_text(found['detail'])}")
    return [*lines, *_who_and_when(found)]


def _who_and_when(found: Mapping[str, Any]) -> list[str]:
    where = f", session {found['session_id']}" if found["session_id"] else ""
    lines = [
        (
            f"asked for by {found['requester']}: run {found['root']}{where}, "
            f"{moment(found['asked_at'])} UTC"
        )
    ]
    if found["state"] != "open":
        by = f" by {found['decided_by']}" if found["decided_by"] else ""
        grant = f", with grant {found['grant_id']}" if found["grant_id"] else ""
        why = [f"why: {literal(found['decided_why'])}"] if found["decided_why"] else []
        return [*lines, f"{found['state']}{by}, {moment(found['decided_at'])} UTC{grant}", *why]
    lines.append(f"who may: {who_may(found['who_may'])}; until {moment(found['expires_at'])} UTC")
    if found["claimed_by"]:
        lines.append(in_review(found))
    if found["changed"]:
        lines.append(f"nobody can say yes to it any more: {found['changed_why']}")
    return [*lines, f"digest {found['digest']}"]


def in_review(found: Mapping[str, Any]) -> str:
    """Who says that they look at it, in words; "" where nobody does."""
    return (
        f"in review by {found['claimed_by']} since {moment(found['claimed_at'])} UTC"
        if found["claimed_by"]
        else ""
    )


def who_may(who: Mapping[str, Any]) -> str:
    """Who may say yes, in words."""
    roles = f" and the role {' and '.join(who['roles'])}" if who["roles"] else ""
    return (
        "whoever has the scope "
        f"{who['scope']}{roles}{', but not who asked for it' if who['not_requester'] else ''}"
    )
