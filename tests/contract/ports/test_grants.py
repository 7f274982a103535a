"""Approvals and grants as rows, the same for every adapter: one decision, as many uses as there
are, none of what is over or was taken back.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.contracts.approvals import Grant, GrantAudit, GrantScope, Subject, Tier
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.ports.approvals import (
    ApprovalClaimed,
    ApprovalDecided,
    ApprovalRow,
    GrantRevoked,
    GrantUse,
    NewApproval,
)
from ordain.ports.shared import ApprovalRead, GrantRead, GrantsRead
from ordain.ports.store import JournalStore
from ordain.rules.approve import ApprovalState
from tests.contract.ports.test_shared import read, written
from tests.contract.writing import Run

BEN, AT = "local:ben", 1_000
SCOPE = GrantScope(
    capabilities=("post.*",),
    targets=("ada@example.org",),
    constraints={"post.out": Constraint(max_calls=2)},
)


def grant(grant_id: str = "g", **more: Any) -> Grant:
    given: dict[str, Any] = {
        "principal": "token:web",
        "scope": SCOPE,
        "risk_level": RiskLevel.WRITE,
        "ttl_seconds": 1,
        "expires_at": AT + 10,
        "reason": "why it was given",
        "audit": GrantAudit(by=BEN, at=AT),
        **more,
    }
    return Grant(grant_id=grant_id, **given)


async def standing(store: JournalStore, at: int = AT, principal: str = "token:web") -> list[Grant]:
    (found,) = await read(store, GrantsRead(principal=principal, at=at))
    return list(found)


async def one(store: JournalStore, name: str = "g", workspace: str = "") -> Grant | None:
    (found,) = await read(
        store, GrantRead(grant=name), **({"workspace": workspace} if workspace else {})
    )
    return found


async def test_a_grant_is_read_as_it_was_given(store: JournalStore) -> None:
    """By its id in its workspace; among those of its principal while it stands, those that expire
    first first.
    """
    late, early = grant("late", expires_at=AT + 20), grant("early", expires_at=AT + 1, uses_left=3)
    await written(store, late, early, grant("another", principal="token:else"))
    assert await one(store, "late") == late
    assert await one(store, "late", "another") is None
    assert await one(store, "none") is None
    assert await standing(store) == [early, late]
    assert await standing(store, AT + 1) == [late]
    assert await standing(store, AT + 20) == []


@pytest.mark.parametrize("uses", [1, 2])
async def test_uses_are_taken_one_by_one_and_no_more(store: JournalStore, uses: int) -> None:
    """The last one leaves a grant that stands no more, and of which nothing is to be had."""
    await written(store, grant(uses_left=uses))
    for left in reversed(range(uses)):
        assert not (await written(store, GrantUse(grant="g"))).refused
        found = await one(store)
        assert found is not None
        assert found.uses_left == left
    assert await standing(store) == []
    assert (await written(store, GrantUse(grant="g"))).refused == "grant_used_up"
    assert msgspec.structs.replace(found, uses_left=uses) == grant(uses_left=uses)


async def test_what_bounds_count_is_kept(store: JournalStore) -> None:
    """Beside a grant's own uses, where it has any, and by the names of its bounds."""
    await written(store, grant())
    for _ in range(2):
        await written(store, GrantUse(grant="g", bounds=("post.out",)), GrantUse(grant="g"))
    found = await one(store)
    assert found is not None
    assert (found.uses_left, found.calls, found.calls_left) == (
        None,
        {"post.out": 2},
        {"post.out": 0},
    )


async def test_a_grant_that_was_taken_back_is_of_no_use(store: JournalStore) -> None:
    """Who took it back first, when and why is kept; a use of it is refused."""
    await written(store, grant(uses_left=2))
    await written(store, GrantRevoked(grant="g", by=BEN, at=AT, why="it is over"))
    await written(store, GrantRevoked(grant="g", by="local:cleo", at=AT + 1, why="again"))
    found = await one(store)
    assert found is not None
    assert (found.audit.revoked_by, found.audit.revoked_at, found.audit.revoked_why) == (
        BEN,
        AT,
        "it is over",
    )
    assert (found.scope, found.reason, found.uses_left) == (SCOPE, "why it was given", 2)
    assert await standing(store) == []
    assert (await written(store, GrantUse(grant="g"))).refused == "grant_used_up"


