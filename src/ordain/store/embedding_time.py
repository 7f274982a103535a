"""An embedder that is waited for only so long: one whose endpoint hangs leaves a search the time to look words up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ordain.errors import Transient
from ordain.ports.library import Embedder

T = TypeVar("T")
SHARE = 0.5
"""The part of the time that is left which an embedder may take."""


class EmbedderThread:
    """The thread in which an embedder is asked of questions; used by one thread at a time.

    What was given up goes on in it until the embedder itself gives up, and until then nothing else is asked there.
    """

    def __init__(self) -> None:
        """No thread before something is asked."""
        self._threads = ThreadPoolExecutor(1, "ordain-question")
        self._hangs: Future[Any] | None = None

    def asked(self, work: Callable[[], T], until: float) -> T:
        """What the work gives.

        Raises:
            Transient: it takes longer than until then, by the monotonic clock, or what was asked before still does (``embedder_unavailable``).
        """
        if self._hangs is not None and not self._hangs.done():
            raise Transient("the embedder still hangs", code="embedder_unavailable")
        asking = self._hangs = self._threads.submit(work)
        try:
            return asking.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            raise Transient("the embedder takes too long", code="embedder_unavailable") from None

    def close(self) -> None:
        """Let what runs end. Idempotent."""
        self._threads.shutdown()


class TimedEmbedder:
    """Implements ``Embedder`` over another, for one question: all that is asked of it takes a share of the question's time, ``Transient`` beyond that."""

    def __init__(self, embedder: Embedder, thread: EmbedderThread, within_s: float) -> None:
        """``within_s`` is the time that is left for the question."""
        self._embedder, self._thread = embedder, thread
        self._until = time.monotonic() + within_s * SHARE

    @property
    def name(self) -> str:
        """See ``Embedder.name``."""
        return self._thread.asked(lambda: self._embedder.name, self._until)

    @property
    def dimension(self) -> int:
        """See ``Embedder.dimension``."""
        return self._thread.asked(lambda: self._embedder.dimension, self._until)

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """See ``Embedder.embed``."""
        return self._thread.asked(lambda: self._embedder.embed(texts), self._until)
