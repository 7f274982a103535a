"""What must hold of a conversation after it was killed and taken up again: no consequence lost or doubled, everything replays equal."""

from __future__ import annotations

from collections.abc import Iterator

from tests.integration.crash.laws import Evidence, broken_effects
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talks import Talk, Talker, outcome, unexpected


def broken_talk(talker: Talker, talk: Talk, seen: Evidence, expected: str) -> list[str]:
    """Every law that does not hold, in words."""
    sent = [talker.received(name) for name in talk.comes_to]
    return [
        *broken_effects(seen),
        *broken_now(rows_of(talker.ordain), max_active=talker.ordain.settings.policy.session.max_active),
        *broken_at_rest(talker.ordain, sent),
        *_acknowledged_is_kept(talker, seen),
        *_as_it_should(talker, talk, seen, expected),
    ]


def _acknowledged_is_kept(talker: Talker, seen: Evidence) -> Iterator[str]:
    kept = dict(talker.ordain.store.query("SELECT message_id, seq FROM transcript WHERE kind = 'message'"))
    if kept != seen.diary:
        yield f"acknowledged {dict(seen.diary)}, kept {kept}"


def _as_it_should(talker: Talker, talk: Talk, seen: Evidence, expected: str) -> Iterator[str]:
    if any(b'"outcome_unknown"' in row[7] for rows in seen.after.values() for row in rows if row[1] == "observation"):
        return
    yield from unexpected(talker, talk)
    result = outcome(talker, talk)
    if expected and result != expected:
        yield f"came to {result}, undisturbed {expected}"
