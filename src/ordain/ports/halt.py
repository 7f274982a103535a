"""A halt: whether the stored decision about a message says that it ordered a stop of whatever its sender had said before."""

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


class _Decided(Struct, frozen=True):
    facts: _Facts = _Facts()


_DECIDED: Final = msgspec.json.Decoder(_Decided)


def halts(decision: bytes | None) -> bool:
    """Whether a stored decision is about an order to stop or to wait that is said to no one thread: whatever was said before it is meant."""
    if decision is None:
        return False
    try:
        facts = _DECIDED.decode(decision).facts
    except msgspec.MsgspecError:
        return False  # it does not say, and what is damaged is reported by who reads it
    cues = facts.cues
    return not facts.anchor and not facts.explicit and (cues.hold or cues.stop >= CERTAIN) and cues.steer < CERTAIN
