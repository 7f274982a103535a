"""Writing and reading records: one encoder, one place that makes the chain, one place that checks
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ordain.errors import Erased, JournalCorrupt
from ordain.journal.digests import GENESIS, chain, keyed_digests
from ordain.journal.records import (
    BODY_OF,
    CURRENT_VERSION,
    ENCODER,
    NULL,
    Body,
    EndedBody,
    Record,
    RecordKind,
)
from ordain.journal.upcasters import upcast

_ENDED = RecordKind.ENDED
"""A name of its own, as for whatever is asked of each record: a member is found in its enum eight
times as slowly.
"""
_DECODERS = {kind: msgspec.json.Decoder(body) for kind, body in BODY_OF.items()}


class Scribe:
    """Makes the next record of one run: numbers it, dates it, digests it, links it.

    ``at = max(previous at, given)``: a clock that steps back never makes a journal step back.
    """

    def __init__(self, run: str, key: bytes, last: Record | None = None) -> None:
        """Continue after ``last``, or begin."""
        self.run = run
        self._digest = keyed_digests(key)
        self.seq = -1 if last is None else last.seq
        self.at = 0 if last is None else last.at
        self._chain = GENESIS if last is None else last.chain

    def mark(self) -> tuple[int, int, bytes]:
        """Where the chain stands, to go back to if what follows is refused."""
        return self.seq, self.at, self._chain

    def back_to(self, mark: tuple[int, int, bytes]) -> None:
        """Forget the records written since ``mark``; only before they were stored."""
        self.seq, self.at, self._chain = mark

    def write(self, kind: RecordKind, name: str, body: Body, at: int) -> Record:
        """The next record; nothing is stored by this."""
        if kind is _ENDED and isinstance(body, EndedBody) and body.result != NULL:
            body = msgspec.structs.replace(
                body, result_digest=self._digest(bytes(body.result)).hex()
            )
        encoded = ENCODER.encode(body)
        if at < self.at:
            at = self.at
        else:
            self.at = at
        self.seq = seq = self.seq + 1
        version = CURRENT_VERSION[kind]
        body_digest = self._digest(_covered(encoded)[0] if kind is _ENDED else encoded)
        self._chain = link = chain(
            self._chain, self.run, seq, (kind, name, version, at), body_digest
        )
        return Record(
            seq=seq,
            kind=kind,
            name=name,
            v=version,
            at=at,
            digest=body_digest,
            chain=link,
            body=encoded,
        )


def decode(record: Record) -> Body:
    """The record's body in its current version.

    Raises:
        Erased: the body was erased.
        JournalCorrupt: the body does not decode.
    """
    if record.body is None:
        raise Erased(f"record {record.seq} ({record.kind}) was erased", details={"seq": record.seq})
    kind, body = record.kind, record.body
    try:
        return _DECODERS[kind].decode(
            body if record.v == CURRENT_VERSION[kind] else upcast(kind, record.v, body)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
        # the last two: nested too deep, not an object
        raise JournalCorrupt(
            f"record {record.seq} ({record.kind}): {error}", details={"seq": record.seq}
        ) from error


ReadRecord = Callable[[Record], Body]
"""How a record's body is read: ``decode``, or what ``read_once`` gives."""


def read_once(records: Sequence[Record]) -> ReadRecord:
    """The bodies of a run's records, each decoded here and only here. Raises as ``decode``."""
    bodies = {record.seq: decode(record) for record in records}
    return lambda record: bodies[record.seq]


class _Sealed(msgspec.Struct):
    """What an ``ended`` body says of its result, in any version."""

    result_digest: str = ""
    result: msgspec.Raw = NULL


_SEALED = msgspec.json.Decoder(_Sealed)
_RESULT = b',"result":'


def _covered(body: bytes) -> tuple[bytes, _Sealed]:
    """The bytes of an ``ended`` body that its record's digest covers: all but the result that
    stands last in it.
    """
    sealed = _SEALED.decode(body)
    end = len(body) - 1 - len(bytes(sealed.result)) - len(_RESULT)
    if sealed.result == NULL or body[end : end + len(_RESULT)] != _RESULT:
        return body, sealed
    return body[:end] + b"}", sealed


def _fits(digest: Callable[[bytes], bytes], record: Record, body: bytes) -> bool:
    if record.kind is not _ENDED:
        return digest(body) == record.digest
    try:
        covered, sealed = _covered(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if sealed.result != NULL and digest(bytes(sealed.result)).hex() != sealed.result_digest:
        return False
    return digest(covered) == record.digest


def verify(run: str, key: bytes | None, records: Sequence[Record]) -> None:
    """Check numbering, time, digests and chain of a whole run.

    Erased bodies are skipped, as is an ended body without its swept result, and where the subject's
    key is destroyed (None) all bodies are; the chain never is.

    Raises:
        JournalCorrupt: with the first seq that is wrong.
    """
    previous, last_at = GENESIS, 0
    digest = None if key is None else keyed_digests(key)
    for expected, record in enumerate(records):
        if record.seq != expected:
            raise JournalCorrupt(f"record {expected} is missing", details={"seq": expected})
        at, body = record.at, record.body
        if at < last_at:
            raise JournalCorrupt(
                f"record {expected} is dated before its predecessor", details={"seq": expected}
            )
        if body is not None and digest is not None and not _fits(digest, record, body):
            raise JournalCorrupt(
                f"record {expected} ({record.kind}) was altered: digest", details={"seq": expected}
            )
        previous = chain(
            previous, run, expected, (record.kind, record.name, record.v, at), record.digest
        )
        if previous != record.chain:
            raise JournalCorrupt(
                f"record {expected} ({record.kind}) was altered: chain", details={"seq": expected}
            )
        last_at = at
