"""Changing one thing in a journal, as corruption would (digests left as they were) or as a forger
would (digests and chain made anew).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ordain.journal.codec import _covered
from ordain.journal.digests import GENESIS, chain, digest
from ordain.journal.records import Record, RecordKind, Started, raw
from ordain.ports.store import StoredRun


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every leaf of a JSON value; an empty container is a leaf."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = False
    for key, inner in items:
        found = True
        yield from leaves(inner, (*path, key))
    if not found:
        yield path


def other(value: Any) -> Any:
    """A value of the same JSON type that is not the same."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x"
        case None:
            return "x"
        case list():
            return [*value, 1]
        case dict():
            return {**value, "x": 1}
        case _:
            raise AssertionError(value)


def changed(value: Any, path: tuple[str | int, ...]) -> Any:
    """The JSON value with the leaf at ``path`` replaced by another."""
    if not path:
        return other(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:])
    return copy


def body_mutations(run: StoredRun) -> Iterator[tuple[int, tuple[str | int, ...], bytes]]:
    """(seq, path, new body) for every leaf of every record's body."""
    for record in run.records:
        value = msgspec.json.decode(record.body or b"")
        for path in leaves(value):
            yield record.seq, path, msgspec.json.encode(changed(value, path))


def corrupted(run: StoredRun, seq: int, **fields: Any) -> StoredRun:
    """One record changed, nothing made to fit."""
    records = [msgspec.structs.replace(r, **fields) if r.seq == seq else r for r in run.records]
    return msgspec.structs.replace(run, records=tuple(records))


def forged(run: StoredRun, seq: int, **fields: Any) -> StoredRun:
    """One record changed, and every digest and link made anew with the subject's own key."""
    records: list[Record] = []
    previous = GENESIS
    for old in run.records:
        record = msgspec.structs.replace(old, **fields) if old.seq == seq else old
        body = record.body or b""
        body_digest = digest(
            run.key or b"", _covered(body)[0] if record.kind is RecordKind.ENDED else body
        )
        previous = chain(
            previous,
            run.id,
            record.seq,
            (record.kind, record.name, record.v, record.at),
            body_digest,
        )
        records.append(msgspec.structs.replace(record, digest=body_digest, chain=previous))
    return msgspec.structs.replace(run, records=tuple(records))


def begun_with(run: StoredRun, wording: str) -> StoredRun:
    """The run as if it had begun with another wording than the one that its catalog names."""
    started = msgspec.json.decode(run.records[0].body or b"", type=Started)
    return forged(run, 0, body=bytes(raw(msgspec.structs.replace(started, wording=wording))))
