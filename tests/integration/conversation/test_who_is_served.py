"""Who is served: whoever asks for something, in whatever form, beside others who ask for much."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import OrdainError, Refused, Transient
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House, Puppet

SLOW = script_of(holds("slowly"))


class SlowTriage(Puppet):
    """A model that suggests no class before it is ``released``; ``top``: how many suggestions were
    asked for at once.
    """

    top = working = 0

    def __init__(self, *args: Any) -> None:
        """Nothing is suggested yet."""
        super().__init__(*args)
        self.released = asyncio.Event()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Wait until it is released where a class is asked for."""
        if request.purpose != "triage":
            return await super().attempt(request, heard)
        self.working += 1
        self.top = max(self.top, self.working)
        await self.released.wait()
        self.working -= 1
        return await super().attempt(request, heard)


def with_attachment(text: str) -> dict[str, Any]:
    """A message of the wire that carries a file."""
    return {
        "session_id": "s1",
        "user_id": "ada",
        "message": {"text": text, "attachments": [{"name": "a.pdf"}]},
    }


async def test_one_session_cannot_flood_triage() -> None:
    """Messages whose class a model is asked for count against their session's bound: another
    session is still served.
    """
    policy = {
        "attach": {"ask": "worker"},
        "session": {"max_active": 2, "max_open": 4},
        "engine": {"max_accepted": 60},
    }
    puppet = SlowTriage(SLOW)
    async with House(puppet=puppet, policy=policy) as house:
        await house.send("please work slowly on it", mode="agent")
        await house.quiet()
        refused: list[str] = []
        for number in range(60):
            try:
                await house.send(f"hmm the blue thing number {number} perhaps")
            except Refused as error:
                refused.append(error.code)
        assert set(refused) == {"session_busy"}
        assert len(refused) >= 50
        other = await house.say("hello there, tell me a story", "s2")
        assert other.reply is not None
        assert puppet.top <= 4
        puppet.released.set()
        assert (await house.say("stop")).attached in ("override", "repair")
        house.puppet.let_go()
        await house.quiet()
        lawful(house.ordain, max_active=2)


@pytest.mark.parametrize("text", ["", "  ", "ok", "thanks"])
@pytest.mark.parametrize("hints", [{}, {"mode": "agent"}])
async def test_an_attachment_is_something_to_answer(text: str, hints: dict[str, Any]) -> None:
    """A message that carries a file is a request, though it has no word of its own, and is
    answered.
    """
    async with House() as house:
        answer = await house.told(
            await house.ordain.send({**with_attachment(text), "context": {"routing_hints": hints}})
        )
        assert answer.attached == "new_request"
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["ok", "no", "thanks", "stop", "go on"])
@pytest.mark.parametrize(
    "hints", [{"workflow": {"template": "send_email"}}, {"delegates": ["bob"]}]
)
async def test_what_names_a_workflow_is_carried_out_or_refused_by_name(
    text: str, hints: dict[str, Any]
) -> None:
    """A message with a workflow or delegates is no filler, whatever its words: its sender is told
    what becomes of it.
    """
    async with House() as house:
        answer = await house.say(text, **hints)
        assert answer.attached == "new_request"
        assert answer.reply is not None
        assert not answer.reply.ok
        assert (
            "unknown_agent" if "delegates" in hints else "missing_argument"
        ) in answer.reply.narrative
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["thanks", "ok", "no"])
async def test_a_named_verb_makes_no_thanks_a_request(text: str) -> None:
    """A channel may name the same verb in every message: from words that ask for nothing, nothing
    follows all the same.
    """
    async with House() as house:
        answer = await house.say(text, verb="chat_general")
        assert (answer.attached, answer.run_id) == ("filler", None)
        lawful(house.ordain)


@pytest.mark.parametrize(
    ("text", "hints"),
    [("ok", {"delegates": ["somebody"]}), ("thanks", {"workflow": {"template": "send_email"}})],
)
async def test_who_names_what_is_to_serve_is_served(text: str, hints: dict[str, Any]) -> None:
    """A message that hints at a workflow or delegates is no filler, however short its words."""
    async with House() as house:
        answer = await house.say(text, **hints)
        assert answer.attached == "new_request"
        assert answer.reply is not None


async def test_who_waits_is_told_when_the_engine_stops() -> None:
    """Waiting for an answer ends when the engine goes: the caller learns that it stopped, and that
    nothing was lost.
    """
    house = House(script=SLOW)
    await house.open()
    sent = await house.send("tell me slowly about cats", mode="agent")
    await house.quiet()
    waiting = asyncio.ensure_future(house.ordain.runtime.conversation.answer("default", sent))
    await asyncio.sleep(0)
    await house.ordain.stop(grace_s=0.0)
    with pytest.raises(Transient) as told:
        await asyncio.wait_for(waiting, 5)
    assert told.value.code == "stopping"


async def test_a_lost_word_is_not_refused_as_a_fault() -> None:
    """Text that is no Unicode, wherever it stands in a message, is refused by a typed error and
    never by a bug.
    """
    async with House() as house:
        given: dict[str, Any] = {
            "session_id": "s1",
            "user_id": "ada",
            "message": {"text": "hi", "metadata": {"k": "\ud800"}},
        }
        with pytest.raises((OrdainError, ValueError)) as refused:
            await house.ordain.send(given)
        assert not isinstance(refused.value, UnicodeEncodeError)


async def test_sessions_used_at_the_same_time_are_all_listed(tmp_path: Path) -> None:
    """A page ends at a session and not at a moment: none is left out where several were used in the
    same microsecond.
    """
    async with House(tmp_path) as house:
        for name in ("a", "b", "c"):
            await house.say("thanks", session=name)
    with closing(sqlite3.connect(tmp_path / "ordain.db")) as db, db:
        db.execute("UPDATE sessions SET last_at = 5")
    async with House(tmp_path) as house:
        listed, before = list[str](), None
        while page := await house.ordain.runtime.conversation.sessions(
            "default", limit=1, before=before
        ):
            listed.append(page[0].id)
            before = page[0].place
    assert listed == ["c", "b", "a"]
