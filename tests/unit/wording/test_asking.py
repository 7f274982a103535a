"""Whether what Ordain said ends with a question: in any script, outside quotation marks and
addresses, a short closing word aside.
"""

# ruff: noqa: RUF001 (question marks of many scripts)
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.wording.asking import AFTERWARDS, ends_asking

MARKS = "?？؟⁇‽⸮"


@given(
    st.text(alphabet="ab .,!", max_size=40),
    st.sampled_from(MARKS),
    st.sampled_from(["", " ", "\n", "**", " 🙂", ")", " Just say so!"]),
)
def test_a_question_at_the_end_asks(before: str, mark: str, after: str) -> None:
    """Whatever stands before it."""
    assert ends_asking(f"{before}a{mark}{after}")


@given(st.text(max_size=400))
def test_what_has_no_mark_asks_nothing(text: str) -> None:
    """Total, and without a mark there is no question."""
    if not any(mark in text for mark in "?？﹖︖؟⁇⁈⁉‽՞፧⸮\u037eか"):
        assert not ends_asking(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("At nine. Would you like to hear a joke?", True),
        ("He asked “Shall I?”", False),
        ('The sign says "really?"', False),
        ("Er fragte: „Darf ich?“", False),
        ('Did he say "yes"?', True),
        ("See https://example.org/?q=1", False),
        ("Isn't it Bob's? " + "x" * (AFTERWARDS + 1), False),
        ("お元気ですか。", True),
        ("", False),
    ],
)
def test_what_is_quoted_is_asked_by_others(text: str, asks: bool) -> None:
    """Nor does a mark in an address ask, or one far from the end."""
    assert ends_asking(text) is asks
