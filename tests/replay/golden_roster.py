"""How the golden conversation of roster 3 and synthesis 1 is made (those of rosters 1 and 2 are
kept beside): turns that agents are handed, by name, by a model and by a workflow, whole, in part
and in vain.

``python -m tests.replay.golden_roster FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.ports.model import ModelRequest
from ordain.testing import fails, says
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.handoffs import POLICY, SCRIPT, decide, write_cards
from tests.shapes.lines import words
from tests.shapes.talk import House
from tests.shapes.workflows import Desk

NAMING = {**POLICY, "outcome": {"ask": "local"}}


def _suggestion(asked: ModelRequest) -> Any:
    named = ["clerk"] if "suggest" in words(asked) else []
    return {"template": None, "args": {}, "delegates": named}


LINES = (
    SCRIPT.on("workflow", _suggestion)
    .on("synthesis", says("All of it was done, the babbler's part too."), index=0)
    .on("synthesis", fails("rejected"))
)


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    write_cards(home)
    async with House(home, script=LINES, policy=NAMING, verbs=Desk().verbs) as house:
        task = {
            "template": "delegate_to_agent",
            "args": {"agent": "clerk", "task": "Note that tea is ready."},
        }
        for approve, hints in (
            (True, {"delegates": ["clerk"]}),
            (True, {"delegates": ["clerk", "babbler"]}),
            (False, {"delegates": ["clerk", "sender"]}),
            (True, {"delegates": ["babbler"]}),
            (True, {"workflow": task}),
            (True, {"delegates": ["clerk", "nobody"]}),
        ):
            sent = await house.send("have it noted", **hints)
            await house.quiet()
            await decide(house, approve=approve)
            await house.quiet()
            await house.told(sent)
        sent = await house.send("what would you suggest")
        await house.quiet()
        await decide(house)
        await house.told(sent)
        await house.say("and a last word")
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
