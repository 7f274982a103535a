"""Cutting texts into sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.models.sentences import has_sentence, split


def parts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One here. Two there! Three? Four", ["One here.", "Two there!", "Three?", "Four"]),
        ("Dr. Ode paid 3.50 to Mr. Vale.", ["Dr. Ode paid 3.50 to Mr. Vale."]),
        ("See example.org for v1.2.3. Then go.", ["See example.org for v1.2.3.", "Then go."]),
        (
            "He came at 5 p.m. yesterday. It was, e.g. late, i.e. dark.",
            ["He came at 5 p.m. yesterday.", "It was, e.g. late, i.e. dark."],
        ),
        (
            "J. R. Lowe is here. So is Quillon Inc. They met.",
            ["J. R. Lowe is here.", "So is Quillon Inc.", "They met."],
        ),
        (
            "“Go away.” She left. “Really?” he asked.",
            ["“Go away.”", "She left.", "“Really?” he asked."],
        ),
        ("Well... maybe. Wait... What?!", ["Well... maybe.", "Wait...", "What?!"]),
        ("1. First point.\n2. Second point.", ["1. First point.", "2. Second point."]),
        (
            "- one two\n* three four\n• five six\n> seven eight",
            ["one two", "three four", "five six", "seven eight"],
        ),
        ("-5 degrees outside", ["-5 degrees outside"]),
        ("Heading\n\nA text below it.\r\nEnd.", ["Heading", "A text below it.", "End."]),
        ("春が来た。花が咲く！本当？", ["春が来た。", "花が咲く！", "本当？"]),  # noqa: RUF001 - the text's own signs
        ("「行く。」彼は言った。", ["「行く。」", "彼は言った。"]),
        ("राम आया। सीता गई।", ["राम आया।", "सीता गई।"]),
        ("هل جاء؟ نعم جاء.", ["هل جاء؟", "نعم جاء."]),
        ("Er kam am 3. Mai an.", ["Er kam am 3.", "Mai an."]),  # cut too often, still word for word
        ("", []),
        (" \n — ... \t", []),
    ],
)
def test_sentences_are_found(text: str, expected: list[str]) -> None:
    """Sentence ends of several scripts cut; abbreviations, decimals, initials, quotes and addresses
    do not.
    """
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two words", True),
        ("Stop!", True),
        ("「行く」", True),
        ("行く。", True),
        ("word", False),
        ("notes.md", False),
        ("https://example.org/a", False),
        ("12 34", False),
        ("??", False),
    ],
)
def test_what_counts_as_a_sentence(text: str, expected: bool) -> None:
    """Two words, a word with a sentence end, or a few signs of a script without spaces say
    something; less does not.
    """
    assert has_sentence(text, split(text)) is expected


@given(st.text(max_size=300))
def test_nothing_is_lost_and_nothing_is_new(text: str) -> None:
    """Spans are in order, do not overlap, and hold every letter and digit of the text."""
    spans = split(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    kept = "".join(character for part in parts(text) for character in part if character.isalnum())
    assert kept == "".join(character for character in text if character.isalnum())
