"""Laws of the line editor: every key, in every order and cut anywhere, keeps the line and the cursor sound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.columns import width
from ordain.cli.line_editor import EnteredLine, LineEditor, Order
from tests.unit.cli.work import calls

KEYS = ["\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[F", "\x1b[3~", "\x7f", "\x15", "\x0b", "\x17", "\x1b", "\x1bx", "\x1b\r"]
PASTED = ["\x1b[200~", "\x1b[201~", "\r", "\n", "\t", "\x03", "\x04", "\x0c", "\x00", "\x9b", "\u202e"]
typed = st.lists(st.one_of(st.sampled_from(KEYS + PASTED), st.text(min_size=1, max_size=4)), max_size=30).map("".join)


@given(typed, st.integers(4, 40))
def test_the_cursor_stays_in_the_line(text: str, columns: int) -> None:
    """Whatever is typed, the cursor is inside the line, the line holds nothing that steers a terminal, and what is shown fits."""
    editor = LineEditor()
    editor.feed(text.encode("utf-8", "replace"))
    assert 0 <= editor.at <= len(editor.text)
    assert all(c == "\n" or c.isprintable() or c in "\u200c\u200d" for c in editor.text)
    shown, cursor = editor.shown(columns)
    assert width(shown) <= columns
    assert 0 <= cursor < columns
    assert "\n" not in shown


@given(typed, st.data())
def test_keys_may_come_in_pieces(text: str, data: st.DataObject) -> None:
    """Bytes cut anywhere come to the same line and the same orders."""
    whole, pieces = LineEditor(), LineEditor()
    found = whole.feed(encoded := text.encode("utf-8", "replace"))
    at, made = 0, []
    while at < len(encoded):
        size = data.draw(st.integers(1, 5))
        made += pieces.feed(encoded[at : at + size])
        at += size
    assert (found, whole.text, whole.at) == (made, pieces.text, pieces.at)


@pytest.mark.parametrize(
    ("keys", "line", "at"),
    [
        ("abc", "abc", 3),
        ("abc\x1b[D\x1b[Dx", "axbc", 2),
        ("abc\x01x\x05y", "xabcy", 5),
        ("one two  \x17three", "one three", 9),
        ("one two\x15", "", 0),
        ("one two\x1b[H\x1b[3~\x0b", "", 0),
        ("one two\x01\x06\x06\x06\x0b", "one", 3),
        ("ab\x7f\x7f\x7fc", "c", 1),
        ("grüße\x7f", "grüß", 4),
        ("a\x1b\rb", "a\nb", 3),
        ("\x1b[200~a\rb\tc\nd\x1b[201~e", "a\nb    c\nde", 11),
        ("ab\x1b[1;5Dc", "abc", 3),
        ("a\x02\x04", "", 0),
    ],
)
def test_keys_edit(keys: str, line: str, at: int) -> None:
    """Each key does what it does in every shell."""
    editor = LineEditor()
    assert editor.feed(keys.encode()) == []
    assert (editor.text, editor.at) == (line, at)


def test_lines_come_back() -> None:
    """Up and down go through the lines before; the unfinished one is kept."""
    editor = LineEditor()
    assert editor.feed(b"first\rsecond\rsecond\r\runfinished") == [EnteredLine(text=text) for text in ("first", "second", "second", "")]
    for keys, line in (("\x1b[A", "second"), ("\x1b[A", "first"), ("\x1b[A", "first"), ("\x1b[B", "second"), ("\x1b[B", "unfinished")):
        editor.feed(keys.encode())
        assert editor.text == line


@given(st.text(st.sampled_from("a ä日\u0301\u200d\n"), max_size=120), st.integers(0, 120), st.integers(2, 40))
def test_the_cursor_is_where_the_text_before_it_ends(text: str, at: int, columns: int) -> None:
    """What is shown is a piece of the line with the cursor's place in it, begun no further on than the cursor asks for."""
    editor = LineEditor(text=text, at=min(at, len(text)))
    line, (shown, cursor) = text.replace("\n", "⏎"), editor.shown(columns)
    starts = [start for start in range(editor.at + 1) if width(line[start : editor.at]) == cursor and line.startswith(shown, start)]
    assert starts
    assert starts[0] == 0 or width(line[: editor.at]) >= columns


@pytest.mark.parametrize("text", ["ä" * 4000, "ä日" * 2000, "e\u0301" * 2000, "\u200d" * 4000])
def test_a_long_line_costs_what_it_holds(text: str) -> None:
    """For one key each sign of the line is looked at a few times, not once for every screenful before the cursor."""
    editor = LineEditor(text=text, at=len(text))
    assert calls(lambda: editor.shown(20)) <= 8 * len(text)


def test_orders() -> None:
    """Ctrl-C, Ctrl-L and, in an empty line, Ctrl-D are orders; Ctrl-C is one even in what never stops being pasted."""
    assert LineEditor().feed(b"\x03\x0c\x04") == [Order.INTERRUPT, Order.CLEAR, Order.END]
    assert LineEditor().feed(b"\x1b[200~abc\x03\x1b\x03") == [Order.INTERRUPT, Order.INTERRUPT]
