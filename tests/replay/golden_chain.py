"""How the golden conversation of turn 7, supervisor 7 and agent chain 1 is made (that of supervisor
6 is kept beside): every way into a chain, and every word of a council.

``python -m tests.replay.golden_chain FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.ports.model import ModelRequest
from ordain.testing import call, finish, moves, routes
from ordain.testing.models import When
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.replay.recorded_words import WORDS
from tests.shapes.council import judgement, verdict
from tests.shapes.lines import about, script_of
from tests.shapes.talk import House

POLICY: dict[str, dict[str, Any]] = {
    "router": {"ask": "local"},
    "supervisor": {"ask": "brain"},
    "fallback": {"backoff_ms": 0},
}
SAID = ("accept", "delegate", "revise_same_round", "new_round", "maybe")
SUM = call("math.evaluate", expression="6 * 7")


def _told(text: str) -> When:
    """Of a line that answers whoever is shown a message with these words; no prompt but a planner's
    names the message by itself.
    """
    return lambda asked: text in asked.user


def _verdict(asked: ModelRequest) -> Any:
    """What the auditor says: the word that the message begins with after the council, be it one or
    none.
    """
    return verdict(
        next((said for said in SAID if f'QUESTION\n"council, {said} it"' in asked.user), "accept")
    )


SCRIPT = script_of(
    WORDS.on("router", routes("agent_chain", confidence=1.0), when=about("longer work"))
    .on("supervisor", moves("escalate_agent_chain"), when=_told("hand it over"))
    .on("supervisor", moves("checkpoint_council"), when=_told("several heads"))
    .on("planner", "The answer is 42.", role="agent_chain", when=about("in prose"))
    .on("planner", SUM, role="agent_chain", index=0)
    .on("planner", finish("It is 42, after longer work.", {"sum": 42}), role="agent_chain")
    .on("seat", {"text": "I think so."})
    .on("chair", judgement("Yes, in the afternoon."))
    .on("auditor", _verdict)
)


async def turns(house: House) -> None:
    """Chains by a router's path and by an escalation, councils by their mode and by a checkpoint,
    and what fails typed of each.
    """
    tools = ["math.evaluate"]
    await house.say("longer work, please", mode="agent", allowed_verbs=tools)
    await house.say("longer work in prose", mode="agent", allowed_verbs=tools)
    await house.say("hand it over", mode="agent", allowed_verbs=tools)
    await house.say("hand it over in prose", mode="agent", allowed_verbs=tools)
    await house.say("ask several heads to accept", mode="agent", allowed_verbs=tools)
    for said in SAID:
        await house.say(f"council, {said} it", mode="council", allowed_verbs=tools)
    await house.say("hello there")


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    async with House(home, script=SCRIPT, policy=POLICY) as house:
        await turns(house)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
