"""Where the journal store keeps content, and what is left of it after erasure and retention."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ordain.errors import ConfigurationError, Erased
from ordain.journal.codec import decode, verify
from ordain.journal.records import PAYLOAD_BYTES, EndedBody, NoteBody, Record, RecordKind
from ordain.ports.store import Append, Operation, Outcome, StoredRun
from ordain.ports.upkeep import OldContent
from ordain.ports.writes import OutboxRow
from ordain.runtime.upkeep import carried_out, destroyed
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import SqliteUpkeep
from tests.contract.writing import DAY, KEY, Run
from tests.shapes.stored_journal import journal_of

SECRET = "what the user said"
LONG = SECRET * 400


def found(store: SqliteStore, run: str = "a") -> StoredRun:
    stored = store.stored(run)
    assert stored is not None
    return stored


def of_kind(store: SqliteStore, kind: RecordKind, run: str = "a") -> list[Record]:
    return [record for record in found(store, run).records if record.kind is kind]


def holds(store: SqliteStore, words: str) -> list[str]:
    """The tables in which the words stand."""
    tables = [
        name for (name,) in store.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    return [
        name
        for name in tables
        if any(words in str(row) for row in store.query(f"SELECT * FROM {name}"))
    ]


async def erased(store: SqliteStore, run: str = "a") -> int:
    """Erase the subject of a run, to the last row; how many of them held content."""
    begun = await store.submit(Operation(name="erase", args={"run": run, "at": 99}))
    assert begun.refused == ""
    return begun.count + await destroyed(SqliteUpkeep(store), begun.seq)


async def finished(store: SqliteStore, run: str, words: str) -> Run:
    """A settled run with the words in every place that holds content."""
    made = Run(run, given=words)
    await store.submit(made.open())
    call = (
        made.intent("model_call", words),
        made.observation("model_call", words),
        made.intent(effect=words),
        made.observation(result=words),
    )
    await store.submit(
        Append(run=run, epoch=1, records=call, writes=(OutboxRow(addr=0, text=words, at=1),))
    )
    await store.submit(made.post(body=f'"{words}"'.encode()))
    await store.submit(made.end(words))
    return made


@pytest.mark.parametrize("over", [0, 1])
async def test_long_bodies_are_kept_apart(store: SqliteStore, over: int) -> None:
    """A body above 4096 bytes is a payload, one of exactly 4096 stands in its record; reading and
    digests are the same.
    """
    shortest = len(Run("a").note("x").body or b"")
    run = Run("a")
    await store.submit(run.open())
    record = run.note("x" * (1 + PAYLOAD_BYTES - shortest + over))
    assert len(record.body or b"") == PAYLOAD_BYTES + over
    await store.submit(Append(run="a", epoch=1, records=(record,)))
    journal_of(store)
    assert store.query("SELECT body IS NULL, payload IS NULL FROM journal WHERE seq = 1") == [
        (over, 1 - over)
    ]
    assert store.query("SELECT count(*) FROM payloads") == [(over,)]
    assert list(found(store).records) == run.records
    verify("a", KEY, found(store).records)


@pytest.mark.parametrize("words", [SECRET, LONG], ids=["short", "long"])
async def test_erasure_leaves_the_shape_and_no_content(store: SqliteStore, words: str) -> None:
    """Erasing a subject empties every place its words stood in and destroys its key; chain, reasons
    and header stay.
    """
    run = await finished(store, "a", words)
    await finished(store, "b", "somebody else")
    assert len(holds(store, SECRET)) == 3
    assert await erased(store) == 5
    assert holds(store, SECRET) == []
    stored = found(store)
    assert stored.key is None
    assert [record.chain for record in stored.records] == [record.chain for record in run.records]
    verify("a", None, stored.records)
    for record in stored.records[:-1]:
        with pytest.raises(Erased):
            decode(record)
    ended = decode(stored.records[-1])
    assert isinstance(ended, EndedBody)
    assert (ended.header, ended.reason, bytes(ended.result)) == ("✓ the header", "ok", b"null")
    assert found(store, "b").key == KEY
    verify("b", KEY, found(store, "b").records)
    assert len(holds(store, "somebody else")) >= 3


async def test_erasure_keeps_what_operators_wrote_and_happens_once(store: SqliteStore) -> None:
    """Notes of operators outlive erasure, long ones too; a second erasure changes nothing."""
    run = await finished(store, "a", SECRET)
    await store.submit(
        Append(run="a", epoch=1, records=(run.note("why " * 2000), run.note("short")))
    )
    await erased(store)
    notes = [decode(record) for record in of_kind(store, RecordKind.NOTE)]
    assert [isinstance(note, NoteBody) and note.why[:5] for note in notes] == ["why w", "short"]
    before = found(store)
    assert await erased(store) == 0
    assert found(store) == before
    assert await store.submit(Operation(name="erase", args={"run": "none", "at": 1})) == Outcome(
        refused="not_found"
    )


async def test_erasure_takes_the_children_along(store: SqliteStore) -> None:
    """Runs of the same subject are erased together, from whichever of them it is asked, and not
    while one is unsettled.
    """
    parent = Run("a", given=SECRET)
    child = Run("child", parent=parent, given=SECRET)
    await store.submit(parent.open())
    await store.submit(parent.step(writes=(child.new,)))
    await store.submit(child.end(SECRET))
    erase = Operation(name="erase", args={"run": "child", "at": 1})
    assert (await store.submit(erase)).refused == "not_at_rest"
    assert "sheets" in holds(store, SECRET)
    await store.submit(parent.end(SECRET))
    await erased(store, "child")
    assert holds(store, SECRET) == []
    assert found(store).key is None
    verify("child", None, found(store, "child").records)


async def test_a_damaged_ending_does_not_stop_erasure(store: SqliteStore) -> None:
    """Content goes also where a record's body is no JSON any more."""
    await finished(store, "a", SECRET)
    journal_of(store._db).execute(
        "UPDATE journal SET body = CAST('broken {' AS BLOB) WHERE kind = 'ended'"
    )
    await erased(store)
    assert holds(store, SECRET) == []
    assert of_kind(store, RecordKind.ENDED)[0].body is None


