"""Own words of a running process: taken up whole or not at all, pinned by what is decided with
them, kept as long as somebody names them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ordain.app import Extras, Ordain
from ordain.cli.archive import open_archive
from ordain.contracts.catalog import Catalog
from ordain.contracts.profiles import ModelProfile
from ordain.journal.folds import ending
from ordain.journal.records import Status
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore
from ordain.wording.languages import shipped_table
from ordain.wording.table import Table
from ordain.wording.wording import compiled, wording_of
from tests.at_once import at_once
from tests.replay.mutate import begun_with
from tests.shapes.lines import asks, script_of
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import House

SESSION = "s"
NONSENSE = "knofi"
SHIPPED = compiled(shipped_table()).id
ASKING = script_of(asks("find out whether", "yes_no"))


def write(home: Path, text: str, name: str = "own.toml") -> Path:
    """A file of one's own words."""
    (home / "wording").mkdir(exist_ok=True)
    file = home / "wording" / name
    file.write_text(text, encoding="utf-8")
    return file


def running(home: Path) -> Ordain:
    """An Ordain over the folder whose model says hello."""
    (home / "ordain.toml").write_text("[verbs]\nwatch_ms = 0\n", encoding="utf-8")
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    settings = load_settings({}, home).model_copy(update={"profiles": {"default": profile}})
    model = ScriptedModel(make_script(verbs={"chat_general": [{"content": "Hello."}] * 50}))
    return Ordain(settings, extras=Extras(models={"default": model}))


def decisions(ordain: Ordain) -> list[dict[str, Any]]:
    """What was decided about each message."""
    entries = at_once(
        ordain.runtime.services.sessions.entries("default", SESSION, after=0, limit=100)
    )
    return [json.loads(entry.decision) for entry in entries if entry.decision is not None]


def tables(ordain: Ordain) -> set[str]:
    """What is stored that is no catalog."""
    return {
        digest
        for digest, encoded in ordain.store.query("SELECT digest, bytes FROM catalogs")
        if b'"policy"' not in encoded
    }


async def test_own_words_are_taken_up_and_pinned(tmp_path: Path) -> None:
    """A phrase that is written while the process runs is understood from the next message on, and
    each decision says what it was read with.
    """
    async with running(tmp_path) as ordain:
        assert (await ordain.chat(NONSENSE, session=SESSION)).attached == "new_request"
        write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}'\n")
        assert (await ordain.reload()).changed
        assert (await ordain.chat(NONSENSE, session=SESSION)).attached == "filler"
        first, second = decisions(ordain)
        assert (first["wording"], second["wording"]) == (SHIPPED, ordain.runtime.catalog.wording_id)
        assert second["wording"] != SHIPPED
        assert second["catalog"] == ordain.runtime.catalog.digest
        assert tables(ordain) == {
            shipped_table().digest,
            ordain.runtime.catalog.wording_id.partition(":")[2],
        }
        pinned = ordain.runtime.services.catalogs.pinned
        assert (
            wording_of(await pinned(first["catalog"])).cues(NONSENSE).filler,
            wording_of(await pinned(second["catalog"])).cues(NONSENSE).filler,
        ) == (0, 2)


async def test_a_broken_file_leaves_the_words_of_before(tmp_path: Path) -> None:
    """What cannot be used is a problem with file and line, and every phrase goes on meaning what it
    meant.
    """
    file = write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}'\n")
    async with running(tmp_path) as ordain:
        before = ordain.runtime.catalog
        file.write_text("[phrases]\nthank = 'x'\n", encoding="utf-8")
        failed = await ordain.reload()
        (problem,) = failed.problems
        assert (failed.ok, failed.changed, problem.code, problem.file, problem.line) == (
            False,
            False,
            "invalid_wording",
            str(file),
            2,
        )
        assert ordain.runtime.catalog is before
        assert (await ordain.chat(NONSENSE, session=SESSION)).attached == "filler"


async def test_the_watch_sees_own_words(tmp_path: Path) -> None:
    """The same look at the files that finds a changed verb finds a changed phrase."""
    async with running(tmp_path) as ordain:
        assert ordain.runtime.reloader is not None
        watching = asyncio.ensure_future(ordain.runtime.reloader.watch(0.01))
        write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}'\n")
        async with asyncio.timeout(10):
            while ordain.runtime.catalog.wording_id == SHIPPED:  # noqa: ASYNC110 - a reload tells nobody
                await asyncio.sleep(0.01)
        watching.cancel()


async def test_a_table_is_kept_as_long_as_a_catalog_names_it(tmp_path: Path) -> None:
    """Of tables that nobody used nothing is left; one that a stored catalog names stays, and is
    stored once.
    """
    async with running(tmp_path) as ordain:
        await ordain.chat("hello", session=SESSION)
        for number in range(4):
            write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}{number}'\n")
            await ordain.reload()
        used = ordain.runtime.catalog.wording_id.partition(":")[2]
        assert tables(ordain) == {shipped_table().digest, used}
        await ordain.chat("hello", session=SESSION)
        (tmp_path / "verbs").mkdir()
        (tmp_path / "verbs" / "note.md").touch()
        write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}9'\n")
        await ordain.reload()
        assert tables(ordain) == {
            shipped_table().digest,
            used,
            ordain.runtime.catalog.wording_id.partition(":")[2],
        }