async def test_an_approval_is_decided_once(store: JournalStore) -> None:
    """What decides it is the first word; asking again opens nothing but what was withdrawn."""
    run = Run("a")
    await store.submit(run.open())
    asked = NewApproval(
        id="p",
        addr=0,
        subject=Subject.CALL,
        tier=Tier.WRITE,
        digest="d",
        asked_at=AT,
        expires_at=AT + 10,
    )

    async def ask() -> ApprovalRow:
        await store.submit(run.step(writes=(asked,)))
        (found,) = await read(store, ApprovalRead(approval="p"))
        return found

    assert (await ask()).state == ApprovalState.OPEN
    await written(store, ApprovalDecided(id="p", state=ApprovalState.WITHDRAWN, at=AT))
    assert ((again := await ask()).state, again.decided_at) == (ApprovalState.OPEN, 0)
    await written(
        store, ApprovalDecided(id="p", state=ApprovalState.APPROVED, at=AT + 1, by=BEN, grant="g")
    )
    await written(
        store, ApprovalDecided(id="p", state=ApprovalState.DENIED, at=AT + 2, by="local:cleo")
    )
    found = await ask()
    assert (found.state, found.decided_at, found.decided_by, found.grant) == (
        ApprovalState.APPROVED,
        AT + 1,
        BEN,
        "g",
    )


async def test_a_claim_is_of_what_is_open(store: JournalStore) -> None:
    """The last one stands, with its moment, until it is given up or its approval ends, which keeps
    it; what is asked anew nobody looks at.
    """
    run = Run("a")
    await store.submit(run.open())
    asked = NewApproval(
        id="p",
        addr=0,
        subject=Subject.CALL,
        tier=Tier.WRITE,
        digest="d",
        asked_at=AT,
        expires_at=AT + 10,
    )
    await store.submit(run.step(writes=(asked,)))

    async def claimed(by: str, at: int = AT) -> tuple[str, int, str]:
        await written(
            store, ApprovalClaimed(id="p", by=by, at=at), ApprovalClaimed(id="none", by=by, at=at)
        )
        (found,) = await read(store, ApprovalRead(approval="p"))
        return found.claimed_by, found.claimed_at, found.in_review_by

    assert await claimed(BEN) == (BEN, AT, BEN)
    assert await claimed("local:cleo", AT + 1) == ("local:cleo", AT + 1, "local:cleo")
    assert await claimed("", AT + 2) == ("", 0, "")
    assert await claimed(BEN, AT + 3) == (BEN, AT + 3, BEN)
    await written(store, ApprovalDecided(id="p", state=ApprovalState.WITHDRAWN, at=AT + 4))
    assert await claimed("local:cleo", AT + 5) == (BEN, AT + 3, "")
    await store.submit(run.step(writes=(asked,)))
    (again,) = await read(store, ApprovalRead(approval="p"))
    assert (again.state, again.claimed_by, again.claimed_at) == (ApprovalState.OPEN, "", 0)


async def test_what_came_with_an_approval_is_read_whole(store: JournalStore) -> None:
    """Wherever it stands, while the run's content does: taken back too."""
    run = Run("a")
    await store.submit(run.open())
    asked = NewApproval(
        id="p",
        addr=0,
        subject=Subject.CALL,
        tier=Tier.WRITE,
        digest="d",
        asked_at=AT,
        expires_at=AT + 10,
    )
    await store.submit(run.step(writes=(asked,)))
    given = grant(audit=GrantAudit(by=BEN, at=AT, approval="p"), uses_left=4)
    await written(
        store,
        ApprovalDecided(id="p", state=ApprovalState.APPROVED, at=AT, by=BEN, grant="g"),
        given,
    )
    assert await standing(store) == [given]
    await written(store, GrantUse(grant="g", bounds=("post.out",)))
    await written(store, GrantRevoked(grant="g", by=BEN, at=AT + 1, why="enough"))
    audit = msgspec.structs.replace(
        given.audit, revoked_by=BEN, revoked_at=AT + 1, revoked_why="enough"
    )
    assert await one(store) == msgspec.structs.replace(
        given, audit=audit, uses_left=3, calls={"post.out": 1}
    )
