"""A session's live stream: its transcript as it grows, and provisional text while a model writes.

Nothing is queued for anybody. A reader is woken when there may be something new, and reads from
where it stands: entries from the store where the transcript has grown, text from the one buffer of
the run. A slow or vanished reader therefore costs nothing and loses nothing, and a piece of text
costs a reader no look into the store.

A stream is of one session, and not of whichever bears its id: once that is erased it ends, and
nothing is read on for it that has begun under the id since.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Sequence,
)
from contextlib import contextmanager

from msgspec import Struct, field

from ordain.contracts.events import (
    ProgressEvent,
    ProvisionalEvent,
    ResetEvent,
    SessionErasedEvent,
    SessionEvent,
    TextEvent,
)
from ordain.contracts.text_links import links_of
from ordain.contracts.visible import shown_behind
from ordain.ports.sessions import Entry, EntryKind, Sessions
from ordain.ports.store import Change, StoredRun
from ordain.runtime.entry_events import event_of
from ordain.runtime.turnstile import Turnstile

PAGE = 200
TEXT_CHARS_MAX = 200_000
STIRRED = 4_096
"""So many numbers say for all sessions together whether one was heard of: two that share one look
for an answer once more than they need.
"""

SessionKey = tuple[str, str]
"""(workspace, session)."""


class _Live(Struct, kw_only=True):
    """What is shown of a turn that is being driven: ``steps`` counts what has become durable,
    ``text`` is the attempt's so far.
    """

    place: SessionKey
    steps: int = 0
    attempt: int = 0
    pieces: list[str] = field(default_factory=list[str])
    size: int = 0
    header: tuple[int, str] | None = None

    def text(self) -> str:
        """The attempt's text so far."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class StreamReader(Struct, eq=False):
    """One who reads or waits; ``grown`` says that the transcript may hold more than was read, or is
    another's by now, ``text`` that pieces of text are of interest.

    ``said`` are the entries that whoever waits was told of since it looked last; None where it has
    to read, for not all was told.
    """

    text: bool
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    grown: bool = True
    said: list[Entry] | None = field(default_factory=list[Entry])

    def hears(self, told: Sequence[Entry] | None) -> None:
        """The transcript has grown, it seems."""
        if told is None or self.said is None:
            self.said = None
        elif not self.text:
            self.said += told
        self.grown = True
        self.woken.set()

    def looks(self) -> list[Entry] | None:
        """What was said since the last look, and nothing of it is kept any longer."""
        said, self.said = self.said, []
        self.woken.clear()
        return said


class _Shown(Struct):
    """What one reader has seen of a turn."""

    steps: int = -1
    attempt: int = 0
    offset: int = 0


class _Bound(Struct):
    """Which session a reader reads: that of row ``session`` (None: not known yet), which had
    ``began`` entries at least when the reading began.
    """

    began: int
    session: int | None = None


