"""What must hold of a conversation after it was killed and taken up again: no consequence lost or
doubled, everything replays equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.integration.crash.laws import Evidence, broken_effects
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talks import GRANTED, Talk, Talker, outcome, unexpected

YES = ("authorize.approved", "authorize.granted")
"""Why a call is allowed that somebody said yes to."""


def broken_talk(talker: Talker, talk: Talk, seen: Evidence, expected: str) -> list[str]:
    """Every law that does not hold, in words."""
    sent = [talker.received(name) for name in talk.comes_to]
    return [
        *broken_effects(seen),
        *broken_now(
            rows_of(talker.ordain), max_active=talker.ordain.settings.policy.session.max_active
        ),
        *broken_at_rest(talker.ordain, sent),
        *_acknowledged_is_kept(talker, seen),
        *_each_yes_counts_once(talker, seen),
        *_as_it_should(talker, talk, seen, expected),
    ]


def _acknowledged_is_kept(talker: Talker, seen: Evidence) -> Iterator[str]:
    kept = dict(
        talker.ordain.store.query("SELECT message_id, seq FROM transcript WHERE kind = 'message'")
    )
    if kept != seen.diary:
        yield f"acknowledged {dict(seen.diary)}, kept {kept}"


def _each_yes_counts_once(talker: Talker, seen: Evidence) -> Iterator[str]:
    """Whatever somebody said yes to was allowed by that, each call once; of a grant as much is
    taken as runs have on record.
    """
    used = [
        body["facts"] for body in _bodies(seen, "decision", "authorize") if body["reason"] in YES
    ]
    approvals = Counter((facts["approval"], facts["call"]) for facts in used if "approval" in facts)
    granted = Counter(facts["grant"] for facts in used if "grant" in facts)
    approved = {
        name
        for (name,) in talker.ordain.store.query(
            "SELECT id FROM approvals WHERE state = 'approved'"
        )
    }
    if {name for name, _ in approvals} != approved or any(
        count > 1 for count in approvals.values()
    ):
        yield f"approved {approved}, allowed {dict(approvals)}"
    taken = Counter(
        body["outcome"]["grant"]
        for body in _bodies(seen, "claim", "grant")
        if body["outcome"]["type"] == "taken"
    )
    if taken != granted:
        yield f"taken of grants {dict(taken)}, allowed {dict(granted)}"
    for grant, left, body in talker.ordain.store.query("SELECT id, uses_left, body FROM grants"):
        counted = json.loads(body).get("calls", {})
        if (left, counted) != (
            (GRANTED.uses or 0) - taken[grant],
            dict.fromkeys(GRANTED.constraints, taken[grant]),
        ):
            yield (
                f"a grant that was taken {taken[grant]} times has {left} uses left, and counts "
                f"{counted}"
            )


def _bodies(seen: Evidence, kind: str, name: str) -> list[dict[str, Any]]:
    return [
        json.loads(row[7])
        for rows in seen.after.values()
        for row in rows
        if row[1:3] == (kind, name)
    ]


def _as_it_should(talker: Talker, talk: Talk, seen: Evidence, expected: str) -> Iterator[str]:
    if any(
        b'"outcome_unknown"' in row[7]
        for rows in seen.after.values()
        for row in rows
        if row[1] == "observation"
    ):
        return
    yield from unexpected(talker, talk)
    result = outcome(talker, talk)
    if expected and result != expected:
        yield f"came to {result}, undisturbed {expected}"
