"""The door: what faces may ask, what they are refused with which code, and that nobody waits for
what nobody will tell.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordain.errors import (
    Conflict,
    LeaseLost,
    NotFound,
    OrdainError,
    StorageUnavailable,
    Transient,
)
from ordain.flows.kinds import Kinds
from ordain.journal.records import Status, raw
from tests.unit.runtime.door_house import (
    KIND,
    PLAIN,
    WORD,
    Home,
    Question,
    Remark,
    refused,
)

# --- requests -------------------------------------------------------------------------------------


async def test_a_request_is_answered_by_the_kind_of_its_contract() -> None:
    """As its wire says; of a kind without one the result is."""
    with Home() as home:
        run = (await home.door.accept(Question(text="hello"), "user:ada")).run
        await home.drive(run)
        answer = home.door.response(await home.door.wait(run), Question)
        assert answer == {"run": run, "status": "completed", "output": '"hello"'}
        plain = await home.begun("plainly")
        assert bytes(home.door.response(await home.door.view(plain))) == b'"plainly"'


async def test_one_kinds_answer_is_not_given_for_anothers() -> None:
    """With the code of the kind that was asked for; a run without a result has none to give."""
    with Home() as home:
        run = await home.begun("hello", KIND)
        with pytest.raises(Conflict) as raised:
            home.door.response(await home.door.view(run), Remark)
        assert raised.value.code == "not_a_remark"
        broken = await home.begun("breaks")
        assert home.door.response(await home.door.view(broken)) is None


async def test_a_server_that_stops_takes_nothing_new() -> None:
    """Neither requests nor runs by name; what is there can be looked at."""
    with Home() as home:
        run = await home.begun("hello")
        home.engine.accepting = False
        assert await refused(home.door.accept(Question(text="x"), "user:ada")) == "stopping"
        assert await refused(home.door.open("plain", raw("x"), "user:ada")) == "stopping"
        assert (await home.door.view(run)).at_rest
        assert len(await home.door.runs()) == 1


async def test_what_is_not_there_is_not_found() -> None:
    """A kind, a run, a session."""
    with Home() as home:
        for asking in (
            home.door.open("nothing", raw(None), "user:ada"),
            home.door.wait("none"),
            home.door.operators.cancel("none", by="x", why=""),
            home.door.operators.answer("none", 0, 1, by="x"),
            home.door.operators.resume("none", by="x"),
            home.door.operators.resolve("none", WORD),
            home.door.operators.erase("none", by="x", why=""),
            home.door.operators.erase_session("none", by="x", why=""),
            anext(home.door.events("none")),  # type: ignore[list-item]
        ):
            with pytest.raises(NotFound):
                await asking


# --- waiting --------------------------------------------------------------------------------------


async def test_who_waits_is_told_when_the_run_rests() -> None:
    """One that rests already is there at once."""
    with Home() as home:
        run = await home.open(PLAIN, "hello")
        home.engine.held = {run}
        waiting = asyncio.ensure_future(home.door.wait(run))
        await asyncio.sleep(0)
        await home.drive(run)
        assert not waiting.done()
        home.engine.waiters.ended(run, Status.COMPLETED)
        assert bytes((await waiting).result) == b'"hello"'
        home.engine.held = set()
        assert (await asyncio.wait_for(home.door.wait(run), 10)).at_rest


async def test_nobody_waits_for_an_engine_that_is_gone() -> None:
    """It is said, and that the run goes on with the next one."""
    with Home() as home:
        run = await home.open(PLAIN, "hello")
        home.engine.held = {run}
        waiting = asyncio.ensure_future(home.door.wait(run))
        await asyncio.sleep(0)
        home.engine.accepting = False
        home.door.release()
        with pytest.raises(Transient) as raised:
            await waiting
        assert raised.value.code == "stopping"


async def test_records_are_told_until_the_run_rests() -> None:
    """Each once, from where the caller stands."""
    with Home() as home:
        run = await home.begun("asks")
        seen: list[int] = []
        came = asyncio.Event()

        async def follow() -> None:
            async for record in home.door.events(run, 0):
                seen.append(record.seq)
                came.set()

        following = asyncio.ensure_future(follow())
        await came.wait()
        before = len(home.stored(run).records)
        assert seen == list(range(1, before))
        await home.answer(run, 0, "blue")
        await home.drive(run)
        await asyncio.wait_for(following, 10)
        assert seen == list(range(1, len(home.stored(run).records)))


# --- operating ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "lease", "storage"),
    [
        (None, True, True),
        (LeaseLost("gone"), False, True),
        (StorageUnavailable("full"), True, False),
    ],
)
async def test_readiness_is_what_a_write_says(
    error: OrdainError | None, lease: bool, storage: bool
) -> None:
    """Each part by itself."""
    with Home() as home:

        async def probe() -> None:
            if error is not None:
                raise error

        upkeep: Any = type("Probed", (), {"probe": staticmethod(probe)})
        home.services.upkeep = upkeep
        checks = await home.door.checks()
        assert checks.by_name == {"accepting": True, "lease": lease, "storage": storage}
        assert (checks.hold, checks.reason) == (error is None, "" if storage else "full")


async def test_a_run_of_a_kind_that_is_gone_can_be_looked_at() -> None:
    """Its result is given as it is."""
    with Home() as home:
        run = await home.begun("hello", KIND)
        home.services.kinds = Kinds((PLAIN,))
        assert bytes(home.door.response(await home.door.view(run))) == b'"hello"'
