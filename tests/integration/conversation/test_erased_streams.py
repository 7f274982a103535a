"""Who reads or waits in a session that is erased: it ends for them, and whoever has the id from
then on is nobody to them.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.events import MessageEvent, SessionErasedEvent
from ordain.errors import NotFound
from tests.shapes.talk import WORKSPACE, House


async def told(house: House, after: int, heard: list[Any]) -> None:
    """A session's events, kept as they come, until its stream ends."""
    async with aclosing(house.ordain.stream("s1", after=after)) as stream:
        async for event in stream:
            heard.append(event)  # noqa: PERF401 - as they come


@pytest.mark.parametrize("by_run", [False, True])
async def test_a_stream_ends_at_the_erasure(by_run: bool) -> None:
    """Whoever read along is told so, whether the session or a run of it was erased, and hears
    nothing of the next owner's, however long that goes on.
    """
    async with House() as house:
        for text in ("one", "two"):
            said = await house.say(f"tell me about {text}", user="ada")
        heard: list[Any] = []
        reader = asyncio.ensure_future(told(house, 4, heard))
        await house.quiet()
        assert not reader.done()
        if by_run:
            await house.ordain.runtime.operators.erase(said.run_id or "", by="op", why="asked to")
        else:
            await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        await asyncio.wait_for(reader, 60)
        for number in range(3):
            await house.say(f"tell me about number {number}", user="bob")
        assert heard == [SessionErasedEvent(session="s1")]
        fresh: list[Any] = []
        again = asyncio.ensure_future(told(house, 0, fresh))
        await house.until("the next owner's reader has it all", lambda: len(fresh) == 6)
        assert {event.user for event in fresh if isinstance(event, MessageEvent)} == {"bob"}
        again.cancel()


async def test_who_goes_on_reading_late_hears_of_nobody_else() -> None:
    """A reader that had not come to what was new before the erasure is told of it, and of nothing
    that was said since.
    """
    async with House() as house:
        for number in range(3):
            await house.say(f"tell me about {number}", user="ada")
        async with aclosing(house.ordain.stream("s1")) as stream:
            assert isinstance(await anext(stream), MessageEvent)
            await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
            for number in range(5):
                await house.say(f"tell me about bob's {number}", user="bob")
            assert [event async for event in stream] == [SessionErasedEvent(session="s1")]


async def test_another_process_erases_and_speaks(tmp_path: Path) -> None:
    """Where no hint of the erasure came, the next owner's first message ends the stream, and is not
    shown.
    """
    async with House(tmp_path / "home") as house:
        await house.say("tell me about cats", user="ada")
        heard: list[Any] = []
        reader = asyncio.ensure_future(told(house, 2, heard))
        await house.quiet()
        house.ordain.store.writer.announce, announce = (
            (lambda _: None),
            house.ordain.store.writer.announce,
        )
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        house.ordain.store.writer.announce = announce
        await house.quiet()
        assert not reader.done()
        await house.say("tell me about dogs", user="bob")
        await asyncio.wait_for(reader, 60)
        assert heard == [SessionErasedEvent(session="s1")]


async def test_an_answer_is_to_ones_own_message() -> None:
    """Whoever waits for what became of a message gets no other one's of that number under the
    id.
    """
    async with House() as house:
        sent = await house.send("tell me about cats", user="ada")
        await house.told(sent)
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        await house.say("tell me about dogs", user="bob")
        with pytest.raises(NotFound):
            await house.ordain.runtime.conversation.answer(WORKSPACE, sent)
