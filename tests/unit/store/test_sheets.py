"""Sheets: what is laid out comes back, bounded; codes mean the same for ever; whatever byte of a
stored run is altered, it is found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.errors import JournalCorrupt
from ordain.journal.codec import verify
from ordain.journal.records import PAYLOAD_BYTES, Record, RecordKind
from ordain.ports.store import Append
from ordain.store.schema import VERSION
from ordain.store.sheets import (
    KINDS,
    NAMES,
    SHEET_BYTES,
    SHEET_RECORDS,
    decode,
    lay_out,
    records_of,
)
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import KEY, Run

CODES = {
    10: "99d84915",
    11: "99d84915",
    12: "b0ae41cd",
    13: "b0ae41cd",
    14: "b0ae41cd",
    15: "b0ae41cd",
    16: "b0ae41cd",
    17: "b0ae41cd",
    18: "b0ae41cd",
    19: "b0ae41cd",
}
"""By version of the schema, what the codes of kinds and names mean."""

RECORDS = st.lists(
    st.builds(
        dict,
        kind=st.sampled_from(RecordKind),
        name=st.sampled_from(NAMES) | st.text(max_size=20),
        v=st.integers(1, 300),
        at=st.integers(0, 2**62),
        digest=st.binary(min_size=16, max_size=16),
        chain=st.binary(min_size=16, max_size=16),
        body=st.none()
        | st.binary(max_size=40)
        | st.integers(0, 2).map(lambda more: b"x" * (PAYLOAD_BYTES - 1 + more)),
    ),
    max_size=3 * SHEET_RECORDS,
)


def laid(records: Sequence[Record]) -> tuple[list[tuple[int, int, bytes]], list[bytes | None]]:
    """The rows, and what was put apart."""
    apart = list[bytes | None]()

    def put_apart(record: Record) -> int:
        apart.append(record.body)
        return len(apart) - 1

    return list(lay_out(records, put_apart)), apart


@settings(max_examples=60)
@given(first=st.integers(0, 10**6), made=RECORDS)
def test_what_is_laid_out_comes_back(first: int, made: list[dict[str, object]]) -> None:
    """Any records make sheets that hold them all, in order and each as it was, whatever stands in
    them and however their times run.
    """
    records = [Record(seq=seq, **each) for seq, each in enumerate(made, first)]  # type: ignore[arg-type]
    rows, apart = laid(records)
    assert [
        record
        for seq, _, sheet in rows
        for record in records_of(seq, decode(seq, sheet), apart.__getitem__)
    ] == records
    assert all(len(body or b"") > PAYLOAD_BYTES for body in apart)
    for wanted in (first, first + 70):
        assert [
            r
            for seq, _, sheet in rows
            for r in records_of(seq, decode(seq, sheet), apart.__getitem__, wanted)
        ] == [record for record in records if record.seq > wanted]


def test_a_sheet_is_bounded() -> None:
    """Neither many records nor long ones make a sheet that is long to write anew."""
    few = [
        Record(
            seq=n,
            kind=RecordKind.NOTE,
            name="n",
            v=1,
            at=1,
            digest=b"",
            chain=b"",
            body=b"x" * PAYLOAD_BYTES,
        )
        for n in range(100)
    ]
    many = [
        Record(seq=n, kind=RecordKind.NOTE, name="n", v=1, at=1, digest=b"", chain=b"", body=b"x")
        for n in range(1000)
    ]
    assert max(len(sheet) for _, _, sheet in laid(few)[0]) < SHEET_BYTES + 2 * PAYLOAD_BYTES
    assert max(len(decode(seq, sheet)) for seq, _, sheet in laid(many)[0]) == SHEET_RECORDS


def test_codes_mean_the_same_for_ever() -> None:
    """Another meaning, or a further code, comes with a version of the schema: a build of the same
    version could not read it.
    """
    assert set(KINDS) == set(RecordKind)
    assert len(set(NAMES)) == len(NAMES)
    assert hashlib.sha256("\n".join((*KINDS, *NAMES)).encode()).hexdigest()[:8] == CODES[VERSION]


@pytest.fixture
def store() -> SqliteStore:
    return SqliteStore(None, StoreOptions(holder="test", lock=False))


async def written(store: SqliteStore) -> Run:
    """A run of three sheets, with names that have a code and one that has none, a body apart and an
    end.
    """
    run = Run("a")
    await store.submit(run.open())
    call = (
        run.intent("model_call", "x" * 200),
        run.observation("model_call", "y" * 300),
        run.intent("theirs"),
    )
    long = run.observation("verb_call", "z" * PAYLOAD_BYTES)
    await store.submit(Append(run="a", epoch=1, records=(*call, long)))
    await store.submit(run.end("done"))
    return run


def checked(store: SqliteStore) -> Sequence[Record]:
    """The run's records, with its chain."""
    found = store.stored("a")
    assert found is not None
    verify("a", KEY, found.records)
    return found.records


async def test_every_altered_byte_is_found(store: SqliteStore) -> None:
    """One byte of any sheet, or of a payload, is another: the run cannot be read, or its chain does
    not hold.
    """
    run = await written(store)
    db = store._db
    cells = [("sheets", "records", "pos"), ("payloads", "bytes", "id")]
    tried = 0
    for table, column, key in cells:
        for place, whole in db.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
            for at in range(len(whole)):
                for mask in (1, 0x40, 0xFF):
                    altered = whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :]
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (altered, place))
                    with pytest.raises(JournalCorrupt):
                        checked(store)
                    tried += 1
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (whole, place))
    assert tried > 10_000
    assert list(checked(store)) == run.records
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sheets SET seq = seq + 1 WHERE seq > 0",
        "UPDATE sheets SET run = 9 WHERE seq = 1",
        "UPDATE sheets SET run = 9 WHERE seq = 0",
        "DELETE FROM sheets WHERE seq = 1",
        "UPDATE sheets SET records = x'90' WHERE seq = 1",
        "UPDATE sheets SET records = x'' WHERE seq = 1",
        "UPDATE sheets SET records = 'text' WHERE seq = 1",
        "UPDATE sheets SET records = 7 WHERE seq = 1",
        "UPDATE sheets SET seq = 'one' WHERE seq = 1",
        "DELETE FROM payloads",
    ],
)
async def test_rows_that_were_taken_or_moved_are_found(store: SqliteStore, change: str) -> None:
    """A sheet that is missing, another's, at another place or none at all is no journal."""
    await written(store)
    store._db.execute(change)
    with pytest.raises(JournalCorrupt):
        checked(store)
    store.close()
