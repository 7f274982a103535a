"""What of keys and pasted blocks is text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.typed_text import LINE_MAX, drawn_signs, typed_text
from tests.unit.contracts.test_visible import hidden


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("grüße, 日本", "grüße, 日本"),
        ("one\ntwo", "one\ntwo"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("a\tb", "a    b"),
        ("\x1b[2Ja\x9b1m\x1b]0;title\x07b\x1b", "ab"),
        (
            "ad\U000e0041min\u200b\u202e\u00ad\x00\x7f\x03",
            "ad\U000e0041min\u200b\u202e\u00ad\x00\x7f\x03",
        ),
        ("x\udcffy", "x\ufffdy"),
        ("👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_text_is_kept(typed: str, text: str) -> None:
    """Letters, signs and line ends, and what is not seen: left out it would make another name of
    one. What is for a terminal is not.
    """
    assert typed_text(typed) == text


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b[]m;\r\n\t")), max_size=200))
def test_what_was_typed_stays(typed: str) -> None:
    """What is text is itself, and can be sent; a line that begins no terminal's sequence is kept
    sign for sign.
    """
    kept = typed_text(typed)
    assert typed_text(kept) == kept
    assert kept.encode().decode() == kept
    if not set(typed) & set("\x1b\x9b\r\t") and not any(
        "\ud800" <= sign <= "\udfff" for sign in typed
    ):
        assert kept == typed


@given(
    st.text(
        st.one_of(st.characters(), st.sampled_from("\u200b\u3164\u2800\ufe0f\U000e0041")),
        max_size=60,
    )
)
def test_nothing_that_is_drawn_commands_or_hides(typed: str) -> None:
    """Of each sign that was typed something is seen, and of none anything that commands."""
    for line in typed_text(typed).split("\n"):
        signs = drawn_signs(line)
        assert len(signs) == len(line)
        assert all(signs)
        assert not hidden("".join(signs))


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("/session ad\U000e0041min", "/session ad[U+E0041]min"),
        ("a\x03b\u202ec ß東", "a␃b[U+202E]c ß東"),
    ],
)
def test_what_is_not_seen_is_drawn_by_its_number(line: str, seen: str) -> None:
    """As it is told everywhere else."""
    assert "".join(drawn_signs(line)) == seen


def test_more_than_a_message_may_have_is_cut() -> None:
    """However much is pasted."""
    assert (
        len(typed_text("a" * (LINE_MAX + 1)))
        == len(typed_text("\x00" + "a" * (LINE_MAX + 1)))
        == LINE_MAX
    )
