"""How finely a body may be cut: many small chunks that have arrived together are read without
waiting, and would keep everybody else waiting.
"""

from __future__ import annotations

import asyncio

BREATH = 32
"""Chunks after which others get their turn."""
CHUNKS_FREE = 16_384
CHUNK_BYTES = 32
"""Of the chunks beyond the free ones, what each brings on the average; an event of a stream has
some 250 bytes.
"""
TOO_FINE = "the answer comes in too many small pieces"


class Pace:
    """The chunks of one body."""

    def __init__(self) -> None:
        """None came yet."""
        self._chunks = 0
        self._bytes = 0

    async def keeps(self, chunk: bytes) -> bool:
        """Count one more, and let others run now and then; False where the body is cut too
        finely.
        """
        self._chunks += 1
        self._bytes += len(chunk)
        if self._chunks % BREATH == 0:
            await asyncio.sleep(0)
        return self._chunks <= CHUNKS_FREE + self._bytes // CHUNK_BYTES
