"""Laws of breaking text into lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.columns import clipped, fitting, width, wrapped
from tests.unit.cli.work import calls

text = st.text(
    st.one_of(
        st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")),
        st.sampled_from("  ab日✔\ufe0f\u0301"),
    ),
    max_size=80,
)


@given(text, st.integers(4, 30), st.sampled_from(["", "  "]))
def test_wrapped_lines_fit_and_lose_nothing(line: str, columns: int, indent: str) -> None:
    """No line is wider than asked, and every sign is there in order."""
    found = wrapped(line, columns, indent)
    assert all(width(part) <= columns for part in found)
    assert "".join("".join(found).split()) == "".join(line.split())


@given(text, st.integers(1, 30))
def test_clipped_text_fits(line: str, columns: int) -> None:
    """A cut text fits and ends in an ellipsis; what fits already stays."""
    short = clipped(line, columns)
    assert width(short) <= columns
    assert short == line or short.endswith("…")
    assert width(line[: fitting(line, columns)]) <= columns


@pytest.mark.parametrize("text", ["ä" * 4000, "ä日 " * 1500, "e\u0301" * 2000])
def test_a_long_line_is_read_a_bounded_number_of_times(text: str) -> None:
    """However many lines come of it, each sign is looked at a few times, not once for every line
    before it.
    """
    assert calls(lambda: wrapped(text, 20, "  ")) <= 4 * len(text)


def test_words_are_kept_whole() -> None:
    """Lines are broken at spaces; a word longer than a line is broken where the line ends."""
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("abcdefghij kl", 5, "  ") == ["abcde", "  fgh", "  ij", "  kl"]
    assert wrapped("    deep in", 8) == ["    deep", "in"]
    assert wrapped("", 8) == [""]
    assert width("日本") == 4
