"""What SQLite alone promises of a journal store: the order of commits across all runs, each
announced once, and what no port reads.

How every store behaves is said in ``ports/test_journal_store.py``.
"""

from __future__ import annotations

import asyncio

from ordain.errors import RunLost
from ordain.ports.store import Append, Unit
from ordain.ports.writes import OutboxRow
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore
from tests.contract.writing import Run
from tests.shapes.stored_journal import journal_of


async def opened(store: SqliteStore, *runs: str) -> list[Run]:
    made = [Run(run) for run in runs]
    for run in made:
        assert (await store.submit(run.open())).run == run.id
    return made


async def test_units_are_durable_in_the_order_of_submission(store: SqliteStore) -> None:
    """Across all runs the order of the rows is the order of submission."""
    runs = await opened(store, "a", "b", "c")
    expected = [(run.id, 0) for run in runs]
    units: list[Unit] = []
    for number in range(700):  # more than one batch
        run = runs[(number * number) % 3]
        units.append(run.step())
        expected.append((run.id, len(run.records) - 1))
    await asyncio.gather(*map(store.submit, units))
    journal_of(store)
    assert (
        store.query(
            "SELECT r.id, x.seq FROM journal x JOIN runs r ON r.no = x.run ORDER BY x.pos, x.seq"
        )
        == expected
    )


async def test_what_is_told_is_durable_and_so_is_all_before_it(store: SqliteStore) -> None:
    """When a unit's future ends, that unit and everything submitted before it can be read at once:
    the durable journal is a prefix.
    """
    (run,) = await opened(store, "a")
    seen: list[tuple[int, int]] = []
    futures = [store.submit(run.step()) for _ in range(600)]
    for number, future in enumerate(futures, 1):
        future.add_done_callback(
            lambda _, number=number: seen.append((number, len(store.stored("a").records) - 1))
        )  # type: ignore[union-attr]
    await asyncio.gather(*futures)
    await asyncio.sleep(0)
    assert [number for number, _ in seen] == list(range(1, 601))
    assert all(durable >= number for number, durable in seen)


async def test_words_of_a_unit_that_fails_are_not_kept(store: SqliteStore) -> None:
    """They stand in the outbox with their unit or not at all."""
    (run,) = await opened(store, "a")
    words = OutboxRow(addr=1, text="hello", at=1)
    (failure,) = await asyncio.gather(
        store.submit(run.step(writes=(words, Run("a", given="another").new))),
        return_exceptions=True,
    )
    assert isinstance(failure, RunLost)
    assert store.query("SELECT count(*) FROM outbox") == [(0,)]
    (run,) = await opened(store, "b")
    await store.submit(run.step(writes=(words,)))
    assert store.query("SELECT text FROM outbox") == [("hello",)]


async def test_runs_are_listed_in_the_order_of_their_opening(store: SqliteStore) -> None:
    """A request that was the same as one before, or that was refused, is none of them."""
    asked = [
        Run("a").open("r", "body"),
        Run("b").open("r", "body"),
        Run("c").open("r", "other"),
        Run("d").open(None),
        Run("e").open(None),
    ]
    await asyncio.gather(*map(store.submit, asked))
    listed = await SqliteSearch(store).runs(
        statuses=(), roots_only=False, limit=9, before=None, workspace=None
    )
    assert [row.id for row in reversed(listed)] == ["a", "d", "e"]


async def test_what_is_committed_here_is_announced_once(store: SqliteStore) -> None:
    """With its commit, in the order of commits; failed units announce nothing."""
    heard: list[tuple[str, bool]] = []
    store.listen(
        lambda change: heard.extend((run, store.stored(run) is not None) for run in change.runs)
    )
    parent = Run("a")
    await asyncio.gather(
        store.submit(parent.open()),
        store.submit(parent.step(writes=(Run("child", parent=parent).new,))),
    )
    lost = Append(run="a", epoch=1, writes=(Run("never").new, Run("a", given="another").new))
    await asyncio.gather(
        store.submit(parent.post()),
        store.submit(parent.step()),
        store.submit(lost),
        return_exceptions=True,
    )
    assert heard == [("a", True), ("child", True), ("a", True)]
