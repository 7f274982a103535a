"""Mail under the ledger over SQLite: what a mailbox holds is on the ledger from the commit that put
it there to the one that takes it, or nobody sent it.

Whoever reads mail to act on it looks there first, at the latest rows that name its run. Beside mail
the same beginning covers what else of a run's row no record says: how often engines died with it,
and when it wakes where the clock was set back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.ledger import items_of, packed
from ordain.journal.ledger_items import COVERS, LedgerItem, deaths_item, mail_item, wake_item
from ordain.journal.ledger_things import Thing
from ordain.ports.store import Mail
from ordain.ports.writes import MailKind
from ordain.store.folder import snapshot

NOT_SENT = "mail_not_sent"
"""The code of mail that is not on the ledger as it stands."""
_MAIL = (
    "SELECT r.id, m.id, m.kind, m.addr, m.at, m.key, m.body, u.key, m.taken IS NULL FROM mailbox "
    "m JOIN runs r ON r.no = m.run"
    " LEFT JOIN subjects u ON u.no = r.subject"
)
_UNTAKEN = f"{_MAIL} WHERE r.id = ? AND m.taken IS NULL ORDER BY m.id"
_STOP = f"SELECT 1 FROM mailbox WHERE run = ? AND taken IS NULL AND kind = '{MailKind.INTERRUPT}'"  # noqa: S608 - a kind
_NAMING = "SELECT items FROM ledger WHERE instr(items, ?) ORDER BY no DESC"
_KINDS = {str(kind): kind for kind in MailKind}
_TYPES = (str, int, str, int, int, str, bytes)


def _item(row: tuple[Any, ...]) -> LedgerItem:
    run, number, kind, addr, at, key, body, subject_key, untaken = row
    item = mail_item(run, number, (kind, addr, at), (key, body), subject_key)
    return item if untaken else item.no_more


def told_to_stop(db: sqlite3.Connection, run: int) -> bool:
    """Whether the run of this number has a stop that it has not taken."""
    return db.execute(_STOP, (run,)).fetchone() is not None


def mail_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    """One piece of mail by its number, at the end of a batch that put or took it."""
    return [_item(row) for row in db.execute(f"{_MAIL} WHERE m.id = ?", name)]


def untaken_mail(db: sqlite3.Connection) -> Iterator[LedgerItem]:
    """All that no record has taken."""
    return map(_item, db.execute(f"{_MAIL} WHERE m.taken IS NULL ORDER BY m.id"))


def begin_covering(db: sqlite3.Connection) -> Iterator[LedgerItem]:
    """What a ledger says from now on and has not said before, as it stands: mail, deaths, times to
    wake. Within a transaction.
    """
    yield COVERS
    yield from untaken_mail(db)
    yield from (
        deaths_item(*row)
        for row in db.execute(
            "SELECT id, resumes, resumes_at FROM runs WHERE resumes <> 0 OR resumes_at <> -1 "
            "ORDER BY no"
        )
    )
    waiting = db.execute(
        "SELECT id, wake_at FROM runs WHERE status = 'waiting' AND typeof(wake_at) = 'integer' "
        "ORDER BY no"
    )
    yield from (wake_item(*row) for row in waiting)


def covers(db: sqlite3.Connection, item: LedgerItem) -> bool:
    """Whether the ledger says such things, from its row on that has this item: that of a folder
    which only builds before have served does not.
    """
    return (
        db.execute("SELECT 1 FROM ledger WHERE instr(items, ?) LIMIT 1", (packed(item),)).fetchone()
        is not None
    )


def covers_mail(db: sqlite3.Connection) -> bool:
    """Whether the ledger knows of mail."""
    return covers(db, COVERS)


class Mailboxes:
    """Reads runs' mail on one connection, and acts on none that nobody sent.

    ``put`` is what this process has put on the ledger itself, by number: of that no row of the
    ledger needs to be searched, of which one may hold thousands of items.
    """

    def __init__(self, db: sqlite3.Connection, put: Mapping[int, LedgerItem]) -> None:
        """Nothing is read yet."""
        self._db, self._put = db, put
        self._covered = False

    def of(self, run: str) -> tuple[list[Mail], JournalCorrupt | None]:
        """A run's untaken mail, in order, and what is wrong with the first piece of it that nobody
        sent, of which nothing is given.

        Where the ledger says nothing of mail yet, all that can be read was sent. Raises as SQLite
        does.
        """
        rows, items, searched = self._untaken(run)
        if not searched:
            return _sent(run, rows, items, items)
        with snapshot(self._db):  # mail and what the ledger says of it are of one commit
            rows, items, searched = self._untaken(run)
            if searched:
                self._covered = self._covered or covers_mail(self._db)
            known = (
                _known(self._db, run, set(map(str, searched))) if searched and self._covered else {}
            )
        said = [
            item
            if row[1] not in searched or not self._covered
            else known.get(str(row[1]), item.no_more)
            for row, item in zip(rows, items, strict=True)
        ]
        return _sent(run, rows, items, said)

    def _untaken(self, run: str) -> tuple[list[tuple[Any, ...]], list[LedgerItem], set[int]]:
        """A run's untaken mail, the item of each piece, and the numbers of what the ledger has to
        be searched for.
        """
        rows = self._db.execute(_UNTAKEN, (run,)).fetchall()
        items = [_item(row) for row in rows]
        searched = {
            row[1] for row, item in zip(rows, items, strict=True) if self._put.get(row[1]) != item
        }
        return rows, items, searched


def _sent(
    run: str,
    rows: Sequence[tuple[Any, ...]],
    items: Sequence[LedgerItem],
    ledger: Sequence[LedgerItem],
) -> tuple[list[Mail], JournalCorrupt | None]:
    """What of the rows was sent: each as it is, and as the ledger has it."""
    mail, refused = list[Mail](), None
    for row, item, said in zip(rows, items, ledger, strict=True):
        typed = tuple(map(type, row[: len(_TYPES)])) == _TYPES and row[2] in _KINDS
        if typed and said.value == item.value and (said.sealed == item.sealed or not item.sealed):
            mail.append(
                Mail(
                    id=row[1], kind=_KINDS[row[2]], key=row[5], addr=row[3], body=row[6], at=row[4]
                )
            )
        elif refused is None:
            why = (
                "the stored row is no mail"
                if not typed
                else "the ledger has it otherwise"
                if said.value
                else "the ledger knows of none such"
            )
            refused = JournalCorrupt(
                f"mail {row[1]} of run {run} was not sent: {why}",
                code=NOT_SENT,
                details={"mail": row[1]},
            )
    return mail, refused


def _known(db: sqlite3.Connection, run: str, wanted: set[str]) -> dict[str, LedgerItem]:
    """What the ledger said last of each piece; the latest rows first, and no further than to the
    last one that is wanted.
    """
    known = dict[str, LedgerItem]()
    for (laid,) in db.execute(_NAMING, (run.encode(errors="surrogatepass"),)):
        for item in reversed(items_of(laid) if isinstance(laid, bytes) else ()):
            if item.what == Thing.MAIL and item.name[0] == run and item.name[1] in wanted:
                known.setdefault(item.name[1], item)
        if len(known) == len(wanted):
            break
    return known
