"""How the golden requests under tight shared accounts are made: planner 1 and verb 1 with what had
no golden, and turns that find an account empty.

``python -m tests.replay.golden_asked FILE [PART ...]`` plays them, or only the parts that are
named, and writes them; done once, never again for a flow version that exists.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import VerbRequest
from ordain.ports.model import ModelRequest
from ordain.testing import Failing, ModelScript, fails
from tests.replay.golden import FACTS, SUM, TEXT, act, finish, request
from tests.replay.golden_file import GoldenTalk, write
from tests.replay.golden_told import VERBS, taken
from tests.replay.recorded_words import WORDS
from tests.shapes.lines import script_of, words
from tests.shapes.talk import PRINCIPAL, House

POLICY: dict[str, dict[str, Any]] = {
    "attach": {"ask": "local"},
    "lanes": {
        "routes": [{"tag": "facts", "lane": "local", "why": "routine"}],
        "next_lane": {"worker": "brain"},
    },
    "fallback": {"attempts_per_profile": 2, "attempts_total": 3, "backoff_ms": 1},
    "breaker": {"failures": 0, "rest_max_s": 0},
    "budget": {
        "run_verb_calls": 3,
        "agent": {"tokens": 2_100_000, "per": "day"},
        "session": {"tokens": 2_100_000, "per": "ever"},
        "rest": True,
    },
    "verbs": {"default": {"deny": ["creative.tonecheck"]}, "retry_wait_ms": 1},
}
PLANS: dict[str, list[Any]] = {
    "whole": [act("math.evaluate", SUM), finish("4")],
    "withheld": [
        "unreadable private musing",
        act("math.evaluate", SUM, "private"),
        finish("4", "private"),
    ],
    "extract": [act("extract_facts", TEXT), finish("red lamp")],
    "thrice": [act("third_time", {"text": "kept"}), finish("kept")],
    "session only": [
        act("ask_user", {"question": "which?", "expected_type": "freeform"}),
        finish("nobody to ask"),
    ],
    "approval": [act("post_out", {"text": "hello"}), finish("not sent")],
    "verb calls": [*[act("math.evaluate", SUM)] * 4, finish("4")],
    "wordy": [act("math.evaluate", SUM, "because " * 200), finish("4")],
    "long answer": [finish("well " * 200)],
    "wrong input": [
        act("math.evaluate", {"sum": "2 + 2"}),
        act("web.fetch", {"url": "https://example.org"}),
    ],
    "ungrounded": [act("extract_facts", {"text": "The moon is full."}), finish("nothing")],
}
"""What is proposed, by words of the goal."""
FAILURES: dict[str, list[Failing]] = {
    "waits": [fails("rate_limited", "slow down", retry_after_ms=5)],
    "next lane": [fails("quota_exceeded", "spent")],
    "for ever": [fails("rate_limited", "come back tomorrow", retry_after_ms=86_400_000)] * 9,
}
"""What goes wrong before that, by words of the goal."""


class Requests:
    """A model that reads its goal; what fails, fails once each."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self._failed: dict[str, int] = {}

    @property
    def script(self) -> ModelScript:
        """Steps of a planning request and facts by what is asked; a message by its words."""
        script = (
            ModelScript()
            .on("planner", self._step, when=lambda asked: not words(asked))
            .on("verb", _facts, verb="extract_facts")
        )
        return script_of(script, WORDS)

    def _step(self, asked: ModelRequest) -> Any:
        goal = str(asked.inputs.get("goal", "")).casefold()
        for phrase, failures in FAILURES.items():
            number = self._failed.get(phrase, 0)
            if phrase in goal and number < len(failures):
                self._failed[phrase] = number + 1
                return failures[number]
        steps = next((steps for phrase, steps in PLANS.items() if phrase in goal), PLANS["whole"])
        return steps[asked.index]


def _facts(asked: ModelRequest) -> Any:
    said = words(asked)
    return FACTS if "lamp" in said else "no facts" if "prose" in said else {"facts": "none"}


async def plan(house: House, goal: str, *tools: str, **more: Any) -> str:
    """Have a planning request accepted; gives its run."""
    asked = request(*(tools or ("math.evaluate",)), **more) | {
        "goal": {"type": "analysis", "description": goal},
        "request_id": None,
    }
    return (await house.ordain.runtime.accept(PlannerRequest.model_validate(asked), PRINCIPAL)).run


