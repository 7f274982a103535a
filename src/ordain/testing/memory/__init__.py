"""A journal store and its sessions in memory, which several engines of one process share: for tests
of what happens between them.
"""

from __future__ import annotations

from ordain.testing.memory.approvals import MemoryApprovals
from ordain.testing.memory.configuration import MemoryConfiguration
from ordain.testing.memory.ledger import MemoryLedger
from ordain.testing.memory.sessions import MemorySessions
from ordain.testing.memory.shared import SharedMemory
from ordain.testing.memory.store import MemoryStore

__all__ = [
    "MemoryApprovals",
    "MemoryConfiguration",
    "MemoryLedger",
    "MemorySessions",
    "MemoryStore",
    "SharedMemory",
]
