"""What an operator does to a run: each word once, refused with a code where it cannot be."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordain.errors import (
    Conflict,
    InvalidRequest,
)
from ordain.journal.records import NULL, RecordKind, Status
from ordain.ports.writes import MailKind
from ordain.runtime.answers import ANSWER_BYTES, ANSWER_DEPTH
from tests.unit.runtime.door_house import (
    WORD,
    Home,
    refused,
)


async def test_a_run_is_cancelled_once_by_each() -> None:
    """Asked again it is already asked; after its end it has settled; a stopped one is woken to
    end.
    """
    with Home() as home:
        run, broken = await home.begun("asks"), await home.begun("breaks")
        assert await home.door.operators.cancel(run, by="ada", why="late") == "sent"
        assert await home.door.operators.cancel(run, by="ada", why="late") == "already_asked"
        await home.drive(run)
        assert await home.door.operators.cancel(run, by="ada", why="late") == "settled"
        assert home.engine.woken == []
        await home.door.operators.cancel(broken, by="ada", why="")
        assert home.engine.woken == [(broken, "ada")]


async def test_the_first_answer_counts() -> None:
    """To the effect that the run waits at."""
    with Home() as home:
        run = await home.begun("asks")
        assert home.door.waiting_at(await home.door.view(run)) == 0
        assert await home.door.operators.answer(run, 0, "blue", by="ada") == "sent"
        assert await home.door.operators.answer(run, 0, "red", by="bob") == "duplicate"
        await home.drive(run)
        assert await home.door.operators.answer(run, 0, "red", by="bob") == "settled"
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
            await home.door.operators.answer(run, 0, value, by="ada")
        else:
            with pytest.raises(InvalidRequest) as raised:
                await home.door.operators.answer(run, 0, value, by="ada")
            assert raised.value.code == "answer_too_large"
        assert [mail.kind for mail in home.store.untaken(run)] == [MailKind.ANSWER] * fits


async def test_only_what_has_stopped_is_resumed() -> None:
    """Once: with who asked on record and the run ready, in one commit."""
    with Home() as home:
        waiting, broken = await home.begun("asks"), await home.begun("breaks")
        assert await refused(home.door.operators.resume(waiting, by="ada")) == "not_stopped"
        await home.door.operators.resume(broken, by="ada")
        assert home.stored(broken).status is Status.READY
        assert [(one.by, one.why) for one in home.bodies(broken, RecordKind.RESUMED)] == [
            ("ada", "faulted")
        ]
        assert home.engine.woken == [(broken, None)]
        assert await refused(home.door.operators.resume(broken, by="bob")) == "not_stopped"


async def test_of_two_who_resume_one_does() -> None:
    """The other is told that it is not stopped any more."""
    with Home() as home:
        run = await home.begun("breaks")
        both = await asyncio.gather(
            *(home.door.operators.resume(run, by=by) for by in ("ada", "bob")),
            return_exceptions=True,
        )
        (error,) = [one for one in both if one is not None]
        assert isinstance(error, Conflict)
        assert error.code == "not_stopped"
        assert len(home.bodies(run, RecordKind.RESUMED)) == 1


async def test_only_what_nobody_knows_is_resolved() -> None:
    """Of a run that rests."""
    with Home() as home:
        run, waiting = await home.begun("hello"), await home.begun("asks")
        assert await refused(home.door.operators.resolve(run, WORD)) == "not_unknown"
        assert await refused(home.door.operators.resolve(waiting, WORD)) == "not_at_rest"
        assert home.door.unknown_effects(await home.door.view(run)) == []


async def test_what_is_erased_has_no_content_and_keeps_its_shape() -> None:
    """With a note of who and why; not while it is open; again it changes nothing, and the library
    is cleared each time.
    """
    with Home() as home:
        run = await home.begun("asks")
        with pytest.raises(Conflict):
            await home.door.operators.erase(run, by="ada", why="asked")
        assert home.cleared.times == 0
        await home.answer(run, 0, "blue")
        await home.drive(run)
        header, count = (await home.door.view(run)).header, len(home.stored(run).records)
        assert await home.door.operators.erase(run, by="ada", why="asked") > 0
        view = await home.door.view(run)
        assert (view.stored.key, view.result, len(view.stored.records)) == (None, NULL, count + 1)
        assert view.header.splitlines()[0] == header.splitlines()[0]
        assert await refused(home.door.operators.resume(run, by="ada")) == "not_stopped"
        assert await home.door.operators.erase(run, by="ada", why="again") == 0
        assert home.cleared.times == 2
