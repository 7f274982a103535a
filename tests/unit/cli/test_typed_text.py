"""What of keys and pasted blocks is text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.typed_text import JOINERS, LINE_MAX, typed_text


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("grüße, 日本", "grüße, 日本"),
        ("one\ntwo", "one\ntwo"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("a\tb", "a    b"),
        ("\x1b[2Ja\x9b1m\x00\x7f", "[2Ja1m"),
        ("tur\u202ened", "turned"),
        ("👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_text_is_kept(typed: str, text: str) -> None:
    """Letters, signs and line ends; controls and what turns others around are not."""
    assert typed_text(typed) == text


@given(st.text(max_size=200))
def test_nothing_of_it_commands(typed: str) -> None:
    """Whatever was typed; and what is text is itself."""
    kept = typed_text(typed)
    assert all(sign == "\n" or sign.isprintable() or sign in JOINERS for sign in kept)
    assert typed_text(kept) == kept


def test_more_than_a_message_may_have_is_cut() -> None:
    """However much is pasted."""
    assert len(typed_text("a" * (LINE_MAX + 1))) == len(typed_text("\x00" + "a" * (LINE_MAX + 1))) == LINE_MAX
