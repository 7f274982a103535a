"""Erasing a session: a session is one subject, so it goes by way of any of its turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from ordain.contracts.planner import Strict
from ordain.errors import Conflict
from ordain.runtime.conversation import SessionRow, Thread
from ordain.server.face import Face

LOOKED_AT = 500


class Erased(Strict):
    """What came of it."""

    session_id: str
    outcome: str = Field(description="erased, or already_erased.")
    records: int = Field(default=0, description="How many records were emptied.")


async def erase_session(face: Face, row: SessionRow, threads: Sequence[Thread], why: str) -> Erased:
    """Destroy a session's content.

    Raises:
        Conflict: a turn is still open (``not_at_rest``), or there has been none by which the content could be found (``no_turns``).
    """
    if row.key is None:
        return Erased(session_id=row.id, outcome="already_erased")
    if row.open:
        raise Conflict(f"session {row.id} has open turns: cancel or answer them first", code="not_at_rest")
    for run in dict.fromkeys(_turns(face, row, threads)):
        stored = face.runtime.services.store.load(run)
        if stored is not None and stored.key is not None:
            records = await face.runtime.erase(run, by=face.principal, why=why)
            return Erased(session_id=row.id, outcome="erased", records=records)
    raise Conflict(f"session {row.id} has had no turn yet, and its content is erased with its turns", code="no_turns")


def _turns(face: Face, row: SessionRow, threads: Sequence[Thread]) -> Iterator[str]:
    yield from (thread.run for thread in threads if thread.run)
    entries = face.runtime.conversation.transcript(row.workspace, row.id, after=-1, limit=LOOKED_AT)
    yield from (entry.run for entry in entries if entry.run)
