"""Rule ``recover``: what follows for a verb's call that was cut off with its process: it is made
again, read back, or nobody knows.

The port asks it. What may be in doubt is repeated only where that is safe: a read, a verb that is
idempotent under its key, and one whose ``reconcile`` voids, which has fenced the key once it says
no: no attempt with that number or a lower one can take effect any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason

Happened = bool | UnsetType | None
"""What a verb's ``reconcile`` said of a call; None: nothing that can be read, UNSET: there is none
to ask.
"""
Safety = Literal["read", "idempotent", "voids", "reconcile", "nothing"]
"""What a verb declares that says how its call can be taken up again; what can be asked is the last
but one and the one before.
"""


class RecoverReason(Reason):
    """What follows for a call that was cut off with its process, and why."""

    REPEATED = (
        "recover.repeated",
        (
            "The call was cut off with its process: it is made again with the same key and a "
            "higher "
            "attempt number."
        ),
    )
    HAPPENED = (
        "recover.happened",
        (
            "The call was cut off with its process: the verb's reconcile says that it "
            "happened, and "
            "its output."
        ),
    )
    NOT_FENCED = (
        "recover.not_fenced",
        (
            "It has not happened yet, but nothing keeps the call that was cut off from happening "
            "still."
        ),
    )
    NOBODY_KNOWS = (
        "recover.nobody_knows",
        "The call was cut off with its process, and nobody can say whether it took effect.",
    )
    LOST_TOO_OFTEN = (
        "recover.lost_too_often",
        "The call was cut off with its process more often than policy permits to make it again.",
    )
    STOPPED = (
        "recover.stopped",
        (
            "The call was cut off with its process, and its run is being stopped: nothing goes "
            "out for it any more."
        ),
    )


class RepeatCall(Struct, frozen=True, tag="repeat"):
    """The same call under the same key, as this attempt: its number is higher than any before."""

    attempt: int


class TakeFound(Struct, frozen=True, tag="found"):
    """It happened: what ``reconcile`` gave is the output."""


class LeaveOpen(Struct, frozen=True, tag="open"):
    """It is not made again. Of what may have changed something the outcome is unknown; a read has
    failed, and so has what was voided.
    """


RecoverOutcome = RepeatCall | TakeFound | LeaveOpen


class RecoverFacts(Struct, frozen=True, kw_only=True):
    """The verb, whose permit the call has, its attempt, what it declares, and how often the call
    was cut off, this time included.

    ``happened`` is what ``reconcile`` said; null: nothing that could be read. Absent where there is
    none to ask. ``stopping``: somebody wants the run stopped; absent where nobody does, and in
    records of builds before, which did not ask this rule then.
    """

    verb: str
    permit: str
    attempt: int
    lost: int
    safety: Safety
    happened: Happened = UNSET
    stopping: Literal[True] | UnsetType = UNSET


class FoundOut(Struct, frozen=True):
    """What is found out of a call that was cut off before it is decided of: the facts that only the
    moment knows.
    """

    happened: Happened = UNSET
    stopping: bool = False


Recovering = Callable[[FoundOut], RecoverOutcome]
"""Decides of a call that was cut off."""
_FACTS = msgspec.json.Decoder(RecoverFacts)


def found_out_of(facts: msgspec.Raw) -> FoundOut:
    """What was found out, as recorded facts have it. Raises what decoding raises."""
    recorded = _FACTS.decode(facts)
    return FoundOut(happened=recorded.happened, stopping=recorded.stopping is True)


def safety_of(spec: VerbSpec) -> Safety:
    """What makes it safe to take up a call of the verb again."""
    if spec.effect is VerbEffect.READ:
        return "read"
    if spec.idempotent:
        return "idempotent"
    if spec.reconciler is None:
        return "nothing"
    return "voids" if spec.voids else "reconcile"


def decide_recover(facts: RecoverFacts, inputs: None, policy: Policy) -> Decision[RecoverOutcome]:
    """Repeat what is safe, as often as policy permits and unless the run is being stopped; take
    what was found; guess nothing.
    """
    if facts.safety in {"voids", "reconcile"}:
        if facts.happened is True:
            return Decision(outcome=TakeFound(), reason=RecoverReason.HAPPENED)
        if facts.happened is not False:
            return Decision(outcome=LeaveOpen(), reason=RecoverReason.NOBODY_KNOWS)
        if facts.safety == "reconcile":
            return Decision(outcome=LeaveOpen(), reason=RecoverReason.NOT_FENCED)
    if facts.safety == "nothing":
        return Decision(outcome=LeaveOpen(), reason=RecoverReason.NOBODY_KNOWS)
    if facts.stopping is True:
        return Decision(outcome=LeaveOpen(), reason=RecoverReason.STOPPED)
    if facts.lost > policy.verbs.max_lost:
        return Decision(outcome=LeaveOpen(), reason=RecoverReason.LOST_TOO_OFTEN)
    return Decision(
        outcome=RepeatCall(attempt=facts.attempt + facts.lost), reason=RecoverReason.REPEATED
    )


RECOVER: Rule[RecoverFacts, None, Any] = Rule(
    name="recover",
    outcome=RecoverOutcome,
    apply=decide_recover,
    reasons=(RecoverReason,),
    tells=tells_of("recover", tuple(RecoverReason)),
)
