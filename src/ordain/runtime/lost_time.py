"""Time in which this process could not work: it was down, stopped or asleep, the clock was set
forward, or the storage took nothing (B-23).

Whoever looks often sees it by one clock: far more time passes between two looks than lies between
them. Which of the causes it was makes no difference to a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ordain.journal.lost_time import Pause

TICK_US = 500_000
"""Somebody looks so often while an engine is at work."""
SLACK_US = 2_000_000
"""A look may be late by so much: less than that is a busy machine."""


class LostTime:
    """The pauses of a data folder's engines. Nothing is lost while nobody watches: ``begin`` is an
    engine's.
    """

    def __init__(self) -> None:
        """No pauses are known."""
        self._spans: list[tuple[int, int]] = []
        self.last_at = 0
        """When the last pause was over; 0 where there was none."""
        self._clock: Callable[[], int] | None = None
        self._seen = 0
        self.found = 0
        """How many pauses this process has found."""
        self.unsaved: list[tuple[int, int]] = []
        """Found, and not yet written to the store."""
        self.cut_at: int | None = None
        """Where the clock was set back to, until that is written."""
        self.back_us = 0
        """By how much the clock was set back in all, in microseconds; ``unsaved_back_us``: what of
        that is to be written.
        """
        self.unsaved_back_us = 0
        self.refusals: list[int] = []
        """When each of those was refused first who have something to write now and cannot."""

    def begin(
        self, clock: Callable[[], int], last_beat: int | None, known: Iterable[Pause]
    ) -> None:
        """An engine begins to work; ``last_beat`` is when one did before, None where that is
        unknown.
        """
        self._clock, self._seen = clock, clock()
        self._keep([(began, ended) for began, ended in known])
        if last_beat is not None and last_beat > self._seen:
            self._set_back(self._seen, last_beat - self._seen)
        elif last_beat is not None and last_beat < self._seen:
            self._found(last_beat, self._seen)

    def look_anew(self) -> None:
        """What has passed since the last look was not lost: for whoever moves a clock by hand."""
        if self._clock is not None:
            self._seen = self._clock()

    def look(self, now: int | None = None) -> bool:
        """Whether something was lost since the last look; ``now`` of whoever has just asked the
        clock.
        """
        if self._clock is None:
            return False
        seen = self._seen
        self._seen = now = self._clock() if now is None else now
        if now - seen > TICK_US + SLACK_US:
            self._found(seen + TICK_US, now)
            return True
        if seen - now > SLACK_US:
            self._set_back(now, seen - now)
        return False

    def refused(self, began: int, ended: int) -> None:
        """Between these moments somebody could not go on, for the storage took nothing. Many say so
        of the same time.
        """
        if self._clock is None:
            return
        if self._spans and self._spans[-1][0] <= began:
            began = max(began, self._spans[-1][1])
        if began < ended:
            self._add(began, ended)

    def since(self, moment: int) -> Sequence[Pause]:
        """The pauses that ended after it."""
        spans = self._spans
        if not spans or spans[-1][1] <= moment:
            return ()
        return [Pause(began, ended) for began, ended in spans if ended > moment]

    @property
    def last_us(self) -> int:
        """How long the last pause was."""
        return self._spans[-1][1] - self._spans[-1][0] if self._spans else 0

    def _found(self, began: int, ended: int) -> None:
        self.found += 1
        self._add(began, ended)

    def _add(self, began: int, ended: int) -> None:
        self.unsaved.append((began, ended))
        self._keep([*self._spans, (began, ended)])

    def _keep(self, spans: list[tuple[int, int]]) -> None:
        self._spans, self.last_at = spans, spans[-1][1] if spans else 0

    def _set_back(self, now: int, by: int) -> None:
        """What is said of moments to come would be taken for lost when they come again."""
        self._keep([(began, min(ended, now)) for began, ended in self._spans if began < now])
        self.unsaved = [(began, min(ended, now)) for began, ended in self.unsaved if began < now]
        self.cut_at = now
        self.back_us += by
        self.unsaved_back_us += by
