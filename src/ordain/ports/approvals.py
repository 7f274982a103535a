"""Approvals and grants as they stand: what somebody is asked to decide, what was decided, and what
was said yes to beforehand.

A row holds ids, hashes and times; what is asked stands in the intent of the run that waits.
Everything belongs to a workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, structs

from ordain.contracts.approvals import Grant, Subject, Tier
from ordain.journal.records import ENCODER
from ordain.rules.approve import ApprovalState


class NewApproval(Struct, frozen=True, gc=False, kw_only=True):
    """Effect ``addr`` of the unit's own run asks for an approval, until ``expires_at``
    (microseconds since 1970).

    ``digest`` is that of what is asked, keyed with the run's subject. Where it asked before and was
    withdrawn it is open again; where it was decided that stays. ``workflow`` names what proposes
    it, "" where nothing does.
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
    """An open approval is so now: decided by somebody, or over, which nobody decided (``by`` "").
    One that is open no more stays as it is.

    ``grant`` is the one that was given with it.
    """

    id: str
    state: ApprovalState
    at: int
    by: str = ""
    grant: str = ""


class ApprovalClaimed(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody looks at an open approval from now on (``by`` "": nobody any more). One that is open
    no more stays as it is.
    """

    id: str
    by: str
    at: int


class GrantContent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a grant that came with an approval goes with the content of that one's run; without
    it, the grant is for nobody.
    """

    targets: tuple[str, ...] | None = ()
    reason: str = ""
    revoked_why: str = ""

    def put_into(self, grant: Grant) -> Grant:
        """The grant with this in its place."""
        scope, audit = (
            structs.replace(grant.scope, targets=self.targets),
            structs.replace(grant.audit, revoked_why=self.revoked_why),
        )
        return structs.replace(grant, scope=scope, audit=audit, reason=self.reason)


def stored_grant(grant: Grant, *, apart: bool) -> tuple[str, str | None]:
    """A grant as it is stored but for its uses, as JSON, and what stands ``apart`` from that under
    a subject's key; None where nothing does.
    """
    grant = structs.replace(grant, uses_left=None)
    if not apart:
        return ENCODER.encode(grant).decode(), None
    content = GrantContent(
        targets=grant.scope.targets, reason=grant.reason, revoked_why=grant.audit.revoked_why
    )
    return ENCODER.encode(GrantContent().put_into(grant)).decode(), ENCODER.encode(content).decode()


class GrantUse(Struct, frozen=True, gc=False, kw_only=True):
    """One use of a grant is taken, and one call of each of its ``bounds`` that says how many there
    may be.
    """

    grant: str
    bounds: tuple[str, ...] = ()


class GrantRevoked(Struct, frozen=True, gc=False, kw_only=True):
    """A grant was taken back, by whom and why."""

    grant: str
    by: str
    at: int
    why: str = ""


class ApprovalRow(Struct, frozen=True, kw_only=True):
    """An approval as stored. ``place`` is where it stands in the list. Times in microseconds since
    1970, 0 of what was not yet.

    ``claimed_by`` is who looks at it, or did when it ended.
    """

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
    claimed_by: str
    claimed_at: int
    place: int

    @property
    def in_review_by(self) -> str:
        """Who looks at it now; "" where nobody does. A claim ends with what it is of."""
        return self.claimed_by if self.state == ApprovalState.OPEN else ""


class Approvals(Protocol):
    """Reading them as durable now. Errors: the storage's own; what is not there is None or
    empty.
    """

    async def approvals(
        self,
        workspace: str,
        *,
        states: Sequence[str],
        session: str,
        limit: int,
        before: int | None,
        named: str = "",
    ) -> Sequence[ApprovalRow]:
        """Approvals in these states (none given: in any), of one session or ("") of all and none,
        the latest first.

        ``before`` is an ``ApprovalRow.place``, ``named`` what their id begins or ends with.
        """
        ...

    async def approval(self, approval: str) -> ApprovalRow | None:
        """One of them, of any workspace."""
        ...

    async def grants(
        self,
        workspace: str,
        *,
        standing_at: int | None,
        limit: int,
        before: str | None,
        named: str = "",
    ) -> Sequence[Grant]:
        """Grants, the latest first, of all or only those that stand at a moment; ``before`` is a
        grant's id, ``named`` what an id begins or ends with.
        """
        ...

    async def grant(self, workspace: str, grant: str) -> Grant | None:
        """One of them."""
        ...
