"""A chat turn in a session that has been talked in for a while: its history is full, and every
eighth turn sums older entries up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from bench.conversation.talk import Talk, talking
from bench.ready import Ready

TURNS_BEFORE = 24
"""Turns of a session before the first one that counts; from the twentieth on the history is
full.
"""


@asynccontextmanager
async def opened(home: Path, _url: str | None) -> AsyncIterator[Ready]:
    """One Ordain; so many sessions as turns are made at once, each used by one turn at a time."""
    free: list[str] = []
    numbers = count(1)
    async with talking(home) as talk:

        async def turn() -> str:
            session = free.pop() if free else await _begun(talk, f"chat-{next(numbers)}")
            try:
                return await talk.turn(session)
            finally:
                free.append(session)

        yield Ready(turn=turn, counted=lambda: counted(talk))


async def _begun(talk: Talk, session: str) -> str:
    for _ in range(TURNS_BEFORE):
        await talk.turn(session)
    return session


def counted(talk: Talk) -> Mapping[str, float]:
    """Running totals of this process."""
    counters: Any = talk.ordain.runtime.services.counters
    fields = {name: getattr(counters, name) for name in counters.__struct_fields__}
    return {
        **fields,
        "commits": talk.ordain.store.writer.commits,
        "fsync_s": talk.ordain.store.fsync_s,
    }
