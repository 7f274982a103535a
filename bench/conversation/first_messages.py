"""A chat turn that is the first of its session: no history, and the session itself is made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from bench.conversation.long_chats import counted
from bench.conversation.talk import talking
from bench.ready import Ready


@asynccontextmanager
async def opened(home: Path, _url: str | None) -> AsyncIterator[Ready]:
    """One Ordain; each turn in a session of its own."""
    numbers = count(1)
    async with talking(home) as talk:

        async def turn() -> str:
            return await talk.turn(f"new-{next(numbers)}")

        yield Ready(turn=turn, counted=lambda: counted(talk))
