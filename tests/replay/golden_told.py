"""How the golden conversation of the flows that are told what a turn is like is made: turn,
supervisor and triage, under a route table.

Shared accounts are bounded, an ambiguous or large turn is asked of two models, and nearly
everything that can become of a message does. ``python -m tests.replay.golden_told FILE`` plays it
and writes it; done once, never again for a flow version that exists.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ordain.app import Extras, Ordain
from ordain.contracts.library import NoteRequest
from ordain.contracts.verbs import ArgumentRole, Retry
from ordain.journal.records import Status
from ordain.models.scripted import NOTICE
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.store.sqlite import StoreOptions
from ordain.testing import ModelScript, Proposal, call, fails, finish, moves, suggests
from ordain.testing import routes as suggests_path
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, verb
from tests.at_once import at_once
from tests.replay.golden import FACTS, TEXT
from tests.replay.golden_file import GoldenTalk, write
from tests.replay.recorded_words import WORDS
from tests.shapes.house import MovableClock
from tests.shapes.lines import about, script_of, words
from tests.shapes.talk import PROFILE, WORKSPACE, House, Puppet

PLENTY = 1_000_000_000_000
POLICY: dict[str, dict[str, Any]] = {
    "attach": {"ask": "local"},
    "router": {"ask": "local"},
    "supervisor": {"ask": "brain"},
    "history": {"max_entries": 24, "keep_entries": 6},
    "lanes": {
        "profiles": {"local": ["default"], "worker": ["default"], "brain": ["mute", "default"]},
        "routes": [
            {"tag": "routine", "lane": "local", "why": "routine"},
            {"ambiguous": True, "lane": "brain", "why": "escalated"},
            {"budget_class": "large", "lane": "brain", "why": "escalated"},
            {"verb": "summarize_conversation", "lane": "local"},
        ],
    },
    "fallback": {"hedge_ms": {"brain": 5}, "backoff_ms": 1},
    "budget": {
        "day_tokens": PLENTY,
        "day_usd_micros": PLENTY,
        "session": {"tokens": PLENTY, "per": "ever"},
        "agent": {"tokens": PLENTY, "usd_micros": 12_000_000, "per": "day"},
        "workspace": {"tokens": PLENTY, "per": "month"},
        "rest": False,
    },
    "verbs": {"default": {"deny": ["creative.tonecheck"]}, "retry_wait_ms": 1},
}
AGENT = {"mode": "agent"}


@verb(
    effect="private",
    arguments={"text": ArgumentRole.CONTENT},
    retry=Retry(max_attempts=3),
    idempotent=True,
)
def third_time(text: str, context: VerbContext) -> str:
    """Keep a text; the first two attempts fail, and the second names a delay."""
    if context.attempt < 3:
        raise VerbError(
            "not_yet",
            "later",
            retryable=True,
            happened=False,
            retry_after_s=0.005 * (context.attempt - 1),
        )
    return text


@verb(effect="admin", arguments={"text": ArgumentRole.CONTENT})
def post_out(text: str) -> str:
    """Do what somebody would have to approve, and nobody can here."""
    return text


VERBS: tuple[FunctionVerb[..., Any], ...] = (third_time, post_out)
STEPS: dict[str, list[Any]] = {
    "divide and give up": [call("math.evaluate", expression="1 / 0"), finish("not a number")],
    "divide and mend": [
        call("math.evaluate", expression="1 / 0"),
        call("math.evaluate", expression="6 / 2"),
        finish("3"),
    ],
    "try thrice": [call("third_time", text="kept"), finish("kept")],
    "post it": [call("post_out", text="hello"), finish("it could not be sent")],
    "lamp": [call("extract_facts", **TEXT), finish("the lamp is red")],
    "babble": ["no directive at all", finish("babbled, then said it")],
    "heads together": [finish("checkpoint")],
    "twice": [finish("replan"), finish("said twice")],
    "outside": [call("web.fetch", url="https://example.org"), call("no_such_tool")],
}
"""What a planner proposes, step by step, where a message holds these words."""
PATHS: dict[str, Any] = {
    "hello there": suggests_path("direct", budget_class="small"),
    "tell me about cats": suggests_path("direct", confidence=0.2, budget_class="small"),
    "give me a quick one": suggests_path("direct", confidence=0.1, budget_class="small"),
    "neither answers this": suggests_path("direct", confidence=0.1, budget_class="small"),
    "calculate something large": suggests_path("react_lite", budget_class="large"),
    "tell me of dogs": suggests_path("council"),
    "route:{}": {},
}
"""What a router suggests about a message with these words."""
CLASSES: dict[str, Proposal] = {
    "right so": suggests("status_nudge", thread=1),
    "hm maybe": suggests("filler", confidence=0.2),
    "hm perhaps": suggests("override", thread=99),
}
"""What a message with these words is taken for, where it is no new request."""


def _moved(request: ModelRequest) -> Proposal | None:
    suggested = {"checkpoint": "checkpoint_council", "replan": "request_replan"}
    final = json.dumps(request.inputs["proposal"]) if request.inputs["pending"] == "final" else ""
    return next((moves(move) for word, move in suggested.items() if word in final), None)


def scripted() -> ModelScript:
    """What the model does, by purpose and words."""
    script = ModelScript()
    for phrase, says in STEPS.items():
        for index, one in enumerate(says):
            script = script.on("planner", one, index=index, when=about(phrase))
    script = script.on("verb", FACTS, verb="extract_facts").on("supervisor", _moved)
    script = script.on("verb", fails("overloaded", "too many ask"), when=about("neither answers"))
    for purpose, table in (("router", PATHS), ("triage", CLASSES)):
        for phrase, one in table.items():
            script = script.on(purpose, one, when=about(phrase))
    return script_of(script, WORDS)


class Mute(Puppet):
    """The first of two models: it says nothing until somebody else has, or fails late."""

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        said = words(request)
        if "neither answers" in said:
            await asyncio.sleep(0.1)
            return fails("server_error", "it broke").error
        if "quick one" in said:
            return ModelReply(
                text=json.dumps({"content": "quick"}),
                model="scripted",
                input_tokens=7,
                output_tokens=3,
                notice=NOTICE,
                cached_tokens=2,
            )
        await asyncio.Event().wait()
        raise AssertionError


class TwoModels(House):
    """A house with two models behind lane brain, of which the first is mute."""

    async def open(self) -> None:
        """Start over what is stored."""
        profiles = {"default": PROFILE, "mute": PROFILE}
        extras = Extras(
            verbs=VERBS,
            models={"default": self.puppet, "mute": Mute()},
            store=StoreOptions(holder="talk", threaded=False),
            memory=True,
            embedder=lambda: None,
        )
        self.ordain = Ordain(self.settings.model_copy(update={"profiles": profiles}), extras=extras)
        await self.ordain.start()
        self.clock = MovableClock.within(self.ordain)


def routed(text: str, path: str, confidence: float, budget_class: str) -> str:
    """A message that spells out what the router model suggests about it (``PATHS``)."""
    return (
        f"{text} "
        f"route:{json.dumps({'path': path, 'confidence': confidence, 'budget_class': budget_class}, separators=(',', ':'))}"
    )


async def routes(house: House) -> None:
    """What a router model may say, and the lanes that follow; two models beside each other."""
    await house.say(routed("hello there", "direct", 0.9, "small"))
    await house.say(routed("tell me about cats", "direct", 0.2, "small"))
    await house.say(routed("give me a quick one", "direct", 0.1, "small"))
    await house.say(routed("neither answers this", "direct", 0.1, "small"))
    await house.say(routed("calculate something large", "react_lite", 0.9, "large"), **AGENT)
    await house.say(routed("tell me of dogs", "council", 0.9, "standard"))
    await house.say("route:{} and nothing else")


async def recalls(house: House) -> None:
    """Memory asked before a turn, found, not found and not to be had."""
    await house.ordain.runtime.library.add_note(
        WORKSPACE, NoteRequest(text="Ada drinks her tea without milk.", user_id="ada")
    )
    recall = {"enabled": True, "required": True, "time_window_days": 0, "max_items": 2}
    await house.say("how do I drink my tea?", recall=recall)
    await house.say(
        "find my tea, please", recall={**recall, "required": False, "profile": "old"}, **AGENT
    )
    await house.say('is there anything about "zyzzyva"?', recall=recall)
    await house.say("6 * 7", verb="math.evaluate", recall=recall)
    await house.say("6 * 7", verb="math.evaluate", recall={**recall, "required": False})


async def questions(house: House) -> None:
    """A question of every kind, answered, answered badly by an operator, and by nobody."""
    for asked, answer in (
        ("find out which place it is", "Lisbon"),
        ("find out which day it is", "next Tuesday"),
        ("find out whether it is so", "yes"),
        ("find out what else there is", "a green one made of wood"),
    ):
        question = (await house.say(asked, **AGENT)).question
        assert question is not None
        told = await house.say(answer, reply_to=question.message_id)
        assert told.attached == "answer_to_pending", told
    unfit = await house.send("find out whether it is blue", **AGENT)
    asking = "SELECT id FROM runs WHERE flow = 'question' AND status = 'waiting'"
    await house.until("it is asked", lambda: house.query(asking))
    ((run,),) = house.query(asking)
    assert await house.ordain.runtime.operators.answer(run, 0, "purple", by="operator") == "sent"
    await house.told(unfit)


async def work(house: House) -> None:
    """Verbs that fail, are made good, are tried again, are denied, are plans themselves; and
    proposals that are none.
    """
    tools = {**AGENT, "allowed_verbs": ["math.evaluate", "third_time", "post_out", "extract_facts"]}
    for text in (
        "divide and give up",
        "divide and mend",
        "try thrice",
        "post it",
        "see whether the lamp is red",
        "babble first",
        "go outside",
        "put heads together",
        "say it twice",
    ):
        await house.say(text, **tools)
    await house.say("calculate one", packs=["executive_pack"], **AGENT)
    await house.say("calculate one step of it", max_steps=1, **AGENT)
    await house.say("please fail at it", **AGENT)
    await house.say("what went wrong?")
    await house.say("work on it under supervision", supervised=True)
    await house.say("6 * 7", verb="math.evaluate")


async def refusals(house: House) -> None:
    """What cannot be had is said by name."""
    await house.say("let several heads think", mode="council")
    await house.say("use that", verb="no_such_verb")
    await house.say("use this", verb="creative.tonecheck")
    await house.say("use the other", verb="agent_runtime")
    await house.say("how good is it?", verb="evaluate")
    await house.say("take a pack", packs=["no_such_pack"], **AGENT)
    await house.say("send the report", workflow={"template": "send_email"})
    await house.say("ask the others", delegates=["research.summarizer"])


async def turns(house: House) -> None:
    """What later messages do to turns at work: nudge, override, edit, stop with one queued behind,
    triage by a model and by choice.
    """
    slow = await house.send("think slowly about it", id="slow-1", **AGENT)
    await house.until("the model is asked", lambda: house.puppet.held)
    await house.say("any luck?")
    await house.say("right so suggest:status_nudge:1:0.9")
    await house.say("hmm well suggest:new_request:0:0.9")
    await house.say("hm maybe suggest:filler:0:0.2")
    await house.say("hm perhaps suggest:override:99:0.9")
    changed = await house.say("no wait, use Porto instead", reply_to="slow-1", **AGENT)
    assert changed.attached == "override", changed
    await house.told(slow)
    held = await house.send("think slowly again", id="slow-2", ts=1, **AGENT)
    await house.until("the model is asked", lambda: house.puppet.held)
    edited = await house.say("think quickly after all", edits="slow-2", ts=2, **AGENT)
    assert edited.attached == "override", edited
    await house.told(held)
    await house.say("think quickly for once", edits="slow-2", ts=3, **AGENT)
    stopped = await house.send("think slowly a third time", id="slow-3", **AGENT)
    await house.until("the model is asked", lambda: house.puppet.held)
    behind = await house.send("and think of its harbour", reply_to="slow-3")
    await house.say("stop", reply_to="slow-3")
    await house.told(stopped)
    await house.told(behind)
    first = await house.send("tell me slowly of Hamburg", **AGENT)
    second = await house.send("tell me slowly of Bremen suggest:new_request:0:0.9", **AGENT)
    await house.until("both are asked", lambda: len(house.puppet.held) == 2)
    third = await house.say("tell me of Kiel suggest:new_request:0:0.9", **AGENT)
    assert third.reply is not None
    assert "budget_exceeded" in third.reply.narrative, third
    choice = await house.say("stop")
    assert choice.question is not None, choice
    await house.say("B", reply_to=choice.question.message_id)
    house.puppet.let_go()
    await house.told(first)
    await house.told(second)


async def nobody_answers(house: House) -> None:
    """A question that waits too long, and a choice that nobody makes."""
    asked = await house.send("find out which place is left", **AGENT)
    await house.until("it is asked", lambda: house.so_far(asked).question)
    await house.pass_time(86_400 * 2)
    await house.told(asked)
    await house.say("and a last word about everything")


async def play() -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    async with TwoModels(None, policy=POLICY, script=scripted()) as house:
        for part in (routes, recalls, questions, work, refusals, turns, nobody_answers):
            await part(house)
        await house.quiet()
        assert all(
            house.status(run) is not Status.FAULTED for (run,) in house.query("SELECT id FROM runs")
        )
        return taken(house)


def taken(house: House) -> GoldenTalk:
    """All runs of a house and the transcript of session s1."""
    runs = [
        house.ordain.store.stored(run) for (run,) in house.query("SELECT id FROM runs ORDER BY no")
    ]
    transcript = at_once(
        house.ordain.runtime.conversation.transcript(WORKSPACE, "s1", after=0, limit=1000)
    )
    return GoldenTalk.of(runs, transcript, house.ordain.catalog)


def main() -> None:
    """Write the conversation to the named file."""
    write(Path(sys.argv[1]), asyncio.run(play()))


if __name__ == "__main__":
    main()
