"""A data folder as it lies."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

import ordain.cli.archive as ordain_cli_archive
import ordain.runtime.diff as ordain_runtime_diff
import ordain.runtime.replay as ordain_runtime_replay
from ordain import Ordain
from ordain.cli.archive import open_archive
from ordain.cli.replay import retelling
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.runtime.diff import TriedPolicy
from ordain.runtime.store_replay import LedgerKnows
from ordain.runtime.transcript_replay import Retold
from ordain.store.folder import FILE
from ordain.store.sessions import SqliteSessions
from ordain.testing import with_policy
from ordain.wording.wording import wording_of

TURNS = 3


async def test_each_run_of_a_conversation_is_made_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a prompt says of the session is read where it is asked for: a replay, and a comparison
    under which nothing changes, go through each run once, however much its prompts refer to.
    """
    async with Ordain(home=tmp_path) as ordain:
        for number in range(TURNS):
            said = {"sessionId": "s", "userId": "ada", "message": {"text": f"Tell me of {number}"}}
            await ordain.answer(await ordain.send(said))
    gone_through = list[str]()

    def counted(module: Any) -> None:
        through = module.flow_outcome

        def counting(setup: Any, *given: Any) -> Any:
            gone_through.append(setup.run)
            return through(setup, *given)

        monkeypatch.setattr(module, "flow_outcome", counting)

    counted(ordain_runtime_replay)
    counted(ordain_runtime_diff)
    with open_archive(tmp_path) as archive:
        runs = await archive.runs()
        assert len(runs) > TURNS
        replayed = [await archive.replay(run) for run in runs]
        assert [one for one in replayed if not one.equal] == []
        assert sorted(gone_through) == sorted(runs)
        gone_through.clear()
        for root in await archive.runs(roots_only=True):
            stored = archive.store.stored(root)
            assert stored is not None
            pinned = await archive.runtime.services.catalogs.pinned(stored.catalog)
            (compared,) = await archive.diffs((root,), TriedPolicy(pinned.policy))
            assert compared.verdict == "compared"
        assert sorted(gone_through) == sorted(runs)


async def test_a_child_that_was_taken_out_is_named(tmp_path: Path) -> None:
    """Its parent's journal tells of it, and no erasure takes a run's row: who compares all does not
    pass over it, as if it had never been.
    """
    async with Ordain(home=tmp_path) as ordain:
        said = {"sessionId": "s", "userId": "ada", "message": {"text": "Tell me of it"}}
        await ordain.answer(await ordain.send(said))
    with closing(connect(tmp_path / FILE)) as db, db:
        ((child,),) = db.execute("DELETE FROM runs WHERE parent IS NOT NULL RETURNING id")
    with open_archive(tmp_path) as archive:
        (root,) = await archive.runs(roots_only=True)
        stored = archive.store.stored(root)
        assert stored is not None
        pinned = await archive.runtime.services.catalogs.pinned(stored.catalog)
        (compared,) = await archive.diffs((root,), TriedPolicy(pinned.policy))
    assert [(one.run, one.verdict) for one in compared.children] == [(child, "journal_corrupt")]


@pytest.mark.parametrize("compared", [True, False])
async def test_what_is_erased_meanwhile_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    """Runs and what their prompts refer to are of one commit, whatever a server erases between: no
    run that was sound passes for damaged.
    """
    async with Ordain(home=tmp_path) as ordain:
        for number in range(TURNS):
            said = {"sessionId": "s", "userId": "ada", "message": {"text": f"Tell me of {number}"}}
            await ordain.answer(await ordain.send(said))
        pinned = ordain.runtime.services.catalogs.current
    other = with_policy(pinned, {"lanes": {"verb": "brain"}}).policy
    name = "diff" if compared else "replay"
    made = getattr(ordain_cli_archive, name)

    def erased_first(*given: Any, **more: Any) -> Any:
        with closing(connect(tmp_path / FILE)) as db, db:
            db.execute("UPDATE transcript SET body = NULL")
        return made(*given, **more)

    monkeypatch.setattr(ordain_cli_archive, name, erased_first)
    with open_archive(tmp_path) as archive:
        runs = await archive.runs(roots_only=compared)
        if compared:
            diffs = await archive.diffs(runs, TriedPolicy(other))
            said_of = {one.verdict for diff in diffs for one in (diff, *diff.children)}
        else:
            said_of = {one.verdict for one in await archive.replays(runs)}
    assert said_of == {"compared" if compared else "equal"}


