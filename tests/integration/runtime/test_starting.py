"""Starting and stopping: what is opened is closed, whatever fails, and what goes on beside the runs
goes on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from ordain.contracts.library import MemorySearch, NoteRequest, RecallMode
from ordain.errors import ConfigurationError, Conflict, StorageUnavailable, Transient
from ordain.ports.store import Change, Operation
from ordain.runtime import background
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run

Refusing = Callable[[int, str, str], AbstractContextManager[None]]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Refusing:
    """A storage that cannot do one thing, as a full disk cannot: SQLite itself refuses it on every
    connection that is opened meanwhile.
    """
    connect = sqlite3.connect

    @contextmanager
    def refuse(action: int, table: str, column: str) -> Iterator[None]:
        def allowed(done: int, first: str | None, second: str | None, *_: str | None) -> int:
            return (
                sqlite3.SQLITE_DENY
                if (done, first, second or "") == (action, table, column)
                else sqlite3.SQLITE_OK
            )

        def connected(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_authorizer(allowed)
            return connection

        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", connected)
            yield

    return refuse


async def left_behind(home: Path, *, run: bool = False, upload: bool = False) -> None:
    """What a process leaves that died: a run that it had opened, and an upload of which a part was
    stored.
    """
    store = SqliteStore(home, StoreOptions(holder="before"))
    if run:
        await store.submit(Run("a").open())
    if upload:
        item = dict.fromkeys(
            ("title", "theme", "mood", "media_type", "author", "run", "key", "digest"), ""
        )
        item |= {
            "workspace": "default",
            "id": "cut-off",
            "kind": "document",
            "tags": "[]",
            "trust": "foreign",
            "source": "a.txt",
        }
        began = await store.submit(
            Operation(
                name="library_begin",
                args={"item": {**item, "size": 1, "pages": 0, "created_at": 1}},
            )
        )
        passages = [(0, 0, 0, 9, "", "zebrafink", None)]
        filling = {
            "no": began.seq,
            "passages": passages,
            "keep": False,
            "at": 1,
            "embedder": "",
            "dimension": 0,
        }
        assert (await store.submit(Operation(name="library_fill", args=filling))).refused == ""
    store.close()


async def test_a_start_that_fails_leaves_nothing_open(tmp_path: Path, refusing: Refusing) -> None:
    """A start that storage stops half-way lets go of the folder: the next one, in the same process,
    succeeds, also of the same Ordain.
    """
    await left_behind(tmp_path, run=True)
    ordain = Ordain(home=tmp_path)
    tasks = asyncio.all_tasks()
    with refusing(sqlite3.SQLITE_UPDATE, "runs", "resumes"):
        for _ in range(2):
            with pytest.raises(Transient) as failed:
                await ordain.start()
            assert failed.value.code != "lock_held"
            await ordain.stop()
    assert asyncio.all_tasks() == tasks
    async with Ordain(home=tmp_path) as other:
        assert (await other.execute("math.evaluate", {"expression": "1 + 1"})).wire["ok"]
    async with ordain:
        assert (await ordain.execute("math.evaluate", {"expression": "1 + 1"})).wire["ok"]


async def test_a_cut_off_upload_stops_no_start(
    tmp_path: Path, refusing: Refusing, caplog: pytest.LogCaptureFixture
) -> None:
    """Where storage cannot delete what an upload left, the start says so and goes on without; reads
    go on, and the next start deletes it.
    """
    await left_behind(tmp_path, upload=True)
    with refusing(sqlite3.SQLITE_DELETE, "passages", ""):
        async with Ordain(home=tmp_path) as ordain:
            assert "the next start deletes it" in caplog.text
            assert await ordain.runtime.library.documents("default", limit=9, before=None) == []
            found = await ordain.runtime.library.search(
                "default", MemorySearch(query='"zebrafink"', mode=RecallMode.DEEP)
            )
            assert found.fragments == ()
            await ordain.runtime.library.add_note("default", NoteRequest(text="Tea at five."))
            assert ordain.store.query("SELECT count(*) FROM passages") == [(2,)]
    async with Ordain(home=tmp_path) as ordain:
        assert ordain.store.query("SELECT count(*) FROM passages") == [(1,)]
    assert b"zebrafink" not in (tmp_path / FILE).read_bytes()


async def test_what_listens_to_other_processes_goes_on_after_a_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A defect while one piece of news is passed on is told with its traceback, and the news is
    passed on again.
    """
    monkeypatch.setattr(background, "FIRST_PAUSE_S", 0.01)
    heard: list[str] = []
    both = asyncio.Event()

    def hear(change: Change) -> None:
        heard.extend(change.runs)
        if len(heard) == 1:
            raise RuntimeError("a defect in hearing")
        both.set()

    store = SqliteStore(tmp_path, StoreOptions(holder="engine"))
    store.listen(hear)
    looking = asyncio.create_task(
        background.keep_going("looking for what other processes wrote", store.poll)
    )
    guest = SqliteStore(tmp_path)
    await guest.submit(Run("from-outside").open())
    guest.close()
    await asyncio.wait_for(both.wait(), 60)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    store.close()
    assert heard[:2] == ["from-outside"] * 2
    assert "RuntimeError: a defect in hearing" in caplog.text


async def test_stopping_what_is_not_open_does_nothing(tmp_path: Path) -> None:
    """Before the first start, and a second time, there is nothing to stop; nobody who started
    meanwhile is disturbed.
    """
    ordain = Ordain(home=tmp_path)
    await ordain.stop()
    async with ordain:
        pass
    async with Ordain(home=tmp_path) as other:
        await ordain.stop()
        assert (await other.execute("math.evaluate", {"expression": "1 + 1"})).wire["ok"]


async def test_a_stop_that_fails_closes_all_the_same(tmp_path: Path) -> None:
    """What fails while stopping is told to whoever stops; every model is closed nevertheless, and
    the store.
    """
    closed = list[str]()

    class Stuck:
        """The part of a model's adapter that is closed."""

        async def close(self) -> None:
            closed.append("stuck")
            raise StorageUnavailable("it does not close")

    ordain = await Ordain(home=tmp_path).start()
    ordain.models = {**ordain.models, "stuck": Stuck(), "as stuck": Stuck()}  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(StorageUnavailable, match="does not close"):
        await ordain.stop()
    assert closed == ["stuck"] * 2
    async with Ordain(home=tmp_path):
        pass


async def test_one_that_runs_is_not_started_again(tmp_path: Path) -> None:
    """Entering it twice is told as that, and the one that runs goes on."""
    async with Ordain(home=tmp_path) as ordain:
        with pytest.raises(Conflict, match="runs already") as refused:
            await ordain.start()
        assert refused.value.code == "not_alone"
        assert (await ordain.execute("math.evaluate", {"expression": "1 + 1"})).wire["ok"]


def test_what_is_no_verb_is_refused_as_one(tmp_path: Path) -> None:
    """A function without its decorator is told what it lacks."""
    with pytest.raises(ConfigurationError, match="print is no verb: put @verb before it"):
        Ordain(home=tmp_path, verbs=[print])  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
