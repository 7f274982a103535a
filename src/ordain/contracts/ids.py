"""Identifiers that are more than a string: one ``NewType`` each, so that one is never passed for another."""

from __future__ import annotations

from typing import NewType

WorkspaceId = NewType("WorkspaceId", str)
CatalogDigest = NewType("CatalogDigest", str)
"""Content address of a catalog: 64 hex characters."""

DEFAULT_WORKSPACE = WorkspaceId("default")
