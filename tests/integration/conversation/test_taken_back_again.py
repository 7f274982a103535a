"""*Go on* after a second hold, and while what was held is just ending: once, nothing twice, nothing
lost, and the sender is told (B.7).
"""

from __future__ import annotations

import asyncio

import pytest

from ordain.testing import call, finish
from ordain.verbs.functions import FunctionVerb, verb
from tests.shapes.lines import about, holds, script_of, words
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House

AGAIN = ["please work slowly on the report"]


@pytest.mark.parametrize("times", [2, 4])
@pytest.mark.parametrize("stop", ["wait", "stop"])
async def test_what_was_held_again_begins_again(times: int, stop: str) -> None:
    """It is the request that goes on, and not the words *go on*, however often it was held."""
    async with House(script=script_of(holds("slowly"))) as house:
        await house.send("please work slowly on the report", mode="agent")
        for _ in range(times):
            await house.until("the model is at work", lambda: house.puppet.held == AGAIN)
            await house.say(stop)
            again = await house.send("go on")
            assert house.so_far(again).reason == "attach.resumed"
        await house.until("the model is at work again", lambda: house.puppet.held == AGAIN)
        house.puppet.let_go()
        done = await house.told(again)
        assert done.reply is not None
        assert done.reply.narrative == "done: please work slowly on the report"
        await house.quiet()
        statuses = [
            status
            for (status,) in house.query("SELECT status FROM runs WHERE flow = 'turn' ORDER BY no")
        ]
        assert statuses == ["cancelled"] * times + ["completed"]
        assert not any(words(request) == "go on" for request in house.puppet.asked("planner"))
        lawful(house.ordain)


class Bell:
    """A verb that nothing abandons, and which ends when it is let."""

    def __init__(self) -> None:
        """It has not rung."""
        self.rung: list[str] = []
        self.may_end, self.begun = asyncio.Event(), asyncio.Event()

    def verb(self) -> FunctionVerb[..., object]:
        """The verb."""

        @verb(effect="read")
        async def ring(text: str) -> dict[str, str]:
            """Ring the bell."""
            self.begun.set()
            await self.may_end.wait()
            self.rung.append(text)
            return {"rung": text}

        return ring


@pytest.mark.parametrize("stop", ["wait", "stop"])
async def test_go_on_while_a_call_is_ending_goes_on_once_it_has(stop: str) -> None:
    """The agent's call ends, what was held ends with it, and then the request goes on, knowing that
    it was made.
    """
    bell = Bell()
    script = (
        script_of()
        .on("planner", call("ring", text="noon"), index=0, when=about("bell"))
        .on("planner", finish("rang it"), index=1)
    )
    async with House(script=script, verbs=[bell.verb()]) as house:
        await house.send("ring the bell", mode="agent", allowed_verbs=["ring"])
        await bell.begun.wait()
        held = await house.send(stop)
        again = await house.send("go on")
        twice = await house.send("go on")
        assert (house.so_far(again).attached, house.so_far(again).reason) == (
            "new_request",
            "attach.resumed",
        )
        assert house.so_far(twice).attached == "filler"
        bell.may_end.set()
        done, told = await house.told(again), await house.told(held)
        assert told.reply is not None
        assert "stopped" in told.reply.narrative
        assert done.reply is not None
        assert "cancelled" in done.reply.header
        await house.quiet()
        statuses = [
            status
            for (status,) in house.query("SELECT status FROM runs WHERE flow = 'turn' ORDER BY no")
        ]
        assert statuses == ["cancelled", "completed"]
        lawful(house.ordain)


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_ended_by_itself_is_not_done_twice(at_once: bool) -> None:
    """The one call of the request was just ending when it was held: it has its effect once, and *go
    on* is told so.
    """
    bell = Bell()
    async with House(verbs=[bell.verb()]) as house:
        await house.send("noon", verb="ring")
        await bell.begun.wait()
        held = await house.send("stop")
        again = await house.send("go on") if at_once else None
        bell.may_end.set()
        await house.told(held)
        again = again or await house.send("go on")
        done = await house.told(again)
        await house.quiet()
        assert bell.rung == ["noon"]
        assert done.reply is not None
        assert "already" in done.reply.narrative
        lawful(house.ordain)
