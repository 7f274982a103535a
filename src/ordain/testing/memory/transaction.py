"""One unit at work: what it sees and changes, and who is to hear of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ordain.errors import ConfigurationError, JournalCorrupt, RunLost
from ordain.journal.records import Record
from ordain.journal.transitions import Transition
from ordain.ports.store import opened_run
from ordain.ports.writes import NewRun, RowTable
from ordain.testing.memory.rows import KeptRun, MemoryRows


class UndoneUnit(Exception):
    """A condition of the unit does not hold: nothing of it is kept, and its outcome says so by
    ``code``.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class UnitAtWork:
    """What a unit of ``engine`` (0: of nobody that holds runs) does, over rows that stand still
    meanwhile.
    """

    def __init__(self, below: MemoryRows, engine: int, tables: Mapping[str, RowTable]) -> None:
        """Nothing is changed yet."""
        self.rows, self.engine, self._tables = MemoryRows(below), engine, tables
        self.runs: dict[str, None] = {}
        """Runs that were opened, have mail, begin or have ended."""
        self.sessions: dict[tuple[str, str], None] = {}
        self.entered = 0
        """The number of the first entry that was written."""

    def row(self, run: str) -> KeptRun:
        """A run that there is.

        Raises:
            JournalCorrupt: there is none.
        """
        found = self.rows.runs.get(run)
        if found is None:
            raise JournalCorrupt(f"run {run} does not exist")
        return found

    def change(self, run: str, **columns: Any) -> None:
        """Put a run's columns."""
        row = self.row(run)
        self.rows.runs[run] = replace(row, run=replace(row.run, **columns))

    def befalls(self, run: str, move: Transition) -> None:
        """The move befalls a run, where that stands so that it may."""
        (target,) = move.targets
        if self.row(run).run.status in move.sources:
            self.change(run, status=target)

    def append(self, run: str, records: tuple[Record, ...]) -> None:
        """Put records behind a run's own."""
        self.change(run, records=(*self.row(run).run.records, *records))

    def table(self, name: str) -> RowTable:
        """A table of rows by key.

        Raises:
            ConfigurationError: there is none of that name.
        """
        table = self._tables.get(name)
        if table is None:
            raise ConfigurationError(f"the store has no table {name}", code="invalid_table")
        return table

    def open(self, new: NewRun, parent: str | None) -> None:
        """Open a run, once. What an engine opens it holds, in its first epoch; ``parent`` is the
        run that it is a child of.

        Raises:
            RunLost: there is another run of that id.
        """
        there = self.rows.runs.get(new.id)
        if there is not None:
            if there.run.records[0].chain != new.record.chain:
                raise RunLost(f"run {new.id} has moved on without this engine")
            return
        begun = new.started
        key = self.rows.subjects.setdefault((begun.workspace, begun.subject), new.key)
        if new.root is not None:
            self.row(new.root)
        nested = 0 if parent is None else self.row(parent).run.nested + 1
        run = opened_run(new, parent=parent, nested=nested, key=key, engine=self.engine)
        self.rows.runs[new.id] = KeptRun(run=run, no=self.rows.number("runs"))
        self.runs[new.id] = None
