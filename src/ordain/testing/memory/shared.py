"""The one state that several stores in memory are handles to, with what tests do to it: a clock,
lost acknowledgements, unruly announcements.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ordain.errors import EngineLost, OrdainError
from ordain.ports.store import Append, Change, ClaimUnit, Outcome, Unit
from ordain.ports.writes import RowTable
from ordain.testing.memory.ledger_items import write_row
from ordain.testing.memory.rows import MemoryRows
from ordain.testing.memory.transaction import UndoneUnit, UnitAtWork
from ordain.testing.memory.units import apply

LAPSE_US = 5_000_000
TURNS_LATE = 30
"""An unruly announcement comes up to so many turns of the event loop late."""


def wall_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def never(_: Unit) -> bool:
    """Every unit's acknowledgement arrives."""
    return False


class SharedMemory:
    """What is durable, for every handle to it. Belongs to one event loop.

    ``now`` is its clock, in microseconds since 1970; an engine that has not beaten for ``lapse_us``
    is none any more. ``loses`` says of a unit that was just committed whether its acknowledgement
    is lost: whoever submitted it is told that storage is not available.
    """

    def __init__(
        self,
        *,
        now: Callable[[], int] = wall_clock,
        lapse_us: int = LAPSE_US,
        tables: Sequence[RowTable] = (),
    ) -> None:
        """Empty. ``tables`` hold what an embedder's shared decisions keep."""
        self.rows = MemoryRows()
        self.now, self.lapse_us = now, lapse_us
        self.loses: Callable[[Unit], bool] = never
        self._unruly: random.Random | None = None
        self._tables = {table.name: table for table in tables}
        self._listeners: list[Callable[[Change], None]] = []

    # --- what tests do to it ----------------------------------------------------------------------

    def lose_next(self, which: Callable[[Unit], bool] = lambda _: True) -> None:
        """Lose the acknowledgement of the next unit of this sort, and of no other."""

        def loses(unit: Unit) -> bool:
            if which(unit):
                self.loses = never
                return True
            return False

        self.loses = loses

    def unruly(self, chance: random.Random) -> None:
        """Announcements come late from now on, in any order and more than once, to each listener
        otherwise; always within a few turns of the loop.
        """
        self._unruly = chance

    # --- commits ----------------------------------------------------------------------------------

    def commit(self, unit: Unit, engine: int) -> Outcome | OrdainError:
        """Apply a unit whole or not at all, by the handle of ``engine`` (0: one that never joined),
        and announce it.
        """
        if engine and isinstance(unit, Append | ClaimUnit) and not self.lives(engine):
            return EngineLost(f"the lease of engine {engine} has lapsed")
        transaction = UnitAtWork(self.rows, engine if self.lives(engine) else 0, self._tables)
        try:
            outcome = apply(transaction, unit)
        except UndoneUnit as refused:
            return Outcome(refused=refused.code)
        except OrdainError as error:
            return error
        except Exception as error:
            # the unit's own fault is told to whoever submitted it, as every store does
            return OrdainError(f"the unit cannot be applied: {type(error).__name__}: {error}")
        write_row(transaction.rows)
        transaction.rows.keep()
        if transaction.runs or transaction.sessions:
            self._announce(
                Change(runs=tuple(transaction.runs), sessions=tuple(transaction.sessions))
            )
        return outcome

    def listen(self, heard: Callable[[Change], None]) -> None:
        """Tell this one of every commit."""
        self._listeners.append(heard)

    def forget(self, heard: Callable[[Change], None]) -> None:
        """Tell it no more."""
        if heard in self._listeners:
            self._listeners.remove(heard)

    def _announce(self, change: Change) -> None:
        for heard in tuple(self._listeners):
            if self._unruly is None:
                heard(change)
                continue
            parts = [Change(runs=(run,)) for run in change.runs] + [
                Change(sessions=(session,)) for session in change.sessions
            ]
            for part in parts:
                for _ in range(self._unruly.choice((1, 1, 2, 3))):
                    _after(self._unruly.randrange(TURNS_LATE), heard, part)

    # --- engines ----------------------------------------------------------------------------------

    def lives(self, engine: int) -> bool:
        """Whether the engine's lease lasts. One that was seen to have lapsed never lasts again,
        whatever the clock says later.
        """
        row = self.rows.engines.get(engine)
        if row is None or row.gone:
            return False
        if self.now() - row.last_beat > self.lapse_us:
            self.leave(engine)
            return False
        return True

    def leave(self, engine: int) -> None:
        """The engine is none any more: what it holds is anybody's."""
        row = self.rows.engines.get(engine)
        if row is not None:
            self.rows.engines[engine] = replace(row, gone=True)


def _after(turns: int, heard: Callable[[Change], None], change: Change) -> None:
    """Tell it after so many turns of the event loop."""
    if turns <= 0:
        heard(change)
    else:
        asyncio.get_running_loop().call_soon(_after, turns - 1, heard, change)


def is_named(whole: str, part: str) -> bool:
    """Whether an id begins or ends with what was named; with nothing named, each does."""
    return whole.startswith(part) or whole.endswith(part)
