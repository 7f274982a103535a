"""How the golden conversation of turn 6 and workflow 1 is made: workflows that run, wait for a yes,
are undone and stopped, and turns of every other kind.

``python -m tests.replay.golden_workflow FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.ports.model import ModelRequest
from ordain.runtime.approvals import ApproverWord
from ordain.testing import ModelScript, routes
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.replay.recorded_words import WORDS
from tests.shapes.lines import about, script_of, words
from tests.shapes.talk import WORKSPACE, House
from tests.shapes.workflows import Desk, write_templates

POLICY: dict[str, dict[str, Any]] = {
    "outcome": {"ask": "local", "on_refusal": "direct"},
    "router": {"ask": "local"},
    "history": {"max_entries": 12, "keep_entries": 4},
    "session": {"max_active": 8},
    "verbs": {"retry_wait_ms": 1},
    "approvals": {"expires_s": 3600},
}
TEA = {"text": "tea"}
SUGGESTED: dict[str, Any] = {
    "note tea twice": {"template": "note_twice", "args": TEA},
    "announce tea": {"template": "announce", "args": TEA},
    "brew tea": {"template": "brew", "args": TEA},
    "pay for all of it": {"template": "pay_off", "args": TEA, "steps": []},
}
"""What a model suggests, by words of the message."""


def _suggestion(asked: ModelRequest) -> Any:
    return next(
        (said for phrase, said in SUGGESTED.items() if phrase in words(asked)),
        {"template": None, "args": {}},
    )


SCRIPT = script_of(
    ModelScript().on("workflow", _suggestion),
    WORDS.on("router", routes("react_lite", budget_class="small"), when=about("work it out")),
)


class Played:
    """The house, and what is done in it."""

    def __init__(self, house: House, desk: Desk) -> None:
        """Nothing was said yet."""
        self.house, self.desk = house, desk

    async def name(self, said: str, template: str, /, **args: Any) -> None:
        """A message that names a workflow, to its end."""
        await self.house.say(said, workflow={"template": template, "args": args})

    async def decide(self, text: str, template: str, *, approve: bool | None, **more: Any) -> None:
        """The same, with what an approver says; None: nobody says anything until it is too late."""
        sent = await self.house.send(text, workflow={"template": template, "args": TEA}, **more)
        await self.house.quiet()
        if approve is None:
            await self.house.pass_time(4000)
        else:
            desk = self.house.ordain.runtime.approvals
            for view in await desk.listed(WORKSPACE):
                await desk.decide(
                    WORKSPACE,
                    view.row.id,
                    ApproverWord(approve=approve, digest=view.row.digest),
                    "local:ben",
                )
        await self.house.told(sent)

    async def stop(self, text: str, template: str, word: str) -> None:
        """A workflow that is stopped by a message, at a step or while it waits."""
        self.desk.holding.clear()
        self.desk.gate.clear()
        sent = await self.house.send(text, workflow={"template": template, "args": TEA})
        await self.house.quiet() if template != "slow" else await self.desk.holding.wait()
        await self.house.send(word, reply_to=sent.message_id)
        self.desk.gate.set()
        await self.house.told(sent)
        await self.house.quiet()


async def workflows(played: Played) -> None:
    """Each way in which one can go."""
    await played.name("note it twice", "note_twice", **TEA)
    for template, args in (
        ("brew", TEA),
        ("announce", {}),
        ("announce", {"text": 7}),
        ("announce", {"verb": "pay_out", **TEA}),
    ):
        await played.name("please do", template, **args)
    await played.name("search", "search_web", query="tea")
    for template in ("fragile", "half_undone", "lost", "patient"):
        await played.name("do that", template, **TEA)
    await played.house.say("what went wrong?")
    for template, approve in (
        ("announce", True),
        ("announce", False),
        ("announce", None),
        ("send_and_break", True),
        ("pay_off", True),
    ):
        await played.decide("tell them", template, approve=approve)
    await played.stop("do it slowly", "slow", "stop")
    await played.stop("tell them all", "announce", "stop")
    await played.stop("do it slowly again", "slow", "no wait, note coffee instead")
    await played.name("that is done", "complete_task", note="It went out.")


async def suggested(played: Played) -> None:
    """What a model suggests: a workflow that runs, one that waits, and two that cannot be
    followed.
    """
    await played.house.say("please note tea twice")
    sent = await played.house.send("please announce tea to them")
    await played.house.quiet()
    desk = played.house.ordain.runtime.approvals
    for view in await desk.listed(WORKSPACE):
        await desk.decide(
            WORKSPACE, view.row.id, ApproverWord(approve=True, digest=view.row.digest), "local:ben"
        )
    await played.house.told(sent)
    await played.house.say("please brew tea")
    await played.house.say("please pay for all of it")


async def turns(played: Played) -> None:
    """What turns came to before there were workflows."""
    house = played.house
    await house.say("hello there")
    await house.say("calculate something for me", mode="agent")
    await house.say("work it out for me")
    await house.say("which lamp?", verb="ask_user")
    await house.say(
        "let several heads think", mode="council", workflow={"template": "announce", "args": TEA}
    )
    await house.say("ask another one", delegates=["analyst"])
    await house.say("use that", verb="no_such_verb")
    await house.say("and a last word about everything")


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    write_templates(home)
    desk = Desk()
    async with House(home, script=SCRIPT, policy=POLICY, verbs=desk.verbs) as house:
        played = Played(house, desk)
        for part in (workflows, suggested, turns):
            await part(played)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
