"""What a flow asks and is given, in its record's form."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from ordain.effects.effect import ModelCall, Say
from ordain.errors import FlowFault
from ordain.journal.records import raw
from ordain.rules.decision import Decision, Rule
from ordain.rules.hedge import HedgeReason
from ordain.runtime.recorded_form import effect_form, outcome_form


class Rated(Struct, frozen=True, tag="rated"):
    ratio: float
    parts: tuple[int, ...] = ()


def rule(outcome: Any) -> Rule[Any, Any, Any]:
    def apply(*_: object) -> Decision[Any]:
        raise AssertionError("no rule is applied here")

    return Rule(name="rated", outcome=outcome, apply=apply, reasons=(HedgeReason,))


class LooksLikeOne(Struct, tag_field="effect", tag="model_call"):
    purpose: str
    refs: tuple[int, ...]
    profile: str
    max_tokens: int
    bound_tokens: int
    deadline: int


@pytest.mark.parametrize(
    "wrap",
    [lambda call: call, lambda call: msgspec.Raw(msgspec.json.encode(call)), msgspec.to_builtins],
)
def test_whatever_encodes_as_a_model_call_is_one(wrap: Any) -> None:
    """Its type is its record's, so that it is reserved and settled like any other."""
    asked = wrap(
        LooksLikeOne(
            purpose="any", refs=(0,), profile="p", max_tokens=1, bound_tokens=1, deadline=1
        )
    )
    effect, encoded = effect_form(asked)
    assert type(effect) is ModelCall
    assert msgspec.json.decode(encoded, type=ModelCall) == effect


def test_nothing_of_it_is_what_the_flow_holds() -> None:
    """What the flow changes afterwards changes neither the effect nor its record."""
    args = {"text": "first"}
    effect, encoded = effect_form(
        ModelCall(
            purpose="any", refs=(), args=args, profile="p", max_tokens=1, bound_tokens=1, deadline=1
        )
    )
    args["text"] = "second"
    assert isinstance(effect, ModelCall)
    assert effect.args == {"text": "first"}
    assert b"second" not in bytes(encoded)


@pytest.mark.parametrize(
    "asked", [object(), {"effect": "none"}, 5, msgspec.Raw(b"not json"), Say(text="\ud800")]
)
def test_what_no_record_holds_is_a_fault(asked: object) -> None:
    """Nothing goes live of it."""
    with pytest.raises(FlowFault, match="can hold"):
        effect_form(asked)


def test_an_outcome_is_what_is_read_back() -> None:
    """A whole number where a fraction was declared, a list for a tuple: live the flow gets what
    replay will give it.
    """
    encoded, given = outcome_form(rule(Rated), Rated(ratio=1, parts=[1, 2]))  # type: ignore[arg-type]
    assert given == Rated(ratio=1.0, parts=(1, 2))
    assert type(given.ratio) is float
    assert raw(given) == msgspec.Raw(b'{"type":"rated","ratio":1.0,"parts":[1,2]}')
    assert msgspec.json.decode(encoded, type=Rated) == given


@pytest.mark.parametrize("outcome", [Rated(ratio=float("nan")), "rated", None, {"type": "other"}])
def test_what_is_no_outcome_of_the_rule_is_a_fault(outcome: object) -> None:
    """It would be unreadable in its record."""
    with pytest.raises(FlowFault, match="rule rated decided what is no outcome"):
        outcome_form(rule(Rated), outcome)
