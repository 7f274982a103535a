"""An Ordain that is talked to: messages in through ``Runtime.receive``, answers out through
``Conversation.answer``, SQLite in a folder.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from bench import work
from ordain.app import Extras, Ordain
from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.awaited_answers import Acknowledged
from ordain.settings import Settings, load_settings

QUESTIONS = (
    (
        "Which depot does order A-{n} leave from, and is somebody there to help with loading on a "
        "Friday afternoon?"
    ),
    (
        "Please tell me how many crates order A-{n} has and how heavy they are together, packing "
        "included."
    ),
    (
        "Who drives the night line to Lyon this week, and at what time does it arrive there with "
        "order A-{n}?"
    ),
    (
        "Write two friendly sentences that I can send to the customer of order A-{n} about the "
        "glassware."
    ),
    (
        "What does the tail lift at the depot cost for order A-{n}, and who pays for it under our "
        "contract?"
    ),
)
SUMMARY = (
    "The user asks about orders of the warehouse one after the other: depots, opening hours, "
    "weights, carriers and arrival times, and wants "
    "sentences for customers. All orders so far leave from depot DIJ with carrier KN-7 and reach "
    "Lyon by 11:30; the depot is open on "
    "Saturday from 06:00 to 12:30. Nothing was left open; prices of the tail lift were asked for "
    "and not known."
)
HOLD = "(hold)"
"""A message with this word gets no answer from the model until the talk lets it."""
ANSWERS = {
    "chat_general": [{"content": work.ANSWER}],
    "summarize_conversation": [{"summary": SUMMARY}],
}


class Gated:
    """The scripted model behind a gate: requests whose message says so wait there until ``open`` is
    set.
    """

    def __init__(self, script: ScriptedModel) -> None:
        self._script = script
        self.open = asyncio.Event()
        self.waiting = 0
        self.pieces: AsyncIterator[str] | None = None

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """The script's answer, once the gate is open."""
        if HOLD in str(request.inputs.get("message") or request.inputs.get("input") or ""):
            self.waiting += 1
            try:
                if heard is not None and self.pieces is not None:
                    async for piece in self.pieces:
                        heard(piece)
                await self.open.wait()
            finally:
                self.waiting -= 1
        return await self._script.attempt(request, heard)

    async def close(self) -> None:
        """Nothing is held."""


class Talk:
    """One running Ordain and the words to talk to it."""

    def __init__(self, ordain: Ordain, gate: Gated) -> None:
        self.ordain, self.gate = ordain, gate
        self._numbers = count(1000)

    def question(self) -> str:
        """The next question; no two are the same."""
        number = next(self._numbers)
        return QUESTIONS[number % len(QUESTIONS)].format(n=number)

    async def send(self, session: str, text: str, **hints: Any) -> Acknowledged:
        """Say something; it is durable when this returns."""
        return await self.ordain.runtime.receive(message(session, text, **hints), "local:bench")

    async def answer(self, sent: Acknowledged) -> MessageAnswer:
        """Wait for what became of it."""
        return await self.ordain.runtime.conversation.answer("default", sent)

    async def say(self, session: str, text: str, **hints: Any) -> MessageAnswer:
        """Say something and wait for the answer."""
        return await self.answer(await self.send(session, text, **hints))

    async def turn(self, session: str) -> str:
        """One whole turn; the answer."""
        said = await self.say(session, self.question())
        if said.reply is None or not said.reply.ok or said.attached != "new_request":
            raise AssertionError(f"no answer: {said}")
        return said.reply.narrative

    async def held(self, number: int) -> None:
        """Until so many requests wait at the gate."""
        while self.gate.waiting < number:  # noqa: ASYNC110 - nothing is timed here
            await asyncio.sleep(0.005)


def message(session: str, text: str, **hints: Any) -> Message:
    """A message as the web sends it."""
    return Message.model_validate(
        {
            "session_id": session,
            "user_id": "bench",
            "message": {"text": text},
            "context": {"routing_hints": hints},
        }
    )


def settings(home: Path, session: dict[str, int]) -> Settings:
    """The shipped settings on the scripted model, with these numbers of policy's session table."""
    home.mkdir(parents=True, exist_ok=True)
    made = load_settings(environment={}, home=home)
    policy = made.policy
    lanes = policy.lanes.model_copy(
        update={"profiles": {lane: ["default"] for lane in policy.lanes.profiles}}
    )
    tables = {"session": policy.session.model_copy(update=session), "lanes": lanes}
    profile = ModelProfile(provider="scripted", model=work.MODEL, script="in memory")
    return made.model_copy(
        update={"profiles": {"default": profile}, "policy": policy.model_copy(update=tables)}
    )


@asynccontextmanager
async def talking(
    home: Path, *, planner: list[Any] | None = None, session: dict[str, int] | None = None
) -> AsyncIterator[Talk]:
    """One Ordain on its own data folder, its database in a file there."""
    # one line per message and per run end would be the only terminal output of any system here
    logging.disable(logging.INFO)
    gate = Gated(ScriptedModel(make_script(planner=planner or [], verbs=ANSWERS)))
    async with Ordain(
        settings(home, session or {}), extras=Extras(models={"default": gate})
    ) as ordain:
        yield Talk(ordain, gate)
        gate.open.set()