@pytest.mark.parametrize("words", [SECRET, LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    ("content", "kinds"),
    [("input", {"started"}), ("model", {"model_call"}), ("verb", {"verb_call"})],
)
async def test_retention_empties_one_class_of_old_runs(
    store: SqliteStore, words: str, content: str, kinds: set[str]
) -> None:
    """A sweep empties one class of content in runs that ended before the day; digests and chain
    still hold.
    """
    await finished(store, "a", words)
    young = Run("young", given=words)
    await store.submit(young.open())
    before = found(store).ended_at
    assert before is not None
    upkeep, rule = SqliteUpkeep(store), OldContent(content_class=content, before=before + 1, at=99)
    assert await carried_out(upkeep, replace(rule, before=before)) == 0
    swept = await carried_out(upkeep, rule)
    records = found(store).records
    emptied = [record for record in records if record.body is None]
    assert {
        record.kind if record.kind is RecordKind.STARTED else record.name for record in emptied
    } == kinds
    assert swept == len(emptied)
    verify("a", KEY, records)
    verify("young", KEY, found(store, "young").records)
    assert all(record.body is not None for record in found(store, "young").records)
    assert await carried_out(upkeep, rule) == 0
    assert before == 6 * DAY


@pytest.mark.parametrize("words", [SECRET, LONG], ids=["short", "long"])
async def test_retention_of_results_keeps_the_header(store: SqliteStore, words: str) -> None:
    """A sweep of results takes them out of old runs wherever they are stored; the header stays, and
    the journal is intact.
    """
    await finished(store, "a", words)
    await carried_out(SqliteUpkeep(store), OldContent(content_class="result", before=10**18, at=99))
    ended = decode(of_kind(store, RecordKind.ENDED)[0])
    assert isinstance(ended, EndedBody)
    assert (ended.header, bytes(ended.result)) == ("✓ the header", b"null")
    verify("a", KEY, found(store).records)


async def test_a_store_is_what_it_was_when_it_is_opened_again(
    file_mode: str, tmp_path: Path
) -> None:
    """Runs, mail, requests and catalogs are the same after closing and opening, and in a backup
    made while it is open.
    """
    options = StoreOptions(holder="engine", threaded=file_mode == "threaded")
    first = SqliteStore(tmp_path / "data", options)
    run = await finished(first, "a", LONG)
    await first.submit(Run("b").open("request", catalog=b"{}"))
    await first.submit(Run("b").post())
    seen = found(first), first.untaken("b"), first.kept_catalog("c" * 64)
    (tmp_path / "copy").mkdir()
    first.backup(tmp_path / "copy" / FILE)
    with pytest.raises(ConfigurationError):
        first.backup(tmp_path / "copy" / FILE)
    first.close()
    for folder in (tmp_path / "data", tmp_path / "copy"):
        store = SqliteStore(folder, options)
        assert (found(store), store.untaken("b"), store.kept_catalog("c" * 64)) == seen
        assert (await store.submit(Run("z").open("request"))).refused == "same"
        assert await store.submit(run.step()) == Outcome(run="a")
        run.records.pop()
        run = _rewound(run)
        store.close()


def _rewound(run: Run) -> Run:
    """The same run before its last record, for the second of two copies."""
    run.scribe = type(run.scribe)(run.id, KEY, run.records[-1])
    return run
