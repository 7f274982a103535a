"""Engine 6: an order is one however it is insisted on, a no that is said over and over is one to
what runs, and a place that there is none of goes back.
"""

# ruff: noqa: RUF001 (quotation marks of many languages)
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.wording.cues import Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled

WORDING, SIXTH, BEFORE = (
    compiled(shipped_table()),
    compiled(shipped_table(), 6),
    compiled(shipped_table(), 5),
)
DAYS = ("Monday", "Tuesday", "Friday")


@pytest.mark.parametrize(
    "text",
    [
        "stop it please now",
        "stop right now please",
        "no no stop",
        "no, no, no, stop it!",
        "stop stop now",
        "for heaven's sake stop",
        "'stop'",
        "‘stop’",
        "`stop`",
        'I said "stop"',
        "I said 'stop it'!",
        "hör bitte jetzt auf damit",
        "hör jetzt sofort auf",
        "ich sagte „stopp“",
        "nein nein stopp",
        "please don't continue",
    ],
)
def test_a_stop_that_is_insisted_on_is_one(text: str) -> None:
    """What stresses it says nothing by itself, and neither does a pair of quotation marks around
    it.
    """
    assert WORDING.cues(text).stop == 2


@pytest.mark.parametrize(
    "text",
    ["pause it now", "wait right now", "hold on hold on now", "'wait'", "warte jetzt mal bitte"],
)
def test_a_wait_that_is_insisted_on_holds(text: str) -> None:
    """As it does alone."""
    found = WORDING.cues(text)
    assert found.hold
    assert found.stop < 2


@pytest.mark.parametrize(
    "text",
    [
        "don't stop now",
        "no no don't stop",
        "nicht jetzt aufhören, weiter so",
        "now stop by the shop and buy milk please",
        "'stop' is the title of the song, find it",
        'he said "stop" to the driver',
        "should I stop right now?",
        "the bus stop right now",
        "wait for ann right now",
    ],
)
def test_what_is_no_order_is_none_by_insisting(text: str) -> None:
    """A negation is never taken off, nor matter of its own."""
    found = WORDING.cues(text)
    assert found.stop < 2
    assert not found.hold
    assert not found.protest


@pytest.mark.parametrize(
    "text",
    [
        "no no",
        "No, no, no!",
        "nooooo",
        "nein nein",
        "NEIN NEIN NEIN",
        "non non",
        "no don't",
        "bitte nicht",
        "that's wrong",
        "no, wrong!",
        "oops",
        "leave it",
        "shut it down",
        "das ist falsch",
        "doch nicht",
    ],
)
def test_a_no_that_is_said_over_and_over_protests(text: str) -> None:
    """And says no where anything is asked, as far as it is a whole one; it is no consent."""
    found = WORDING.cues(text)
    assert found.protest
    assert not found.yes
    assert not found.hold
    assert found.stop < 2


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "nein",
        "no thanks",
        "yes yes",
        "no no, yes",
        "ja ja",
        "no. 5",
        "nope, sorry",
        "no no, the blue one is nicer",
        "nono is the name",
    ],
)
def test_what_is_said_once_or_says_more_protests_nothing(text: str) -> None:
    """A plain no answers."""
    assert not WORDING.cues(text).protest


@given(st.text(max_size=120))
def test_nothing_that_engine_5_grants_is_granted_otherwise(text: str) -> None:
    """Whatever is said: yes, no, orders and choices of engine 5 are the same, and only orders and
    protests come to them.
    """
    now, before = SIXTH.cues(text), BEFORE.cues(text)
    assert (now.yes, now.no, now.go_on, now.partly) == (
        before.yes,
        before.no,
        before.go_on,
        before.partly,
    )
    assert now.steer >= before.steer
    assert now.stop >= before.stop or now.steer > before.steer
    assert now.hold >= before.hold


@pytest.mark.parametrize(
    "text",
    [
        "the last one",
        "the fourth one",
        "the 4th",
        "the 32nd",
        "der vierte",
        "das vorletzte",
        "the middle one",
        "the last but one",
        "not the last one",
    ],
)
def test_a_place_that_names_none_of_the_options_goes_back(text: str) -> None:
    """It chooses nothing, and is about the question."""
    assert WORDING.chosen(text, DAYS) == ""
    assert WORDING.mentions(text, DAYS) or WORDING.cues(text).partly is Partly.LEANS


@pytest.mark.parametrize(
    "text",
    [
        "not friday",
        "nicht Friday",
        "no friday",
        "anything but Friday",
        "all but friday",
        "friday not",
        "don't take friday",
        "except Friday",
    ],
)
def test_an_option_that_is_negated_is_not_that_one(text: str) -> None:
    """Nor any other."""
    assert WORDING.chosen(text, DAYS) == ""
    assert WORDING.mentions(text, DAYS)


@pytest.mark.parametrize(
    ("text", "of_two", "of_three"),
    [
        ("the last one", "B", ""),
        ("der letzte", "B", ""),
        ("the latter", "B", ""),
        ("the former", "A", ""),
        ("the second", "B", "B"),
    ],
)
def test_one_of_two_is_none_of_three(text: str, of_two: str, of_three: str) -> None:
    """*The latter* of three was the second one."""
    assert (WORDING.chosen(text, DAYS[:2]), WORDING.chosen(text, DAYS)) == (of_two, of_three)


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        ("the 32nd", False),
        ("on the 99th", False),
        ("am 32.", False),
        ("the 31st", True),
        ("the 2nd", True),
        ("12:30", True),
    ],
)
def test_a_day_that_no_month_has_is_no_date(text: str, is_date: bool) -> None:
    """To a question when, it is no answer."""
    assert WORDING.cues(text).date_time is is_date


@pytest.mark.parametrize("text", ["no, 1 percent", "nein, 2 Prozent", "*2 people", "1 euro, sorry"])
def test_one_and_two_are_figures(text: str) -> None:
    """They correct as any other does."""
    assert WORDING.cues(text).steer == 2


@pytest.mark.parametrize(
    "text", ["2 please", "1", "the 1 with the blue cover", "1 percent", "no, 2 percent?"]
)
def test_one_and_two_alone_correct_nothing(text: str) -> None:
    """They may be a choice."""
    assert WORDING.cues(text).steer < 2
