"""What was held of what a sender said, and goes on by a word: last said, first meant (B-07)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from ordain.journal.records import STOPPED, Status
from ordain.ports.further_back import REQUESTS
from ordain.ports.sessions import EntryKind
from ordain.ports.shared import LatestEntry, SessionState

_MAY_GO_ON: Final = frozenset(map(str, set(Status) - STOPPED)) - {Status.FAILED, Status.TIMED_OUT}
"""Where a run stands that was held: it has been, is just ending, or had ended by itself, which the
turn that goes on finds out. What failed is no work to go on with.
"""


def held_request(
    state: SessionState, user: str, *, after: int = 0, thread: int = 0
) -> LatestEntry | None:
    """The sender's own request that was held last, behind entry ``after``, where nothing has begun
    in its thread since; None where there is none.

    Its ``run`` is the one that was held: of a request that had been held before and gone on, the
    run that went on with it. ``unbegun``: it had no run, for a stop came while it was being placed.
    ``thread``: of this one alone, 0: of any.
    """
    return _Backwards(state, user, after, thread).found(unbegun=not thread)


def unbegun_request(state: SessionState, user: str) -> LatestEntry | None:
    """The youngest of those that had not begun."""
    return _Backwards(state, user, 0, 0).found(begun=False)


def held_thread(state: SessionState, user: str, *, after: int = 0) -> int:
    """The thread of the request that was held last while a run served it; 0: none was."""
    held = _Backwards(state, user, after, 0).found(unbegun=False)
    return 0 if held is None else held.thread


class _Backwards:
    """The latest entries, gone through from the newest one to where the request stands that was
    held.
    """

    __slots__ = (
        "_after",
        "_anew",
        "_begun",
        "_halt",
        "_held",
        "_spoken",
        "_superseded",
        "_user",
        "_went_on",
        "_within",
    )

    def __init__(self, state: SessionState, user: str, after: int, thread: int) -> None:
        self._within = {one.id: set(one.turns) for one in state.threads if thread in (0, one.id)}
        self._spoken: Sequence[LatestEntry] = state.spoken
        self._user, self._after = user, after
        self._held, self._begun, self._went_on = (
            dict[int, set[str]](),
            set[int](),
            dict[int, LatestEntry](),
        )
        self._halt = 0
        """The youngest order that halted whatever the sender had said before it."""
        self._superseded = False
        """The sender has begun something else since: nobody goes on with what is further back and
        had not begun.
        """
        self._anew: list[LatestEntry | None] = []
        """What went on in a thread of its own, the newest first: each with one that had not begun,
        the last one with the first that is found; None: that is over.
        """

    def found(self, *, unbegun: bool = True, begun: bool = True) -> LatestEntry | None:
        """The request, of those that had not begun when they were held and of those that had."""
        for one in self._spoken:
            if one.kind is not EntryKind.MESSAGE:
                continue
            if one.author == self._user and one.halts:
                self._halt = self._halt or one.seq
            held = self._halted(one) if one.unbegun and one.author == self._user else None
            if one.attached in REQUESTS:
                held = self._request(one)
            if held is not None and (unbegun if held.unbegun else begun):
                return held
        return None

    def _halted(self, one: LatestEntry) -> LatestEntry | None:
        """What was being placed when the sender said stop: it is meant, or what went on with it,
        where that was held again.
        """
        if self._anew:
            went_on = self._anew.pop()
            return (
                None
                if went_on is None or one.body is None
                else msgspec.structs.replace(
                    one, run=went_on.run, thread=went_on.thread, unbegun=False
                )
            )
        meant = self._halt > self._after and not self._superseded and one.body is not None
        return one if meant else None

    def _request(self, one: LatestEntry) -> LatestEntry | None:
        own = one.author == self._user
        if own and not one.stops and not one.resumes and not self._halt:
            self._superseded = True
        known = one.thread in self._within and one.thread not in self._begun
        if known and one.stops and (one.seq > self._after or one.thread in self._went_on):
            self._held.setdefault(one.thread, set()).add(one.run)
            return None
        youngest = self._went_on.get(one.thread, one)
        held = (
            known
            and own
            and one.body is not None
            and one.thread in self._held
            and self._may_go_on(one.thread, youngest)
        )
        if one.anew:
            self._anew.append(youngest if held else None)
        if held and not one.resumes:
            return msgspec.structs.replace(one, run=youngest.run)
        if held:
            self._went_on.setdefault(one.thread, one)
        elif known:
            self._begun.add(one.thread)
        return None

    def _may_go_on(self, thread: int, youngest: LatestEntry) -> bool:
        return youngest.status in _MAY_GO_ON and self._within[thread] <= {
            *self._held[thread],
            youngest.run,
        }
