"""What a list says of a beginning: one line of words, however it was written."""

from __future__ import annotations

import msgspec
import pytest

from ordain.runtime.beginnings import WORDS, session_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "hello"),
        ("  two\n\n lines\t", "two lines"),
        ("", ""),
        ("a" * WORDS, "a" * WORDS),
        ("a" * (WORDS + 1), "a" * (WORDS - 1) + "…"),
        ("a" + " " * 100_000 + "b", "a…"),
    ],
)
def test_the_first_words_are_one_short_line(text: str, words: str) -> None:
    """Spaces and line ends are one space; what is cut ends with a sign for that."""
    assert session_words(msgspec.json.encode({"text": text, "user": "ada"})) == words


@pytest.mark.parametrize(
    "body",
    [
        None,
        b"",
        b"{",
        b'{"text": 5}',
        b"[" * 100_000,
        b'{"text": "\xff"}',
        '{"text": "hi"}',
        "no JSON",
    ],
)
def test_what_nobody_can_read_has_no_words(body: bytes | str | None) -> None:
    """A list is shown whatever a row holds."""
    assert session_words(body) == ("hi" if body == '{"text": "hi"}' else "")
