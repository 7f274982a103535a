"""The items of a ledger, each made in one place: what is said of a run, a session, a thread and
whatever else a store holds, in ids and hashes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec
from msgspec import Struct

from ordain.journal.digests import DIGEST_BYTES, whole_key
from ordain.journal.ledger_things import Thing
from ordain.journal.records import SETTLED, STOPPED

AT_REST = frozenset(str(status) for status in (SETTLED | STOPPED))
UNDER_WAY = b"under way"
"""The value of what is being erased, slice by slice: it stands, and says nothing of itself before
its last slice.
"""
_ENCODER = msgspec.msgpack.Encoder()


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
COVERS_WORDS = LedgerItem(Thing.COVERS, ("words",), b"\x01")
"""From the row with this item on the ledger names no request, and knows what erased runs still
say.
"""
COVERS_LIBRARY = LedgerItem(Thing.COVERS, ("library",), b"\x01")
"""From the row with this item on the ledger knows of what is remembered."""
