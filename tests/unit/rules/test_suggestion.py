"""Laws of rule ``suggestion``: an answer of exactly the contract's shape is a suggestion,
everything else is none.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.attach import Attached
from ordain.rules.decision import Decision
from ordain.rules.proposals import Parsed, Unparsed, parse_object
from ordain.rules.suggestion import (
    SUGGESTED,
    SUGGESTION,
    Suggested,
    SuggestionFacts,
    SuggestionInputs,
    SuggestionReason,
    Unsuggested,
)
from tests.unit.rules.given import POLICY, decided, json_values, objects, scalars, texts

good = st.fixed_dictionaries(
    {
        "type": st.sampled_from([str(one) for one in SUGGESTED]),
        "thread": st.integers(0, 2**31 - 1),
        "confidence": st.one_of(st.floats(0, 1), st.sampled_from([0, 1])),
    }
)


def suggestion(proposal: Parsed | Unparsed | None) -> Decision[Suggested | Unsuggested]:
    return decided(
        SUGGESTION,
        SuggestionFacts(answered=proposal is not None),
        SuggestionInputs(proposal=proposal),
        POLICY,
    )


def of(value: dict[str, Any]) -> Decision[Suggested | Unsuggested]:
    """What the rule says of an answer that is this object."""
    found = parse_object(msgspec.json.encode(value).decode())
    assert isinstance(found, Parsed)
    return suggestion(found)


@given(good)
def test_the_contracts_shape_is_a_suggestion(value: dict[str, Any]) -> None:
    """What it says is taken as it stands: class, thread and how sure it is."""
    decision = of(value)
    assert decision.reason is SuggestionReason.MADE
    assert decision.outcome == Suggested(
        attached=Attached(value["type"]),
        thread=value["thread"],
        confidence=float(value["confidence"]),
    )


@given(
    good,
    st.sampled_from(["type", "thread", "confidence"]),
    st.one_of(scalars, json_values),
    st.booleans(),
)
def test_one_field_wrong_or_missing_is_none(
    value: dict[str, Any], field: str, other: Any, missing: bool
) -> None:
    """A field that is not there makes it no suggestion, nor does one whose value no other
    suggestion has.
    """
    changed = (
        {name: one for name, one in value.items() if name != field}
        if missing
        else {**value, field: other}
    )
    decision = of(changed)
    fits = {
        "type": lambda: other in [str(one) for one in SUGGESTED],
        "thread": lambda: type(other) is int and 0 <= other < 2**31,
        "confidence": lambda: type(other) in (int, float) and 0 <= other <= 1,
    }
    assert isinstance(decision.outcome, Suggested) == (not missing and fits[field]())


@given(good, texts, json_values)
def test_one_field_more_is_none(value: dict[str, Any], field: str, more: Any) -> None:
    """The shape is exact: what says more than the contract asks says nothing."""
    decision = of({**value, field: more} if field not in value else {**value, f"{field}s": more})
    assert (decision.outcome, decision.reason) == (Unsuggested(), SuggestionReason.INVALID)


@given(objects)
def test_any_object_is_decided_upon(value: dict[str, Any]) -> None:
    """It is total: of any object it says whether that is a suggestion, and never another class than
    one that may be suggested.
    """
    outcome = of(value).outcome
    assert isinstance(outcome, Unsuggested) or (
        outcome.attached in SUGGESTED and 0 <= outcome.confidence <= 1
    )


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [(None, SuggestionReason.NONE), (parse_object("prose"), SuggestionReason.INVALID)],
)
def test_no_answer_and_no_object_are_none(
    proposal: Unparsed | None, reason: SuggestionReason
) -> None:
    """That no model answered is another reason than that it answered with prose."""
    decision = suggestion(proposal)
    assert (decision.outcome, decision.reason) == (Unsuggested(), reason)
