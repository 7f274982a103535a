"""What prompts say of a session is read before they are made, once for each reference."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.errors import JournalCorrupt
from ordain.runtime.read_transcript import ReadTranscript
from tests.at_once import at_once


class Transcripts:
    """The sessions' port as far as a reference reads it; ``asked`` is for whose entries."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    async def texts(self, workspace: str, session: str, *, first: int, last: int) -> list[int]:
        self.asked.append((workspace, session, first, last))
        return list(range(first, last + 1))


def reading() -> tuple[ReadTranscript, Transcripts]:
    transcripts: Any = Transcripts()
    return ReadTranscript(transcripts, "w"), transcripts


def test_a_reference_into_a_session_is_read_by_its_ends() -> None:
    """Both are in; of the one workspace, and once."""
    said, transcripts = reading()
    for _ in range(2):
        assert at_once(said.having(lambda: (said("s1", 3, 5), said("s1", 4, 4)))) == (
            [3, 4, 5],
            [4],
        )
    assert transcripts.asked == [("w", "s1", 3, 5), ("w", "s1", 4, 4)]


def test_what_swallows_a_refusal_is_done_again() -> None:
    """Foreign code may make anything of an error; what it gave without the entries is not what is
    made.
    """
    said, _ = reading()

    def swallowing() -> Any:
        try:
            return said("s1", 1, 2)
        except JournalCorrupt:
            return "nothing"

    assert at_once(said.having(swallowing)) == [1, 2]


def test_another_error_is_raised() -> None:
    """Nothing is read for it, and it is not tried again."""
    said, transcripts = reading()

    def damaged() -> None:
        said("s1", 1, 1)
        raise JournalCorrupt("another")

    with pytest.raises(JournalCorrupt, match="another"):
        at_once(said.having(damaged))
    assert transcripts.asked == [("w", "s1", 1, 1)]


def test_it_is_refused_at_once_where_nobody_reads_it() -> None:
    """Pure code waits for nothing."""
    said, transcripts = reading()
    with pytest.raises(JournalCorrupt, match="not read yet"):
        said("s1", 1, 1)
    assert transcripts.asked == []
