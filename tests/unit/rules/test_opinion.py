"""Laws of rule ``opinion``."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.council import OPINION_CHARS
from ordain.rules.opinion import OPINION, Opined, OpinionFacts, OpinionInputs
from ordain.rules.proposals import Parsed, parse_object
from tests.shapes.council import PROSE
from tests.unit.rules.given import POLICY, decided, json_values, objects


def opined(proposal: Any) -> bool:
    outcome = decided(
        OPINION,
        OpinionFacts(size_bytes=proposal.size_bytes),
        OpinionInputs(proposal=proposal),
        POLICY,
    ).outcome
    return isinstance(outcome, Opined)


@given(
    st.one_of(
        objects,
        st.fixed_dictionaries({"text": json_values}),
        st.fixed_dictionaries({"text": st.text(min_size=1)}),
    )
)
def test_only_a_text_alone_is_an_opinion(value: dict[str, Any]) -> None:
    """Words, at most so many, and no other key."""
    text = value.get("text")
    fits = (
        set(value) == {"text"}
        and isinstance(text, str)
        and text.strip() != ""
        and len(text) <= OPINION_CHARS
    )
    assert opined(Parsed(value=value, size_bytes=1)) is fits


@pytest.mark.parametrize("said", PROSE)
def test_prose_is_no_opinion(said: str) -> None:
    """The seat is as good as absent."""
    assert not opined(parse_object(said))


def test_a_long_one_is_none() -> None:
    """Nothing is cut: what a seat is shown to have said it has said."""
    assert opined(Parsed(value={"text": "a" * OPINION_CHARS}, size_bytes=1))
    assert not opined(Parsed(value={"text": "a" * (OPINION_CHARS + 1)}, size_bytes=1))
