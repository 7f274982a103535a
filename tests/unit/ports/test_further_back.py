"""What is behind the latest entries of a session: found by runs, many of which are asked for at
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ordain.ports.further_back import ASKED_AT_ONCE, Behind, further_back
from ordain.ports.sessions import EntryKind, Thread, ThreadStatus
from ordain.ports.shared import LatestEntry

LATEST = (LatestEntry(seq=1000, thread=99, kind=EntryKind.MESSAGE),)


def behind(asking: int, threads: int, live: int, questions: list[int]) -> Behind:
    """As many threads, the most recently touched first, each with a reply; that of ``asking`` asks.
    How many runs each look is for goes to ``questions``.
    """
    entries = {
        f"r{number}": [
            LatestEntry(
                seq=900 - number,
                at=900 - number,
                thread=number,
                kind=EntryKind.REPLY,
                run=f"r{number}",
                ending="And now?" if number == asking else "Done.",
            )
        ]
        for number in range(1, threads + 1)
    }

    def entries_of(runs: Sequence[str]) -> Mapping[str, Sequence[LatestEntry]]:
        questions.append(len(runs))
        return {run: entries[run] for run in runs}

    return Behind(
        threads=[
            Thread(id=number, status=ThreadStatus.DONE, run=f"r{number}", turns=(f"r{number}",))
            for number in range(1, live + 1)
        ],
        others=lambda: [(f"r{number}", 900 - number) for number in range(1, threads + 1)],
        entries=entries_of,
        author="ada",
        bare=True,
    )


@pytest.mark.parametrize("asking", [1, 5, ASKED_AT_ONCE, ASKED_AT_ONCE + 1, 40])
@pytest.mark.parametrize("live", [0, 3, ASKED_AT_ONCE])
def test_what_asked_last_is_found_among_any_number_of_threads(asking: int, live: int) -> None:
    """Wherever it stands among those that are asked for together, and whichever are at work."""
    questions: list[int] = []
    found = further_back(LATEST, behind(asking, 40, live, questions))
    assert [one.thread for one in found] == [asking]
    looked_at = min(40, -(-asking // ASKED_AT_ONCE) * ASKED_AT_ONCE)
    assert sum(questions) <= max(looked_at, live) + ASKED_AT_ONCE


def test_runs_at_work_are_asked_for_once() -> None:
    """However many they are, one question is put for them, and none again where all are at work."""
    questions: list[int] = []
    assert further_back(LATEST, behind(0, ASKED_AT_ONCE, ASKED_AT_ONCE, questions)) == ()
    assert questions == [ASKED_AT_ONCE]
