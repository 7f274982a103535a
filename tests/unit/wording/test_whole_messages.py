"""Engine 3: what is a yes, a no, a hold, a correction, a date and a choice, and what is none; and
the labelled messages in three modes.
"""

# ruff: noqa: RUF001 (messages in many scripts)
from __future__ import annotations

import string
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.wording.cues import Partly
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_3.whole import LISTS
from ordain.wording.languages import shipped_languages, shipped_table
from ordain.wording.table import Table
from ordain.wording.wording import compiled
from tests.labelled.judging import Figures, Mode, held_out, rows

WORDING = compiled(shipped_table())
EVERY = rows()
PHRASES = {
    name: sorted({phrase for one in shipped_languages() for phrase in one.lists.get(name, ())})
    for name in (*LISTS, "ambiguous")
}
STRAYS = 0.05
YES = (
    "yes",
    "Yes please!",
    "ja",
    "Ja, bitte.",
    "ok danke",
    "👍",
    "👍🏽",
    "oui",
    "sí, gracias",
    "да",
    "はい、お願いします",
    "好的，谢谢",
    "네",
    "evet",
    "sure :)",
)
NO = (
    "no",
    "nein danke",
    "never",
    "geht nicht",
    "nie",
    "👎",
    "non merci",
    "不要",
    "いいえ",
    "nope.",
    "no no",
    "jamais",
)
NEITHER = (
    *(
        "suuure",
        "yes...",
        "yes?",
        '"yes"',
        "yess",
        "yse",
        "yes yes",
        "ja ja",
        "yeah right",
        "yes 😂",
        "ok 🙄",
        "yes/no",
        "yes - no",
        "na ja",
    ),
    *(
        "no, yes",
        "no, go ahead",
        "yes and no",
        "nein, mach ruhig",
        "vale si",
        "d'accord si",
        "no problem",
        "kein problem",
        "oh ok",
        "I see",
    ),
    *(
        "why not",
        "I guess",
        "if you must",
        "fine, let me ask Anna first",
        "ok bye",
        "5",
        "A",
        "",
        "   ",
        "thanks",
        "please",
        "🙏",
        "hm",
    ),
)


@pytest.mark.parametrize("text", YES)
def test_a_whole_yes_is_one(text: str) -> None:
    """Thanks, courtesies, case and signs aside."""
    found = WORDING.cues(text)
    assert (found.yes, found.no, found.partly) == (True, False, Partly.NO)


@pytest.mark.parametrize("text", NO)
def test_a_whole_no_is_one(text: str) -> None:
    """*never* and *geht nicht* are noes."""
    found = WORDING.cues(text)
    assert (found.yes, found.no, found.partly) == (False, True, Partly.NO)


@pytest.mark.parametrize("text", NEITHER)
def test_anything_beyond_is_neither(text: str) -> None:
    """What is lengthened, broken off, quoted, asked, mocked, repeated, mistyped or said of both
    grants and refuses nothing.
    """
    found = WORDING.cues(text)
    assert (found.yes, found.no) == (False, False)


@given(
    st.sampled_from(PHRASES["consents"]),
    st.text(string.ascii_lowercase, min_size=3, max_size=12),
    st.booleans(),
)
def test_an_unknown_word_takes_a_yes_back(phrase: str, word: str, first: bool) -> None:
    """Whatever yes it stands beside: a word that no closed list has is no part of one."""
    known = {
        token for name in LISTS for listed in PHRASES[name] for key in keys(listed) for token in key
    }
    if word not in known:
        assert not WORDING.cues(f"{word} {phrase}" if first else f"{phrase} {word}").yes


@given(
    st.sampled_from(PHRASES["consents"]),
    st.sampled_from(PHRASES["refusals"]),
    st.booleans(),
    st.sampled_from([" ", ", ", ". "]),
)
def test_a_yes_beside_a_no_is_no_yes(consent: str, refusal: str, first: bool, between: str) -> None:
    """In whichever order and of whichever languages."""
    parts = (consent, refusal) if first else (refusal, consent)
    found = WORDING.cues(between.join(parts))
    assert not found.yes


def test_no_phrase_is_in_two_closed_lists() -> None:
    """A word that is a yes in one language and a no or a wait in another would be neither."""
    named: dict[tuple[str, ...], set[str]] = {}
    for name, phrase in ((listed, one) for listed in LISTS for one in PHRASES[listed]):
        for key in keys(phrase):
            named.setdefault(key, set()).add(name)
    assert [key for key, names in named.items() if len(names) > 1] == []


def test_every_phrase_of_the_closed_lists_says_what_its_list_says() -> None:
    """Alone, a consent is a yes, a refusal a no and a hold holds; a courtesy says none of them, and
    what means another thing in another language neither.
    """
    assert [
        phrase
        for phrase in PHRASES["ambiguous"]
        if WORDING.cues(phrase).yes or not WORDING.cues(phrase).partly
    ] == []
    for name, said in (("consents", "yes"), ("refusals", "no"), ("holds", "hold")):
        assert [phrase for phrase in PHRASES[name] if not getattr(WORDING.cues(phrase), said)] == [
            phrase for phrase in PHRASES[name] if phrase in PHRASES["ambiguous"]
        ]
    assert [
        phrase
        for phrase in PHRASES["courtesies"]
        if WORDING.cues(phrase).yes or WORDING.cues(phrase).no
    ] == []


