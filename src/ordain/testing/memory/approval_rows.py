"""Approvals and grants in a shared memory: what units read and write of them."""

from __future__ import annotations

from msgspec.structs import replace

from ordain.contracts.approvals import Grant, Subject
from ordain.ports.approvals import (
    ApprovalClaimed,
    ApprovalDecided,
    ApprovalRow,
    GrantRevoked,
    GrantUse,
    NewApproval,
)
from ordain.ports.sessions import ThreadStatus
from ordain.rules.approve import ApprovalState
from ordain.testing.memory.rows import MemoryRows
from ordain.testing.memory.threads import awaited, put_thread
from ordain.testing.memory.transaction import UnitAtWork

ASKING = (ThreadStatus.WAITING_FOR_USER, ThreadStatus.WORKFLOW_PROPOSED)


def put_approval(transaction: UnitAtWork, run: str, new: NewApproval) -> None:
    """A run asks for an approval; where it was withdrawn meanwhile it is open again."""
    rows, of = transaction.rows, transaction.row(run).run
    before = rows.approvals.get(new.id)
    if before is not None and before.state != ApprovalState.WITHDRAWN:
        return
    rows.approvals[new.id] = (
        replace(before, state="open", decided_at=0, claimed_by="", claimed_at=0)
        if before is not None
        else ApprovalRow(
            id=new.id,
            workspace=of.workspace,
            run=run,
            root=of.root,
            addr=new.addr,
            session=of.session,
            thread=of.thread,
            subject=str(new.subject),
            tier=str(new.tier),
            digest=new.digest,
            workflow=new.workflow,
            asked_at=new.asked_at,
            expires_at=new.expires_at,
            state="open",
            decided_at=0,
            decided_by="",
            grant="",
            claimed_by="",
            claimed_at=0,
            place=rows.number("approvals"),
        )
    )
    thread = rows.threads.get((of.workspace, of.session), {}).get(of.thread)
    if thread is not None:
        status = (
            ThreadStatus.WORKFLOW_PROPOSED
            if new.subject is Subject.WORKFLOW
            else ThreadStatus.WAITING_FOR_USER
        )
        put_thread(
            rows,
            (of.workspace, of.session),
            replace(thread, status=status, touched_at=max(thread.touched_at, new.asked_at)),
        )


def decide_approval(rows: MemoryRows, decided: ApprovalDecided) -> None:
    """What was open is decided, or over."""
    row = rows.approvals.get(decided.id)
    if row is None or row.state != ApprovalState.OPEN:
        return
    rows.approvals[row.id] = replace(
        row,
        state=str(decided.state),
        decided_at=decided.at,
        decided_by=decided.by,
        grant=decided.grant,
    )
    name = row.workspace, row.session
    thread = rows.threads.get(name, {}).get(row.thread)
    if (
        thread is not None
        and thread.status in ASKING
        and thread.asked is None
        and row.thread not in awaited(rows, name)
    ):
        put_thread(
            rows,
            name,
            replace(
                thread,
                status=ThreadStatus.IN_PROGRESS,
                touched_at=max(thread.touched_at, decided.at),
            ),
        )


def claim_approval(rows: MemoryRows, claimed: ApprovalClaimed) -> None:
    """Who looks at what is open; of whom nobody does any more nothing is left."""
    row = rows.approvals.get(claimed.id)
    if row is not None and row.state == ApprovalState.OPEN:
        rows.approvals[row.id] = replace(
            row, claimed_by=claimed.by, claimed_at=claimed.at if claimed.by else 0
        )


def withdraw_approvals(rows: MemoryRows, run: str, at: int) -> None:
    """A run came to rest: nobody waits for what it asked."""
    for row in [
        row for row in rows.approvals.values() if row.run == run and row.state == ApprovalState.OPEN
    ]:
        decide_approval(rows, ApprovalDecided(id=row.id, state=ApprovalState.WITHDRAWN, at=at))


def open_roots(rows: MemoryRows) -> int:
    """How many root runs wait for an approver, they or what they opened."""
    return len({row.root for row in rows.approvals.values() if row.state == ApprovalState.OPEN})


def use_grant(rows: MemoryRows, workspace: str, use: GrantUse) -> bool:
    """Take one use; whether there was one."""
    found = rows.grants.get((workspace, use.grant))
    if (
        found is None
        or found.audit.revoked_at
        or (found.uses_left is not None and found.uses_left < 1)
    ):
        return False
    left = None if found.uses_left is None else found.uses_left - 1
    rows.grants[workspace, use.grant] = replace(
        found, uses_left=left, calls=found.counted(use.bounds)
    )
    return True


def revoke_grant(rows: MemoryRows, workspace: str, revoked: GrantRevoked) -> None:
    """Take a grant back; one that was taken back before stays as it is."""
    found = rows.grants.get((workspace, revoked.grant))
    if found is not None and not found.audit.revoked_at:
        audit = replace(
            found.audit, revoked_by=revoked.by, revoked_at=revoked.at, revoked_why=revoked.why
        )
        rows.grants[workspace, revoked.grant] = replace(found, audit=audit)


def standing_grants(
    rows: MemoryRows, workspace: str, principal: str, at: int, most: int
) -> list[Grant]:
    """A principal's grants that stand, those that expire first."""
    found = [
        grant
        for (of, _), grant in rows.grants.items()
        if of == workspace and grant.principal == principal and grant.stands(at)
    ]
    return sorted(found, key=lambda grant: grant.expires_at)[:most]
