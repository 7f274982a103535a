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
from ordain.journal.digests import DIGEST_BYTES, GENESIS, whole_key
from ordain.journal.ledger_things import GONE, OTHER, OTHER_WORDS, THERE, Thing, place
from ordain.journal.records import SETTLED, STOPPED

AT_REST = frozenset(str(status) for status in (SETTLED | STOPPED))
ITEMS_IN_ROW = 8_192
"""Of the rows that list what a store held before it had a ledger; a batch has fewer."""


_LISTED = frozenset({"approval", "grant"})
"""What is listed in the order in which it came: a face shows that, and a ledger has it."""
_LATER = frozenset({"mail", "deaths"})
_LATER_WORDS = frozenset({"asked", "kept"})
"""What a ledger says nothing of before its row that says so: builds before left it out."""


UNDER_WAY = b"under way"
"""The value of what is being erased, slice by slice: it stands, and says nothing of itself before
its last slice.
"""


class LedgerItem(Struct, frozen=True, gc=False, array_like=True):
    """One thing as it is now; ``value`` empty: it is no more, or at rest no more."""

    what: str
    name: tuple[str, ...]
    value: bytes
    sealed: bytes = b""

    @property
    def no_more(self) -> LedgerItem:
        """It stands no more, or by another name."""
        return LedgerItem(self.what, self.name, b"")

    def or_under_way(self, being_erased: object) -> LedgerItem:
        """Itself; of what is being erased slice by slice that it is: its row says what it said
        before, or what it says since.
        """
        return LedgerItem(self.what, self.name, UNDER_WAY) if being_erased else self


class LedgerRow(Struct, frozen=True, gc=False):
    """A row as stored: its number, from 1 on; its items as MessagePack; its link."""

    no: int
    items: bytes
    chain: bytes


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[LedgerItem])


def fingerprint(*parts: object) -> bytes:
    """A hash of what anybody may see: ids, numbers, statuses, hashes. 16 bytes."""
    return blake2b(_ENCODER.encode(parts), digest_size=DIGEST_BYTES).digest()


def sealed(key: bytes | None, *parts: object) -> bytes:
    """A hash of content, which nobody can test a guess at without the subject's key; empty where
    the key is destroyed, or there is no content.
    """
    if not isinstance(key, bytes) or not key or not any(parts):
        # a storage may hold anything in a key's place
        return b""
    return blake2b(_ENCODER.encode(parts), key=whole_key(key), digest_size=DIGEST_BYTES).digest()


def run_item(run: str, identity: Sequence[object], first: bytes) -> LedgerItem:
    """A run is opened. ``identity`` is what its row says for good: parent, effect, index, root,
    workspace, session, thread, subject, flow, version, catalog, when.

    ``first`` is the link of its first record; empty of a run at rest, whose last link fixes it.
    """
    return LedgerItem(Thing.RUN, (run,), fingerprint(*identity), first)


def rest_item(run: str, status: str, reason: str, end: tuple[int | None, int, bytes]) -> LedgerItem:
    """A run is at rest, or goes on after a stop whose reason it keeps. ``end``: when it ended, the
    number of its last record and that record's link.
    """
    if status in AT_REST:
        return LedgerItem(Thing.REST, (run,), fingerprint(status, reason, *end))
    return LedgerItem(Thing.REST, (run,), fingerprint(reason) if reason else b"")


def session_item(
    workspace: str, session: str, row: Sequence[object], user: str, key: bytes | None
) -> LedgerItem:
    """Where a session stands: generation, subject, head, link, threads, active thread, channel,
    when it began and was last used.
    """
    return LedgerItem(Thing.SESSION, (workspace, session), fingerprint(*row), sealed(key, user))


def thread_item(
    name: tuple[str, str, int], row: Sequence[object], words: Sequence[object], key: bytes | None
) -> LedgerItem:
    """Where a thread stands: ``row`` is status, run and when; ``words`` what it is about, what is
    asked, its slots, its last error.
    """
    workspace, session, number = name
    return LedgerItem(
        Thing.THREAD, (workspace, session, str(number)), fingerprint(*row), sealed(key, *words)
    )


def renamed_item(workspace: str, session: str, name: str) -> LedgerItem:
    """A session was erased and has another name. However many threads it has, one item says it of
    all.
    """
    return LedgerItem(Thing.RENAMED, (workspace, session, name), b"\x01")


def request_item(
    workspace: str, request: str, run: str, digest: str, key: bytes | None
) -> LedgerItem:
    """A request id is taken by a run, as builds before had it on their rows; ``digest`` is its
    content's.
    """
    return LedgerItem(Thing.REQUEST, (workspace, request), fingerprint(run), sealed(key, digest))


def asked_item(
    run: str, workspace: str, request: tuple[str, str], key: bytes | None, *, erased: bool
) -> LedgerItem:
    """A run answers a request: its id and content's digest are under the seal alone, and go with
    the key. ``erased``: it stands under no name of its own.
    """
    return LedgerItem(Thing.ASKED, (run,), fingerprint(workspace, erased), sealed(key, *request))


def kept_item(run: str, bodies: Sequence[tuple[int, bytes]]) -> LedgerItem:
    """What a run still says whose key is destroyed: the bodies that stand, each with its record's
    number.
    """
    return LedgerItem(Thing.KEPT, (run,), fingerprint(*bodies) if bodies else b"")


