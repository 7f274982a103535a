"""What named what was erased is gone with it: session ids, request ids and the accounts that bear
them; the store still holds to its ledger.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import httpx2
import pytest

from ordain.contracts.verbs import VerbRequest
from ordain.journal.ledger import LedgerFold, items_of, next_row
from ordain.journal.ledger_items import COVERS, request_item
from ordain.ports.sessions import ThreadChange, ThreadStatus
from ordain.ports.store import Append, Operation
from ordain.runtime.configuration import Applied, RecordChange
from ordain.runtime.store_replay import held_to_ledger
from ordain.runtime.transcript_replay import retell
from ordain.runtime.upkeep import destroyed
from ordain.server import Face, build_app
from ordain.store.ledger import ledger_rows, standing_items
from ordain.store.ledger_reads import SqliteLedger
from ordain.testing import suggests
from tests.contract.test_sessions_erased import LIVELY, POLICY, holding, lively
from tests.shapes.lines import holds, script_of
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import House

NAMED = "telegram:chat:4711"


async def found(house: House) -> tuple[str, list[str]]:
    """What a replay of the whole store says: of the ledger, and of every session."""
    services = house.ordain.runtime.services
    report, known = await held_to_ledger(SqliteLedger(house.ordain.store))
    told = [
        await retell(services.sessions, workspace, session, services.catalogs.pinned, known)
        for workspace, session in await house.ordain.runtime.search.every_session()
    ]
    assert report.differences == []
    assert [one.differences for one in told] == [[]] * len(told)
    return report.verdict, [one.verdict for one in told]


@pytest.mark.parametrize("per", ["day", "ever"])
async def test_no_table_but_the_ledger_names_the_session(tmp_path: Path, per: str) -> None:
    """Neither sessions, runs, subjects nor accounts hold the id any more; a new session under it
    has all to itself, and both verify.
    """
    async with House(
        tmp_path / "home", policy={"budget": {"session": {"tokens": 9_000_000, "per": per}}}
    ) as house:
        await house.say("tell me about cats", NAMED)
        await house.say("tell me about dogs", NAMED + ":2026-01")
        assert {"sessions.id", "runs.session", "subjects.id", "accounts.name"} <= set(
            holding(house, NAMED + "#") + holding(house, NAMED)
        )
        await house.ordain.runtime.operators.erase_session(NAMED, by="op", why="asked to")
        places = (
            "SELECT id FROM sessions UNION ALL SELECT session FROM runs UNION ALL SELECT id FROM "
            "subjects UNION ALL SELECT name FROM accounts"
        )
        left = [name for (name,) in house.query(places) if NAMED in name]
        assert all(NAMED + ":2026-01" in name for name in left)
        assert len(set(left)) == 3
        assert await found(house) == ("equal", ["erased", "equal"])
        again = await house.say("tell me about birds", NAMED)
        assert (again.session_seq, again.reply is not None) == (1, True)
        assert await found(house) == ("equal", ["erased", "equal", "equal"])


async def test_a_sessions_pin_goes_with_its_name() -> None:
    """Every version of it: no other session under that name is pinned by it, another's pin stays,
    and the store holds to its ledger.
    """
    async with House() as house:
        control = house.ordain.runtime.control
        for session in (NAMED, NAMED + ":2"):
            for profile in ("one", "two", None, "three"):
                config = None if profile is None else {"profile": profile}
                change = RecordChange(
                    place="default",
                    resource="policy",
                    id=f"profile-pin:session:{session}",
                    config=config,
                )
                assert isinstance(await control.change(change, by="op"), Applied)
        await house.say("tell me about cats", NAMED)
        assert await found(house) == ("equal", ["equal"])
        await house.ordain.runtime.operators.erase_session(NAMED, by="op", why="asked to")
        assert house.query("SELECT DISTINCT id FROM configuration") == [
            (f"profile-pin:session:{NAMED}:2",)
        ]
        assert await found(house) == ("equal", ["erased"])
        again = await house.say("tell me about birds", NAMED)
        assert again.reply is not None
        assert again.reply.ok
        assert await found(house) == ("equal", ["erased", "equal"])


async def test_a_session_that_was_talked_in_long_is_renamed_slice_by_slice(tmp_path: Path) -> None:
    """Between any two slices, and after a kill there, the store holds to its ledger, and the id is
    another session's already.
    """
    house = House(tmp_path / "home", script=LIVELY, policy=POLICY)
    await house.open()
    await lively(house)
    begun = await house.ordain.store.submit(
        Operation(name="erase", args={"workspace": "default", "session": "s1", "at": 1})
    )
    assert await found(house) == ("equal", ["erased"])
    assert (await house.say("tell me about birds")).session_seq == 1
    slices, after = 0, None
    while True:
        made = await house.ordain.runtime.services.upkeep.erase(begun.seq, after)
        slices, after = slices + 1, made.after
        assert await found(house) == ("equal", ["erased", "equal"])
        if after is None:
            break
        await house.reopen()
    assert slices > 1
    ((named,),) = house.query("SELECT id FROM sessions WHERE id <> 's1'")
    assert house.query("SELECT DISTINCT session FROM runs ORDER BY session") == [(named,), ("s1",)]
    await house.kill()


async def test_what_changed_in_the_commit_of_its_erasure_verifies(tmp_path: Path) -> None:
    """A thread of which a turn said something in the same batch stands as it said, under the name
    that its session has since.
    """
    async with House(tmp_path / "home") as house:
        said, store = await house.say("tell me about cats"), house.ordain.store
        ((epoch,),) = house.query("SELECT epoch FROM runs WHERE id = ?", said.run_id)
        change = ThreadChange(id=1, session="s1", status=ThreadStatus.BLOCKED, at=2**50)
        commits = store.writer.commits
        erase = Operation(name="erase", args={"workspace": "default", "session": "s1", "at": 1})
        _, begun = await asyncio.gather(
            store.submit(Append(run=str(said.run_id), epoch=epoch, writes=(change,))),
            store.submit(erase),
            return_exceptions=False,
        )
        assert store.writer.commits == commits + 1
        assert await found(house) == ("equal", ["erased"])
        await destroyed(house.ordain.runtime.services.upkeep, begun.seq)
        assert house.query("SELECT status FROM threads") == [(ThreadStatus.BLOCKED,)]
        assert await found(house) == ("equal", ["erased"])


async def test_what_was_placed_anew_is_erased_and_verifies() -> None:
    """A message that a model placed stands on the ledger under the session's name of now; the same
    number under the old id is another message's.
    """
    script = script_of(holds("slowly")).on("triage", suggests("new_request"))
    async with House(script=script, policy={"attach": {"ask": "local"}}) as house:
        for _ in range(2):
            await house.send("tell me slowly about cats", mode="agent")
            await house.quiet()
            await house.say("hm right so suggest it")
            house.puppet.let_go()
            await house.quiet()
            assert (
                house.query("SELECT count(*) FROM transcript WHERE length(marks) > 32")[0][0] >= 1
            )
            await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
            assert (await found(house))[0] == "equal"


async def test_a_stopped_turn_says_nothing_in_the_session_after_it(tmp_path: Path) -> None:
    """What is erased once is not written into the session that begins under its id, and erasing
    that leaves the one before as it is.
    """
    async with House(tmp_path / "home") as house:
        await house.say("tell me about cats")
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        ((first,),) = house.query("SELECT id FROM sessions")
        await house.say("tell me about dogs")
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        names = [name for (name,) in house.query("SELECT id FROM sessions ORDER BY no")]
        assert names[0] == first
        assert len(set(names)) == 2
        assert await found(house) == ("equal", ["erased", "erased"])


async def test_no_face_names_it() -> None:
    """The list names nobody, the id leads nowhere, and a run says no session."""
    async with House() as house:
        said = await house.say("tell me about cats", NAMED)
        await house.ordain.runtime.operators.erase_session(NAMED, by="op", why="asked to")
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=house.ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            listed = await http.get("/sessions")
            (one,) = listed.json()["sessions"]
            assert (one["erased"], one["userId"]) == (True, "")
            run = await http.get(f"/runs/{said.run_id}")
            assert run.json()["session_id"] is None
            for answer in (
                listed,
                run,
                await http.get(f"/runs/{said.run_id}/journal"),
                await http.get(f"/sessions/{one['sessionId']}"),
            ):
                assert answer.status_code == 200
                assert NAMED not in answer.text
            assert (await http.get(f"/sessions/{NAMED}")).status_code == 404


@pytest.mark.parametrize("run_id", ["mail-of-ada", "r" * 200])
async def test_a_request_id_goes_with_its_run(run_id: str) -> None:
    """No table has it, the ledger neither, the store holds to that, and the id may be used
    again.
    """
    async with House() as house:
        for _ in range(2):
            asked = VerbRequest(
                verb_id="math.evaluate",
                payload={"expression": "1"},
                caller="test",
                request_id=run_id,
            )
            accepted = await house.ordain.runtime.accept(asked, "local:test")
            await house.ordain.runtime.wait(accepted.run)
            assert "requests.request_id" in holding(house, run_id)
            await house.ordain.runtime.operators.erase(accepted.run, by="op", why="asked to")
            assert holding(house, run_id) == []
            assert await found(house) == ("equal", [])


async def test_a_ledger_of_builds_before_goes_on(tmp_path: Path) -> None:
    """One that names requests, and says nothing of what erased runs still say, verifies as it is,
    and says it otherwise from the next start on.
    """
    house = House(tmp_path / "home")
    await house.open()
    asked = VerbRequest(
        verb_id="math.evaluate",
        payload={"expression": "1"},
        caller="test",
        request_id="mail-of-ada",
    )
    for again in (False, True):
        accepted = await house.ordain.runtime.accept(asked, "local:test")
        await house.ordain.runtime.wait(accepted.run)
        if not again:
            await house.ordain.runtime.operators.erase(accepted.run, by="op", why="asked to")
    await house.kill()
    with sqlite3.connect(tmp_path / "home" / "ordain.db") as db:
        items = [
            item
            for row in ledger_rows(db)
            for item in items_of(row.items)
            if item.what not in ("asked", "kept", "covers")
        ]
        key = db.execute("SELECT key FROM subjects WHERE key IS NOT NULL").fetchone()[0]
        request, content = db.execute(
            "SELECT request_id, digest FROM requests WHERE digest <> ''"
        ).fetchone()
        named = request_item("default", request, accepted.run, content, key)
        ((erased,),) = db.execute(
            "SELECT r.id FROM requests q JOIN runs r ON r.no = q.run WHERE q.digest = ''"
        ).fetchall()
        (was,) = db.execute("SELECT request_id FROM requests WHERE digest = ''").fetchone()
        row = next_row(
            None, [*items, COVERS, named, request_item("default", was, erased, "", None)]
        )
        db.execute("DELETE FROM ledger")
        db.execute("INSERT INTO ledger VALUES (?,?,?)", (row.no, row.items, row.chain))
        assert standing(db) == []
    db.close()
    await house.open()
    assert await found(house) == ("equal", [])
    rows = house.query("SELECT count(*) FROM ledger")[0][0]
    await house.reopen()
    assert house.query("SELECT count(*) FROM ledger")[0][0] == rows > 1
    await house.kill()


def standing(db: sqlite3.Connection) -> list[str]:
    """What is otherwise than the ledger has it."""
    fold = LedgerFold()
    for row in ledger_rows(db):
        fold.take(row)
    there = [one for item in standing_items(db) for one in fold.differing(item)]
    return [f"{one.place}: {one.now}" for one in (*there, *fold.missing())]


@pytest.mark.parametrize(
    "change",
    [
        (
            "UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'completed', 'failed') AS "
            "BLOB) WHERE kind = 'ended'"
        ),
        "UPDATE journal SET body = NULL WHERE kind = 'ended'",
        (
            "UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'asked to', 'lost') AS "
            "BLOB) "
            "WHERE kind = 'note'"
        ),
    ],
)
async def test_what_an_erased_run_still_says_is_on_the_ledger(tmp_path: Path, change: str) -> None:
    """Its header, its verdict and what was noted of it: their digests went with the key, and nobody
    changes them unseen.
    """
    home = tmp_path / "home"
    house = House(home)
    await house.open()
    said = await house.say("tell me about cats", NAMED)
    await house.ordain.runtime.operators.erase_session(NAMED, by="op", why="asked to")
    assert await found(house) == ("equal", ["erased"])
    await house.kill()
    with journal_of(sqlite3.connect(home / "ordain.db")) as db:
        db.execute(change)
        assert standing(db)[:1] == [f"run {said.run_id}: its header, verdict or notes are others"]
    db.close()
