"""What is behind the latest entries of a session, as far as a bare answer may be about it: found by
runs, so that no number of entries bounds it.

What a run said, asked and was told stands under its id, and a thread knows its latest run. Threads
at work are all looked at; of the others, the most recently touched first, no more than until one is
found whose reply asks, for that was asked last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Final

from msgspec import Struct

from ordain.ports.sessions import EntryKind, Thread
from ordain.ports.shared import LatestEntry
from ordain.rules.attach import Attached
from ordain.wording.asking import ends_asking

REQUESTS: Final = frozenset({Attached.NEW_REQUEST, Attached.OVERRIDE})
TAKEN: Final = REQUESTS | {Attached.ANSWER}
"""Of these classes a message takes up what was asked in its thread."""
OURS: Final = frozenset({EntryKind.REPLY, EntryKind.SAID})

EntriesOf = Callable[[Sequence[str]], Mapping[str, Iterable[LatestEntry]]]
"""The entries under these runs' ids that are behind the latest ones, by run, the newest first; a
run without any may be left out.
"""
ASKED_AT_ONCE: Final = 16
"""So many runs of a session's threads are asked for at once."""


class Behind(Struct, frozen=True, kw_only=True):
    """Where to look: ``threads`` are those that are known, with who is asked, ``others`` all of the
    session, the most recently touched first, as (run, when).

    ``bare``: the message of ``author`` may be an answer to anything, else to an open question
    alone.
    """

    threads: Sequence[Thread]
    others: Callable[[], Iterable[tuple[str, int]]]
    entries: EntriesOf
    author: str
    bare: bool


def further_back(latest: Sequence[LatestEntry], behind: Behind) -> tuple[LatestEntry, ...]:
    """What else a decision looks at, the newest first: of threads at work, and of the one whose
    reply asked last, where nothing younger is asked.
    """
    if not latest or latest[-1].seq <= 1:
        return ()
    live = [
        run
        for thread in behind.threads
        if thread.turns
        for run in dict.fromkeys((*thread.turns, thread.run))
    ]
    known = _by_run(behind, live)
    found = {one.seq: one for of_run in known.values() for one in of_run}
    asking = frozenset(thread.id for thread in behind.threads if thread.asked is not None)
    mine = [
        one.asked.seq
        for one in behind.threads
        if one.asked is not None and one.asked.of in ("", behind.author)
    ]
    since = max(mine, default=0)
    if since < latest[-1].seq and (behind.bare or mine) and _asks(latest, asking) is None:
        found |= {one.seq: one for one in _asked_last(behind, asking, found.get(since), known)}
    return tuple(found[seq] for seq in sorted(found, reverse=True))


def _by_run(behind: Behind, runs: Sequence[str]) -> dict[str, list[LatestEntry]]:
    """Of each of these runs what a bare answer may be about."""
    entries: Mapping[str, Iterable[LatestEntry]] = behind.entries(runs) if runs else {}
    return {run: _of_run(entries.get(run, ())) for run in runs}


def _of_run(entries: Iterable[LatestEntry]) -> list[LatestEntry]:
    """What of a run's entries a bare answer may be about, up to the request that it serves."""
    found: list[LatestEntry] = []
    for one in entries:
        if one.kind not in OURS or ends_asking(one.ending):
            found.append(one)
        if one.kind is EntryKind.MESSAGE and one.attached in REQUESTS:
            break
    return found


def _asked_last(
    behind: Behind,
    asking: Set[int],
    question: LatestEntry | None,
    known: dict[str, list[LatestEntry]],
) -> list[LatestEntry]:
    """The entries of the run whose reply asked last, behind the open question that the sender could
    answer. ``known`` are runs that were looked at.
    """
    found: list[LatestEntry] = []
    seq, at = (0, 0) if question is None else (question.seq, question.at)
    others = iter(behind.others())
    while some := list(islice(others, ASKED_AT_ONCE)):
        wanted = dict.fromkeys(run for run, touched_at in some if touched_at >= at)
        known |= _by_run(behind, [run for run in wanted if run not in known])
        for run, touched_at in some:
            if touched_at < at:
                return found  # nothing of it is younger than what was found
            of_run = known[run]
            asks = _asks(of_run, asking)
            if asks is not None and asks.seq > seq:
                found, seq, at = of_run, asks.seq, asks.at
    return found


def _asks(entries: Sequence[LatestEntry], aside: Set[int]) -> LatestEntry | None:
    """The youngest of ours that asks and was not taken up, in a thread without a question of its
    own.
    """
    taken: set[int] = set()
    for one in entries:
        if one.kind is EntryKind.MESSAGE and one.attached in TAKEN:
            taken.add(one.thread)
        if one.kind in OURS and one.thread not in taken | aside and ends_asking(one.ending):
            return one
    return None
