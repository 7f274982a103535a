"""Engine 9: waits that nothing else is meant by, stops in several sentences, bounds, and how work is
to be; and what has their words and orders nothing.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.rules.answer import ExpectedType, Takes
from ordain.rules.attach import ThreadFact, decide_attach
from ordain.rules.attachment import AttachFacts, NewRequest, Override, StatusNudge
from ordain.wording.cues import Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled

WORDING, EIGHTH = compiled(shipped_table()), compiled(shipped_table(), 8)
CERTAIN = 2


def beside(text: str, *threads: ThreadFact) -> object:
    """What the message is to a session with these threads; without any, to one whose work runs."""
    found = threads or (ThreadFact(id=1, status="in_progress", live=True),)
    facts = AttachFacts(
        cues=WORDING.cues(text),
        threads=found,
        active=1,
        at_work=1,
        open=1,
        asks_back=True,
        addressed=True,
        newest=True,
        outspoken=True,
    )
    return decide_attach(facts, None, Policy(version=1)).outcome


@pytest.mark.parametrize(
    "text",
    [
        *("pause please, the editor is calling", "hold off, the client is on the phone",
            "sit tight, CI is on fire", "stand by, legal is still reading it",
            "Could you hold off for a quarter of an hour? I need the machine.",
            "pause for 5 minutes"),
        *("pausier bitte, der Chef ruft an", "Pause, der Drucker ist kaputt",
            "warte noch, Anna ist am Telefon", "leg das mal beiseite bis Sonntag"),
        *("don't send anything, the numbers are wrong", "nix bestellen!! budget ist gesperrt",
            "nicht buchen, Anna ist krank"),
        "Aus. Schluss. Brauchen wir nicht mehr.",
    ],
)  # fmt: skip
def test_a_wait_or_a_stop_with_anybodys_reason_ends_work(text: str) -> None:
    """The word that waits may mean nothing else, or what is not to be done cannot be had back."""
    assert not EIGHTH.cues(text).hold
    assert EIGHTH.cues(text).stop < CERTAIN
    assert beside(text) == Override(thread=1, stop=True)


@pytest.mark.parametrize(
    "text",
    [
        *("max 300 words", "at most 5 pages please", "no more than 10 slides", "under 500 words"),
        *("bis 900 Euro", "maximal 5 Folien bitte", "höchstens 3 Seiten", "nicht mehr als 2 Bilder"),
        *("a bit friendlier", "shorter please", "much shorter", "less formal", "more formal please",
            "shorter and simpler, please", "more detail"),
        *("etwas lockerer", "kürzer bitte", "deutlich kürzer", "mehr Details bitte",
            "ein bisschen freundlicher bitte", "weniger förmlich"),
    ],
)  # fmt: skip
def test_a_bound_and_a_comparative_alone_correct(text: str) -> None:
    """Nobody begins a task with them, and where nothing runs they are a message."""
    assert EIGHTH.cues(text).steer < CERTAIN
    assert beside(text) == Override(thread=1)
    idle = AttachFacts(cues=WORDING.cues(text), addressed=True)
    assert decide_attach(idle, None, Policy(version=1)).outcome == NewRequest()


@pytest.mark.parametrize(
    "text",
    [
        *("max is my dog", "under 5 minutes away", "at least 3 people died", "max 300",
            "bis 5 dann", "bis morgen", "bis Montag 8 Uhr", "up to you", "within 5 days"),
        *("I feel a bit better", "the menu is simpler", "shorter is better", "how much shorter?",
            "no longer", "not shorter", "viel größer als gedacht", "länger schlafen",
            "write something shorter", "make a shorter list of hotels", "mehr Details zur Reise"),
        *("pause the music", "the pause button does not work", "stand by me lyrics",
            "wait, the client is Brandl", "hold off on the invoices, send the letter first",
            "pause when you are done", "she said pause, it is late",
            "is there a pause, I need coffee?"),
        *("don't book Ritz, book Hilton", "Ende der Woche", "it is over", "noch warten auf Anna",
            "freeze warning for Denver"),
        *("maybe shorter", "perhaps hold off, I am not sure", "vielleicht kürzer"),
    ],
)  # fmt: skip
def test_what_has_their_words_and_says_more_orders_nothing(text: str) -> None:
    """A statement, a question, a task of its own, a condition, words of others."""
    found = WORDING.cues(text)
    assert not found.hold
    assert CERTAIN not in (found.stop, found.steer)


@pytest.mark.parametrize(
    "text", ["how far along are we?", "did it go through?", "hat es geklappt?"]
)
def test_a_whole_question_after_progress_asks_after_the_work(text: str) -> None:
    """Its state is told, where a turn of its own began beside it."""
    assert EIGHTH.cues(text).nudge < CERTAIN
    assert beside(text) == StatusNudge(thread=1)
    assert isinstance(beside(f"{text} And book a table."), NewRequest)


@pytest.mark.parametrize("text", ["shorter please", "max 300 words", "pause please, I am not sure"])
def test_to_a_question_they_grant_nothing_and_stop_nothing(text: str) -> None:
    """Whoever is asked and says so is asked once more; no work is there to correct."""
    asks = ThreadFact(
        id=1,
        status="waiting_for_user",
        live=True,
        asks=ExpectedType.YES_NO,
        takes=Takes.UNCLEAR,
        partly=WORDING.cues(text).partly,
    )
    assert not WORDING.cues(text).yes
    assert not isinstance(beside(text, asks), Override)
    assert WORDING.cues(text).partly is not Partly.CONDITION


@given(st.integers(0, 10**6), st.sampled_from(["max {} words", "höchstens {} Seiten"]))
def test_any_bounded_figure_corrects_and_asked_it_does_not(figure: int, form: str) -> None:
    """Whichever it is; with a question mark it is a question."""
    assert WORDING.cues(form.format(figure)).steer == CERTAIN
    assert WORDING.cues(form.format(figure) + "?").steer < CERTAIN
