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

VALUES_MOST: Final = 10_000
"""Values of one body, or of one event of a stream; an honest one has some dozens."""
STREAM_VALUES: Final = 1_000_000
"""Values of all events of a stream: of such as bring a word or so there is room for 100,000."""
EVENT_BYTES: Final = 4 * 1024 * 1024
"""What one line of a stream has at most: as much as a whole body."""
BREATH_VALUES: Final = 1_000
"""So many are read, and then others get their turn."""
TOO_MANY: Final = f"the answer has more than {VALUES_MOST} values in one piece"
TOO_LONG: Final = f"the answer has more than {STREAM_VALUES} values"
_FEW: Final = 200
_MARK: Final = b"\xef\xbb\xbf"
_READ: Final = frozenset((b"data", b"event"))
_END: Final = re.compile(rb'"type"\s*:\s*"message_stop"|"finishReason"\s*:\s*"')
"""What the last event has; within a text of JSON its quotes stand behind a stroke."""
REFUSES: Final = 400
"""From this status on."""
REFUSAL_BYTES: Final = 64 * 1024
REFUSAL_VALUES: Final = 1_000
REFUSAL_DEPTH: Final = 20
REFUSAL_S: Final = 2.0
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


def values_in(text: bytes) -> int:
    """How many values a JSON text has, or more than ``VALUES_MOST``; of what is none, how many it
    may have at most.
    """
    at_most = 1 + text.count(b",") + text.count(b"[") + text.count(b"{")
    if at_most <= _FEW:  # what stands in texts is counted too: most have few all the same
        return at_most
    try:
        left: list[Any] = [msgspec.json.decode(text)]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return at_most
    found = 0
    while left and found <= VALUES_MOST:
        found += 1
        left += _within(left.pop())
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
            if values_in(body) > VALUES_MOST:
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
        """Whole lines; behind many values a pause."""
        left, before, since, mark = STREAM_VALUES, bytearray(), 0, _MARK
        async for chunk in self._chunks():
            came, mark = chunk.removeprefix(mark), b""
            *lines, rest = came.splitlines(keepends=True) or [b""]
            if rest.endswith((b"\r", b"\n")):
                lines, rest = [*lines, rest], b""
            for line in lines:
                before += line
                values = values_in(bytes(before).removeprefix(b"data:"))
                left, since = left - values, since + values
                if values > VALUES_MOST or left < 0:
                    raise self._beyond(TOO_MANY if values > VALUES_MOST else TOO_LONG)
                if self._is_read(whole := bytes(before)):
                    yield whole
                before.clear()
                if since > BREATH_VALUES:
                    since = 0
                    await asyncio.sleep(0)
            before += rest
            if len(before) > EVENT_BYTES:
                raise self._beyond(f"an event is larger than {EVENT_BYTES} bytes")
        if values_in(bytes(before).removeprefix(b"data:")) > min(VALUES_MOST, left):
            raise self._beyond(TOO_MANY)
        if self._is_read(bytes(before)):
            yield bytes(before)

    def _is_read(self, line: bytes) -> bool:
        """Whether the library gets this line: what only keeps a connection open, or tells how to
        come back to it, some take for an event. An answer that says its end is whole.
        """
        if not (said := line.strip()):
            return True
        name, _, value = said.partition(b":")
        if name not in _READ or (self._wire.data_only and name == b"event"):
            return False
        if self._wire.data_only and value.strip() == b"[DONE]":
            return False
        if self._wire.over_by is None and _END.search(line) is not None:
            self._wire.over_by = monotonic() + AFTER_END_S
        return True

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
