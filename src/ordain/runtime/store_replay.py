"""A store held to its ledger: what the ledger has and does not stand is missing, and what stands
otherwise is named.

What the ledger knows of single entries and records (which were placed anew, up to when content was
swept) is handed to those who go through them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode
from ordain.journal.ledger import LedgerFold, LedgerRow, Placements
from ordain.journal.ledger_items import LedgerItem
from ordain.journal.records import SETTLED, RecordKind, Status, SuspendedBody, content_class
from ordain.ports.ledger import Ledger
from ordain.ports.sessions import Entry, EntryKind
from ordain.ports.store import StoredRun
from ordain.runtime.replay import Difference, Replayed

EQUAL, CORRUPT = "equal", JournalCorrupt.code


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerKnows:
    """What the ledger says that no transcript or journal does. ``swept``: up to when content of
    each class is gone, in microseconds since 1970.

    ``woken``: when runs wake whose time to wake was moved; None where it says nothing of that yet.
    """

    swept: Mapping[str, int]
    placed: Placements
    woken: Mapping[str, int] | None = None

    def swept_entry(self, entry: Entry) -> bool:
        """Whether retention may have taken the entry's content."""
        return entry.at < self.swept.get(
            "input" if entry.kind is EntryKind.MESSAGE else "result", 0
        )

    def lacks(self, stored: StoredRun) -> list[Difference]:
        """Contents of a run that are gone though nobody erased them, and no sweep reached them."""
        if stored.key is None:
            return []
        ended = stored.ended_at if stored.status in SETTLED else None
        return [
            Difference(
                place=f"{record.seq}/body",
                recorded="content",
                now="missing: nobody erased it, and no sweep reached it",
            )
            for record in stored.records
            if record.body is None
            and (
                ended is None or ended >= self.swept.get(content_class(record.kind, record.name), 0)
            )
        ]

    def wakes_otherwise(self, stored: StoredRun) -> list[Difference]:
        """A time to wake that neither the run's last record names nor the ledger; a run that does
        not wait has none, or that of its wait before.
        """
        if stored.wake_at is None:
            return []
        last = next(
            (record for record in reversed(stored.records) if record.kind is not RecordKind.NOTE),
            None,
        )
        if (
            last is None
            or last.kind is not RecordKind.SUSPENDED
            or stored.status not in (Status.WAITING, Status.READY)
        ):
            return [
                Difference(
                    place="wake_at", recorded="none: it does not wait", now=str(stored.wake_at)
                )
            ]
        body = None if last.body is None else decode(last)
        said = body.wake_at if isinstance(body, SuspendedBody) else None
        if self.woken is None or stored.wake_at in (said, self.woken.get(stored.id)):
            return []
        return [
            Difference(place=f"{last.seq}/wake_at", recorded=str(said), now=str(stored.wake_at))
        ]


@dataclass(slots=True, kw_only=True)
class Ledgered:
    """What holding a store to its ledger found. ``head`` is the number and the link of its last
    row; to be kept elsewhere.
    """

    verdict: str = EQUAL
    rows: int = 0
    head: str = ""
    differences: list[Difference] = field(default_factory=list[Difference])

    def differs(self, place: str, recorded: str, now: str) -> None:
        """One more thing that is not as it was."""
        self.verdict = CORRUPT
        self.differences.append(Difference(place=place, recorded=recorded, now=now))


async def held_to_ledger(ledger: Ledger, kept: str = "") -> tuple[Ledgered, LedgerKnows | None]:
    """Hold everything that stands to the ledger, and that to a head ``kept`` elsewhere ("": none);
    what is wrong is in the verdict.

    A ledger that is broken knows nothing (None): what comes behind the first row that is another
    nobody wrote so.

    Raises:
        StorageUnavailable: it cannot be read now.
    """
    report, standing, broken = Ledgered(), LedgerFold(), list[JournalCorrupt]()
    wanted = kept.partition("-")[0]

    def row(one: LedgerRow) -> None:
        if broken:
            return
        try:
            standing.take(one)
        except JournalCorrupt as error:
            broken.append(error)
            report.differs(f"ledger row {error.details['seq']}", "as it was written", error.message)
            return
        if kept and wanted == str(standing.no) and _head(standing) != kept:
            report.differs(f"ledger row {standing.no}", kept, _head(standing))

    def stands(item: LedgerItem) -> None:
        for found in standing.differing(item) if not broken else ():
            report.differs(found.place, found.recorded, found.now)

    await ledger.read(row, stands)
    for found in (*(standing.missing() if not broken else ()), *await ledger.contradictions()):
        report.differs(found.place, found.recorded, found.now)
    report.rows, report.head = standing.no, _head(standing)
    if kept and int(wanted) > standing.no and not broken:
        report.differs(f"ledger row {standing.no + 1}", kept, "missing, and all after it")
    return report, None if broken else LedgerKnows(
        swept=standing.swept, placed=standing.placed, woken=standing.woken
    )


def held_to_sweeps(report: Replayed, stored: StoredRun, ledger: LedgerKnows) -> Replayed:
    """A run's replay, with the contents that are missing and a time to wake that nobody set: either
    makes it ``journal_corrupt``.
    """
    if found := [*ledger.lacks(stored), *ledger.wakes_otherwise(stored)]:
        report.verdict = CORRUPT
        report.differences += found
    return report


def _head(standing: LedgerFold) -> str:
    return f"{standing.no}-{standing.chain.hex()}"
