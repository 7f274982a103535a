"""The HTTP face where a run's records cannot be read: whose run that is nobody else learns, and
what else there is stays within reach.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from ordain import Ordain
from ordain.server import Face, build_app
from tests.shapes.stored_journal import journal_of

DAMAGE = {
    "a row": (
        (
            "UPDATE journal SET kind = 'zzz' WHERE run = (SELECT no FROM runs WHERE id = ?) AND "
            "seq = 2"
        ),
    ),
    "a body": ("UPDATE journal SET body = x'7b' WHERE run = (SELECT no FROM runs WHERE id = ?)",),
    "a status": ("UPDATE runs SET status = 'zzz' WHERE id = ?",),
}
MESSAGE = {"text_input": "hello", "session_id": "secret:ada", "message_id": "m1"}


@pytest.fixture
async def ordain(tmp_path: Path) -> AsyncIterator[Ordain]:
    async with Ordain(home=tmp_path) as ordain:
        yield ordain


@pytest.fixture
async def http(ordain: Ordain) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(
        build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
    )
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def damaged(ordain: Ordain, http: httpx2.AsyncClient, what: str = "a row") -> str:
    """A finished turn of which a record is damaged behind everybody's back."""
    run: str = (await http.post("/api/chat", json=MESSAGE)).json()["run_id"]
    assert ordain.store.folder is not None
    with journal_of(sqlite3.connect(ordain.store.folder / "ordain.db")) as db:
        for statement in DAMAGE[what]:
            db.execute(statement, (run,))
    db.close()
    return run


@pytest.mark.parametrize("what", list(DAMAGE))
@pytest.mark.parametrize("below", ["", "/journal", "/events"])
async def test_an_unreadable_run_of_another_workspace_is_not_there(
    ordain: Ordain, http: httpx2.AsyncClient, what: str, below: str
) -> None:
    """Who asks from another workspace is told what he is told of a run that there is not, and
    nothing of whose it is.
    """
    run = await damaged(ordain, http, what)
    elsewhere = {"Ordain-Workspace": "elsewhere"}
    told = await http.get(f"/runs/{run}{below}", headers=elsewhere)
    none = await http.get(f"/runs/{'f' * 32}{below}", headers=elsewhere)
    assert told.status_code == none.status_code == 404
    assert told.json() == {**none.json(), "detail": f"there is no run {run}"}


@pytest.mark.parametrize("what", ["a row", "a status"])
async def test_a_refusal_says_nothing_of_the_runs_place(
    ordain: Ordain, http: httpx2.AsyncClient, what: str
) -> None:
    """In its own workspace the run's row is known to be damaged, and the refusal carries no
    session, thread or workspace.
    """
    told = await http.get(f"/runs/{await damaged(ordain, http, what)}")
    assert (told.status_code, told.json()["code"]) == (500, "journal_corrupt")
    assert not {"session", "thread", "root", "workspace"} & told.json().keys()
    assert "secret" not in told.text


async def test_a_result_that_cannot_be_read_back_is_told_as_such(
    ordain: Ordain, http: httpx2.AsyncClient
) -> None:
    """A record that an older build wrote and none can read: the run says so, and its journal is
    still shown.
    """
    asked = {"verb_id": "math.evaluate", "payload": {"expression": "1 / 0"}, "request_id": "r1"}
    run = (await http.post("/verbs/execute", json=asked)).json()["run_id"]
    assert ordain.store.folder is not None
    with journal_of(sqlite3.connect(ordain.store.folder / "ordain.db")) as db:
        before = db.total_changes
        db.execute(
            "UPDATE journal SET body = CAST(json_set(CAST(body AS TEXT), '$.result.retryable', "
            "'30') AS BLOB) WHERE kind = 'observation'"
        )
        changed = db.total_changes - before
    db.close()
    assert changed == 1
    for told in (await http.get(f"/runs/{run}"), await http.post("/verbs/execute", json=asked)):
        assert (told.status_code, told.json()["code"]) == (409, "run_unreadable")
    assert (await http.get(f"/runs/{run}/journal")).status_code == 200