def account_item(workspace: str, account: str, spent: tuple[int, int] | None) -> LedgerItem:
    """Where a shared account stands, None once it is dropped. Its name may be a user's, and stays
    in no ledger.
    """
    return LedgerItem(
        Thing.ACCOUNT,
        (fingerprint(workspace, account).hex(),),
        b"" if spent is None else fingerprint(*spent),
    )


def erased_item(workspace: str, subject: str, at: int | None) -> LedgerItem:
    """A subject's key is destroyed, and with it its content."""
    return LedgerItem(Thing.ERASED, (workspace, subject), fingerprint(at))


def swept_item(content_class: str, before: int) -> LedgerItem:
    """Content of a class in runs that ended, and of entries written, before a moment (in
    microseconds since 1970) is kept no longer.
    """
    return LedgerItem(Thing.SWEPT, (content_class,), max(before, 0).to_bytes(8, "big"))


def placed_item(name: tuple[str, str, int], cover: bytes, decision: bytes) -> LedgerItem:
    """A message was placed anew: what its row says now (``digests.entry_cover``), and the mark of
    its decision.
    """
    workspace, session, seq = name
    return LedgerItem(Thing.PLACED, (workspace, session, str(seq)), cover, decision)


def config_item(
    name: tuple[str, str, str, int], config: bytes | None, written: Sequence[object]
) -> LedgerItem:
    """A version of a record of the configuration stands, for good; ``written`` is by whom and when.
    An operator's words, no subject's.
    """
    place, resource, record, version = name
    return LedgerItem(
        Thing.CONFIG, (place, resource, record, str(version)), fingerprint(config, *written)
    )


def approval_item(
    approval: str, row: Sequence[object], by: str, claim: Sequence[object], key: bytes | None
) -> LedgerItem:
    """An approval: ``row`` is what its row says but for who decided it and who looks at it, which
    go with its run's content.

    ``claim`` is who that is, and since when ("" and 0: nobody, of whom nothing is said, as builds
    before had it).
    """
    claimed_by, claimed_at = claim
    since, looks = (
        (() if claimed_at == 0 else (claimed_at,)),
        (() if claimed_by == "" else (claimed_by,)),
    )
    return LedgerItem(
        Thing.APPROVAL, (approval,), fingerprint(*row, *since), sealed(key, by, *looks)
    )


def grant_item(
    grant: str,
    row: Sequence[object],
    content: object,
    key: bytes | None,
    *,
    misplaced: bool = False,
) -> LedgerItem:
    """A grant: ``row`` is what its row says, but for what of one that came with an approval goes
    with the content of that one's run.

    ``misplaced``: it stands under another subject than that one's. So, and without a key, no
    content stands: what does is another grant.
    """
    seal = sealed(key, content)
    astray = (misplaced, content) if misplaced or (content is not None and not seal) else ()
    return LedgerItem(Thing.GRANT, (grant,), fingerprint(*row, *astray), seal)


def mail_item(
    run: str,
    number: int,
    sent: tuple[object, object, object],
    words: tuple[object, object],
    key: bytes | None,
) -> LedgerItem:
    """Mail for a run: nobody acts on what is not on the ledger so. ``sent``: its kind, effect and
    time; ``words``: its key, which may name somebody, and body.
    """
    return LedgerItem(Thing.MAIL, (run, str(number)), fingerprint(*sent), sealed(key, *words))


def remembered_item(
    name: tuple[str, str], row: Sequence[object], words: Sequence[object], seal: bytes | None
) -> LedgerItem:
    """A note or document, by workspace and id: ``row`` says what it is and whether it is kept,
    ``words`` what is in it, under a seal of its own that goes with it.
    """
    return LedgerItem(Thing.REMEMBERED, name, fingerprint(*row), sealed(seal, *words))


def passage_link(before: bytes, passage: Sequence[object], seal: bytes) -> bytes:
    """The link of a passage behind that of the one before it, which nobody can test a guess at
    without the seal.
    """
    return blake2b(
        before + _ENCODER.encode(passage), key=whole_key(seal), digest_size=DIGEST_BYTES
    ).digest()


NO_DEATHS = (0, -1)


def deaths_item(run: str, resumes: int, resumes_at: int) -> LedgerItem:
    """How often engines died with a run at one record, and which that is; nothing where none
    did.
    """
    return LedgerItem(
        Thing.DEATHS,
        (run,),
        fingerprint(resumes, resumes_at) if (resumes, resumes_at) != NO_DEATHS else b"",
    )


def wake_item(run: str, wake_at: int) -> LedgerItem:
    """A run that waits wakes then, whatever its record says: the clock was set back."""
    return LedgerItem(Thing.WAKE, (run,), max(wake_at, 0).to_bytes(8, "big"))


COVERS = LedgerItem(Thing.COVERS, ("mail",), b"\x01")
"""From the row with this item on the ledger knows of all mail, deaths and moved times to wake."""
PACKED_COVERS = _ENCODER.encode(COVERS)
"""How it stands in a row, to look for."""
COVERS_WORDS = LedgerItem(Thing.COVERS, ("words",), b"\x01")
"""From the row with this item on the ledger names no request, and knows what erased runs still
say.
"""
PACKED_COVERS_WORDS = _ENCODER.encode(COVERS_WORDS)
COVERS_LIBRARY = LedgerItem(Thing.COVERS, ("library",), b"\x01")
"""From the row with this item on the ledger knows of what is remembered."""
PACKED_COVERS_LIBRARY = _ENCODER.encode(COVERS_LIBRARY)


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
