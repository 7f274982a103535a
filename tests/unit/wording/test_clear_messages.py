"""Engine 4: a message with a character that nobody knows is no answer, and a choice is the whole
message.
"""

# ruff: noqa: RUF001 (look-alikes are what is tested)
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled

WORDING = compiled(shipped_table())
SEND, NAMED, YES_NO = ("send it", "do not send it"), ("production", "staging"), ("yes", "no")
STRUCK = ["¬yes", "≠yes", "~~yes~~", "y̶e̶s̶", "👍⃠", "- [ ] yes", "yes‽", "> yes", "`yes`",
    "<s>yes</s>", "yes /s", "y\U000e0065s", "yes\u200b", "🄯 yes", "_yes_", "[yes]", "✗ yes",
          "−yes", "~A~", "A̶"]  # fmt: skip
AFTER_ASKING = ("", "")


@pytest.mark.parametrize("text", STRUCK)
def test_a_struck_or_negated_word_is_no_answer(text: str) -> None:
    """It neither grants nor refuses; it says something, and goes back."""
    found = WORDING.cues(text)
    assert (
        found.yes,
        found.no,
        WORDING.chosen(text, AFTER_ASKING),
        WORDING.chosen(text, YES_NO),
    ) == (False, False, "", "")


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes!",
        "ja, bitte",
        "sure :)",
        "👍",
        "👍🏽",
        "¡Sí!",
        "はい。",
        "да",
        "نعم",
        "हाँ",
        "네!",
        "y",
    ],
)
def test_a_plain_yes_is_one(text: str) -> None:
    """Whatever its script, with the stops and emoji that people write."""
    assert (WORDING.cues(text).yes, WORDING.cues(text).no) == (True, False)


@given(
    st.sampled_from(["yes", "ja", "ok", "no", "nein"]),
    st.characters(),
    st.sampled_from(["{0}{1}", "{1}{0}", "{0} {1}", "{1} {0}"]),
)
def test_no_foreign_character_is_overlooked(word: str, char: str, shape: str) -> None:
    """A sign of no language beside a yes or a no leaves neither: all of Unicode's marks, symbols
    and unseen characters but the closed few.
    """
    text = shape.format(word, char)
    if (
        unicodedata.category(char)[0] in "MCS"
        and not char.isspace()
        and unicodedata.normalize("NFC", text) == text
    ):
        found = WORDING.cues(text)
        clear = found.yes or found.no
        assert (
            not clear
            or ord(char) in range(0x2190, 0x2C00)
            or ord(char) in range(0x1F000, 0x1FB00)
            or unicodedata.category(char) in {"Mn", "Mc"}
        )
        if unicodedata.category(char) in {"Me", "Cf", "Co", "Sm", "Sc"}:
            assert not clear or ord(char) in range(0x2190, 0x2C00)


@pytest.mark.parametrize(
    ("text", "options", "key"),
    [
        ("A", AFTER_ASKING, "A"), ("b", AFTER_ASKING, "B"), ("(A)", AFTER_ASKING, "A"), ("A)",
            AFTER_ASKING, "A"), ("1.", AFTER_ASKING, "A"), ("2️⃣", AFTER_ASKING, "B"),
        ("the first", AFTER_ASKING, "A"), ("the second one, please", AFTER_ASKING, "B"),
            ("die zweite", AFTER_ASKING, "B"), ("lieber B", AFTER_ASKING, "B"),
        ("option A please", AFTER_ASKING, "A"), ("I'll take B", AFTER_ASKING, "B"),
            ("Ich nehme A, danke", AFTER_ASKING, "A"), ("la segunda", AFTER_ASKING, "B"),
        ("production", NAMED, "A"), ("the staging one", NAMED, "B"), ("staging pls", NAMED, "B"),
            ("Send it!", SEND, "A"), ("do not send it", SEND, "B"),
        ("yes", YES_NO, "A"), ("no", YES_NO, "B"), ("the last one", NAMED, "B"), ("9/10", ("9/10",
            "8/10"), "A"),
    ],
)  # fmt: skip
def test_a_whole_message_chooses(text: str, options: tuple[str, ...], key: str) -> None:
    """By letter, figure, place or the words of a label; courtesies and what people say around a
    choice aside.
    """
    assert WORDING.chosen(text, options) == key


@pytest.mark.parametrize(
    ("text", "options"),
    [
        *((text, AFTER_ASKING) for text in ["maybe A", "à", "I second that", "a second please",
            "A-", "B+", "A or B", "A/B", "not A", "no A", "A nicht", "A, but only Kim", "AB", "C",
            "A?", "A...", "A if Bob agrees", "first no", "vitamin B", "one moment",
            "on second thought yes", "yes A", "second to none", "first, ask Bob", "both",
            "B then A", '"A"', "rather not A"]),
        *((text, NAMED) for text in ["maybe production", "not production", "production and staging",
            "non-production", "production, no staging", "production I guess", "keep production",
            "no", "3", "production?", "anything but staging", "uh staging"]),
        *((text, SEND) for text in ["it", "do", "send it if Bob agrees", "send it tomorrow",
            "send it not", "sure, send it not", "yes send it", "no", "not", "send it lol",
            "send it 🙄"]),
        *((text, YES_NO) for text in ["yes maybe", "maybe yes", "yes and no", "not yes", "not no",
            "no problem", "yes if Bob agrees"]),
        ("1", ("2 days", "1 day")), ("stop", ("delete it, stop me otherwise", "keep it")), ("A",
            ("B", "A")), ("no", ("say no word", "go on")),
    ],
)  # fmt: skip
def test_what_has_more_to_it_chooses_nothing(text: str, options: tuple[str, ...]) -> None:
    """A doubt, a condition, two options at once, or a word that the label has by chance: it goes
    back.
    """
    assert WORDING.chosen(text, options) == ""


@pytest.mark.parametrize(
    "text", ["stop?", "Stop??", "wait?", "halt?", "warte?", "arrête ?", "para?"]
)
def test_a_bare_stop_in_the_form_of_a_question_holds(text: str) -> None:
    """Nobody asks a machine whether it might."""
    assert WORDING.cues(text).stop == 2 or WORDING.cues(text).hold


@pytest.mark.parametrize(
    "text",
    [
        "no, 10 percent",
        "nein, 10 Prozent",
        "no, 25",
        "not Ann, Bob",
        "nicht Anna, Bernd",
        "pas Anne, Bruno",
        "no, not Ann, Bob",
    ],
)
def test_what_names_another_figure_or_name_corrects(text: str) -> None:
    """It is about what runs."""
    assert WORDING.cues(text).steer == 2


@pytest.mark.parametrize(
    "text",
    [
        "no, thanks",
        "not now, thanks",
        "no, she is my sister",
        "10 percent of what?",
        "no, what is 10 percent of 80?",
        "not bad, Bob said so himself",
    ],
)
def test_what_only_looks_like_a_correction_corrects_nothing(text: str) -> None:
    """It has no other figure or name alone."""
    assert WORDING.cues(text).steer < 2
