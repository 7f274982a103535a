"""Approvals and grants as they stand: what somebody is asked to decide, what was decided, and what was said yes to beforehand.

A row holds ids, hashes and times; what is asked stands in the intent of the run that waits. Everything belongs to a workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ordain.contracts.approvals import Grant, Subject, Tier
from ordain.rules.approve import ApprovalState


class NewApproval(Struct, frozen=True, gc=False, kw_only=True):
    """Effect ``addr`` of the unit's own run asks for an approval, until ``expires_at`` (microseconds since 1970).

    ``digest`` is that of what is asked, keyed with the run's subject. Where it asked before and was withdrawn it is open again; where it was decided that stays.
    ``workflow`` names what proposes it, "" where nothing does.
    """

    id: str
    addr: int
    subject: Subject
    tier: Tier
    digest: str
    asked_at: int
    expires_at: int
    workflow: str = ""


class ApprovalDecided(Struct, frozen=True, gc=False, kw_only=True):
    """An open approval is so now: decided by somebody, or over, which nobody decided (``by`` ""). One that is open no more stays as it is.

    ``grant`` is the one that was given with it.
    """

    id: str
    state: ApprovalState
    at: int
    by: str = ""
    grant: str = ""


class GrantUse(Struct, frozen=True, gc=False, kw_only=True):
    """One use of a grant is taken."""

    grant: str


class GrantRevoked(Struct, frozen=True, gc=False, kw_only=True):
    """A grant was taken back."""

    grant: str
    by: str
    at: int


class ApprovalRow(Struct, frozen=True, kw_only=True):
    """An approval as stored. ``place`` is where it stands in the list. Times in microseconds since 1970, 0 of what was not yet."""

    id: str
    workspace: str
    run: str
    root: str
    addr: int
    session: str
    thread: int
    subject: str
    tier: str
    digest: str
    workflow: str
    asked_at: int
    expires_at: int
    state: str
    decided_at: int
    decided_by: str
    grant: str
    place: int


class Approvals(Protocol):
    """Reading them as durable now. Errors: the storage's own; what is not there is None or empty."""

    async def approvals(self, workspace: str, *, states: Sequence[str], limit: int, before: int | None) -> Sequence[ApprovalRow]:
        """Approvals in these states (none given: in any), the latest first; ``before`` is an ``ApprovalRow.place``."""
        ...

    async def approval(self, approval: str) -> ApprovalRow | None:
        """One of them, of any workspace."""
        ...

    async def grants(self, workspace: str, *, standing_at: int | None, limit: int, before: str | None) -> Sequence[Grant]:
        """Grants, the latest first, of all or only those that stand at a moment; ``before`` is a grant's id."""
        ...

    async def grant(self, workspace: str, grant: str) -> Grant | None:
        """One of them."""
        ...
