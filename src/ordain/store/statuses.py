"""How a status changes in SQL, made of the one table of transitions: the condition under which a
row may take each, and the moves that befall a run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ordain.journal.records import Status
from ordain.journal.transitions import HAS_MAIL, NEXT_IN_THREAD, SOURCES, Transition


def standing(statuses: Collection[Status]) -> str:
    """The condition that a row has one of these. No list: for one of three, SQLite fills a table
    each time it writes a run.
    """
    return "(" + (" OR ".join(f"status = '{status}'" for status in sorted(statuses)) or "0") + ")"


def moving(move: Transition) -> str:
    """The statement that moves the run of a row's number, where it stands so that it may."""
    (target,) = move.targets
    return f"UPDATE runs SET status = '{target}' WHERE no = ? AND {standing(move.sources)}"  # noqa: S608 - statuses of the table


FROM: Mapping[Status, str] = {target: standing(sources) for target, sources in SOURCES.items()}
"""The condition under which a row's status may become each."""
MADE_READY, MADE_NEXT = moving(HAS_MAIL), moving(NEXT_IN_THREAD)
"""A run has mail; a turn is the next of its thread."""
