"""A question how the work gets on waits for no place at work."""

from __future__ import annotations

from tests.shapes.lines import holds, script_of
from tests.shapes.talk import House


async def test_a_nudge_is_answered_although_every_place_is_taken() -> None:
    """With one run driven at a time and that one held by its model, a nudge is answered from the
    journal, and new work waits.
    """
    async with House(
        script=script_of(holds("slowly")), policy={"engine": {"max_running": 1}}
    ) as house:
        slow = await house.send("think slowly about it")
        await house.until("the model is asked", lambda: house.puppet.held)
        other = await house.send("say hello to my friend", session="other")
        told = await house.say("any luck?")
        assert told.attached == "status_nudge"
        assert told.reply is not None
        assert told.reply.ok
        assert house.so_far(slow).reply is None
        assert house.so_far(other).reply is None
        house.puppet.let_go()
        assert (await house.told(other)).reply is not None
