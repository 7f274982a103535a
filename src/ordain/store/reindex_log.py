"""What the log says of giving vectors to what has none: a change of embedder takes minutes where
much is remembered, and whoever operates it sees how far it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from ordain.ports.library import Reindexed

LOG = logging.getLogger("ordain.library")
EVERY_S = 10.0
"""So often at most the log says how far it is."""


class ReindexLog:
    """Implements ``OnProgress``: how many passages got a vector, of how many that are kept."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """The first slice is told at once; ``now`` in seconds."""
        self._now, self._next = now, now()

    def __call__(self, added: int, passages: int) -> None:
        """See ``OnProgress``."""
        if added and (now := self._now()) >= self._next:
            self._next = now + EVERY_S
            LOG.info("giving vectors to what has none: added=%d passages=%d", added, passages)


def log_reindexed(done: Reindexed) -> None:
    """What it came to; nothing where nothing lacked a vector."""
    if done.added:
        LOG.info(
            "gave vectors: added=%d passages=%d embedded=%d embedder=%s",
            done.added,
            done.passages,
            done.embedded,
            done.embedder,
        )
