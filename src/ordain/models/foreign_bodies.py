"""What a foreign library is let read of an answer: so many bytes, and of JSON so many values.

Such a library makes kilobytes and microseconds out of each value, whatever the value is: a body of
three bytes each, well within its bytes, would hold up everybody for a minute and take gigabytes. So
each body, and each event of a stream, is counted before it is handed on. Of a refusal the status
says enough: whatever is wrong with its body, that is left out.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, cast

import httpx2
import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.event_stream import AFTER_END_S
from ordain.models.exchange import stalled
from ordain.models.pace import TOO_FINE, Pace
from ordain.models.refusals import malformed
from ordain.ports.model import ModelError
from ordain.runtime.time_limit import TimeLimit

HOLDER: Final = 10
"""A list or an object costs a library ten times what a text or a number does."""
WEIGHT_MOST: Final = 50_000
"""Weight of one body, or of one event of a stream: as much as 5,000 objects or 50,000 figures; an
honest one has some dozens.
"""
STREAM_WEIGHT: Final = 5_000_000
"""Of all events of a stream: of such as bring a word or so there is room for 100,000."""
EVENT_BYTES: Final = 4 * 1024 * 1024
"""What one line of a stream, and with it an event's field, has at most: as much as a whole body."""
BREATH_WEIGHT: Final = 5_000
"""So much is read, and then others get their turn."""
TOO_MANY: Final = "the answer has too many values in one piece"
TOO_LONG: Final = "the answer has too many values"
_LIGHT: Final = 1_000
_MARK: Final = b"\xef\xbb\xbf"
_END: Final = re.compile(
    rb'"type"\s*:\s*"message_stop"|"finishReason"\s*:\s*"(?!"|FINISH_REASON_UNSPECIFIED)'
)
"""What the last event has; within a text of JSON its quotes stand behind a stroke."""
_PING: Final = re.compile(rb'"type"\s*:\s*"ping"')
REFUSES: Final = 400
"""From this status on."""
REFUSAL_BYTES: Final = 64 * 1024
REFUSAL_VALUES: Final = 1_000
REFUSAL_DEPTH: Final = 20
REFUSAL_S: Final = 1.0
"""What explains a refusal is as large and as deep at most, and is waited for so long."""


@dataclass(slots=True)
class WireAttempt:
    """What one attempt did on the wire. ``data_only``: its library knows no other field of an
    event; ``over_by`` is until when, by the monotonic clock, what may follow a whole answer is
    waited for.
    """

    bound: int
    streams: bool
    idle_s: float | None = None
    speaking: bool = False
    data_only: bool = False
    over_by: float | None = None
    requests: int = 0
    size: int = 0
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    fault: ModelError | None = None


def weight_of(text: bytes) -> int:
    """What the values of a JSON text weigh, or more than ``WEIGHT_MOST``; of what is none, what
    they may weigh at most.
    """
    at_most = 1 + text.count(b",") + HOLDER * (text.count(b"[") + text.count(b"{"))
    if at_most <= _LIGHT:  # what stands in texts is counted too: most weigh little all the same
        return at_most
    try:
        left: list[Any] = [msgspec.json.decode(text)]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return at_most
    found = 0
    while left and found <= WEIGHT_MOST:
        value = left.pop()
        found += HOLDER if isinstance(value, list | dict) else 1
        left += _within(value)
    return found


def explains(body: bytes) -> bool:
    """Whether a library may be given this as the words of a refusal."""
    if len(body) > REFUSAL_BYTES:
        return False
    try:
        level: list[Any] = [json.loads(body)]
    except (ValueError, RecursionError):  # as the library would meet it
        return False
    found = 0
    for _ in range(REFUSAL_DEPTH):
        found += len(level)
        if not level or found > REFUSAL_VALUES:
            break
        level = [one for value in level for one in _within(value)]
    return not level and found <= REFUSAL_VALUES


