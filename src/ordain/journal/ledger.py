"""The ledger of a store: one chain over all runs and sessions, of ids and hashes alone, which
outlives what it names.

A row is what one batch of commits opened, ended, erased or said, as items; its link covers the row
before it. An item has a name, a ``value`` (a hash of what stays when content goes) and ``sealed``
(a hash under the subject's key of what does not, empty where that is gone). The last item of a name
says what has to stand: ``LedgerFold`` collects that, and finds what is missing, what is there of
which the ledger knows nothing, and what is not as it was.

What cannot be known once content is gone is not asked. So erasing restates what it empties, and
says of a session by what name it stands since: no item is ever rewritten, and the name that it had
is on the rows before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

import msgspec
from msgspec import Struct

from ordain.errors import JournalCorrupt
from ordain.journal.digests import DIGEST_BYTES, GENESIS
from ordain.journal.ledger_items import COVERS_LIBRARY, COVERS_WORDS, UNDER_WAY, LedgerItem
from ordain.journal.ledger_things import GONE, OTHER, OTHER_WORDS, THERE, Thing, place

ITEMS_IN_ROW = 8_192
"""Of the rows that list what a store held before it had a ledger; a batch has fewer."""


_LISTED = frozenset({"approval", "grant"})
"""What is listed in the order in which it came: a face shows that, and a ledger has it."""
_LATER = frozenset({"mail", "deaths"})
_LATER_WORDS = frozenset({"asked", "kept"})
"""What a ledger says nothing of before its row that says so: builds before left it out."""


class LedgerRow(Struct, frozen=True, gc=False):
    """A row as stored: its number, from 1 on; its items as MessagePack; its link."""

    no: int
    items: bytes
    chain: bytes


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[LedgerItem])


def packed(item: LedgerItem) -> bytes:
    """An item as it stands in a row, to look for."""
    return _ENCODER.encode(item)


def items_of(laid: bytes) -> list[LedgerItem]:
    """The items of a stored row; none of one that cannot be read, which ``LedgerFold.take`` tells
    of.
    """
    try:
        return _DECODER.decode(laid)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def next_row(last: tuple[int, bytes] | None, items: Sequence[LedgerItem]) -> LedgerRow:
    """The row that follows the one with this number and link."""
    no, previous = last or (0, GENESIS)
    laid = _ENCODER.encode(items)
    return LedgerRow(no + 1, laid, _link(previous, no + 1, laid))


def _link(previous: bytes, no: int, laid: bytes) -> bytes:
    return blake2b(previous + no.to_bytes(8, "big") + laid, digest_size=DIGEST_BYTES).digest()


def in_rows(items: Iterable[LedgerItem]) -> Iterator[list[LedgerItem]]:
    """Many items in the portions of a row; one empty portion where there are none."""
    some = list[LedgerItem]()
    empty = True
    for item in items:
        if len(some) == ITEMS_IN_ROW:
            yield some
            some = []
        some.append(item)
        empty = False
    if some or empty:
        yield some


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that does not stand as the ledger has it, in words."""

    place: str
    recorded: str
    now: str


Placements = dict[tuple[str, str], dict[int, tuple[bytes, bytes]]]
"""By session, as (workspace, id), and number of a message that was placed anew: what its row says
since (its cover), and the mark of its decision.
"""


