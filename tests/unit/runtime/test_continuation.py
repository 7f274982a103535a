"""What a client shows of a conversation, as it stands in a new session."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.runtime.continuation import (
    IMPORTED_CHARS,
    IMPORTED_MARK,
    Shown,
    ShownTurn,
    imported,
)

TURNS = st.lists(
    st.builds(
        lambda mine, text: ShownTurn(role="assistant" if mine else "user", text=text),
        st.booleans(),
        st.text(max_size=200),
    ),
    max_size=8,
)


@given(TURNS, st.text(max_size=100))
def test_every_line_that_is_imported_stands_behind_its_mark(
    turns: list[ShownTurn], instructions: str
) -> None:
    """Whatever a client shows, only code's first line stands without the mark: none of it passes
    for a header.
    """
    opening, *below = imported(
        Shown(before=tuple(turns), now=(), instructions=instructions)
    ).text.split("\n")
    assert opening == IMPORTED_MARK
    assert all(line.startswith("> ") for line in below)


@given(st.integers(1, 400), st.integers(1, 400))
def test_the_oldest_are_left_out_and_counted(number: int, size: int) -> None:
    """What has no room is the oldest, without a gap, and how many it is stands there and is told."""
    turns = tuple(ShownTurn(role="user", text=f"{at:04}" + "x" * size) for at in range(number))
    brought = imported(Shown(before=turns, now=()))
    text = brought.text
    kept = [line for line in text.split("\n") if line.startswith("> user: ")]
    assert [line[8:12] for line in kept] == [f"{at:04}" for at in range(number - len(kept), number)]
    assert len(text) < 2 * IMPORTED_CHARS
    assert brought.left_out == number - len(kept)
    assert (f"({number - len(kept)} earlier messages are left out)" in text) == (len(kept) < number)