class Streams:
    """The live side of all sessions of this process."""

    def __init__(self, sessions: Sessions, header: Callable[[str], Awaitable[str | None]]) -> None:
        """``header`` renders what a turn has finished so far, or None where there is no such
        run.
        """
        self._sessions = sessions
        self._header = header
        self._live: dict[SessionKey, dict[str, _Live]] = {}
        self._places: dict[str, SessionKey] = {}
        self._readers: dict[SessionKey, set[StreamReader]] = {}
        self._stirred = [0] * STIRRED
        self._turnstile = Turnstile()
        self.closed = False

    def close(self) -> None:
        """The engine is gone: nobody who reads here will hear of anything more."""
        self.closed = True
        for readers in self._readers.values():
            for reader in readers:
                reader.woken.set()

    # --- what happens -----------------------------------------------------------------------------

    def heard(self, change: Change) -> None:
        """Transcripts have grown, it seems."""
        for place in change.sessions:
            told = change.told.get(place)
            if told is None or any(entry.kind is not EntryKind.MESSAGE for entry in told):
                self._stirred[hash(place) % STIRRED] += 1
            for reader in self._readers.get(place, ()):
                reader.hears(told)

    def stirred(self, workspace: str, session: str) -> int:
        """A number that is another one once anything may have become of a session but that somebody
        has said something to it.
        """
        return self._stirred[hash((workspace, session)) % STIRRED]

    def _written(self, place: SessionKey) -> None:
        """Something provisional has changed: it concerns those who read along, and nobody who waits
        for the transcript.
        """
        for reader in self._readers.get(place, ()):
            if reader.text:
                reader.woken.set()

    def stepped(self, run: StoredRun) -> None:
        """Something of a session's turn has become durable."""
        live = self._of(run)
        live.steps += 1
        self._written(live.place)

    def attempt(self, run: StoredRun) -> Callable[[str], None]:
        """A new attempt at the turn's text begins; call the result with each piece."""
        live = self._of(run)
        live.attempt += 1
        live.pieces.clear()
        live.size, mine, before = 0, live.attempt, ""

        def heard(piece: str) -> None:
            nonlocal before
            if live.attempt == mine and live.size < TEXT_CHARS_MAX:
                shown, before = shown_behind(piece, before)
                live.pieces.append(shown)
                live.size += len(shown)
                if live.place in self._readers:
                    self._written(live.place)

        return heard

    def at_rest(self, root: str) -> None:
        """The turn has come to rest: what stands of it is its reply."""
        place = self._places.pop(root, None)
        if place is not None:
            runs = self._live[place]
            del runs[root]
            if not runs:
                del self._live[place]

    def _of(self, run: StoredRun) -> _Live:
        place = self._places.setdefault(run.root, (run.workspace, run.session))
        runs = self._live.setdefault(place, {})
        live = runs.get(run.root)
        if live is None:
            live = runs[run.root] = _Live(place=place)
            for reader in self._readers.get(place, ()):
                # its message is read before its text, and with that whose session it is
                reader.grown = True
        return live

    @contextmanager
    def watching(self, workspace: str, session: str) -> Generator[StreamReader]:
        """One who is woken whenever the session's transcript may have grown."""
        with self._reading((workspace, session), text=False) as reader:
            yield reader

    @contextmanager
    def _reading(self, place: SessionKey, *, text: bool) -> Generator[StreamReader]:
        reader = StreamReader(text=text)
        self._readers.setdefault(place, set()).add(reader)
        try:
            yield reader
        finally:
            readers = self._readers[place]
            readers.discard(reader)
            if not readers:
                del self._readers[place]

    # --- reading ----------------------------------------------------------------------------------

    async def events(
        self, workspace: str, session: str, after: int
    ) -> AsyncGenerator[SessionEvent, None]:
        """Every durable event after number ``after``, in order, and provisional ones between them,
        until the session is erased or the engine is gone.
        """
        place, shown, closed, of = (
            (workspace, session),
            dict[str, _Shown](),
            dict[str, None](),
            _Bound(after),
        )
        with self._reading(place, text=True) as reader:
            while await self._goes_on():
                reader.woken.clear()
                grown, reader.grown = reader.grown, False
                page = await self._page(place, of, after) if grown else ()
                if page is None:
                    yield SessionErasedEvent(session=session)
                    return
                for entry in page:
                    await self._turnstile.passed()
                    if reader.grown and (self.closed or not await self._same(place, of)):
                        break
                    after = entry.seq
                    if entry.kind is EntryKind.REPLY:
                        closed[entry.run] = None
                        shown.pop(entry.run, None)
                    yield event_of(entry)
                if len(page) == PAGE:
                    reader.grown = True
                runs = self._live.get(place, {})
                closed = {run: None for run in closed if run in runs}
                for run, live in [(run, live) for run, live in runs.items() if run not in closed]:
                    if reader.grown:
                        break
                    async for event in self._news(run, live, shown.setdefault(run, _Shown())):
                        yield event
                if not reader.grown:
                    await reader.woken.wait()

    async def _goes_on(self) -> bool:
        """Whether anything may be read, once it is this reader's turn: the store may be closed."""
        await self._turnstile.passed()
        return not self.closed

    async def _page(self, place: SessionKey, of: _Bound, after: int) -> Sequence[Entry] | None:
        """The next entries of the session; None once the id is no longer its own. Asked behind the
        page too: an id never comes back to a session that lost it.
        """
        if of.session is None and not await self._same(place, of):
            return None
        page = await self._sessions.entries(*place, after=after, limit=PAGE)
        return page if await self._same(place, of) else None

    async def _same(self, place: SessionKey, of: _Bound) -> bool:
        """Whether the id is still that of the session which the reader began with; of one that had
        not begun, whichever begins first.
        """
        row = await self._sessions.session(*place)
        if row is None:
            return of.session is None and not of.began
        if of.session is None and row.head >= of.began:
            of.session = row.no
        return row.no == of.session

    async def _news(self, run: str, live: _Live, seen: _Shown) -> AsyncIterator[ProvisionalEvent]:
        text = live.text()
        began = live.attempt != seen.attempt and bool(text)
        if (live.steps != seen.steps or began) and (
            header := await self._rendered(run, live)
        ) is not None:
            seen.steps = live.steps
            yield ProgressEvent(run=run, header=header, links=links_of(header))
        if live.attempt != seen.attempt and (seen.offset or text):
            if seen.offset:
                yield ResetEvent(run=run, attempt=live.attempt)
            seen.attempt, seen.offset = live.attempt, 0
        if len(text) > seen.offset and seen.attempt == live.attempt:
            offset, seen.offset = seen.offset, len(text)
            yield TextEvent(run=run, attempt=live.attempt, offset=offset, text=text[offset:])

    async def _rendered(self, run: str, live: _Live) -> str | None:
        """The header so far, rendered once for all readers; None where there is nothing to read it
        from.
        """
        if live.header is None or live.header[0] != live.steps:
            header = None if self.closed else await self._header(run)
            if header is None:
                return None
            live.header = (live.steps, header)
        return live.header[1]
