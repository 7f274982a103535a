"""What was probably meant: said, and never taken for what was named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from ordain.contracts.model_keys import keys_at
from ordain.contracts.nearest import COMPARED, did_you_mean, nearest, no_such

VERBS = ("math.evaluate", "mail.send", "mail.draft", "Brain.Chat")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("math.evalute", "math.evaluate"),
        ("mail.sned", "mail.send"),
        ("brain.chat", "Brain.Chat"),
        ("quite another", ""),
        ("", ""),
    ],
)
def test_the_name_that_is_most_like_it_was_meant(typed: str, meant: str) -> None:
    """Letters left out or swapped, another case; a name that is like none was meant for none."""
    assert nearest(typed, VERBS) == meant
    assert did_you_mean(typed, VERBS) == (f"; did you mean {meant}?" if meant else "")


def test_what_there_is_not_is_said_and_cut() -> None:
    """With the hint where there is one; a very long name is not compared."""
    assert (
        no_such("verb", "mail.sned", VERBS) == "there is no verb mail.sned; did you mean mail.send?"
    )
    assert no_such("verb", "x" * 5000, ["x" * 5001]) == f"there is no verb {'x' * COMPARED}"


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=8))
def test_only_what_there_is_was_meant(typed: str, known: list[str]) -> None:
    """Whatever was typed."""
    assert nearest(typed, known) in {"", *known}


class Inner(BaseModel):
    """A table."""

    host: str = ""
    as_name: str = Field(default="", alias="asName")


class Outer(BaseModel):
    """Tables in every place that a contract has."""

    one: Inner | None = None
    by_name: dict[str, Inner] = {}
    several: list[Inner] = []
    either: Inner | str = ""
    number: int = 0


@pytest.mark.parametrize("place", [["one"], ["by_name", "any"], ["several", 3]])
def test_a_place_knows_its_keys(place: list[str | int]) -> None:
    """As they are written, wherever the table stands."""
    assert keys_at(Outer, place) == {"host", "asName"}


@pytest.mark.parametrize(
    "place",
    [["either"], ["number"], ["none"], ["one", "host"], ["by_name"], ["several", 3, "host", "x"]],
)
def test_what_is_no_table_knows_none(place: list[str | int]) -> None:
    """Nor what may be one of several kinds."""
    assert keys_at(Outer, place) == frozenset()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bad\n", r'"bad\n"'),
        ("b\u0430d", r'"b\u0430d"'),
        ("b\u202ead", r'"b\u202ead"'),
        ("bad", "bad"),
        ("Grüße", "Grüße"),
        (".", "."),
    ],
)
def test_what_nobody_sees_of_a_name_is_spelled(name: str, told: str) -> None:
    """Whoever is refused for a look-alike or a line's end is shown it by its number; what is seen
    as it is stays so.
    """
    assert no_such("workflow", name, []) == f"there is no workflow {told}"