def test_every_language_has_closed_lists() -> None:
    """A yes and a no are known in each language that is shipped."""
    assert [
        one.name
        for one in shipped_languages()
        if not (one.lists.get("consents") and one.lists.get("refusals"))
    ] == []


def test_own_phrases_are_a_closed_list() -> None:
    """What an operator's own file calls a yes is one, and with it no shipped phrase that only looks
    like one.
    """
    first, *others = shipped_table().phrases
    own = compiled(Table.of([("yes", ["jofi"]), first, *others], shipped_table().lists))
    assert (own.cues("jofi danke").yes, own.cues("yes").yes, own.cues("why not").yes) == (
        True,
        True,
        False,
    )


@pytest.mark.parametrize(
    "text",
    [
        "31.2.",
        "30.2.",
        "31.4.2026",
        "29.2.2025",
        "2026-02-30",
        "31 June",
        "30 feb",
        "31. April",
        "Feb 31",
        "25:70",
    ],
)
def test_no_day_is_no_date(text: str) -> None:
    """A calendar knows none of them."""
    assert not WORDING.cues(text).date_time


@pytest.mark.parametrize(
    "text",
    [
        "29.2.",
        "28.2.",
        "31.3.",
        "29.2.2028",
        "2026-02-28",
        "30 June",
        "29 feb",
        "30. April",
        "12/31",
        "23:59",
        "next Friday",
    ],
)
def test_a_day_is_a_date(text: str) -> None:
    """Those of the calendar are."""
    assert WORDING.cues(text).date_time


@pytest.mark.parametrize(
    "text",
    [
        "wait",
        "hold on, that's not what I meant",
        "pause",
        "undo",
        "change of plans",
        "no, wait",
        "warte mal bitte",
        "✋",
    ],
)
def test_a_bare_wait_holds(text: str) -> None:
    """Nothing else stands in it."""
    assert WORDING.cues(text).hold


@pytest.mark.parametrize(
    "text",
    [
        "wait for the bus",
        "undo the change in my tax form",
        "no wait, yes",
        "whoa",
        "can't wait",
        "Pausenbrot",
    ],
)
def test_a_wait_with_matter_of_its_own_holds_nothing(text: str) -> None:
    """It is about something."""
    assert not WORDING.cues(text).hold


@pytest.mark.parametrize(
    "text",
    [
        "20 percent, not 10",
        "nimm statt Äpfeln Birnen",
        "could you make it shorter?",
        "tabs. not spaces.",
        "bitte den roten, nicht den blauen",
    ],
)
def test_a_correction_names_what_it_corrects(text: str) -> None:
    """It corrects whatever runs."""
    assert WORDING.cues(text).steer == 2


@pytest.mark.parametrize(
    "text",
    [
        "Instead of Monday book Tuesday for the dentist",
        "Could you make it to the party?",
        "kannst du das machen?",
        "not bad",
    ],
)
def test_what_may_be_about_something_else_corrects_nothing_for_certain(text: str) -> None:
    """Work that runs is left alone."""
    found = WORDING.cues(text)
    assert max(found.stop, found.steer) < 2


def test_an_option_is_chosen_by_letter_number_place_or_name() -> None:
    """And by nothing that says more, or that two of them have."""
    options = ("the alpha report", "the beta report", "a gamma list")
    chosen = {
        text: WORDING.chosen(text, options)
        for text in (
            "the alpha one",
            "B",
            "option 2",
            "the second one",
            "gamma please",
            "Alpha!",
            "3",
        )
    }
    assert chosen == {
        "the alpha one": "A",
        "B": "B",
        "option 2": "B",
        "the second one": "B",
        "gamma please": "C",
        "Alpha!": "A",
        "3": "C",
    }
    for text in (
        "report",
        "alpha or beta",
        "not alpha",
        "alpha?",
        "alpha but shorter",
        "4",
        "D",
        "yes",
        "the last one",
        "",
        "alphaaa",
        '"alpha"',
    ):
        assert not WORDING.chosen(text, options), text


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=9))
def test_a_choice_is_one_of_those_that_were_offered(text: str, options: list[str]) -> None:
    """Total, and a letter of an option or nothing."""
    assert WORDING.chosen(text, tuple(options)) in {"", *string.ascii_uppercase[: len(options)]}


@pytest.mark.parametrize(("mode", "held"), list(product(Mode, (False, True))))
def test_labelled_messages_grant_nothing_that_is_not_granted(mode: Mode, held: bool) -> None:
    """No message that is not labelled consent counts as one, and nothing is stopped but by wording
    that grades a possible stop or steer.
    """
    found = Figures([row for row in EVERY if held_out(row) is held], mode, WORDING)
    assert (found.count["false consent"], found.count["stop without a graded steer"]) == (0, 0)


@pytest.mark.parametrize("held", [False, True])
def test_with_an_oracle_few_turns_are_stray(held: bool) -> None:
    """At most one in twenty messages that deserve no turn of their own opens one, where a model
    reads them as labelled.
    """
    found = Figures([row for row in EVERY if held_out(row) is held], Mode.ORACLE, WORDING)
    assert found.count["deserve no turn"] > 200
    assert found.stray_share <= STRAYS
