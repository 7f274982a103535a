"""How the golden conversation of turn 10 and roster 6 is made: what agents found as the turn itself
lists it, since somebody stops the run that would put it into words; one of them writes what looks
like another's line.

``python -m tests.replay.golden_apart FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from ordain.testing import after, finish, says
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_listed import FORGED, FORGER, POLICY
from tests.replay.golden_told import taken
from tests.shapes.handoffs import SCRIPT, write_cards
from tests.shapes.talk import House
from tests.shapes.workflows import Desk

LINES = SCRIPT.on("planner", finish(FORGED), role="forger").on(
    "synthesis", after(30_000, says("Never said."))
)
AT_WORK = "SELECT id FROM runs WHERE flow = 'synthesis' AND ended_at IS NULL"


async def play(home: Path) -> GoldenTalk:
    """One turn, whose results the turn lists; the runs in the order in which they were opened."""
    write_cards(home, FORGER)
    async with House(home, script=LINES, policy=POLICY, verbs=Desk().verbs) as house:
        sent = await house.send("have it noted", delegates=["clerk", "forger"])
        store = house.ordain.store
        await house.until("it is put into words", lambda: store.query(AT_WORK))
        ((run,),) = store.query(AT_WORK)
        await house.ordain.runtime.operators.cancel(run, by="ada", why="it takes too long")
        await house.told(sent)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
