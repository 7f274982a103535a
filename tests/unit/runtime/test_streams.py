"""Live streams: who is woken by what, and what a piece of text costs those who read along."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.events import (
    ProgressEvent,
    ReplyEvent,
    SessionErasedEvent,
    SessionEvent,
    TextEvent,
)
from ordain.journal.records import Status
from ordain.ports.sessions import Entry, EntryKind, SessionRow
from ordain.ports.store import Change, StoredRun
from ordain.runtime.streams import Streams
from tests.at_once import awaited
from tests.unit.runtime.test_entry_events import HOSTILE, SHOWN

RUN = StoredRun(
    id="r1",
    flow="turn",
    flow_version=1,
    catalog="c",
    workspace="default",
    subject="s",
    key=b"k",
    status=Status.RUNNING,
    reason="",
    parent=None,
    parent_addr=0,
    index=0,
    root="r1",
    resumes=0,
    wake_at=None,
    created_at=0,
    ended_at=None,
    records=(),
    session="s1",
    thread=1,
)


def sitting(number: int, head: int) -> SessionRow:
    """A session's row."""
    return SessionRow(
        id="s1",
        workspace="default",
        head=head,
        open=0,
        channel="web",
        user="ada",
        created_at=0,
        last_at=0,
        active=0,
        key=b"k",
        no=number,
    )


class Transcript:
    """The sessions' port as far as a stream reads it; ``looks`` counts how often."""

    def __init__(self) -> None:
        self.said: list[Entry] = []
        self.looks = self.owner = 0

    def erase(self) -> None:
        """The id is another session's from now on, which begins."""
        self.owner += 1
        self.said.clear()

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        return sitting(self.owner, len(self.said))

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        self.looks += 1
        return [entry for entry in self.said if entry.seq > after][:limit]

    def reply(self, run: str) -> None:
        """A closing reply becomes durable."""
        told: dict[str, Any] = dict.fromkeys(("channel", "attached", "reason", "anchor"), "")
        self.said.append(
            Entry(
                seq=len(self.said) + 1,
                kind=EntryKind.REPLY,
                at=0,
                thread=1,
                run=run,
                message_id=f"ordain:{run}:reply",
                size=2,
                through=0,
                timestamp_ms=0,
                digest=b"",
                chain=b"",
                body=b'{"text":"Done.","header":"h","ok":true}',
                decision=None,
                **told,
            )
        )


def streaming() -> tuple[Streams, Transcript]:
    """Streams over a transcript of one's own."""
    transcript = Transcript()
    return Streams(transcript, awaited(lambda run: "header")), transcript  # type: ignore[arg-type] - it reads entries only


async def test_pieces_of_text_cost_no_look_into_the_transcript() -> None:
    """A reader who follows a text looks into the store when it begins, when a turn begins and when
    the transcript has grown, and not for the pieces.
    """
    streams, transcript = streaming()
    events: list[Any] = []

    async def follow() -> None:
        async with aclosing(streams.events("default", "s1", 0)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, ReplyEvent):
                    return

    reader = asyncio.ensure_future(follow())
    await asyncio.sleep(0)
    assert transcript.looks == 1
    heard = streams.attempt(RUN)
    for piece in ("He", "llo", " there"):
        heard(piece)
        await asyncio.sleep(0)
    assert transcript.looks == 2
    transcript.reply("r1")
    streams.heard(Change(sessions=(("default", "s1"),)))
    await reader
    assert transcript.looks == 3
    assert [type(event) for event in events] == [
        ProgressEvent,
        TextEvent,
        TextEvent,
        TextEvent,
        ReplyEvent,
    ]
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == "Hello there"


async def test_whoever_waits_for_an_answer_is_not_woken_by_its_text() -> None:
    """Pieces of text and steps of a turn leave a waiter asleep; a transcript that has grown wakes
    it, another session's does not.
    """
    streams, _ = streaming()
    with streams.watching("default", "s1") as reader:
        heard = streams.attempt(RUN)
        heard("Hello")
        streams.stepped(RUN)
        streams.heard(Change(sessions=(("default", "s2"),)))
        streams.heard(Change(sessions=(("another", "s1"),)))
        assert not reader.woken.is_set()
        streams.heard(Change(sessions=(("default", "s1"),)))
        assert reader.woken.is_set()


async def test_nothing_stays_of_readers_and_turns_that_are_gone() -> None:
    """After the last reader has left and the turn has come to rest, nothing is kept for the
    session.
    """
    streams, _ = streaming()
    stream = streams.events("default", "s1", 0)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    streams.attempt(RUN)("Hello")
    await waiting
    await stream.aclose()
    streams.at_rest("r1")
    streams.at_rest("r1")
    assert not streams._readers
    assert not streams._live
    assert not streams._places


