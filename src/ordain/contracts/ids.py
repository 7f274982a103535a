"""Identifiers that are more than a string: one ``NewType`` each, so that one is never passed for
another.
"""

from __future__ import annotations

from typing import NewType

WorkspaceId = NewType("WorkspaceId", str)
CatalogDigest = NewType("CatalogDigest", str)
"""Content address of a catalog: 64 hex characters."""

SESSION_ID = r"^[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,199}$"
"""What names a session: of a conversation, and of planning requests that go on from each other."""
DEFAULT_WORKSPACE = WorkspaceId("default")
