"""Go through a session's transcript again and find everything that is not as it was recorded.

An entry's number follows the one before, its digest is the keyed digest of its body, its link that
of everything before it, author, decision and run among it; and what rule ``attach`` decided about
each message comes out again from the recorded facts, under the policy of the catalog that it names.
What the transcript cannot know itself the ledger does: which messages were placed anew, and what
was swept. While a session is being erased its links are not compared: they are made anew, under an
id that names nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from ordain.errors import JournalCorrupt, JournalError
from ordain.journal.digests import (
    DIGEST_BYTES,
    GENESIS,
    MARKS_BYTES,
    digest,
    entry_link,
    entry_marks,
)
from ordain.ports.sessions import Entry, EntryKind, SessionRow, Sessions
from ordain.rules.attach import ATTACH, UNPLACED, Attached
from ordain.rules.attachment import AttachFacts
from ordain.runtime.asking_run import Pinned
from ordain.runtime.entries import message_id
from ordain.runtime.replay import Difference, short
from ordain.runtime.store_replay import LedgerKnows

PAGE = 500
EQUAL, ERASED, DIFFERS, CORRUPT, NOT_THERE = (
    "equal",
    "erased",
    "differs",
    "journal_corrupt",
    "not_there",
)
DIFFERENCES_MAX = 20
"""More than these say nothing new: where a chain is broken, every entry after it is."""


@dataclass(slots=True, kw_only=True)
class Retold:
    """What going through one session found. ``verdict`` is equal, erased (the chain holds, content
    is gone), differs or journal_corrupt.
    """

    workspace: str
    session: str
    verdict: str = EQUAL
    entries: int = 0
    decisions: int = 0
    erased: int = 0
    differences: list[Difference] = field(default_factory=list[Difference])

    @property
    def verifies(self) -> bool:
        """Whether nothing is other than it was recorded; erased content is as it should be."""
        return self.verdict in (EQUAL, ERASED)


class Told(Struct, frozen=True, kw_only=True):
    """The decision about a message as its entry keeps it; ``wording`` is what its cues were read
    with, "" where no catalog named one yet.
    """

    facts: AttachFacts
    outcome: msgspec.Raw
    reason: str
    catalog: str
    wording: str = ""


async def retell(
    sessions: Sessions,
    workspace: str,
    session: str,
    pinned: Pinned,
    ledger: LedgerKnows | None = None,
) -> Retold:
    """Go through one session; whatever is wrong with it is in the verdict. Without ``ledger`` what
    is gone passes for swept.
    """
    report = Retold(workspace=workspace, session=session)
    try:
        row = await sessions.session(workspace, session)
        if row is None:
            report.verdict = NOT_THERE
            return report
        await _go_through(report, sessions, row, (pinned, ledger))
    except JournalCorrupt as error:
        _differs(report, f"{error.details.get('seq', '')}/entry", "", error.message, CORRUPT)
    except (
        TypeError,
        ValueError,
        LookupError,
        ArithmeticError,
    ) as error:  # what a damaged row may make of our own code: it is in the verdict
        _differs(report, "session", "", f"{type(error).__name__}: {error}"[:300], CORRUPT)
    return report


async def _go_through(
    report: Retold, sessions: Sessions, row: SessionRow, world: tuple[Pinned, LedgerKnows | None]
) -> None:
    (pinned, ledger), seq, link = world, 0, GENESIS
    while page := await sessions.entries(row.workspace, row.id, after=seq, limit=PAGE):
        for entry in page:
            link = _linked(report, row, entry, (seq, link)) if not row.erasing else entry.chain
            _marked(report, row, entry)
            if ledger is not None:
                _ledgered(report, row, entry, ledger)
            if entry.body is not None and entry.kind is EntryKind.MESSAGE:
                await _decided_again(report, entry, pinned)
            seq = entry.seq
            report.entries += 1
            report.erased += entry.body is None
    if seq != row.head:
        _differs(report, "head", str(row.head), str(seq), CORRUPT)
    if report.verdict == EQUAL and report.erased:
        report.verdict = ERASED


def _linked(report: Retold, row: SessionRow, entry: Entry, before: tuple[int, bytes]) -> bytes:
    """Number, digest and link of one entry. An erased entry's digest stays, and nobody can hold a
    body against it.
    """
    seq, previous = before
    if entry.seq != seq + 1:
        _differs(report, f"{entry.seq}/seq", str(seq + 1), str(entry.seq), CORRUPT)
    if entry.body is not None and digest(row.key or b"", entry.body) != entry.digest:
        _differs(report, f"{entry.seq}/digest", entry.digest.hex(), "another", CORRUPT)
    heading = (str(entry.kind), entry.message_id, entry.at)
    link = entry_link(
        previous,
        f"{row.workspace}/{row.id}",
        entry.seq,
        heading,
        (entry.digest, entry.marks, entry.cover),
    )
    if link != entry.chain:
        _differs(report, f"{entry.seq}/chain", entry.chain.hex(), link.hex(), CORRUPT)
    if (
        entry.kind is EntryKind.REPLY
        and entry.message_id.endswith(":reply")
        and entry.message_id != message_id(entry.run, "reply")
    ):
        # the chain covers the id, which names the run
        _differs(report, f"{entry.seq}/run", entry.message_id, entry.run, CORRUPT)
    return entry.chain


def _marked(report: Retold, row: SessionRow, entry: Entry) -> None:
    """Author and decision, of which the link covers keyed digests. What was placed anew has another
    decision, which the ledger knows.
    """
    if entry.marks is None or not entry.keyed:
        return
    author, decision = (
        entry.marks[:DIGEST_BYTES],
        entry.marks[DIGEST_BYTES:MARKS_BYTES],
    )
    again = entry_marks(row.key or b"", entry.author, entry.decision)
    if author != again[:DIGEST_BYTES]:
        _differs(report, f"{entry.seq}/author", author.hex(), "another", CORRUPT)
    if (
        decision != again[DIGEST_BYTES:]
        and entry.body is not None
        and len(entry.marks) == MARKS_BYTES
    ):
        _differs(report, f"{entry.seq}/decision", decision.hex(), "another", CORRUPT)


def _ledgered(report: Retold, row: SessionRow, entry: Entry, ledger: LedgerKnows) -> None:
    """What somebody placed anew is as it was placed, and what is gone was swept: else it is
    missing.
    """
    placed = ledger.placed.get((row.workspace, row.id), {}).get(entry.seq)
    if placed is None and entry.marks is not None and len(entry.marks) > MARKS_BYTES:
        _differs(report, f"{entry.seq}/placed", "nothing on the ledger", "placed anew", CORRUPT)
    if placed is not None:
        if placed[0] != entry.cover:
            _differs(report, f"{entry.seq}/placed", placed[0].hex(), entry.cover.hex(), CORRUPT)
        if (
            entry.keyed
            and entry.decision is not None
            and placed[1] != digest(row.key or b"", entry.decision)
        ):
            _differs(report, f"{entry.seq}/decision", placed[1].hex(), "another", CORRUPT)
    if entry.body is None and entry.keyed and not ledger.swept_entry(entry):
        _differs(
            report,
            f"{entry.seq}/body",
            "content",
            "missing: nobody erased it, and no sweep reached it",
            CORRUPT,
        )


async def _decided_again(report: Retold, entry: Entry, pinned: Pinned) -> None:
    """What the rule makes of the recorded facts now, and what the entry's own columns say of it."""
    place = f"{entry.seq}/attach"
    if entry.decision is None:
        _differs(report, place, "a decision", "none", CORRUPT)
        return
    try:
        told = msgspec.json.decode(entry.decision, type=Told)
        recorded: Any = msgspec.json.decode(told.outcome, type=ATTACH.outcome)
        catalog = await pinned(told.catalog)
        again = ATTACH.apply(told.facts, None, catalog.policy)
    except (msgspec.MsgspecError, JournalError, LookupError, ValueError, TypeError) as error:
        _differs(report, place, "", f"{type(error).__name__}: {error}"[:300], CORRUPT)
        return
    report.decisions += 1
    if told.wording not in ("", catalog.wording_id):
        _differs(report, f"{entry.seq}/wording", told.wording, catalog.wording_id, CORRUPT)
    if (recorded, told.reason) != (again.outcome, str(again.reason)):
        _differs(
            report,
            place,
            short(told.reason, recorded),
            short(str(again.reason), again.outcome),
            DIFFERS,
        )
    kept, said = (entry.attached, entry.reason), (str(recorded.__struct_config__.tag), told.reason)
    if kept != said or said[0] not in {*Attached, UNPLACED}:
        _differs(report, f"{entry.seq}/attached", " ".join(kept), " ".join(said), CORRUPT)


def _differs(report: Retold, place: str, recorded: str, now: str, verdict: str) -> None:
    report.verdict = CORRUPT if CORRUPT in (report.verdict, verdict) else verdict
    if len(report.differences) < DIFFERENCES_MAX:
        report.differences.append(Difference(place=place, recorded=recorded, now=now))
