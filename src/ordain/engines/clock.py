"""The system's clock and its chance, behind ``ports.clock``."""

from __future__ import annotations

import os
import time

from ordain.journal.digests import KEY_BYTES


class SystemClock:
    """Implements ``Clock``."""

    def now(self) -> int:
        """See ``Clock.now``."""
        return time.time_ns() // 1000

    def new_key(self) -> bytes:
        """See ``Clock.new_key``."""
        return os.urandom(KEY_BYTES)

    def new_run_id(self) -> str:
        """48 bits of milliseconds, then 80 random bits: sorts by time."""
        return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
