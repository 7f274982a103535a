"""Identifiers: one ``NewType`` for each, so that one is never passed for another."""

from __future__ import annotations

from typing import NewType

RunId = NewType("RunId", str)
"""128 bits as 32 lower-case hex characters."""

WorkspaceId = NewType("WorkspaceId", str)
SubjectId = NewType("SubjectId", str)
"""Whose content it is: the unit of erasure."""

PrincipalId = NewType("PrincipalId", str)
"""Who acts: ``local:cli`` on the command line, ``local:python`` in process, ``http:loopback`` over HTTP."""

VerbId = NewType("VerbId", str)
CatalogDigest = NewType("CatalogDigest", str)
"""Content address of a catalog: 64 hex characters."""

DEFAULT_WORKSPACE = WorkspaceId("default")
