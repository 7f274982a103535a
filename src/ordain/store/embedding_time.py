"""An embedder that is waited for only so long: one whose endpoint hangs leaves a search the time to
look words up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from ordain.errors import Transient
from ordain.ports.library import Embedder

T = TypeVar("T")
SHARE = 0.5
"""The part of the time that is left which an embedder may take."""
CLOSE_S = 1.0
"""So long closing waits for an embedder that does not answer."""


class HangingThread(Executor):
    """One thread for calls that may hang: closing waits ``CLOSE_S`` for them and no longer, and
    none keeps the process from ending.

    What hangs then goes on unheard, and nothing behind it begins; whoever still waits for it is
    answered by nobody.
    """

    def __init__(self, name: str) -> None:
        """No thread before something is submitted."""
        self._name = name
        self._jobs = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See ``Executor.submit``."""
        future = Future[T]()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"{self._name} is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what was submitted end, as long as that is waited for. Idempotent."""
        with self._lock:
            thread = None if self._closed else self._thread
            self._closed = True
        if cancel_futures:
            self._cancel()
        self._jobs.put(None)
        if thread is not None and wait:
            thread.join(CLOSE_S)
        self._cancel()
        self._jobs.put(None)

    def _cancel(self) -> None:
        with suppress(Empty):
            while True:
                if (job := self._jobs.get_nowait()) is not None:
                    job[0].cancel()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, function = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    # foreign code: whoever asked is told, as by any executor
                    future.set_exception(error)
            del job, future, function  # an idle thread keeps nobody's values alive


class EmbedderThread:
    """The thread in which an embedder is asked of questions; used by one thread at a time.

    What was given up goes on in it until the embedder itself gives up, and until then nothing else
    is asked there.
    """

    def __init__(self) -> None:
        """No thread before something is asked."""
        self._threads = HangingThread("ordain-question")
        self._hangs: Future[Any] | None = None

    def asked(self, work: Callable[[], T], until: float) -> T:
        """What the work gives.

        Raises:
            Transient: it takes longer than until then, by the monotonic clock, or what was asked
                before still does (``embedder_unavailable``).
        """
        if self._hangs is not None and not self._hangs.done():
            raise Transient("the embedder still hangs", code="embedder_unavailable")
        asking = self._hangs = self._threads.submit(work)
        try:
            return asking.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            raise Transient("the embedder takes too long", code="embedder_unavailable") from None

    def close(self) -> None:
        """Let what runs end, as ``HangingThread.shutdown``. Idempotent."""
        self._threads.shutdown()


class TimedEmbedder:
    """Implements ``Embedder`` over another, for one question: all that is asked of it takes a share
    of the question's time, ``Transient`` beyond that.
    """

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
