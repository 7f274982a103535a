"""An agent asks its user back, and waits: it costs nothing, and survives any restart.

Prints:
    asked: For which day? (date_time)
    answer_to_pending: The room is yours.
    booked: ['2026-12-01']
"""

import asyncio

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.verbs import ArgumentRole
from ordain.testing import ScriptedModels, call, finish

BOOKED: list[str] = []
ALLOWED = ["ask_user", "room.book"]


@verb(name="room.book", effect="private", arguments={"day": ArgumentRole.LABEL}, idempotent=True)
def book(day: str) -> str:
    """Book the room for a day."""
    BOOKED.append(day)
    return "booked"


MODEL = ScriptedModels(
    planner=[
        call("ask_user", question="For which day?", expected_type="date_time", key="day"),
        call("room.book", day="2026-12-01"),
        finish("The room is yours."),
    ]
)


async def main() -> None:
    """Ask for a room, and answer the question that comes back."""
    extras = Extras(verbs=[book], models={"default": MODEL}, memory=True)
    async with Ordain(extras=extras) as ordain:
        answer = await ordain.chat("Book me the room", mode="agent", allowed_verbs=ALLOWED)
        assert answer.question is not None
        print(f"asked: {answer.question.text} ({answer.question.expected_type})")
        answer = await ordain.chat("2026-12-01")
        print(f"{answer.attached}: {answer.reply and answer.reply.narrative}")
        print("booked:", BOOKED)


if __name__ == "__main__":
    asyncio.run(main())
