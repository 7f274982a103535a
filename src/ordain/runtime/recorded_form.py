"""What a flow asks, and what it is given, in the form that its record has: live, resumed and
replayed it is one value, and none that the flow holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Raw

from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded
from ordain.effects.effect import CLAIM, EFFECT, AnyEffect, Claim
from ordain.effects.results import AnyResult
from ordain.errors import FlowFault
from ordain.journal.records import ENCODER
from ordain.rules.decision import Rule
from ordain.rules.lane import LaneFacts

RESULTS: msgspec.json.Decoder[AnyResult] = msgspec.json.Decoder(AnyResult)
ENDS: msgspec.json.Decoder[AnyEnded] = msgspec.json.Decoder(AnyEnded)
CALL = msgspec.json.Decoder(Call)
SCOPE = msgspec.json.Decoder(CapabilityScope)
REFERENCES = msgspec.json.Decoder(tuple[int, ...])
LANE_FACTS = msgspec.json.Decoder(LaneFacts)

EFFECT_NAMES: Mapping[type[AnyEffect], str] = {
    kind: str(kind.__struct_config__.tag) for kind in get_args(AnyEffect)
}
"""How the records of each kind of effect are named."""
_SAME_BELOW = 2**53
"""Below it a number is the same to whatever reads JSON."""
UNRECORDABLE = (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError)
"""What the encoder or a decoder raises at what no record can hold."""

T = TypeVar("T")


def effect_form(effect: object) -> tuple[AnyEffect, Raw]:
    """An effect as its record has it, and that record: what is checked, recorded, carried out and
    booked is one value, and none that the flow holds.

    Raises:
        FlowFault: it is none that a record can hold.
    """
    return _form(EFFECT, effect, "effect")


def call_form(call: object) -> Call:
    """A proposed call as its record would have it: what a decision is about has the words that it
    shows, and no others. Raises as ``effect_form``.
    """
    return _form(CALL, call, "call")[0]


def claim_form(claim: object) -> tuple[Claim[Any], Raw]:
    """A claim as its record has it, and that record. Raises as ``effect_form``."""
    return _form(CLAIM, claim, "claim")


def scope_form(within: object) -> CapabilityScope:
    """What a flow holds itself to, likewise. Raises as ``effect_form``."""
    return _form(SCOPE, within, "scope")[0]


def lane_form(facts: object) -> LaneFacts:
    """The facts of a decision of rule ``lane``, as that has them on record. Raises as
    ``effect_form``.
    """
    return _form(LANE_FACTS, facts, "facts of a lane")[0]


def references(refs: tuple[int, ...]) -> tuple[int, ...]:
    """What a decision refers to, as its record has it: numbers of records. Raises as
    ``effect_form``.
    """
    if refs == ():
        return ()
    if (
        type(refs) is tuple
        and len(refs) == 1
        and type(refs[0]) is int
        and 0 <= refs[0] < _SAME_BELOW
    ):
        return refs  # as nearly always; the record's form is itself
    return _form(REFERENCES, refs, "list of records' numbers")[0]


def _form(decoder: msgspec.json.Decoder[T], given: object, what: str) -> tuple[T, Raw]:
    try:
        encoded = ENCODER.encode(given)
        return decoder.decode(encoded), Raw(encoded)
    except UNRECORDABLE as error:
        raise FlowFault(
            f"{type(given).__name__} is no {what} that a record can hold: {str(error)[:200]}"
        ) from error


def result_form(result: AnyResult) -> tuple[Raw, AnyResult]:
    """What became of an effect as its record has it, and as it is read back from there: nothing is
    recorded that cannot be read back.

    Raises:
        FlowFault: no record can hold it.
    """
    read, encoded = _form(RESULTS, result, "result")
    return encoded, read


def outcome_form(rule: Rule[Any, Any, Any], outcome: object) -> tuple[Raw, Any]:
    """An outcome's record, and the outcome as it is read back: live, resumed and replayed the flow
    gets one value.

    Raises:
        FlowFault: the rule has no such outcome.
    """
    try:
        encoded = ENCODER.encode(outcome)
        return Raw(encoded), rule.read_outcome(encoded)
    except UNRECORDABLE as error:
        raise FlowFault(
            f"rule {rule.name} decided what is no outcome of it: {str(error)[:200]}"
        ) from error
