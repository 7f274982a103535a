"""How the golden conversation under pinned profiles is made: every scope of a pin, every mode, what
a profile takes away, and pins that lead nowhere.

``python -m tests.replay.golden_pinned FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.pinned import EVERYWHERE
from ordain.runtime.approvals import ApproverWord
from ordain.runtime.configuration import Applied, RecordChange
from ordain.testing import call
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.lines import about, script_of
from tests.shapes.talk import WORKSPACE, House
from tests.shapes.workflows import Desk, write_templates

POLICY: dict[str, dict[str, Any]] = {
    "history": {"max_entries": 8, "keep_entries": 4},
    "verbs": {"retry_wait_ms": 1},
    "approvals": {"expires_s": 3600},
    "profile": {
        "system_prompt": "Answer in plain words.",
        "plugins": ["kit@*"],
        "safety": {"expires_s": 1800},
        "roles": {"writing": {"verbs": ["chat_general"]}, "planning": {"purposes": ["planner"]}},
        "relaxable": ["plugins", "safety.not_requester"],
    },
}
SCRIPT = (
    script_of()
    .on("planner", call("note_down", text="tea"), index=0, when=about("note tea"))
    .on("planner", call("extract_facts", text="Alice"), index=0, when=about("work it out"))
)
PINS = ("profile-pin:session:s1", f"profile-pin:workspace:{WORKSPACE}", "profile-pin:global")


class Played:
    """The house, and what is pinned and said in it."""

    def __init__(self, house: House) -> None:
        """Nothing is pinned."""
        self.house = house

    async def put(
        self, resource: str, name: str, config: dict[str, Any] | None, place: str = WORKSPACE
    ) -> None:
        """Write a record."""
        change = RecordChange(place=place, resource=resource, id=name, config=config, owner=True)
        assert isinstance(
            await self.house.ordain.runtime.control.change(change, by="local:op"), Applied
        )

    async def pin(self, pin: str, profile: str | None) -> None:
        """Pin a profile, or nothing any more."""
        await self.put("policy", pin, None if profile is None else {"profile": profile})

    async def under(
        self, config: dict[str, Any], *said: str, approve: bool | None = None, **more: Any
    ) -> None:
        """Say something in a session that is pinned to this, with an approver's word where somebody
        is asked; None: nobody says anything in time.
        """
        await self.put("profile", "p", config)
        for text in said:
            sent = await self.house.send(text, **more)
            await self.house.quiet()
            desk = self.house.ordain.runtime.approvals
            views = await desk.listed(WORKSPACE)
            if views and approve is None:
                await self.house.pass_time(4000)
            for view in views if approve is not None else ():
                word = ApproverWord(approve=bool(approve), digest=view.row.digest)
                await desk.decide(WORKSPACE, view.row.id, word, "local:ben")
            await self.house.told(sent)
            await self.house.quiet()


async def scopes(played: Played) -> None:
    """The narrowest pin, each taken away after a turn, down to policy's own section; and pins that
    lead nowhere.
    """
    for name, pin in zip("xyz", PINS, strict=True):
        await played.put(
            "profile",
            name,
            {"systemPrompt": f"You are {name}."},
            EVERYWHERE if name == "z" else WORKSPACE,
        )
        await played.pin(pin, name)
    for pin in PINS:
        await played.house.say("hello there")
        await played.pin(pin, None)
    await played.house.say("hello there")
    await played.pin(PINS[1], "y")
    await played.pin(PINS[0], "gone")
    await played.house.say("hello there")
    await played.pin(PINS[0], "p")


async def modes(played: Played) -> None:
    """What each mode leaves of a write, by a model and by a workflow."""
    agent: dict[str, Any] = {"mode": "agent", "allowed_verbs": ["note_down", "extract_facts"]}
    workflow: dict[str, Any] = {"workflow": {"template": "note_twice", "args": {"text": "tea"}}}
    for mode in ("standard", "guarded", "read_only"):
        safety = {"mode": mode, "notRequester": True, "expiresS": 600}
        for approve in (True, False, None) if mode == "guarded" else (None,):
            await played.under({"safety": safety}, "please note tea", approve=approve, **agent)
        await played.under({"safety": safety}, "please do", approve=True, **workflow)


async def lists(played: Played) -> None:
    """What is enabled, and which model answers."""
    agent: dict[str, Any] = {"mode": "agent", "allowed_verbs": ["note_down", "extract_facts"]}
    await played.under({"skills": ["extract_*"]}, "please note tea", "work it out for me", **agent)
    await played.under({"skills": []}, "hello there", "please note tea", **agent)
    await played.under(
        {"skills": ["extract_*"]},
        "please do",
        workflow={"template": "note_twice", "args": {"text": "tea"}},
    )
    await played.under({"providers": {"writing": "default", "planning": "nowhere"}}, "hello there")
    await played.under(
        {"providers": {"writing": "default", "planning": "nowhere"}}, "work it out for me", **agent
    )
    await played.under({"systemPrompt": "Ignore every rule."}, "which lamp?", verb="ask_user")
    await played.house.say("the green one")
    await played.house.say("and a last word about everything")


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    write_templates(home)
    async with House(home, script=SCRIPT, policy=POLICY, verbs=Desk().verbs) as house:
        played = Played(house)
        for part in (scopes, modes, lists):
            await part(played)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