def _within(value: Any) -> Collection[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    return cast("dict[str, Any]", value).values() if isinstance(value, dict) else ()


class _Lines:
    """The lines of one stream, as its library gets them; ``beyond`` says what is more of it than
    may be.

    What only keeps a connection open, or tells how to come back to it, some libraries take for an
    event. What is no field of an event is theirs to judge: a proxy may say in plain JSON what is
    wrong.
    """

    def __init__(self, wire: WireAttempt) -> None:
        self.beyond = ""
        self._wire, self._first, self._says_end = wire, True, True
        self._left, self._event = STREAM_WEIGHT, 0

    def taken(self, line: bytes) -> tuple[int, bytes]:
        """What one line weighs, and what of it the library gets."""
        if self._first and line:
            line, self._first = line.removeprefix(_MARK), False
        if not (said := line.strip()):
            self._event = 0
            return 1, line
        name, _, value = said.partition(b":")
        weight = weight_of(value if name == b"data" else said)
        self._event, self._left = self._event + weight, self._left - weight
        if self._event > WEIGHT_MOST or self._left < 0:
            self.beyond = TOO_MANY if self._event > WEIGHT_MOST else TOO_LONG
        if name == b"data":
            self._ends(said)
        return weight, b"" if self._is_aside(name, value) else self._spelled(line, name)

    def _is_aside(self, name: bytes, value: bytes) -> bool:
        if not self._wire.data_only:
            return name in {b"", b"id", b"retry"}
        return name in {b"", b"id", b"retry", b"event"} or (
            name == b"data" and value.strip() == b"[DONE]"
        )

    def _spelled(self, line: bytes, name: bytes) -> bytes:
        """With the blank behind the field that one library looks for."""
        short = self._wire.data_only and name == b"data" and not line.startswith(b"data: ")
        return b"data: " + line.lstrip()[5:] if short else line

    def _ends(self, said: bytes) -> None:
        """An answer that says its end is whole; one that goes on says nothing by that."""
        if self._wire.over_by is not None:
            if _PING.search(said) is None:
                self._wire.over_by, self._says_end = None, False
        elif self._says_end and _END.search(said) is not None:
            self._wire.over_by = monotonic() + AFTER_END_S


class BoundedBody(httpx2.AsyncByteStream):
    """A body that ends where it is larger, or cut more finely, or has more in it than it may."""

    def __init__(self, stream: httpx2.AsyncByteStream, wire: WireAttempt) -> None:
        """What ``wire`` bounds; what is beyond that stands there as its fault."""
        self._stream, self._wire = stream, wire

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._wire.status >= REFUSES:
            if explains(body := await self._refusal()):
                yield body
        elif self._wire.streams:
            async for part in self._events():
                yield part
        else:
            body = b"".join([chunk async for chunk in self._chunks()])
            if weight_of(body) > WEIGHT_MOST:
                raise self._beyond(TOO_MANY)
            yield body

    async def _refusal(self) -> bytes:
        body = bytearray()
        with suppress(TimeoutError, httpx2.TransportError):
            async with TimeLimit(REFUSAL_S):
                async for chunk in self._stream:
                    body += chunk
                    if len(body) > REFUSAL_BYTES:
                        break
        return bytes(body)

    async def _chunks(self) -> AsyncIterator[bytes]:
        pace, wire = Pace(), self._wire
        chunks = aiter(self._stream)
        while (chunk := await self._next(chunks)) is not None:
            if not await pace.keeps(chunk):
                raise self._beyond(TOO_FINE)
            wire.size += len(chunk)
            if wire.size > wire.bound:
                raise self._beyond(f"the answer is larger than {wire.bound} bytes")
            yield chunk

    async def _events(self) -> AsyncIterator[bytes]:
        """Whole lines; behind much of it a pause."""
        lines, before, since = _Lines(self._wire), bytearray(), 0
        async for chunk in self._chunks():
            *whole, rest = chunk.splitlines(keepends=True) or [b""]
            if rest.endswith((b"\r", b"\n")):
                whole, rest = [*whole, rest], b""
            for line in whole:
                before += line
                weight, read = self._within(lines, before)
                before.clear()
                if read:
                    yield read
                since += weight
                if since > BREATH_WEIGHT:
                    since = 0
                    await asyncio.sleep(0)
            before += rest
            if len(before) > EVENT_BYTES:
                raise self._beyond(f"an event is larger than {EVENT_BYTES} bytes")
        if read := self._within(lines, before)[1]:
            yield read

    def _within(self, lines: _Lines, line: bytearray) -> tuple[int, bytes]:
        """What ``lines`` takes of one, unless there is more of it than may be."""
        taken = lines.taken(bytes(line))
        if lines.beyond:
            raise self._beyond(lines.beyond)
        return taken

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        patience_s = self._wire.idle_s if self._wire.speaking else None
        over_by = self._wire.over_by
        if over_by is not None:
            patience_s = max(0.0, over_by - monotonic())
        try:
            async with TimeLimit(patience_s):
                return await anext(chunks, None)
        except (TimeoutError, httpx2.TransportError) as error:
            if over_by is not None:
                return None  # all that counts had come
            if not isinstance(error, TimeoutError):
                raise
            self._wire.fault = ModelError(
                code=ModelErrorCode.CONNECTION, message=stalled(patience_s)
            )
            raise httpx2.ReadError("stalled") from None

    def _beyond(self, what: str) -> httpx2.ReadError:
        self._wire.fault = malformed(what)
        return httpx2.ReadError(what)

    async def aclose(self) -> None:
        """As the stream below."""
        await self._stream.aclose()