class Swapping:
    """A store before which, as soon as something is submitted, another catalog becomes current."""

    def __init__(self, ordain: Ordain, other: Catalog) -> None:
        self._store, self._catalogs, self._other = (
            ordain.runtime.services.store,
            ordain.runtime.services.catalogs,
            other,
        )

    async def submit(self, unit: Any) -> Any:
        self._catalogs.swap(self._other)
        return await self._store.submit(unit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_a_message_is_decided_under_the_catalog_it_was_read_with(tmp_path: Path) -> None:
    """Another catalog that becomes current between reading a message and deciding about it changes
    neither its cues nor what is pinned.
    """
    async with running(tmp_path) as ordain:
        before, services = ordain.runtime.catalog, ordain.runtime.services
        table = Table.of([("thanks", [NONSENSE])])
        data = before.data.model_copy(update={"wording": f"1:{table.digest}", "node": "other"})
        services.store = Swapping(ordain, Catalog(data, {table.digest: table.encoded}.get))
        answer = await ordain.chat(NONSENSE, session=SESSION)
        (told,) = decisions(ordain)
        assert ordain.runtime.catalog.digest != before.digest
        assert (told["catalog"], told["wording"]) == (before.digest, before.wording_id)
        assert told["facts"]["cues"].get("filler", 0) == 0
        run = ordain.store.stored(str(answer.run_id))
        assert run is not None
        assert run.catalog == before.digest
        assert ordain.store.kept_catalog(before.digest) == before.encoded


async def test_everything_replays_after_the_words_have_changed(tmp_path: Path) -> None:
    """Sessions and runs that were read with own words verify when those have gone, and the diff
    names what would be read otherwise.
    """
    file = write(tmp_path, f"[phrases]\nthanks = '{NONSENSE}'\n")
    async with running(tmp_path) as ordain:
        await ordain.chat(NONSENSE, session=SESSION)
        await ordain.chat("hello there", session=SESSION)
    file.unlink()
    async with running(tmp_path) as ordain:
        await ordain.chat(NONSENSE, session=SESSION)
    with open_archive(tmp_path) as archive:
        assert [
            (one.verdict, one.decisions)
            for one in [
                await archive.retell(*named)
                for named in await archive.runtime.search.every_session()
            ]
        ] == [("equal", 3)]
        assert {(await archive.replay(run)).verdict for run in await archive.runs()} == {"equal"}
        wording = wording_of(ordain.catalog)
        (report,) = await archive.messages(wording)
        assert (
            report.judged,
            [
                (flip.address, flip.recorded.split()[0], flip.now.split()[0])
                for flip in report.flips
            ],
        ) == (
            3,
            [("1/attach", "attach.filler", "attach.new_request")],
        )


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("known", [False, True])
async def test_an_open_question_is_read_with_the_words_it_was_asked_under(
    tmp_path: Path, known: bool, restarted: bool
) -> None:
    """A word that came since is no answer, and the question stays open; one that has gone since
    still is, and its run finds the same.
    """
    (home := tmp_path / "home").mkdir()
    file, words = home / "wording" / "own.toml", f"[phrases]\nyes = '{NONSENSE}'\n"
    if known:
        write(home, words)
    async with House(home, script=ASKING) as house:
        sent = await house.send("find out whether it is so", mode="agent")
        await house.until("it is asked", lambda: house.so_far(sent).question)
        file.unlink() if known else write(home, words)
        if restarted:
            await house.reopen()
        assert restarted or (await house.ordain.reload()).changed
        told = await house.say(NONSENSE)
        assert told.attached == ("answer_to_pending" if known else "filler")
        if not known:
            assert house.query("SELECT status FROM runs WHERE flow = 'question'") == [
                (Status.WAITING,)
            ]
            assert (await house.say("yes")).attached == "answer_to_pending"
        await house.told(sent)
        (run,) = (
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs WHERE flow = 'question'")
        )
        assert run is not None
        ended = ending(run.records)
        assert ended is not None
        assert (run.status, json.loads(bytes(ended.result))["output"]["value"]) == (
            Status.COMPLETED,
            True,
        )
        assert (await house.ordain.runtime.services.sessions.threads("default", "s1", limit=9))[
            -1
        ].slots == {"told": True}


async def test_a_run_is_not_gone_on_with_under_other_words_than_it_began_with(
    tmp_path: Path,
) -> None:
    """Where its first record and its catalog name two wordings it stops as diverged, and says so,
    when it is resumed.
    """
    async with House(tmp_path / "home", script=ASKING) as house:
        await house.say("find out whether it is so", mode="agent")
        await house.kill()
        with closing(
            journal_of(sqlite3.connect(house.settings.home / FILE, isolation_level=None))
        ) as database:
            ((number, run),) = database.execute(
                "SELECT no, id FROM runs WHERE flow = 'question'"
            ).fetchall()
            store = SqliteStore(house.settings.home)
            stored = store.stored(run)
            store.close()
            assert stored is not None
            for record in begun_with(stored, "1:another").records:
                changed = (record.body, record.digest, record.chain, number, record.seq)
                database.execute(
                    "UPDATE journal SET body = ?, digest = ?, chain = ? WHERE run = ? AND seq = ?",
                    changed,
                )
        await house.open()
        assert await house.ordain.runtime.operators.answer(run, 0, "yes", by="ada") == "sent"
        await house.until("it stops", lambda: house.over(run))
        assert house.status(run) is Status.DIVERGED


@pytest.mark.parametrize("name", ["own.yaml", "own.yml"])
async def test_a_file_in_another_format_is_named(tmp_path: Path, name: str) -> None:
    """What somebody meant as words and cannot be read is not passed over."""
    async with running(tmp_path) as ordain:
        write(tmp_path, "stop: halt\n", name)
        (problem,) = (await ordain.reload()).problems
        assert name in problem.message
