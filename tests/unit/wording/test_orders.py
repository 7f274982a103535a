"""Engine 4: bare stops in every guise, corrections in closed forms; and what was tried, and five
languages, in three modes.
"""

# ruff: noqa: RUF001 (messages in many scripts)
from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.attachment import Override
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled
from tests.labelled.judging import LANGUAGES, TRIED, Figures, Mode, Row, placed, rows

WORDING = compiled(shipped_table())
SETS = {"tried": rows(TRIED), "languages": rows(LANGUAGES)}
ORDERS = {"stop", "hold", "correct"}
MISSED = {"tried": 2, "languages": 1}
"""Orders that wording alone does not read: *stop slowjob*, a Cyrillic *ѕtop*; *an Lisa, nicht an
Lena*.
"""


@pytest.mark.parametrize(
    "text",
    [
        "stop?",
        "STOP?!",
        "wait?",
        "s t o p",
        "S.T.O.P.",
        "oh god stop",
        "ups, stopp",
        "arrête ?",
        "¿para?",
        "hold your horses",
        "ctrl+c",
        "עצור",
    ],
)
def test_a_bare_stop_stops_in_every_guise(text: str) -> None:
    """Asked, spelled out, behind an exclamation: nothing else stands in it."""
    found = WORDING.cues(text)
    assert found.stop == 2 or found.hold


@pytest.mark.parametrize(
    "text",
    [
        "Where is the bus stop?",
        "What is a full stop?",
        "enough sleep per night?",
        "Halt in Köln?",
        "oh god",
        "a b c",
        "Is wait a verb?",
        "w?",
    ],
)
def test_a_question_mark_makes_no_stop(text: str) -> None:
    """What has matter of its own, or no word that stops, stops nothing."""
    found = WORDING.cues(text)
    assert found.stop < 2
    assert not found.hold


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no, 10 percent",
            "sorry, 10 percent",
            "10 percent, sorry",
            "nimm 10 Prozent",
            "10 statt 7.5 Prozent",
            "mit 10 Prozent bitte",
        ),
        *(
            "* 10 percent",
            "*Bob",
            "for Bob not for Ann",
            "not Ann, Bob",
            "to Bob, I mean",
            "stop and use 10 percent",
            "don't use 7.5",
        ),
        *(
            "do it with 10 percent",
            "the other way round",
            "andersrum",
            "wrong, it's 10 percent",
            "no, Tuesday",
            "typo: 10 percent",
        ),
        *("non, 10 pour cent", "con 12 personas", "con 12 persone", "al revés", "met 12 personen"),
    ],
)
def test_a_closed_form_corrects(text: str) -> None:
    """It names the figure, day or name that is to be."""
    assert WORDING.cues(text).steer == 2


@pytest.mark.parametrize(
    "text",
    [
        *(
            "instead, tell me a joke",
            "use of commas in English",
            "good morning everyone",
            "not sure, whatever",
            "screen not responding",
        ),
        *(
            "* buy milk",
            "take 5",
            "no, 10 people died",
            "with 5 eggs what can I cook",
            "use 3 examples of irony in a poem",
            "No. 5",
        ),
        *(
            "the opposite of love",
            "no, one question",
            "typo in my essay",
            "**bold**",
            "for 10 years I lived in Rome",
        ),
    ],
)
def test_what_is_no_closed_form_corrects_nothing(text: str) -> None:
    """It may be about anything."""
    found = WORDING.cues(text)
    assert max(found.stop, found.steer) < 2


@given(
    st.integers(0, 9_999),
    st.sampled_from(["percent", "Prozent", "euros", "people"]),
    st.sampled_from(["no, {}", "nein, {}", "*{}", "{}, sorry"]),
)
def test_another_figure_corrects_and_asked_it_does_not(figure: int, of: str, form: str) -> None:
    """Whichever it is; with a question mark it is a question."""
    said = form.format(f"{figure} {of}")
    assert WORDING.cues(said).steer == 2
    assert WORDING.cues(f"{said}?").steer < 2


@pytest.mark.parametrize(("name", "mode"), list(product(SETS, Mode)))
def test_no_set_grants_or_stops_what_it_does_not_say(name: str, mode: Mode) -> None:
    """Neither a consent nor a choice nor a refusal nor a stop is read of a message that is none,
    whatever a model says.
    """
    found = Figures(SETS[name], mode, WORDING)
    wrong = (
        "false consent",
        "false choice",
        "false refusal",
        "false stop",
        "stop without a graded steer",
    )
    assert {what: found.wrong[what] for what in wrong if found.count[what]} == {}


@pytest.mark.parametrize("name", SETS)
def test_orders_are_read_without_a_model(name: str) -> None:
    """Few stops, holds and corrections are missed by the wording alone."""

    def missed(row: Row) -> bool:
        return row["label"] in ORDERS and not isinstance(
            placed(row, Mode.ALONE, WORDING)[0], Override
        )

    assert len([row["text"] for row in SETS[name] if missed(row)]) <= MISSED[name]
