"""What a message costs the store does not grow with its session or with the database: counted in
SQLite's own steps, never in time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

from ordain.app import Ordain
from ordain.contracts.conversation import MessageAnswer
from ordain.settings import load_settings
from tests.replay.golden import scripted

CHAT: dict[str, list[Any]] = {
    "chat_general": [{"content": "Here it is."}],
    "summarize_conversation": [{"summary": "Letters were asked for."}],
}
CYCLE = 16
"""Turns in which older entries are summarised equally often, once the history is full."""
UNITS_OF_A_TURN = 7
"""The message; what the turn reads; its child; that it waits; what the child asks; how each of the
two ended.
"""
COUNTED = 20
"""SQLite calls back after so many steps of its virtual machine."""


class Talk:
    """A session with one user, and the steps that SQLite makes for it."""

    def __init__(self, ordain: Ordain) -> None:
        self._ordain = ordain
        self._numbers = count(1)
        self.steps = 0
        ordain.store._db.set_progress_handler(self._stepped, COUNTED)

    def _stepped(self) -> int:
        self.steps += 1
        return 0

    async def say(self, text: str, session: str = "s", **context: Any) -> MessageAnswer:
        """One message and its answer."""
        message = {
            "session_id": session,
            "user_id": "u",
            "message_id": f"m{next(self._numbers)}",
            "message": {"text": text},
            "context": context,
        }
        return await self._ordain.answer(await self._ordain.send(message))

    async def turn(self, session: str = "s") -> None:
        """One answered request."""
        answer = await self.say(
            f"Please write a letter about house number {next(self._numbers)}", session
        )
        assert answer.reply is not None
        assert answer.reply.ok

    async def cost(self, turns: Callable[[], Awaitable[object]], times: int = CYCLE) -> int:
        """Steps for so many turns."""
        before = self.steps
        for _ in range(times):
            await turns()
        return self.steps - before


async def test_a_turn_late_in_a_session_costs_no_more_than_an_early_one(tmp_path: Path) -> None:
    """Sixteen turns behind three hundred others take at most a tenth more steps than sixteen behind
    thirty-two.
    """
    async with scripted(load_settings({}, tmp_path), [], CHAT) as ordain:
        talk = Talk(ordain)
        await talk.cost(talk.turn, 2 * CYCLE)
        early = await talk.cost(talk.turn)
        await talk.cost(talk.turn, 16 * CYCLE)
        assert await talk.cost(talk.turn) <= 1.1 * early


async def test_an_edit_and_a_nudge_late_in_a_session_cost_no_more_than_early_ones(
    tmp_path: Path,
) -> None:
    """A corrected message, a question about the state and a word of thanks cost the same behind two
    hundred turns as behind twenty.
    """
    async with scripted(load_settings({}, tmp_path), [], CHAT) as ordain:
        talk = Talk(ordain)

        async def others() -> None:
            first = await talk.say("Please write a letter to the neighbours")
            await talk.say("Please write a letter to the landlord", edits=first.message_id)
            await talk.say("what is the status?")
            await talk.say("thanks!")

        await talk.cost(talk.turn, 20)
        early = await talk.cost(others, 1)
        await talk.cost(talk.turn, 200)
        assert await talk.cost(others, 1) <= 1.15 * early


async def test_a_turn_costs_no_more_beside_many_other_sessions(tmp_path: Path) -> None:
    """The first turns of a session take at most a twentieth more steps where two hundred turns of
    other sessions stand in the database.
    """
    async with scripted(load_settings({}, tmp_path), [], CHAT) as ordain:
        talk = Talk(ordain)
        await talk.turn("warm")
        alone = await talk.cost(lambda: talk.turn("first"), 4)
        for number in range(200):
            await talk.turn(f"other-{number}")
        assert await talk.cost(lambda: talk.turn("last"), 4) <= 1.05 * alone


async def test_a_turn_is_few_units_and_no_search(tmp_path: Path) -> None:
    """A turn and its child are seven units, and mail that this process put is known without a
    search through the ledger.
    """
    async with scripted(load_settings({}, tmp_path), [], CHAT) as ordain:
        talk = Talk(ordain)
        await talk.turn()
        said: list[str] = []
        connections = (ordain.store._db, ordain.store._reads)
        for connection in connections:
            connection.set_trace_callback(said.append)
        await talk.turn()
        for connection in connections:
            connection.set_trace_callback(None)
    units = [statement for statement in said if statement.startswith("SAVEPOINT unit")]
    assert len(units) <= UNITS_OF_A_TURN
    assert not [statement for statement in said if "FROM ledger WHERE instr" in statement]
