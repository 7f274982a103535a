"""What ``ordain replay --all`` tells of a database some page of which is damaged: every run that
can be read, the names of those that cannot, and what to do where that is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ordain.cli.archive import Archive
from ordain.errors import StorageUnavailable
from ordain.runtime.replay import Difference
from ordain.runtime.store_replay import Ledgered, LedgerKnows
from ordain.store.damage import DAMAGED, check_damage
from ordain.store.folder import FILE
from ordain.store.listing import list_readable


class NamedWork(Struct, frozen=True, kw_only=True):
    """The runs, and the sessions by workspace and id, to go through; ``lacks`` names the lists of
    which a part cannot be read.
    """

    runs: Sequence[str]
    sessions: Sequence[tuple[str, str]] = ()
    lacks: tuple[str, ...] = ()


async def every_name(archive: Archive) -> NamedWork:
    """All there are, or all that can be read of them.

    Raises:
        StorageUnavailable: not one can.
    """
    try:
        runs = await archive.runs()
        return NamedWork(runs=runs, sessions=await archive.runtime.search.every_session())
    except StorageUnavailable as error:
        check_damage(error)
        with archive.as_of_one_commit():
            found = list_readable(archive.store.reading)
        if not found.runs and not found.sessions:
            raise
        return NamedWork(runs=found.runs, sessions=found.sessions, lacks=found.lacks)


async def ledger_of(archive: Archive, head: str = "") -> tuple[Ledgered, LedgerKnows | None]:
    """As ``Archive.held_to_ledger``; of what cannot be read for damage the verdict says so, and
    nothing else is known.
    """
    try:
        return await archive.held_to_ledger(head)
    except StorageUnavailable as error:
        why = str(check_damage(error).__cause__ or error)
        unread = Difference(
            place="storage",
            recorded="a ledger, and all that it covers",
            now=f"not to be read whole ({why}): what is gone from a run passes for swept",
        )
        return Ledgered(verdict=DAMAGED, differences=[unread]), None


def nothing_read(home: Path, error: StorageUnavailable) -> StorageUnavailable:
    """What to do where no list can be had: any other command would end in ``error``, too."""
    return StorageUnavailable(
        f"{home / FILE} is damaged ({error.__cause__ or error.message}) where it says which runs "
        "there are: none of them can be told. Stop what uses it, keep the folder as it is, and put "
        "a backup into another (`ordain restore FILE --data-dir FOLDER`); without one, what "
        "`sqlite3`'s `.recover` makes of a copy of the file is all there is, and `ordain restore` "
        "says whether it can be taken",
        code=DAMAGED,
    )