ORDERS = {
    "cancel": {"why": "x"},
    "resume": {"why": "x"},
    "resolve": {"effect": 1, "happened": True, "why": "x"},
    "answer": {"effect": 1, "value": "x"},
}


@pytest.mark.parametrize("what", ["a row", "a status"])
@pytest.mark.parametrize("order", list(ORDERS))
async def test_what_cannot_be_read_cannot_be_operated(
    ordain: Ordain, http: httpx2.AsyncClient, what: str, order: str
) -> None:
    """That a run cannot be read is how it stands, and no failure of the request: 409
    run_unreadable, as the document says.
    """
    refused = await http.post(
        f"/runs/{await damaged(ordain, http, what)}/{order}", json=ORDERS[order]
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "run_unreadable")
    assert "secret" not in refused.text


async def test_a_stored_reply_is_given_again(ordain: Ordain, http: httpx2.AsyncClient) -> None:
    """A message that is delivered again gets the reply that stands in the transcript, though its
    run cannot be read any more.
    """
    given = await http.post("/api/chat", json=MESSAGE)
    await damaged(ordain, http)
    again = await http.post("/api/chat", json=MESSAGE)
    assert again.status_code == 200
    assert (again.json()["reply"], again.json()["text"]) == (
        given.json()["reply"],
        given.json()["text"],
    )


@pytest.mark.parametrize("address", ["/sessions/secret:ada/erase", "/runs/{run}/erase"])
async def test_what_cannot_be_read_can_be_erased(
    ordain: Ordain, http: httpx2.AsyncClient, address: str
) -> None:
    """An unreadable record does not stand between a person and the erasure of what was said; a
    second time there is nothing left.
    """
    run = await damaged(ordain, http)
    erased = await http.post(address.format(run=run), json={"why": "the person asked for it"})
    assert (erased.status_code, erased.json()["outcome"]) == (200, "erased")
    assert erased.json()["records"] > 0
    left = "SELECT count(*) FROM {} WHERE body IS NOT NULL{}"
    assert ordain.store.query(left.format("transcript", "")) == [(0,)]
    assert ordain.store.query(left.format("records", " AND kind NOT IN ('ended', 'note')")) == [
        (0,)
    ]
    if address.startswith("/sessions"):  # its id was taken from it as well
        gone = await http.post(address, json={"why": "again"})
        assert (gone.status_code, gone.json()["code"]) == (404, "session_not_found")
        ((named,),) = ordain.store.query("SELECT id FROM sessions")
        address = f"/sessions/{named}/erase"
    assert (await http.post(address.format(run=run), json={"why": "again"})).json()["records"] == 0


async def test_the_note_of_an_erasure_hangs_on_a_run_that_can_be_read(
    ordain: Ordain, http: httpx2.AsyncClient
) -> None:
    """Where one thread's run cannot be read, who erased the session and why is kept with another
    one's.
    """
    readable: str = (await http.post("/api/chat", json={**MESSAGE, "message_id": "m0"})).json()[
        "run_id"
    ]
    assert await damaged(ordain, http) != readable
    assert (
        await http.post("/sessions/secret:ada/erase", json={"why": "she asked"})
    ).status_code == 200
    note = (await http.get(f"/runs/{readable}/journal")).json()["records"][-1]
    assert (note["kind"], note["body"]["action"], note["body"]["why"]) == (
        "note",
        "erase",
        "she asked",
    )


async def test_an_unreadable_run_that_goes_on_is_not_erased(
    ordain: Ordain, http: httpx2.AsyncClient
) -> None:
    """Erase waits for the run's end as it does for a readable one's."""
    run = await damaged(ordain, http)
    assert ordain.store.folder is not None
    with journal_of(sqlite3.connect(ordain.store.folder / "ordain.db")) as db:
        db.execute("UPDATE runs SET status = 'waiting' WHERE id = ?", (run,))
    db.close()
    refused = await http.post(f"/runs/{run}/erase", json={"why": "x"})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_at_rest")
