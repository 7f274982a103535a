"""Reading much of a data folder in several processes: what is done with one run does not hang on
another, and a process has one core.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from multiprocessing.util import Finalize
from typing import Any, TypeVar

from ordain.collector import collect_seldom
from ordain.errors import StorageUnavailable

T = TypeVar("T")
S = TypeVar("S")
PieceWork = Callable[[Sequence[S]], Sequence[T]]
"""Finds something for each of some items, in their order."""
PIECE = 256
"""What a process is given at once."""
AHEAD = 4
"""So many pieces for each process are handed out or found at a time: what is to be done may be
much, and what is found as well.
"""
ALONE = 1_024
"""So many are read in this process: another may take a second to begin."""


def cores() -> int:
    """How many processes can work at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    begin: Callable[[], AbstractContextManager[PieceWork[S, T]]],
    items: Sequence[S],
    jobs: int,
) -> Iterator[T]:
    """What is found for each of ``items``, in their order, as it is found; ``jobs`` processes at
    most, none beside this one for few items. Each of them enters what ``begin`` gives before its
    first piece, leaves it behind its last, and has what is entered look at the pieces between.

    Raises:
        StorageUnavailable: a process was killed, by the system for want of memory perhaps. Whatever
            is raised in beginning and finding.
    """
    pieces = [items[first : first + PIECE] for first in range(0, len(items), PIECE)]
    if jobs < 2 or len(items) <= ALONE:
        if pieces:
            with begin() as work:
                for piece in pieces:
                    yield from work(piece)
        return
    with ProcessPoolExecutor(
        min(jobs, len(pieces)), mp_context=_beginning(), initializer=_begun
    ) as pool:
        under_way = deque[Future[Sequence[T]]]()
        try:
            for piece in pieces:
                with _uninterrupted():
                    under_way.append(pool.submit(_worked, begin, piece))  # may begin a process
                if len(under_way) > AHEAD * jobs:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        except BrokenProcessPool as error:
            raise StorageUnavailable(
                "a process of the replay was killed; --jobs 1 needs least memory", code="killed"
            ) from error
        finally:
            # whoever gives up waits for no more than what is under way
            pool.shutdown(cancel_futures=True)


def _beginning() -> BaseContext:
    """How others begin: as copies of this process, which have imported all that it has, where it is
    safe to copy one.

    A copy knows nothing of what another thread was in the midst of, and elsewhere than on Linux not
    even the system's own libraries bear one.
    """
    return get_context(
        "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    )


def _begun() -> None:
    """In a process of the pool: it is one command's, whoever began it, and ends where that one is
    gone. Killed, that tells nobody, and what waits for its next piece would wait for ever.
    """
    collect_seldom()
    parent = parent_process()
    assert parent is not None  # a pool's process has one
    threading.Thread(target=_end_behind, args=(parent.sentinel,), daemon=True).start()


_AT_WORK: list[PieceWork[Any, Any]] = []
"""In a process of the pool: what looks at its pieces, from its first one on."""


def _worked(
    begin: Callable[[], AbstractContextManager[PieceWork[S, T]]],
    piece: Sequence[S],
) -> Sequence[T]:
    if not _AT_WORK:
        entered = ExitStack()
        _AT_WORK.append(entered.enter_context(begin()))
        Finalize(None, entered.close, exitpriority=0)
    return _AT_WORK[0](piece)


def _end_behind(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Processes that are begun within know nothing of a terminal's interrupt, which goes to all of
    a group: this one tells them to end.

    What arrives meanwhile waits. A process that was still beginning told of itself in a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
