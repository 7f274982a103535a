"""Whoever waits for an answer reads no more than it has to."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.errors import NotFound, Transient
from ordain.ports.sessions import Entry, EntryKind
from ordain.ports.store import Change
from ordain.runtime.awaited_answers import Acknowledged, AwaitedAnswers
from ordain.runtime.message_answer import Served
from ordain.runtime.streams import Streams
from tests.at_once import awaited
from tests.unit.runtime.test_message_answer import entry

PLACE = ("default", "s")
SERVED = Served(
    seq=1, message_id="m1", attached="new_request", reason="r", thread=1, run="r", anchor=""
)
MESSAGE = entry(EntryKind.MESSAGE, 1, {"text": "hi"}, attached="new_request", reason="r")
REPLY = entry(EntryKind.REPLY, 2, {"text": "Done.", "header": "h", "ok": True})
ACCEPTED = Acknowledged(
    session="s", seq=1, message_id="m1", duplicate=False, served=SERVED, stirred=0
)


class House:
    """A session of which ``found`` is read, and whoever waits in it; ``looks`` counts the reads."""

    def __init__(self) -> None:
        self.found: tuple[Entry, Entry | None] | None = (MESSAGE, None)
        self.looks = 0
        self.streams = Streams(cast("Any", self), awaited(lambda run: None))
        services = SimpleNamespace(streams=self.streams, sessions=self)
        self.answers = AwaitedAnswers(cast("Any", services))

    async def answer(
        self, workspace: str, session: str, seq: int
    ) -> tuple[Entry, Entry | None] | None:
        self.looks += 1
        return self.found

    async def waits(self, accepted: Acknowledged = ACCEPTED) -> asyncio.Task[MessageAnswer]:
        waiting = asyncio.ensure_future(self.answers.answer("default", accepted))
        await asyncio.sleep(0)
        return waiting

    def hears(self, *told: Entry) -> None:
        """Something is committed of which all is told; of nothing told it is something else."""
        self.streams.heard(Change(sessions=(PLACE,), told={PLACE: told} if told else {}))


def said_by_another(kind: EntryKind) -> Entry:
    return msgspec.structs.replace(REPLY, run="another", kind=kind)


async def test_a_reply_that_is_told_is_the_answer_without_a_look() -> None:
    """And the same one as is read; what others say leaves the waiter where it is."""
    house = House()
    waiting = await house.waits()
    for kind in EntryKind:
        house.hears(said_by_another(kind))
        await asyncio.sleep(0)
    house.hears(said_by_another(EntryKind.REPLY), REPLY)
    told = await waiting
    assert house.looks == 0
    house.found = (MESSAGE, REPLY)
    read = await (await house.waits(msgspec.structs.replace(ACCEPTED, served=None)))
    assert house.looks == 1
    assert told == read


@pytest.mark.parametrize("stirs", [True, False])
async def test_who_begins_to_wait_looks_where_anything_came_between(stirs: bool) -> None:
    """A commit of which not all was told, or with more than messages; another message is none."""
    house = House()
    if stirs:
        house.hears(said_by_another(EntryKind.SAID))
        house.hears()
    else:
        house.hears(MESSAGE, said_by_another(EntryKind.MESSAGE))
    waiting = await house.waits()
    assert house.looks == stirs
    house.found = (MESSAGE, REPLY)
    house.hears(REPLY)
    assert (await waiting).reply is not None


@pytest.mark.parametrize(
    "told",
    [
        (),
        (entry(EntryKind.QUESTION, 2, {"text": "Which?"}),),
        (entry(EntryKind.APPROVAL, 2, {"text": "May I?"}),),
        (entry(EntryKind.REPLY, 2),),
    ],
)
async def test_what_is_not_told_whole_is_read(told: tuple[Entry, ...]) -> None:
    """What was placed anew or erased, what may be open no longer, and what has no content; from
    then on each change is.
    """
    house = House()
    waiting = await house.waits()
    house.hears(*told)
    await asyncio.sleep(0)
    assert house.looks == 1
    house.hears(said_by_another(EntryKind.SAID))
    await asyncio.sleep(0)
    assert house.looks == 2
    house.found = (MESSAGE, REPLY)
    house.hears(REPLY)
    assert (await waiting).reply is not None


async def test_a_reply_that_was_erased_at_once_is_given_to_nobody() -> None:
    """What was told is forgotten with the next change of which not all is told."""
    house = House()
    waiting = await house.waits()
    house.hears(REPLY)
    house.found = None
    house.hears()
    with pytest.raises(NotFound):
        await waiting


async def test_whoever_waits_hears_of_the_end_of_the_engine() -> None:
    """Whether it has looked or not."""
    house = House()
    waiting = await house.waits()
    house.streams.close()
    with pytest.raises(Transient):
        await waiting
    assert house.looks == 0