async def use(
    house: House, verb_id: str, payload: Mapping[str, Any], caller: str = "python"
) -> str:
    """Have a verb request accepted; gives its run."""
    asked = VerbRequest(verb_id=verb_id, payload=dict(payload), caller=caller)
    return (await house.ordain.runtime.accept(asked, PRINCIPAL)).run


async def plans(house: House) -> None:
    """Planning requests, each to its end."""
    every = ("math.evaluate", "extract_facts", "third_time", "ask_user", "post_out")
    for goal in PLANS:
        limits = {"wordy": {"max_tokens_reason": 20}, "long answer": {"max_tokens_answer": 20}}.get(
            goal
        )
        more = (
            {"preferences": {"allow_internal_thought_logging": False}} if goal == "withheld" else {}
        )
        await done(
            house,
            await plan(
                house, goal, *every, **more, **({} if limits is None else {"limits": limits})
            ),
        )
    for goal in FAILURES:
        await done(house, await plan(house, f"{goal} then whole"))
    await done(house, await plan(house, "inactive", "creative.tonecheck"))


async def verbs(house: House) -> None:
    """Verb requests, each to its end: done, failed, tried again, denied."""
    for verb_id, payload in (
        ("math.evaluate", SUM),
        ("math.evaluate", {"expression": "1 / 0"}),
        ("math.evaluate", {"sum": "2 + 2"}),
        ("extract_facts", TEXT),
        ("extract_facts", {"text": "the prose of it"}),
        ("third_time", {"text": "kept"}),
        ("post_out", {"text": "hello"}),
        ("creative.tonecheck", {"text": "hello"}),
        ("ask_user", {"question": "which?", "expected_type": "freeform"}),
        ("no_such_verb", {}),
    ):
        await done(house, await use(house, verb_id, payload))


async def accounts(house: House) -> None:
    """Whole, the rest, nothing, by agent; and a request that is called off."""
    slow = {"text": "Look slowly at the lamp."}
    whole, rest = (
        await use(house, "extract_facts", slow, "agent-daemon"),
        await use(house, "extract_facts", slow, "agent-daemon"),
    )
    await house.until("both are asked", lambda: len(house.puppet.held) == 2)
    await done(house, await use(house, "extract_facts", slow, "agent-daemon"))
    await done(house, await plan(house, "whole", caller="agent-daemon"))
    await house.ordain.runtime.operators.cancel(rest, by="ada", why="it took too long")
    await house.ordain.runtime.wait(rest)
    house.puppet.let_go()
    await done(house, whole)


async def session_accounts(house: House) -> None:
    """Whole, the rest, nothing, by session; a triage whose question is not covered."""
    first = await house.send("think slowly about it", mode="agent")
    await house.until("it is asked", lambda: house.puppet.held)
    second = await house.send("and hmm maybe look slowly at it suggest:new_request:0:0.9")
    await house.until("it has the rest", lambda: len(house.puppet.held) == 2)
    third = await house.say("well and then suggest:new_request:0:0.9")
    assert third.reply is not None
    assert "budget_exceeded" in third.reply.narrative, third
    house.puppet.let_go()
    await house.told(first)
    await house.told(second)


async def done(house: House, run: str) -> None:
    """Wait for the end of a run."""
    await asyncio.wait_for(house.ordain.runtime.wait(run), 20)


async def entered(house: House) -> None:
    """A turn that enters by what asks a person, and no model."""
    await house.say("which lamp?", verb="ask_user")


PARTS = {
    "plans": plans,
    "verbs": verbs,
    "accounts": accounts,
    "sessions": session_accounts,
    "entered": entered,
}


async def play(parts: Sequence[str]) -> GoldenTalk:
    """Play the requests of these parts; their runs in the order in which they were opened."""
    async with House(None, policy=POLICY, script=Requests().script, verbs=VERBS) as house:
        for part in parts:
            await PARTS[part](house)
        await house.quiet()
        return taken(house)


def main() -> None:
    """Write the requests to the named file."""
    file, *parts = sys.argv[1:]
    write(Path(file), asyncio.run(play(parts or list(PARTS))))


if __name__ == "__main__":
    main()
