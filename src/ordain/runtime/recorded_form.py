"""What a flow asks, and what it is given, in the form that its record has: live, resumed and replayed it is one value, and none that the flow holds."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ordain.effects.children import AnyEnded
from ordain.effects.effect import EFFECT, AnyEffect
from ordain.effects.results import AnyResult
from ordain.errors import FlowFault
from ordain.journal.records import raw
from ordain.rules.decision import Rule

RESULTS: msgspec.json.Decoder[AnyResult] = msgspec.json.Decoder(AnyResult)
ENDS: msgspec.json.Decoder[AnyEnded] = msgspec.json.Decoder(AnyEnded)


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
    try:
        return EFFECT.decode(encoded), encoded
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FlowFault(f"{type(effect).__name__} is no effect that a record can hold: {str(error)[:200]}") from error


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
