"""Markdown in a terminal: it looks like what it is, and nothing of it is hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.columns import width
from ordain.cli.conversation_lines import tail
from ordain.cli.markdown_lines import markdown_lines
from ordain.rules.plain_reply import QUOTE

SIGNS = st.text(
    st.sampled_from("ab c*_`#>-+1.|~[]()!<>&;:/\\\n\t ä日\u200d\u202e\x1b$"), max_size=80
)


def shown(text: str, columns: int = 60) -> list[str]:
    """The lines, without styles."""
    return [line.text for line in markdown_lines(text, columns)]


def styles(text: str) -> dict[str, str]:
    """How each part of a text looks that looks somehow."""
    return {part: style for line in markdown_lines(text, 60) for style, part in line.spans if style}


def test_it_looks_like_what_it_is() -> None:
    """Headings, emphasis, code and lists."""
    text = (
        "# Plan\n\nSome **bold**, *leaning*, ~~gone~~ and `code`.\n\n1. first\n2. second\n"
        "   - below\n\n```python\nif x:\n    y = 1\n```\n> said"
    )
    assert shown(text) == [
        "> Plan",
        ">",
        "> Some bold, leaning, gone and code.",
        ">",
        ">  1. first",
        ">  2. second",
        ">      • below",
        ">",
        "> python",
        ">   if x:",
        ">       y = 1",
        ">",
        "> ▌ said",
    ]
    found = styles(text)
    assert ("bold" in found["Plan"], found["bold"], found["leaning"], found["gone"]) == (
        True,
        "bold",
        "italic",
        "strike",
    )
    assert "ansicyan" in found["code"]


@pytest.mark.parametrize(
    "text",
    [
        "![a picture](https://evil.example/x.png)",
        "[click](https://evil.example)",
        "<https://evil.example>",
        "<b>bold</b> <!-- a comment -->",
        "<div>\nblock\n</div>",
        "[name]: https://evil.example",
        "&#x202e;turned &amp; &nbsp;",
        "| a | b |\n|---|---|\n| 1 | 2 | 3 |",
        "one\ntwo",
        r"C:\_temp\!x and \*no emphasis\* \\",
        "a stroke ends the line\\\nand the next",
        "| a |\n|---|\n| b\\|c |",
        "✓ gpt-9 · 3 tools · 1.0 s",
    ],
)
def test_what_would_hide_something_stands_there_as_it_was_written(text: str) -> None:
    """Images, links, HTML, definitions, entities, tables; and a line that ended ends."""
    assert shown(text) == [f"{QUOTE}{line}" for line in text.split("\n")]


@pytest.mark.parametrize("columns", [19, 40, 79])
@pytest.mark.parametrize(
    "text",
    [
        "> " * 60 + "deep",
        "- " * 40 + "deep",
        "1. " * 30 + "deep",
        "> - " * 9 + "deep",
        "- a\n  - b\n    - c\n      - deep",
    ],
)
def test_words_that_lie_too_deep_stand_there_as_they_were_written(text: str, columns: int) -> None:
    """Where quotations and lists leave no room for them, and where a parser goes no deeper."""
    lines = [line.text for line in markdown_lines(text, columns)]
    assert "deep" in "".join(line.removeprefix(QUOTE) for line in lines)
    assert all(width(line) <= columns for line in lines)


def test_a_list_has_the_numbers_that_were_written() -> None:
    """Also where they are not counted on, and with the sign behind them."""
    assert shown("2024. a year\n7. seven\n007. agent\n\n3) three") == [
        ">",
        ">  2024. a year",
        ">     7. seven",
        ">   007. agent",
        ">",
        ">  3) three",
    ]


def test_controls_are_shown() -> None:
    """As everywhere: what steers a terminal does not, what turns text around is spelled."""
    assert shown("a\x1b[31mb \u202ec") == ["> ab [U+202E]c"]


@given(SIGNS, st.integers(20, 60))
def test_every_line_is_marked_and_fits(text: str, columns: int) -> None:
    """None begins as a header's does; what a line shows is what its parts show."""
    for line in markdown_lines(text, columns):
        assert line.text == QUOTE.rstrip() or line.text.startswith(QUOTE)
        assert width(line.text) <= columns
        assert "".join(part for _, part in line.spans).rstrip() == line.text
        assert all(sign.isprintable() or sign == "\u200d" for sign in line.text)


@given(SIGNS)
def test_no_letter_is_lost(text: str) -> None:
    """Whatever signs stand around it."""
    kept = "abcä日.1|!()<&;:/\\$[]"
    letters = "".join(sign for sign in "".join(shown(text)) if sign in kept)
    wanted = "".join(sign for sign in text if sign in kept)
    assert wanted in letters or "\x1b" in text or "\u202e" in text


@given(
    st.lists(
        st.sampled_from(["```\n", "words\n", "a line that is longer\n", "\n"]), max_size=30
    ).map("".join),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_the_end_of_a_text_looks_as_it_does_within_it(text: str, columns: int, rows: int) -> None:
    """A block of code that began before is one; there is enough for every row."""
    end = tail(text, columns, rows)
    assert text.endswith((end.removeprefix("```\n"), end))
    assert len(end) >= min(len(text), columns * rows) or end.count("\n") >= 2 * rows
    assert end.count("```\n") % 2 == text.count("```\n") % 2


def test_a_line_without_an_end_is_cut() -> None:
    """However long it is, drawing costs no more than a few screens of it."""
    assert tail("a" * 10_000 + "\n", 50, 2) == "a" * 99 + "\n"
