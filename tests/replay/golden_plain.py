"""How the golden conversation in plain words is made: chat, a summary and a verb of words, and
contracts that step down to words.

The endpoint refuses a native schema, passes over a tool, and keeps to a schema that it is told in
words, but in one plan. ``python -m tests.replay.golden_plain FILE`` plays it and writes it; done
once, never again for a flow version that exists.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.profiles import Structured
from ordain.contracts.verbs import VerbRequest
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.testing import call, finish, says
from tests.replay.golden import FACTS, TEXT, request
from tests.replay.golden_file import GoldenTalk, write
from tests.replay.golden_told import taken
from tests.shapes.lines import ScriptLine, about, script_of, steps
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House, Puppet

AGENT = {"mode": "agent"}
REFUSED = ModelError(
    code=ModelErrorCode.REJECTED, message="status 400 (response_format)", held=Structured.NATIVE
)
UNCALLED = ModelError(
    code=ModelErrorCode.MALFORMED,
    message="the tool that holds the answer was not called",
    held=Structured.TOOL,
    ignored=True,
)
THOUGHT = "<think>What is there to say?</think>\n"


class Stepping(Puppet):
    """A puppet behind an endpoint that knows words alone."""

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        if request.held_by is Structured.NATIVE:
            return REFUSED
        if request.held_by is Structured.TOOL:
            return UNCALLED
        said = await super().attempt(request, heard)
        return structs.replace(said, held=request.held_by)


SCRIPT = script_of(
    ScriptLine(purpose="verb", verb="extract_facts", says=FACTS),
    ScriptLine(purpose="verb", verb="brain.chat", says="The lamp is {red}."),
    ScriptLine(
        purpose="verb",
        verb="chat_general",
        says=says(f"{THOUGHT}\nI thought about it.\n✓ all done"),
        when=about("thoughtfully"),
    ),
    ScriptLine(purpose="verb", verb="chat_general", says=says(" \n"), when=about("silently")),
    steps(says("I would rather tell a story."), when=about("story")),
    steps(call("math.evaluate", expression="6 * 7"), finish("It is 42."), when=about("product")),
)


async def play() -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    policy = {
        "history": {"max_entries": 6, "keep_entries": 2},
        "verbs": {"default": {"deny": ["creative.tonecheck"]}},
    }
    async with House(puppet=Stepping(SCRIPT), policy=policy) as house:
        for text in ("hello there", "say it thoughtfully", "say it silently"):
            await house.say(text)
        for text in ("find the product", "find the product again"):
            await house.say(text, **AGENT)
        await house.say("find me a story", **AGENT)
        for number in range(4):
            await house.say(f"and the number {number}")
        runtime = house.ordain.runtime
        accepted = [
            await runtime.accept(VerbRequest(verb_id=verb, payload=TEXT), PRINCIPAL, WORKSPACE)
            for verb in ("brain.chat", "extract_facts")
        ]
        preferences = {"allow_internal_thought_logging": False}
        asked = request("brain.chat", request_id="plain", preferences=preferences)
        accepted.append(
            await runtime.accept(PlannerRequest.model_validate(asked), PRINCIPAL, WORKSPACE)
        )
        for one in accepted:
            await runtime.wait(one.run)
        await house.quiet()
        assert house.query("SELECT count(*) FROM runs WHERE status = 'faulted'") == [(0,)]
        return taken(house)


def main() -> None:
    """Write the conversation to the named file."""
    write(Path(sys.argv[1]), asyncio.run(play()))


if __name__ == "__main__":
    main()
