"""Thoughts that may not be kept are blanked before an answer is recorded (B-37): live, resume and
replay see the same bytes.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.proposals import Unparsed, parse_object
from ordain.rules.reasons import Reason
from ordain.rules.step import directive_fault


class KeptThoughts(Struct, frozen=True, kw_only=True):
    """What may be kept of an answer: its content without the thought, or None and why, where a
    thought may stand anywhere in it.
    """

    content: str | None
    reason: Reason | None = None
    size_bytes: int = 0


def withhold_thought(content: str, policy: Policy) -> KeptThoughts:
    """Blank the thought of a directive.

    An answer that is no directive, or not of a directive's shape, may hold a thought anywhere: of
    it only length, digest and reason are kept. The reason is rule ``step``'s own, found on the
    whole answer, so that withholding changes no decision.
    """
    parsed = parse_object(content)
    if isinstance(parsed, Unparsed):
        return KeptThoughts(content=None, reason=parsed.reason, size_bytes=parsed.size_bytes)
    if (fault := directive_fault(parsed, policy)) is not None:
        return KeptThoughts(content=None, reason=fault, size_bytes=parsed.size_bytes)
    return KeptThoughts(
        content=msgspec.json.encode(
            {**parsed.value, "thought": None}, order="deterministic"
        ).decode()
    )