async def test_answers_are_read_again_as_of_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another wording as by another policy: what a run refers to is not erased between."""
    async with Ordain(home=tmp_path) as ordain:
        said = {"sessionId": "s", "userId": "ada", "message": {"text": "Tell me of it"}}
        await ordain.answer(await ordain.send(said))
        wording = wording_of(ordain.runtime.services.catalogs.current)
    made, seen = ordain_cli_archive.answers_read, list[object]()

    def erased_first(*given: Any) -> Any:
        with closing(connect(tmp_path / FILE)) as db, db:
            db.execute("UPDATE transcript SET body = NULL")
        seen.append(given[-1]("s", 1, 9))
        return made(*given)

    monkeypatch.setattr(ordain_cli_archive, "answers_read", erased_first)
    with open_archive(tmp_path) as archive:
        before = archive.sessions.texts_here(DEFAULT_WORKSPACE, "s", 1, 9)
        (root,) = await archive.runs(roots_only=True)
        await archive.answers(root, wording)
        assert seen == [before]
        assert archive.sessions.texts_here(DEFAULT_WORKSPACE, "s", 1, 9) != before


async def test_a_session_that_is_erased_once_it_was_named_is_not_missing(tmp_path: Path) -> None:
    """Its id is gone with it, and the ledger that holds knows of that: it is told as erased. One
    that is gone without the ledger's word is missing.
    """
    async with Ordain(home=tmp_path) as ordain:
        for session in ("stays", "goes"):
            said = {"sessionId": session, "userId": session, "message": {"text": "Tell me"}}
            await ordain.answer(await ordain.send(said))
        with open_archive(tmp_path) as archive:
            ledgered, known = await archive.held_to_ledger()
            named = await archive.runtime.search.every_session()
        assert (ledgered.verdict, len(named)) == ("equal", 2)
        await ordain.runtime.operators.erase_session("goes", by="test", why="asked")
    found = await asyncio.to_thread(retold, tmp_path, named, known)
    assert {told.session: told.verdict for told in found} == {"stays": "equal", "goes": "erased"}
    with closing(connect(tmp_path / FILE)) as db, db:
        db.execute("DELETE FROM sessions WHERE id = 'stays'")
    gone = await asyncio.to_thread(retold, tmp_path, named, known)
    assert "equal" not in {told.verdict for told in gone}
    assert not any(told.verifies for told in gone if told.session == "stays")


async def test_a_session_that_goes_on_is_told_as_of_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said in it between what is read of it, and of the ledger: it verifies."""
    loop, read, said = asyncio.get_running_loop(), SqliteSessions.session, list[int]()
    async with Ordain(home=tmp_path) as ordain:

        async def say() -> None:
            said.append(len(said))
            message = {"text": f"Tell me of {len(said)}"}
            sent = {"sessionId": "s", "userId": "ada", "message": message}
            await ordain.answer(await ordain.send(sent))

        async def said_between(self: SqliteSessions, *named: str) -> Any:
            found = await read(self, *named)
            if asyncio.get_running_loop() is not loop:  # who tells it, and not who answers in it
                asyncio.run_coroutine_threadsafe(say(), loop).result()
            return found

        await say()
        with open_archive(tmp_path) as archive:
            _, known = await archive.held_to_ledger()
        await say()
        monkeypatch.setattr(SqliteSessions, "session", said_between)
        (told,) = await asyncio.to_thread(retold, tmp_path, [(DEFAULT_WORKSPACE, "s")], known)
    assert (told.verdict, told.differences) == ("equal", [])
    assert len(said) > 2


def retold(
    home: Path, sessions: Sequence[tuple[str, str]], known: LedgerKnows | None
) -> Sequence[Retold]:
    """As ``ordain replay --all`` tells these sessions, named and held to the ledger before."""
    with retelling(home, known) as told:
        return told(sessions)