async def test_a_text_that_outlives_its_turn_is_shown_to_nobody() -> None:
    """A model that goes on speaking after its turn has come to rest is heard by no reader."""
    streams, transcript = streaming()
    heard = streams.attempt(RUN)
    transcript.reply("r1")
    streams.at_rest("r1")
    async with aclosing(streams.events("default", "s1", 0)) as stream:
        assert isinstance(await anext(stream), ReplyEvent)
        following = asyncio.ensure_future(anext(stream))
        heard("too late")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not following.done()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def test_nothing_is_read_once_the_engine_is_gone() -> None:
    """A stream that is opened after the end, or read on after it, ends: the store behind it may be
    closed.
    """
    streams, transcript = streaming()
    streams.attempt(RUN)
    for _ in range(2):
        transcript.reply("r0")
    begun = streams.events("default", "s1", 0)
    assert await anext(begun)
    looks = transcript.looks
    streams.close()
    assert [event async for event in begun if not isinstance(event, ReplyEvent)] == []
    assert [event async for event in streams.events("default", "s1", 0)] == []
    assert transcript.looks == looks


@given(
    after=st.integers(0, 3),
    moves=st.lists(st.sampled_from(["say", "write", "erase", "read", "read", "hint"]), max_size=14),
)
async def test_a_stream_is_of_one_session_and_ends_with_it(after: int, moves: list[str]) -> None:
    """Whatever is said, written, erased and read in whatever order: a reader sees nothing of
    another session under the id, and its stream ends at the erasure.
    """
    streams, transcript = streaming()
    for number in range(3):
        transcript.reply(f"r{number} of 0")
    heard: list[SessionEvent] = []

    async def follow() -> None:
        async with aclosing(streams.events("default", "s1", after)) as stream:
            async for event in stream:
                heard.append(event)
                await asyncio.sleep(0)  # it is no faster than whoever writes

    async def settle() -> None:
        for _ in range(60):
            await asyncio.sleep(0)

    hint = Change(sessions=(("default", "s1"),))
    reader = asyncio.ensure_future(follow())
    await settle()
    for place, move in enumerate(moves):
        owner = transcript.owner
        match move:
            case "say":
                transcript.reply(f"r{place} of {owner}")
                streams.heard(hint)
            case "write":
                run = msgspec.structs.replace(
                    RUN, id=f"w{place} of {owner}", root=f"w{place} of {owner}"
                )
                streams.attempt(run)(f"of {owner}")
            case "erase":
                for run in list(streams._places):
                    streams.at_rest(run)  # what is erased is at rest
                transcript.erase()
                streams.heard(hint)
            case "read":
                await settle()
            case _:
                streams.heard(hint)
    await settle()
    told = [event for event in heard if not isinstance(event, SessionErasedEvent)]
    assert all(str(getattr(event, "run", "")).endswith(" of 0") for event in told)
    assert reader.done() == ("erase" in moves) == (len(told) < len(heard))
    if reader.done():
        assert heard[-1:] == [SessionErasedEvent(session="s1")]
        assert not streams._readers
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)


async def test_a_reader_who_comes_too_late_reads_nothing() -> None:
    """Whoever asks for what comes after an entry that the session under the id does not have asked
    about another one, also where that begins then.
    """
    streams, transcript = streaming()
    transcript.reply("r1")
    assert [event async for event in streams.events("default", "s1", 2)] == [
        SessionErasedEvent(session="s1")
    ]


async def test_a_new_turns_text_comes_behind_a_look_at_whose_session_it_is() -> None:
    """Where the hint of an erasure is late, the text of a turn under the id is not shown before
    that was looked at.
    """
    streams, transcript = streaming()
    transcript.reply("r0")
    async with aclosing(streams.events("default", "s1", 0)) as stream:
        assert isinstance(await anext(stream), ReplyEvent)
        following = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        transcript.erase()
        streams.attempt(RUN)("of another")
        assert await following == SessionErasedEvent(session="s1")


async def test_a_piece_of_text_commands_nobody_who_shows_it() -> None:
    """What a model says is made visible piece by piece, before anybody reads it; offsets count what
    was shown.
    """
    streams, _ = streaming()
    heard = streams.attempt(RUN)
    for piece in (HOSTILE[:6], HOSTILE[6:]):
        heard(piece)
    async with aclosing(streams.events("default", "s1", 0)) as stream:
        found = [await anext(stream), await anext(stream)]
    assert [event.text for event in found if isinstance(event, TextEvent)] == [SHOWN]
