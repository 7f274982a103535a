"""A run whose records were stored by several builds: read, gone on with, swept and erased as one,
in whichever form each record stands.
"""

from __future__ import annotations

import pytest

from ordain.journal.codec import verify
from ordain.journal.records import PAYLOAD_BYTES, Record, RecordKind
from ordain.ports.store import Append, Operation
from ordain.ports.upkeep import OldContent
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore
from ordain.store.upkeep import SqliteUpkeep
from tests.contract.writing import DAY, KEY, Run
from tests.shapes.stored_journal import as_rows

LONG = "z" * PAYLOAD_BYTES
SECRET = "what the user said"
UNITS = 4


async def stored(store: SqliteStore, rows: int) -> Run:
    """A settled run of four units, the first ``rows`` of which an earlier build has stored."""
    run = Run("a", given=SECRET)
    units = [
        run.open(),
        Append(
            run="a",
            epoch=1,
            records=(
                run.intent("model_call", SECRET),
                run.observation("model_call", SECRET),
                run.intent(effect=SECRET),
            ),
        ),
        Append(run="a", epoch=1, records=(run.observation(result=LONG), run.note(), run.note())),
        run.end(SECRET),
    ]
    assert len(units) == UNITS
    for done, unit in enumerate(units, 1):
        assert (await store.submit(unit)).refused == ""
        if done == rows:
            as_rows(store._db)
    return run


def found(store: SqliteStore) -> tuple[Record, ...]:
    loaded = store.stored("a")
    assert loaded is not None
    return loaded.records


@pytest.mark.parametrize("rows", range(UNITS + 1))
async def test_a_run_is_the_same_in_every_form(store: SqliteStore, rows: int) -> None:
    """It is read whole and after every number, its bytes are counted once, and its chain holds."""
    run = await stored(store, rows)
    assert list(found(store)) == run.records
    verify("a", KEY, found(store))
    for after in range(-1, len(run.records) + 2):
        assert list(store.records_after("a", after)) == run.records[after + 1 :]
    records, payloads = await SqliteSearch(store).journal_bytes("a")
    within = sum(len(record.body or b"") for record in run.records) - payloads
    assert PAYLOAD_BYTES < payloads < PAYLOAD_BYTES + 100
    assert within + 30 * len(run.records) < records < within + 80 * len(run.records)


@pytest.mark.parametrize("rows", range(UNITS + 1))
@pytest.mark.parametrize("content", ["input", "model", "verb", "result"])
async def test_retention_empties_one_class_in_every_form(
    store: SqliteStore, rows: int, content: str
) -> None:
    """A sweep takes the bodies of one class and leaves all others, and the chain."""
    run = await stored(store, rows)
    rule = OldContent(content_class=content, before=400 * DAY, at=500 * DAY)
    upkeep, after, emptied = SqliteUpkeep(store), None, 0
    while True:
        made = await upkeep.sweep(rule, after)
        emptied, after = emptied + made.rows, made.after
        if after is None:
            break
    gone = {
        "input": {RecordKind.STARTED},
        "model": {(RecordKind.INTENT, "model_call"), (RecordKind.OBSERVATION, "model_call")},
        "verb": {(RecordKind.INTENT, "verb_call"), (RecordKind.OBSERVATION, "verb_call")},
        "result": set(),
    }[content]
    for record, before in zip(found(store), run.records, strict=True):
        taken = record.kind in gone or (record.kind, record.name) in gone
        if content == "result" and record.kind is RecordKind.ENDED:
            assert record.body is not None
            assert SECRET.encode() not in record.body
            assert "the header" in record.body.decode()
        else:
            assert record.body == (None if taken else before.body)
    assert emptied == (0 if content == "result" else sum(r.body is None for r in found(store)))
    verify("a", KEY, found(store))


@pytest.mark.parametrize("rows", range(UNITS + 1))
async def test_erasure_leaves_headings_in_every_form(store: SqliteStore, rows: int) -> None:
    """Nothing of what was said is left in the database but notes and the header, and the chain
    holds.
    """
    run = await stored(store, rows)
    begun = await store.submit(Operation(name="erase", args={"run": "a", "at": 99}))
    upkeep, after = SqliteUpkeep(store), None
    while True:
        made = await upkeep.erase(begun.seq, after)
        after = made.after
        if after is None:
            break
    for table in ("records", "sheets", "payloads"):
        text = str(store.query(f"SELECT * FROM {table}"))
        assert SECRET not in text
        assert LONG not in text
    assert [record.chain for record in found(store)] == [record.chain for record in run.records]
    kept = [record.kind for record in found(store) if record.body is not None]
    assert kept == [RecordKind.NOTE, RecordKind.NOTE, RecordKind.ENDED]
    verify("a", None, found(store))


async def test_a_sheet_that_cannot_be_read_is_erased_whole(store: SqliteStore) -> None:
    """What stands in a damaged row goes with its subject: what cannot be told apart cannot stay."""
    await stored(store, 0)
    store._db.execute(
        "UPDATE sheets SET records = CAST('?' || CAST(records AS TEXT) AS BLOB) WHERE seq = 1"
    )
    begun = await store.submit(Operation(name="erase", args={"run": "a", "at": 99}))
    upkeep, after = SqliteUpkeep(store), None
    while True:
        made = await upkeep.erase(begun.seq, after)
        after = made.after
        if after is None:
            break
    assert SECRET not in str(store.query("SELECT * FROM sheets"))
