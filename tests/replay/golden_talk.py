"""How the golden conversation is made: one session in which every kind of a conversation's run
takes place.

``python -m tests.replay.golden_talk FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from ordain.testing import routes, suggests
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.recorded_words import WORDS
from tests.shapes.lines import about
from tests.shapes.talk import WORKSPACE, House

POLICY = {
    "history": {"max_entries": 6, "keep_entries": 2},
    "attach": {"ask": "local"},
    "router": {"ask": "local"},
    "supervisor": {"ask": "brain"},
}
FOR_AGENT = {"mode": "agent"}
SCRIPT = WORDS.on("router", routes("direct", budget_class="small"), when=about("hello there")).on(
    "triage", suggests("filler"), when=about("hm maybe")
)


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    async with House(home, script=SCRIPT, policy=POLICY) as house:
        await house.say(
            'hello there route:{"path":"direct","confidence":0.9,"budget_class":"small"}'
        )
        await house.say("calculate something for me", **FOR_AGENT)
        await house.say("find out which place it is", **FOR_AGENT)
        await house.say("any luck?")
        await house.say("Lisbon")
        slow = await house.send("think slowly about it", **FOR_AGENT)
        await house.until("the model is asked", lambda: house.puppet.held)
        changed = await house.say("no wait, use Porto instead", **FOR_AGENT)
        assert changed.attached == "override"
        await house.told(slow)
        held = await house.send("think slowly again", **FOR_AGENT)
        await house.until("the model is asked", lambda: house.puppet.held)
        await house.say("hm maybe suggest:filler:0:0.9")
        await house.say("stop")
        await house.told(held)
        await house.say("find out whether it is true", **FOR_AGENT)
        await house.say("find out whether it is false", **FOR_AGENT)
        await house.say("yes")
        await house.say("B")
        await house.say("stop")
        await house.say("please fail at it", **FOR_AGENT)
        await house.say("what went wrong?")
        await house.say("let several heads think", mode="council")
        await house.say("use that", verb="no_such_verb")
        await house.say("and a last word about everything")
        await house.quiet()
        runs = [
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs ORDER BY no")
        ]
        transcript = await house.ordain.runtime.conversation.transcript(
            WORKSPACE, "s1", after=0, limit=1000
        )
        return GoldenTalk.of(runs, transcript, house.ordain.catalog)


if __name__ == "__main__":
    make(play)
