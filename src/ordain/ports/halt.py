"""What the stored decision about a message says of orders: whether it stops, goes on with what was
held, or halts whatever its sender had said before.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

CERTAIN: Final = 2
"""The grade of a cue that leaves no doubt."""
LATER_MAX: Final = 24
"""So many of a sender's later messages are looked at."""


class _Cues(Struct, frozen=True):
    stop: int = 0
    steer: int = 0
    hold: bool = False


class _Facts(Struct, frozen=True):
    cues: _Cues = _Cues()
    anchor: int = 0
    explicit: bool = False


class _Outcome(Struct, frozen=True):
    thread: int = 0
    stop: bool = False
    resumes: bool = False


class _Decided(Struct, frozen=True):
    facts: _Facts = _Facts()
    outcome: _Outcome = _Outcome()


class Ordered(Struct, frozen=True, gc=False, kw_only=True):
    """What a message ordered: ``stops`` and nothing new, ``resumes`` what was held, ``anew``: in a
    thread of its own, for it had never begun, ``halts`` all that was said before.
    """

    stops: bool = False
    resumes: bool = False
    anew: bool = False
    halts: bool = False


_DECIDED: Final = msgspec.json.Decoder(_Decided)
_NOTHING: Final = Ordered()


def ordered(decision: bytes | None) -> Ordered:
    """What the stored decision about a message says that it ordered; nothing where it does not say:
    what is damaged is reported by who reads it.
    """
    if decision is None or not (
        b'"stop"' in decision or b'"hold"' in decision or b'"resumes"' in decision
    ):
        return _NOTHING  # of most messages no more is looked at
    try:
        found = _DECIDED.decode(decision)
    except msgspec.MsgspecError:
        return _NOTHING
    outcome = found.outcome
    return Ordered(
        stops=outcome.stop,
        resumes=outcome.resumes,
        anew=outcome.resumes and not outcome.thread,
        halts=_halts(found.facts),
    )


def halts(decision: bytes | None) -> bool:
    """Whether a stored decision is about an order to stop or to wait that is said to no one thread:
    whatever was said before it is meant.
    """
    return ordered(decision).halts


def _halts(facts: _Facts) -> bool:
    cues = facts.cues
    return (
        not facts.anchor
        and not facts.explicit
        and (cues.hold or cues.stop >= CERTAIN)
        and cues.steer < CERTAIN
    )
