"""When runs are to be woken: one time for each, forgotten as soon as it does not hold any more."""

from __future__ import annotations

import heapq

SPARE = 64


class Timers:
    """Times in microseconds. What was forgotten leaves the heap when it is due, or when it is more
    than half of it.
    """

    def __init__(self) -> None:
        """None yet."""
        self._heap: list[tuple[int, str]] = []
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        """How many entries are held, forgotten ones as well."""
        return len(self._heap)

    def put(self, at: int, run: str) -> None:
        """Wake the run at this time, and at no other."""
        if self._at.get(run) != at:
            self._at[run] = at
            heapq.heappush(self._heap, (at, run))
            self._tidy()

    def forget(self, run: str) -> None:
        """The run is not to be woken."""
        if self._at.pop(run, None) is not None:
            self._tidy()

    def sooner(self, by: int) -> None:
        """All times come so many microseconds earlier."""
        self._at = {run: at - by for run, at in self._at.items()}
        self._heap = [(at, run) for run, at in self._at.items()]
        heapq.heapify(self._heap)

    def first(self) -> int | None:
        """The earliest time."""
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> list[str]:
        """The runs whose time has come, which are forgotten with that."""
        found = list[str]()
        while (first := self.first()) is not None and first <= now:
            run = heapq.heappop(self._heap)[1]
            del self._at[run]
            found.append(run)
        return found

    def _tidy(self) -> None:
        if len(self._heap) > 2 * len(self._at) + SPARE:
            self._heap = [(at, run) for run, at in self._at.items()]
            heapq.heapify(self._heap)
