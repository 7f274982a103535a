"""Lease: what the one engine of a data folder leaves behind of when it was at work. Written by operations of the one writer.

The operations are ``beat`` (``at``: it is at work), ``pause`` (``began``, ``ended``: nobody could work then) and ``clock_back`` (``at``:
the clock was set back, and nothing is known of what comes after). All times are microseconds since 1970 by the wall clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ordain.journal.lost_time import Pause


class Lease(Protocol):
    """Reads are as durable now; raises nothing."""

    def last_beat(self) -> int | None:
        """When an engine was last at work over this folder; None: none has said so yet."""
        ...

    def pauses(self) -> Sequence[Pause]:
        """When nobody could work, in order, as far back as an unsettled run may ask."""
        ...
