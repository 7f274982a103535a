"""Erasure over the whole storage: no table and no byte of its files has the ids of what was erased,
but where the docs say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.library import NoteRequest
from ordain.contracts.verbs import VerbRequest
from ordain.runtime.configuration import Applied, RecordChange
from ordain.testing import call, fails, finish
from tests.contract.test_sessions_erased import holding
from tests.shapes.lines import about, asks, holds, script_of, steps
from tests.shapes.talk import House

SESSION, REQUEST = "tel:zanzibar-4711", "mail-of-zanzibar"
USERS = ("ada-of-zanzibar", "bob-of-zanzibar")
SAID = "the boiler of zanzibar"
IDS = (SESSION, REQUEST, *USERS)
DRAFT = {"template": "draft_email", "args": {"to": ["a@example.org"], "subject": "s", "body": SAID}}
SCRIPT = script_of(
    holds("slowly"),
    asks("which place", "location"),
    steps(
        call("collapse.write_entry", text=SAID, theme="warm"),
        finish("written"),
        when=about("write"),
    ),
).on("planner", fails("rejected"), when=about("fail"))
POLICY: dict[str, dict[str, Any]] = {
    "budget": {"session": {"tokens": 9_000_000, "per": "ever"}},
    "history": {"max_entries": 12, "keep_entries": 6},
}


async def lively(house: House) -> None:
    """A session of two users with all that a session can leave behind: answers, overrides, entries,
    drafts, a pin, a summary, an account.
    """
    for config in ({"profile": "none"}, None):  # and nothing is pinned any more
        pin = RecordChange(
            place="default", resource="policy", id=f"profile-pin:session:{SESSION}", config=config
        )
        assert isinstance(await house.ordain.runtime.control.change(pin, by="op"), Applied)
    speaking = 0

    async def say(text: str, **more: Any) -> Any:
        nonlocal speaking
        speaking += 1
        sent = await house.send(text, SESSION, **{"user": USERS[speaking % 2], **more})
        await house.quiet()
        return house.so_far(sent)

    await say(f"tell me about {SAID}", recall={"enabled": True})
    asked = await say(f"find out which place {SAID} is close to", user=USERS[0], mode="agent")
    await say("Dar es Salaam", user=USERS[0], reply_to=asked.question.message_id)
    await say(f"tell me slowly about {SAID}", mode="agent")
    await say("any luck?")
    await say(f"use {SAID} slowly instead", mode="agent")
    await say("stop")
    await say(f"fail at {SAID}", mode="agent")
    await say("please write of it", mode="agent", allowed_verbs=["collapse.write_entry"])
    await say("d", workflow=DRAFT)
    for _ in range(4):
        await say(f"tell me more about {SAID}")


def in_files(home: Path, house: House) -> dict[str, int]:
    """How often each id stands in the files beyond what the ledger says of it, once the log is
    empty; what never does is left out.
    """
    assert house.ordain.store.writer._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (
        0,
        0,
        0,
    )
    files = b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())
    ledger = b"".join(items for (items,) in house.query("SELECT items FROM ledger"))
    return {
        one: times
        for one in (*IDS, SAID)
        if (times := files.count(one.encode()) - ledger.count(one.encode())) > 0
    }


async def test_no_byte_of_the_storage_names_what_was_erased(tmp_path: Path) -> None:
    """Erased ids of a session, a request and whoever spoke stand in no table and no byte of the
    files, log included; the ledger alone has the session's.
    """
    home = tmp_path / "home"
    async with House(home, script=SCRIPT, policy=POLICY) as house:
        await house.say("hello", "other", user="somebody")
        await lively(house)
        asked = VerbRequest(
            verb_id="math.evaluate", payload={"expression": "1"}, caller="test", request_id=REQUEST
        )
        accepted = await house.ordain.runtime.accept(asked, "local:test")
        await house.ordain.runtime.wait(accepted.run)
        assert {
            "items.session",
            "sessions.id",
            "sessions.user",
            "transcript.author",
            "runs.session",
            "accounts.name",
            "requests.request_id",
        } <= {place for one in IDS for place in holding(house, one)}
        assert set(in_files(home, house)) == {*IDS, SAID}
        await house.ordain.runtime.operators.erase_session(SESSION, by="op", why="asked to")
        await house.ordain.runtime.operators.erase(accepted.run, by="op", why="asked to")
        assert {one: places for one in (*IDS, SAID) if (places := holding(house, one))} == {
            SESSION: ["ledger.items"]
        }
        assert in_files(home, house) == {}


async def test_a_note_of_ones_own_outlives_the_session(tmp_path: Path) -> None:
    """Erasing a session takes what its runs wrote; what its users said to memory themselves is
    theirs, and is forgotten by itself, with their names.
    """
    async with House(tmp_path / "home", script=SCRIPT, policy=POLICY) as house:
        kept = await house.ordain.runtime.library.add_note(
            "default", NoteRequest(text=SAID, user_id=USERS[0])
        )
        await house.say(
            "please write of it",
            SESSION,
            user=USERS[0],
            mode="agent",
            allowed_verbs=["collapse.write_entry"],
        )
        await house.ordain.runtime.operators.erase_session(SESSION, by="op", why="asked to")
        assert holding(house, USERS[0]) == ["items.author"]
        await house.ordain.runtime.library.forget("default", kept.id, by="op")
        assert holding(house, USERS[0]) == []


async def test_what_builds_before_left_goes_at_the_next_start(tmp_path: Path) -> None:
    """Items that are gone and still name their session name none after a start; what is kept keeps
    it.
    """
    house = House(tmp_path / "home", script=SCRIPT)
    await house.open()
    for _ in range(2):
        await house.say(
            "please write of it", SESSION, mode="agent", allowed_verbs=["collapse.write_entry"]
        )
    ((first,), (second,)) = house.query("SELECT id FROM items ORDER BY no")
    await house.ordain.runtime.library.forget("default", first, by="op")
    assert house.query("SELECT id, session FROM items ORDER BY no") == [
        (first, ""),
        (second, SESSION),
    ]
    with house.ordain.store.writer._db as db:
        db.execute("UPDATE items SET session = ? WHERE id = ?", (SESSION, first))
    await house.reopen()
    assert house.query("SELECT id, session FROM items ORDER BY no") == [
        (first, ""),
        (second, SESSION),
    ]
    await house.kill()
