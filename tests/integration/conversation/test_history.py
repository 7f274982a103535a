"""What of a conversation stands in the next prompt: what fits, summed up now and then, and nothing
unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.conversation import MessageAnswer
from ordain.ports.model import ModelRequest
from ordain.testing import output
from ordain.testing.proposals import Proposal
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House, Puppet, talk_settings

SLOW = script_of(holds("slowly"))


class Recalling(Puppet):
    """A model that keeps what it was given to remember: histories by purpose, the summariser's
    apart.
    """

    def __init__(self) -> None:
        """No history seen."""
        super().__init__(
            SLOW.on("verb", self._sum_up, verb="summarize_conversation").on("verb", self._seen)
        )
        self.summed: list[list[dict[str, Any]]] = []
        self.given: list[list[dict[str, Any]]] = []

    def _sum_up(self, request: ModelRequest) -> Proposal:
        self.summed.append(list(request.inputs["history"]))
        return output(summary=f"SUMMARY {len(self.summed)}")

    def _seen(self, request: ModelRequest) -> None:
        self.given.append(list(request.inputs["history"]))


def header_of(answer: MessageAnswer) -> str:
    """The header of what was replied."""
    assert answer.reply is not None
    return answer.reply.header


def history_line(answer: MessageAnswer) -> str:
    """The header's line about the history."""
    return next(line for line in header_of(answer).splitlines() if line.startswith("· history"))


async def test_a_message_that_waited_is_not_summed_up_unseen() -> None:
    """A turn that waited while much was said makes no summary past its own message: the next
    history still holds that one.
    """
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        await house.send("work slowly on it", mode="agent", id="m1")
        await house.quiet()
        own = await house.send("my question OWNTEXT please", reply_to="m1")
        for number in range(80):
            await house.send("ok", id=f"f{number}")
        house.puppet.let_go()
        await house.told(own)
        assert all(
            through < own.seq
            for (through,) in house.query("SELECT through FROM transcript WHERE kind = 'summary'")
        )
        puppet.given.clear()
        puppet.summed.clear()
        await house.say("tell me what I asked")
        seen = [entry["content"] for part in (*puppet.given, *puppet.summed) for entry in part]
        assert any("OWNTEXT" in text for text in seen)
        lawful(house.ordain)


@pytest.mark.parametrize("long", ["x" * 25_000, "я" * 13_000, "😀" * 6_500])
async def test_one_long_message_displaces_nothing(long: str) -> None:
    """A message longer than all that a prompt holds is shown cut, and said to be; what was said
    around it stands whole.
    """
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        for number in range(6):
            await house.say(f"tell me about cat {number}")
        await house.say(long)
        puppet.given.clear()
        answer = await house.say("tell me about dogs")
        shown = [entry["content"] for entry in puppet.given[-1]]
        assert [text for text in shown if text.startswith("tell me about cat")] == [
            f"tell me about cat {number}" for number in range(6)
        ]
        assert any(text.startswith(long[:100]) for text in shown)
        assert "cut" in history_line(answer)
        assert not puppet.summed
        lawful(house.ordain)


async def test_a_message_near_the_window_sums_nothing_up() -> None:
    """A message that leaves no room for a history is answered without one; nothing is summarised
    for its sake.
    """
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        for number in range(4):
            await house.say(f"tell me about cat {number}")
        await house.say("😀" * 30_000)
        assert not puppet.summed
        lawful(house.ordain)


async def test_a_long_talk_is_summed_up_now_and_then() -> None:
    """Summaries are made by number and bytes, not in every turn, and no entry disappears unsummed
    and uncounted.
    """
    puppet = Recalling()
    async with House(
        puppet=puppet, policy={"history": {"max_entries": 8, "keep_entries": 4}}
    ) as house:
        for number in range(24):
            await house.say(f"tell me about cat {number}")
        assert 1 <= len(puppet.summed) <= 12
        summed = [entry["content"] for part in puppet.summed for entry in part]
        whole = [entry["content"] for entry in puppet.given[-1]]
        for number in range(23):  # the last is the one that was answered
            assert any(text.endswith(f"about cat {number}") for text in (*summed, *whole)), (
                f"cat {number} is nowhere"
            )
        lawful(house.ordain)


@pytest.mark.parametrize(
    "table",
    [
        {"max_entries": 0},
        {"max_entries": 4, "keep_entries": 100},
        {"max_entries": 4, "keep_entries": 4},
    ],
)
def test_a_policy_that_would_summarise_every_turn_is_refused(table: dict[str, int]) -> None:
    """What is kept is less than what is allowed: no policy makes every turn summarise."""
    with pytest.raises(ValidationError):
        talk_settings(Path("/nowhere"), {"history": table})


@pytest.mark.parametrize("max_bytes", [0, 3, 60])
async def test_a_policy_without_room_for_history_leaves_it_out(max_bytes: int) -> None:
    """However few bytes policy gives the history, a turn is answered, and the header says what was
    left out.
    """
    async with House(policy={"history": {"max_bytes": max_bytes, "verb": ""}}) as house:
        await house.say("hello there " + "alpha beta gamma " * 400)
        answer = await house.say("hello again")
        assert answer.reply is not None
        assert answer.reply.ok, answer.reply.narrative
        assert "history.left_out" in answer.reply.header
