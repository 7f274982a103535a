"""A message whose place is found when its session has no room is refused as one that comes then,
and its id may be used again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain.errors import Refused
from ordain.runtime.store_replay import held_to_ledger
from ordain.runtime.transcript_replay import retell
from ordain.server import Face, build_app
from ordain.store.ledger_reads import SqliteLedger
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House

FULL: dict[str, Any] = {"attach": {"ask": "local"}, "session": {"max_active": 1, "max_open": 4}}
SLOW = script_of(holds("slowly"))
TABLES = (
    "sessions",
    "threads",
    "turns",
    "transcript",
    "runs",
    "records",
    "mailbox",
    "catalogs",
    "ledger",
)
OPEN = "hm right so suggest it"


async def busy(house: House) -> None:
    """One turn is at work in the session, which is as many as may be."""
    await house.send("work slowly on dogs")
    await house.quiet()


async def refused(house: House, **more: Any) -> None:
    """The message is refused as the session's, with when to come back."""
    with pytest.raises(Refused) as error:
        await house.say(OPEN, **{"id": "m2", **more})
    assert (error.value.code, error.value.status, bool(error.value.retry_after_s)) == (
        "session_busy",
        429,
        True,
    )


def counted(house: House) -> list[Any]:
    return [house.query(f"SELECT count(*) FROM {table}") for table in TABLES]


async def verified(house: House) -> None:
    """Every law holds, and everything replays, the transcript and the store's ledger too."""
    lawful(house.ordain, max_active=1)
    services = house.ordain.runtime.services
    report, known = await held_to_ledger(SqliteLedger(house.ordain.store))
    told = await retell(services.sessions, "default", "s1", services.catalogs.pinned, known)
    assert (report.differences, told.differences) == ([], [])


async def test_the_id_may_be_used_again(tmp_path: Path) -> None:
    """Refused while there is no room, the second time without a trace; then answered under its
    number, by what a model had said of it once.
    """
    async with House(tmp_path / "home", policy=FULL, script=SLOW) as house:
        await busy(house)
        await refused(house)
        await house.quiet()
        before = counted(house)
        await refused(house)
        assert counted(house) == before
        house.puppet.let_go()
        await house.quiet()
        sent = await house.send(OPEN, id="m2")
        assert (sent.seq, sent.duplicate) == (2, True)
        answer = await house.told(sent)
        assert (answer.attached, answer.reply is not None and answer.reply.ok) == (
            "new_request",
            True,
        )
        assert (await house.say(OPEN, id="m2")).run_id == answer.run_id
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'triage'") == [(1,)]
        await verified(house)


async def test_many_deliveries_at_once_are_placed_once(tmp_path: Path) -> None:
    """However many come again at once, one turn answers them all; with another content the id is
    refused as ever.
    """
    async with House(tmp_path / "home", policy=FULL, script=SLOW) as house:
        await busy(house)
        await refused(house)
        house.puppet.let_go()
        await house.quiet()
        answers = await asyncio.gather(*(house.say(OPEN, id="m2") for _ in range(20)))
        assert len({answer.run_id for answer in answers}) == 1
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'turn'") == [(2,)]
        with pytest.raises(Exception, match="another content"):
            await house.send("hm no suggest it not", id="m2")
        await verified(house)


async def test_http_says_so(tmp_path: Path) -> None:
    """429 with Retry-After and the code, as where a message is refused at once; the message itself
    can be looked at, and be sent again.
    """
    async with House(tmp_path / "home", policy=FULL, script=SLOW) as house:
        await busy(house)
        app = build_app(Face(runtime=house.ordain.runtime))
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://localhost"
        ) as http:
            message = {
                "sessionId": "s1",
                "userId": "ada",
                "messageId": "m2",
                "message": {"text": OPEN},
            }
            for _ in range(2):
                full = await http.post("/messages", json=message)
                assert (full.status_code, full.json()["code"], full.headers["retry-after"]) == (
                    429,
                    "session_busy",
                    "2",
                )
            shown = (await http.get("/sessions/s1/messages/2", params={"wait": 1})).json()
            assert (shown["attached"], shown["reply"]["ok"]) == ("session_busy", False)
            hub = await http.post(
                "/api/chat", json={"session_id": "s1", "user_id": "bob", "text_input": OPEN}
            )
            assert (hub.status_code, hub.json()["code"]) == (429, "session_busy")
            house.puppet.let_go()
            await house.quiet()
            answered = await http.post("/messages", json=message)
            assert (
                answered.status_code,
                answered.json()["duplicate"],
                answered.json()["reply"]["ok"],
            ) == (200, True, True)
