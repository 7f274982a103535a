"""A session's feed to one caller, where the runtime behind it ends before the server does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ordain import Ordain
from ordain.server import Face
from ordain.server.feed import Feed
from ordain.server.transcripts import TranscriptResponse

PATIENCE_S = 30


@pytest.fixture
async def face(tmp_path: Path) -> AsyncIterator[Face]:
    async with Ordain(home=tmp_path) as ordain:
        await ordain.chat("hello", session="s1")
        yield Face(runtime=ordain.runtime)


async def test_a_feed_is_over_once_the_engine_is_gone(face: Face) -> None:
    """An engine that lost its lease ends every feed, after what was read already: none goes round
    without anything to say.
    """
    feed = Feed(face, "default", "s1", 0)
    await asyncio.sleep(0.05)  # one event waits in the feed, the next one behind it
    face.runtime.release()
    told = []
    async with asyncio.timeout(PATIENCE_S):
        while not feed.over:
            told.append(await feed.next())
            assert len(told) < 10
    feed.close()
    assert [getattr(event, "seq", None) for event in told] == [1, 2, None]


async def test_an_event_stream_ends_with_the_engine(face: Face) -> None:
    """Its caller gets the entries and the end, not heartbeats without end."""
    stream = TranscriptResponse(Feed(face, "default", "s1", 0))
    pieces: list[bytes] = []

    async def read() -> None:
        async for piece in stream.body_iterator:
            pieces.append(bytes(piece) if not isinstance(piece, str) else piece.encode())
            if len(pieces) == 3:
                face.runtime.release()
            assert len(pieces) < 10

    await asyncio.wait_for(read(), PATIENCE_S)
    assert sum(piece.startswith(b"id: ") for piece in pieces) == 2