@dataclass(slots=True)
class LedgerFold:
    """What has to stand by the rows taken so far. ``swept`` is up to when content of each class is
    gone, in microseconds.

    ``woken`` is when runs wake whose time to wake was moved, None of a ledger that says nothing of
    mail, deaths and such times yet; ``words`` says whether it knows of requests by their runs
    alone, and of what erased runs still say; ``library`` whether it knows of what is remembered.
    """

    no: int = 0
    chain: bytes = GENESIS
    swept: dict[str, int] = field(default_factory=dict[str, int])
    placed: Placements = field(
        default_factory=dict[tuple[str, str], dict[int, tuple[bytes, bytes]]]
    )
    woken: dict[str, int] | None = None
    words: bool = False
    library: bool = False
    _things: dict[tuple[str, ...], tuple[bytes, bytes]] = field(
        default_factory=dict[tuple[str, ...], tuple[bytes, bytes]]
    )
    _threads: dict[tuple[str, str], dict[tuple[str, ...], tuple[bytes, bytes]]] = field(
        default_factory=dict[tuple[str, str], dict[tuple[str, ...], tuple[bytes, bytes]]]
    )
    _came: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    _reached: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, row: LedgerRow) -> None:
        """The next row.

        Raises:
            JournalCorrupt: it is not the one that was written behind those before it.
        """
        no = self.no + 1
        if type(row.no) is not int or type(row.items) is not bytes or type(row.chain) is not bytes:
            raise JournalCorrupt(f"ledger row {no} is none", details={"seq": no})
        if row.no != no:
            raise JournalCorrupt(f"ledger row {no} is missing", details={"seq": no})
        if _link(self.chain, no, row.items) != row.chain:
            raise JournalCorrupt(f"ledger row {no} was altered", details={"seq": no})
        try:
            items = _DECODER.decode(row.items)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise JournalCorrupt(
                f"ledger row {no} cannot be read: {error}", details={"seq": no}
            ) from error
        self.no, self.chain = no, row.chain
        for item in items:
            self._keep(item)

    def _keep(self, item: LedgerItem) -> None:
        name = item.name
        if item.what == Thing.SWEPT:
            self.swept[name[0]] = max(self.swept.get(name[0], 0), int.from_bytes(item.value, "big"))
        elif item == COVERS_WORDS:
            self.words = True
            self._things = {of: said for of, said in self._things.items() if of[0] != Thing.REQUEST}
        elif item == COVERS_LIBRARY:
            self.library = True
        elif item.what == Thing.COVERS:
            self.woken = {} if self.woken is None else self.woken
        elif item.what == Thing.WAKE:
            if self.woken is not None:
                self.woken[name[0]] = int.from_bytes(item.value, "big")
        elif item.what == Thing.PLACED and not item.value:
            self.placed.get((name[0], name[1]), {}).pop(int(name[2]), None)
        elif item.what == Thing.PLACED:
            self.placed.setdefault((name[0], name[1]), {})[int(name[2])] = item.value, item.sealed
        elif item.what == Thing.RENAMED:
            self._rename((name[0], name[1]), (name[0], name[2]))
        elif not item.value or (self.words and item.what == Thing.REQUEST):
            self._of(item).pop((item.what, *name), None)
        else:
            self._of(item)[(item.what, *name)] = item.value, item.sealed
            if item.what in _LISTED:
                self._came.setdefault((item.what, *name), len(self._came))

    def _of(self, item: LedgerItem) -> dict[tuple[str, ...], tuple[bytes, bytes]]:
        """Where the thing is kept: a session's threads are together."""
        return (
            self._things
            if item.what != Thing.THREAD
            else self._threads.setdefault((item.name[0], item.name[1]), {})
        )

    def _rename(self, session: tuple[str, str], name: tuple[str, str]) -> None:
        self._things.pop((Thing.SESSION, *session), None)
        if threads := self._threads.pop(session, None):
            self._threads[name] = {
                (Thing.THREAD, *name, key[-1]): (value, b"") for key, (value, _) in threads.items()
            }
        if placed := self.placed.pop(session, None):
            self.placed[name] = {seq: (cover, b"") for seq, (cover, _) in placed.items()}

    def differing(self, item: LedgerItem) -> Iterator[Discrepancy]:
        """What is other about one thing that stands; each is asked about once, and what is listed
        in the order of its list.
        """
        if not item.value or self._unsaid(item.what):
            return
        named = place(item.what, item.name)
        known = self._of(item).pop((item.what, *item.name), None)
        if known is None and item.value == UNDER_WAY and item.what == Thing.KEPT:
            return
        if known is None:
            yield Discrepancy(named, "nothing on the ledger", THERE.get(item.what, "is there"))
            return
        if item.what in _LISTED:
            came, before = self._came[(item.what, *item.name)], self._reached.get(item.what, -1)
            self._reached[item.what] = max(came, before)
            if came < before:
                yield Discrepancy(named, "listed as it came", "listed behind what came later")
        if item.value == UNDER_WAY:
            return
        if known[0] != item.value:
            yield Discrepancy(named, "as on the ledger", OTHER.get(item.what, "another"))
        if known[1] != item.sealed and (item.sealed or item.what not in _UNSEALED):
            yield Discrepancy(
                named,
                "as on the ledger",
                OTHER_WORDS.get(item.what, "another") if item.sealed else "its content is gone",
            )

    def _unsaid(self, what: str) -> bool:
        """Whether the ledger says nothing of such things yet, or does no more."""
        if what == Thing.REMEMBERED:
            return not self.library
        return (
            (self.woken is None and what in _LATER)
            or (what in _LATER_WORDS and not self.words)
            or (self.words and what == Thing.REQUEST)
        )

    def missing(self) -> Iterator[Discrepancy]:
        """What nobody was asked about: it is on the ledger, and does not stand any more."""
        for what, *name in chain(self._things, *self._threads.values()):
            if self._unsaid(what):
                continue
            yield Discrepancy(place(what, name), "on the ledger", GONE.get(what, "missing"))


_UNSEALED = frozenset({"run", "mail"})
"""What erasing does not say again: that its key is destroyed says enough."""
