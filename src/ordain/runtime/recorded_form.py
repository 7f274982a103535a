"""What a flow asks, and what it is given, in the form that its record has: live, resumed and replayed it is one value, and none that the flow holds."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded
from ordain.effects.effect import CLAIM, EFFECT, AnyEffect, Claim
from ordain.effects.results import AnyResult
from ordain.errors import FlowFault
from ordain.journal.records import raw
from ordain.rules.decision import Rule
from ordain.rules.lane import LaneFacts

RESULTS: msgspec.json.Decoder[AnyResult] = msgspec.json.Decoder(AnyResult)
ENDS: msgspec.json.Decoder[AnyEnded] = msgspec.json.Decoder(AnyEnded)
CALL = msgspec.json.Decoder(Call)
SCOPE = msgspec.json.Decoder(CapabilityScope)
REFERENCES = msgspec.json.Decoder(tuple[int, ...])
LANE_FACTS = msgspec.json.Decoder(LaneFacts)

T = TypeVar("T")


def encoded_form(asked: object) -> Raw:
    """Whatever a flow hands over, as a record holds it.

    Raises:
        FlowFault: none can.
    """
    try:
        return raw(asked)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise FlowFault(f"{type(asked).__name__} is nothing that a record can hold: {str(error)[:200]}") from error


def effect_form(effect: object) -> tuple[AnyEffect, Raw]:
    """An effect as its record has it, and that record: what is checked, recorded, carried out and booked is one value, and none that the flow holds.

    Raises:
        FlowFault: it is none that a record can hold.
    """
    encoded = encoded_form(effect)
    return _read_back(EFFECT, encoded, effect, "effect"), encoded


def call_form(call: object) -> Call:
    """A proposed call as its record would have it: what a decision is about has the words that it shows, and no others.

    Raises:
        FlowFault: it is none that a record can hold.
    """
    return _read_back(CALL, encoded_form(call), call, "call")


def claim_form(claim: object) -> tuple[Claim[Any], msgspec.Raw]:
    """A claim as its record has it, and that record. Raises as ``call_form``."""
    encoded = encoded_form(claim)
    return _read_back(CLAIM, encoded, claim, "claim"), encoded


def scope_form(within: object) -> CapabilityScope:
    """What a flow holds itself to, likewise. Raises as ``call_form``."""
    return _read_back(SCOPE, encoded_form(within), within, "scope")


def lane_form(facts: object) -> LaneFacts:
    """The facts of a decision of rule ``lane``, as that has them on record. Raises as ``call_form``."""
    return _read_back(LANE_FACTS, encoded_form(facts), facts, "facts of a lane")


def references(refs: object) -> tuple[int, ...]:
    """What a decision refers to, as its record has it.

    Raises:
        FlowFault: these are no numbers of records.
    """
    return _read_back(REFERENCES, encoded_form(refs), refs, "list of records' numbers") if refs != () else ()


def _read_back(decoder: msgspec.json.Decoder[T], encoded: msgspec.Raw, given: object, what: str) -> T:
    try:
        return decoder.decode(encoded)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FlowFault(f"{type(given).__name__} is no {what} that a record can hold: {str(error)[:200]}") from error


def result_form(result: AnyResult) -> tuple[Raw, AnyResult]:
    """What became of an effect as its record has it, and as it is read back from there: nothing is recorded that cannot be read back.

    Raises:
        FlowFault: no record can hold it.
    """
    encoded = encoded_form(result)
    try:
        return encoded, RESULTS.decode(encoded)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FlowFault(f"{type(result).__name__} is no result that a record can hold: {str(error)[:200]}") from error


def outcome_form(rule: Rule[Any, Any, Any], outcome: object) -> tuple[Raw, Any]:
    """An outcome's record, and the outcome as it is read back: live, resumed and replayed the flow gets one value.

    Raises:
        FlowFault: the rule has no such outcome.
    """
    encoded = encoded_form(outcome)
    try:
        return encoded, rule.read_outcome(encoded)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FlowFault(f"rule {rule.name} decided what is no outcome of it: {str(error)[:200]}") from error
