"""Runs that wait with their flow kept: one that is woken goes on where it stood, and its journal
need not be read and its flow not run again.

Nothing rests on it. The run was committed as ``waiting`` before; whoever is put out gives its flow
up and is driven from its journal, as after a start.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ordain.ports.store import StoredRun
from ordain.runtime.drive import Drive
from ordain.runtime.live import LiveRun

PARKED_MAX = 256
"""How many runs are kept at once; then the one that has waited longest is put out."""
PARKED_BYTES = 256 * 1024
"""What the records of one that is kept hold at most: what is kept is bounded in all, and reading
such a run again costs little beside what it is at.
"""


@dataclass(slots=True, eq=False)
class Driving:
    """A run at work; ``drive`` exists once it is held."""

    drive: Drive | None = None
    task: asyncio.Task[None] = field(init=False)
    parked: asyncio.Future[bool] | None = None

    @property
    def live(self) -> LiveRun | None:
        """What can be told that mail has come, or that the engine stops."""
        return None if self.drive is None else self.drive.live


class Parking:
    """Keeps runs by their id, in the order in which they began to wait."""

    def __init__(self, places: int = PARKED_MAX) -> None:
        """``places`` is how many it keeps; 0: none."""
        self.places = places
        self._parked: dict[str, Driving] = {}

    def has_room(self, driving: Driving) -> bool:
        """Whether it may be kept: there are places, and it does not hold too much for one."""
        records = () if driving.live is None else driving.live.records
        return (
            self.places > 0
            and sum([len(record.body) for record in records if record.body is not None])
            <= PARKED_BYTES
        )

    def keeps(self, run: str) -> bool:
        """Whether it is kept."""
        return run in self._parked

    def put(self, run: str, driving: Driving) -> asyncio.Future[bool]:
        """Keep it; comes to True when it is woken, and to False where it is put out."""
        if len(self._parked) >= self.places:
            self.put_out(next(iter(self._parked)))
        self._parked[run] = driving
        driving.parked = asyncio.get_running_loop().create_future()
        return driving.parked

    def take(self, run: str) -> Driving | None:
        """Wake it, where it is kept."""
        driving = self._parked.pop(run, None)
        if driving is not None and driving.parked is not None:
            _come_to(driving.parked, True)
            driving.parked = None
        return driving

    def put_out(self, run: str) -> None:
        """It gives its flow up, where it is kept."""
        driving = self._parked.pop(run, None)
        if driving is not None and driving.parked is not None:
            _come_to(driving.parked, False)

    def put_out_above(self, stored: StoredRun) -> None:
        """A run waits for a person, who may take days: nobody who waits for the run is kept."""
        above = stored.parent
        while above is not None and (driving := self._parked.get(above)) is not None:
            self.put_out(above)
            above = driving.live.stored.parent if driving.live is not None else None

    def clear(self) -> list[asyncio.Task[None]]:
        """Put all out; the tasks that end by that."""
        put_out = [driving.task for driving in self._parked.values()]
        for run in list(self._parked):
            self.put_out(run)
        return put_out


def _come_to(parked: asyncio.Future[bool], woken: bool) -> None:
    """It may have been cancelled meanwhile, where the whole loop ends."""
    if not parked.done():
        parked.set_result(woken)
