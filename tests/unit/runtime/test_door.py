"""The door: what faces may ask, what they are refused with which code, and that nobody waits for
what nobody will tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic import BaseModel

from ordain.effects.effect import Wait, WaitFor
from ordain.effects.results import Answered
from ordain.errors import (
    Conflict,
    InvalidRequest,
    LeaseLost,
    NotFound,
    OrdainError,
    StorageUnavailable,
    Transient,
)
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Taken, Wire
from ordain.flows.kinds import Kinds
from ordain.journal.records import NULL, RecordKind, Status, raw
from ordain.ports.writes import MailKind
from ordain.runtime.answers import ANSWER_BYTES, ANSWER_DEPTH
from ordain.runtime.door import Runtime
from ordain.runtime.resolution import ResolveWord
from ordain.runtime.waiters import Waiters
from ordain.store.search import SqliteSearch
from ordain.testing import kind_of
from tests.unit.runtime.house import SECOND, House


class Question(BaseModel):
    """A request from outside."""

    text: str


class Remark(BaseModel):
    """Another one."""


async def _answers(context: FlowContext, what: str) -> str:
    if what == "breaks":
        raise ValueError(what)
    if what != "asks":
        return what
    found = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about="Which?", deadline=context.now() + 60 * SECOND)
    )
    return str(found.value) if isinstance(found, Answered) else "nobody"


def _wire(contract: type[Any], other: str) -> Wire[Any]:
    return Wire(
        contract=contract,
        take=lambda request, _, __: Taken(input=raw(request.text), request_id=None, digest="d"),
        response=lambda ending: {
            "run": ending.run,
            "status": str(ending.status),
            "output": bytes(ending.output).decode(),
        },
        other=other,
        said=("output",),
    )


KIND: Kind[Any, Any] = replace(
    kind_of(_answers, charged=False), name="asks", wire=_wire(Question, "not_a_question")
)
PLAIN: Kind[Any, Any] = replace(kind_of(_answers, charged=False), name="plain")
OTHER: Kind[Any, Any] = replace(KIND, name="remarks", wire=_wire(Remark, "not_a_remark"))


@dataclass
class Wakes:
    """Implements ``Engine``: runs are woken when a test drives them."""

    accepting: bool = True
    waiters: Waiters = field(default_factory=Waiters)
    held: set[str] = field(default_factory=set)
    woken: list[tuple[str, str | None]] = field(default_factory=list)
    driving: int = 0

    def holds(self, run: str) -> bool:
        return run in self.held

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        self.woken.append((run, resumed_by))

    def hurry(self, run: str) -> None:
        raise AssertionError("nothing here tells")


@dataclass
class Cleared:
    """The part of ``Memory`` that erasing calls."""

    times: int = 0

    async def clear(self) -> None:
        self.times += 1


class Home(House):
    """A house with a door."""

    def __init__(self) -> None:
        super().__init__(KIND, PLAIN, OTHER)
        self.engine, self.cleared = Wakes(), Cleared()
        library: Any = self.cleared
        self.door = Runtime(
            self.services, SqliteSearch(self.store), engine=self.engine, library=library
        )

    def __enter__(self) -> Home:
        return self

    async def begun(self, what: str, kind: Kind[Any, Any] = PLAIN) -> str:
        run = await self.open(kind, what)
        await self.drive(run)
        return run


async def refused(asking: Coroutine[Any, Any, Any]) -> str:
    """The code with which it is refused."""
    with pytest.raises(OrdainError) as raised:
        await asking
    return raised.value.code


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


WORD = ResolveWord(addr=0, happened=True, by="ada", why="")


async def test_what_is_not_there_is_not_found() -> None:
    """A kind, a run, a session."""
    with Home() as home:
        for asking in (
            home.door.open("nothing", raw(None), "user:ada"),
            home.door.wait("none"),
            home.door.cancel("none", by="x", why=""),
            home.door.answer("none", 0, 1, by="x"),
            home.door.resume("none", by="x"),
            home.door.resolve("none", WORD),
            home.door.erase("none", by="x", why=""),
            home.door.erase_session("none", by="x", why=""),
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


async def test_a_run_is_cancelled_once_by_each() -> None:
    """Asked again it is already asked; after its end it has settled; a stopped one is woken to
    end.
    """
    with Home() as home:
        run, broken = await home.begun("asks"), await home.begun("breaks")
        assert await home.door.cancel(run, by="ada", why="late") == "sent"
        assert await home.door.cancel(run, by="ada", why="late") == "already_asked"
        await home.drive(run)
        assert await home.door.cancel(run, by="ada", why="late") == "settled"
        assert home.engine.woken == []
        await home.door.cancel(broken, by="ada", why="")
        assert home.engine.woken == [(broken, "ada")]


async def test_the_first_answer_counts() -> None:
    """To the effect that the run waits at."""
    with Home() as home:
        run = await home.begun("asks")
        assert home.door.waiting_at(await home.door.view(run)) == 0
        assert await home.door.answer(run, 0, "blue", by="ada") == "sent"
        assert await home.door.answer(run, 0, "red", by="bob") == "duplicate"
        await home.drive(run)
        assert await home.door.answer(run, 0, "red", by="bob") == "settled"
        view = await home.door.view(run)
        assert (bytes(view.result), home.door.waiting_at(view)) == (b'"blue"', None)


@pytest.mark.parametrize(
    ("size", "depth", "fits"),
    [(ANSWER_BYTES, 0, False), (100, ANSWER_DEPTH + 1, False), (100, ANSWER_DEPTH // 2, True)],
)
async def test_an_answer_has_bounds(size: int, depth: int, fits: bool) -> None:
    """In bytes and in depth; what is beyond them is in no mailbox."""
    value: Any = "x" * size
    for _ in range(depth):
        value = [value]
    with Home() as home:
        run = await home.begun("asks")
        if fits:
            await home.door.answer(run, 0, value, by="ada")
        else:
            with pytest.raises(InvalidRequest) as raised:
                await home.door.answer(run, 0, value, by="ada")
            assert raised.value.code == "answer_too_large"
        assert [mail.kind for mail in home.store.untaken(run)] == [MailKind.ANSWER] * fits


async def test_only_what_has_stopped_is_resumed() -> None:
    """Once: with who asked on record and the run ready, in one commit."""
    with Home() as home:
        waiting, broken = await home.begun("asks"), await home.begun("breaks")
        assert await refused(home.door.resume(waiting, by="ada")) == "not_stopped"
        await home.door.resume(broken, by="ada")
        assert home.stored(broken).status is Status.READY
        assert [(one.by, one.why) for one in home.bodies(broken, RecordKind.RESUMED)] == [
            ("ada", "faulted")
        ]
        assert home.engine.woken == [(broken, None)]
        assert await refused(home.door.resume(broken, by="bob")) == "not_stopped"


async def test_of_two_who_resume_one_does() -> None:
    """The other is told that it is not stopped any more."""
    with Home() as home:
        run = await home.begun("breaks")
        both = await asyncio.gather(
            *(home.door.resume(run, by=by) for by in ("ada", "bob")), return_exceptions=True
        )
        (error,) = [one for one in both if one is not None]
        assert isinstance(error, Conflict)
        assert error.code == "not_stopped"
        assert len(home.bodies(run, RecordKind.RESUMED)) == 1


async def test_only_what_nobody_knows_is_resolved() -> None:
    """Of a run that rests."""
    with Home() as home:
        run, waiting = await home.begun("hello"), await home.begun("asks")
        assert await refused(home.door.resolve(run, WORD)) == "not_unknown"
        assert await refused(home.door.resolve(waiting, WORD)) == "not_at_rest"
        assert home.door.unknown_effects(await home.door.view(run)) == []


async def test_what_is_erased_has_no_content_and_keeps_its_shape() -> None:
    """With a note of who and why; not while it is open; again it changes nothing, and the library
    is cleared each time.
    """
    with Home() as home:
        run = await home.begun("asks")
        with pytest.raises(Conflict):
            await home.door.erase(run, by="ada", why="asked")
        assert home.cleared.times == 0
        await home.answer(run, 0, "blue")
        await home.drive(run)
        header, count = (await home.door.view(run)).header, len(home.stored(run).records)
        assert await home.door.erase(run, by="ada", why="asked") > 0
        view = await home.door.view(run)
        assert (view.stored.key, view.result, len(view.stored.records)) == (None, NULL, count + 1)
        assert view.header.splitlines()[0] == header.splitlines()[0]
        assert await refused(home.door.resume(run, by="ada")) == "not_stopped"
        assert await home.door.erase(run, by="ada", why="again") == 0
        assert home.cleared.times == 2


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
