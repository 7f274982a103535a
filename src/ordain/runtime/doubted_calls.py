"""What the repeat of a call says of the whole of it, where an attempt was cut off before with its
process and may have taken effect: of one that is idempotent under its key. Pure.
"""

from __future__ import annotations

from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import VerbSpec
from ordain.effects.results import VerbFailed, VerbResult, VerbUnknown, VerbWithdrawn
from ordain.rules.recover import safety_of

NOT_STARTED = "not_started"
"""The code of an attempt that never went out."""
DIED = "the process died while the verb ran; whether it took effect is unknown"


def leaves_doubt(spec: VerbSpec) -> bool:
    """Whether a call of the verb that is cut off may have changed something, which is made again
    all the same: nothing fences it, and it is idempotent.
    """
    return safety_of(spec) == "idempotent" and spec.effect not in HARMLESS


def still_doubted(again: VerbResult) -> VerbResult:
    """What a repeat says of the whole call. Only that it ran settles that: one key has one effect.

    A repeat that did not go out says nothing of the call that was cut off. Neither does one that
    failed, whether nobody answered or an endpoint refused it: what had taken the first may refuse
    the second (it is there already, rights and state have changed since), and be another by now.
    """
    match again:
        case VerbFailed(code=code, message=message) if code != NOT_STARTED:
            return VerbUnknown(message=f"{DIED}; a repeat: {code}: {message}", repeat=again)
        case VerbFailed() | VerbWithdrawn():
            return VerbUnknown(message=f"{DIED}; not repeated")
        case _:
            return again
