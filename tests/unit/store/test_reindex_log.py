"""What the log says while passages get their vectors."""

from __future__ import annotations

import pytest

from ordain.ports.library import Reindexed
from ordain.store.reindex_log import EVERY_S, ReindexLog, log_reindexed


def test_the_log_says_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """At once, then not before ``EVERY_S`` have passed; at the end what it came to."""
    clock = [0.0]
    log = ReindexLog(lambda: clock[0])
    with caplog.at_level("INFO", "ordain.library"):
        for at, added in ((0.0, 0), (0.0, 256), (EVERY_S - 1, 512), (EVERY_S, 768)):
            clock[0] = at
            log(added, 1501)
        log_reindexed(Reindexed(embedder="other-1", passages=1501, embedded=1501, added=1500))
    assert caplog.messages == [
        "giving vectors to what has none: added=256 passages=1501",
        "giving vectors to what has none: added=768 passages=1501",
        "gave vectors: added=1500 passages=1501 embedded=1501 embedder=other-1",
    ]


def test_a_start_at_which_nothing_lacks_a_vector_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor does one without an embedder."""
    with caplog.at_level("INFO", "ordain.library"):
        log_reindexed(Reindexed(embedder="other-1", passages=9, embedded=9, added=0))
        log_reindexed(Reindexed(embedder="", passages=9, embedded=0, added=0, notice="none"))
    assert caplog.messages == []
