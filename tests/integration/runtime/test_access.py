"""The gate over real storage: what it writes and when, what it forgets, and whose addresses count
as one.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ordain import Ordain
from ordain.contracts.access import Rate, TokenScope, parse_token
from ordain.errors import (
    Conflict,
    NotFound,
    OrdainError,
    Refused,
    StorageUnavailable,
    Unauthenticated,
)
from ordain.ports.access import AuditEvent
from ordain.ports.store import Outcome, Unit
from ordain.runtime import access as access_module
from ordain.runtime import background
from ordain.runtime.access import NOBODY, OWNER, Access, AccessRequest, Exposure
from ordain.runtime.tokens import NewToken, Tokens
from ordain.store.access_operations import AUDIT_LINES
from ordain.store.sqlite import SqliteStore
from tests.at_once import at_once

EXPOSED = Exposure(demanded=True, failed_rate=Rate(requests=2, seconds=3600))
NEW = NewToken(
    name="ci",
    scopes=(TokenScope.PLAN,),
    workspaces=("default",),
    rate=Rate(requests=1_000_000, seconds=1),
)


def asking(credential: str | None, address: str = "192.0.2.1", **more: Any) -> AccessRequest:
    fields: dict[str, Any] = {
        "scopes": (TokenScope.PLAN,),
        "in_workspace": True,
        "workspace": None,
        "default_workspace": "default",
    }
    return AccessRequest(credential=credential, address=address, **{**fields, **more})


class Failing:
    """Implements the writing half of ``JournalStore``: fails while it has an error, else writes."""

    def __init__(self, ordain: Ordain, error: Exception) -> None:
        self.services, self.asked = ordain.runtime.services, 0
        self.error: Exception | None = error

    def submit(self, unit: Unit) -> asyncio.Future[Outcome]:
        self.asked += 1
        if self.error is None:
            return self.services.store.submit(unit)
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        future.set_exception(self.error)
        return future

    def access(self) -> Access:
        """A gate that writes here."""
        store: Any = self
        return Access(structs.replace(self.services, store=store))


@pytest.fixture
async def ordain(tmp_path: Path) -> AsyncIterator[Ordain]:
    async with Ordain(home=tmp_path) as ordain:
        yield ordain


@pytest.fixture
def tokens(ordain: Ordain) -> Tokens:
    services = ordain.runtime.services
    return Tokens(services.tokens, services.store, services.clock)


def refused(access: Access, asked: AccessRequest, exposure: Exposure = EXPOSED) -> str:
    with pytest.raises(OrdainError) as error:
        at_once(access.admit(asked, exposure))
    return error.value.code


async def test_uses_are_written_in_batches(ordain: Ordain, tokens: Tokens) -> None:
    """A thousand requests commit nothing; one transaction then holds their number, and when the
    token was last used.
    """
    secret = (await tokens.create(NEW, by="local:test")).secret
    commits = ordain.store.writer.commits
    for _ in range(1000):
        assert (await ordain.runtime.access.admit(asking(secret), EXPOSED)).principal == "token:ci"
    assert ordain.store.writer.commits == commits
    await ordain.runtime.access.flush()
    await ordain.runtime.access.flush()
    assert ordain.store.writer.commits == commits + 1
    used, created = await tokens.audit(limit=10, before=None, token="ci")
    assert (used.event, used.count, used.asked, used.address) == (
        AuditEvent.USED,
        1000,
        "plan",
        "192.0.2.1",
    )
    assert (created.event, created.by) == (AuditEvent.CREATED, "local:test")
    assert (await tokens.named("ci")).last_used_at == used.last_at


async def test_what_could_not_be_written_is_kept(ordain: Ordain, tokens: Tokens) -> None:
    """While the storage takes no writes, requests are admitted and counted; once it does, nothing
    of it is missing.
    """
    secret = (await tokens.create(NEW, by="local:test")).secret
    store = Failing(ordain, StorageUnavailable("full"))
    access = store.access()
    await access.admit(asking(secret), EXPOSED)
    await access.flush()
    await access.admit(asking(secret), EXPOSED)
    await access.flush()
    store.error = None
    await access.flush()
    (used,) = (
        line
        for line in await tokens.audit(limit=10, before=None, token="ci")
        if line.event is AuditEvent.USED
    )
    assert used.count == 2
    assert used.first_at < used.last_at


async def test_a_defect_in_writing_loses_nothing_either(
    ordain: Ordain,
    tokens: Tokens,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What no storage error explains is told with its traceback, and the writing goes on: once it
    succeeds, nothing is missing.
    """
    monkeypatch.setattr(access_module, "FLUSH_S", 0.01)
    monkeypatch.setattr(background, "FIRST_PAUSE_S", 0.01)
    secret = (await tokens.create(NEW, by="local:test")).secret
    store = Failing(ordain, RuntimeError("a defect"))
    access = store.access()
    await access.admit(asking(secret), EXPOSED)
    writing = asyncio.ensure_future(background.keep_going("writing", access.keep_flushing))
    async with asyncio.timeout(30):
        while store.asked < 3:  # noqa: ASYNC110 - announced to nobody
            await asyncio.sleep(0.01)
        await access.admit(asking(secret), EXPOSED)
        store.error = None
        while not any(  # noqa: ASYNC110 - nor is this
            line.event is AuditEvent.USED
            for line in await tokens.audit(limit=10, before=None, token="ci")
        ):
            await asyncio.sleep(0.01)
    writing.cancel()
    (used,) = (
        line
        for line in await tokens.audit(limit=10, before=None, token="ci")
        if line.event is AuditEvent.USED
    )
    assert used.count == 2
    assert (
        "writing failed and begins again" in caplog.text,
        "RuntimeError: a defect" in caplog.text,
    ) == (True, True)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_writing_that_is_given_up_counts_once(
    ordain: Ordain, tokens: Tokens, fails: bool
) -> None:
    """Whoever stops waiting for a writing leaves it as it is: what it wrote is not written again,
    what it could not write is.
    """
    secret = (await tokens.create(NEW, by="local:test")).secret
    services, later = ordain.runtime.services, list[asyncio.Future[Outcome]]()

    class Slow:
        """Implements the writing half of ``JournalStore``: answers later."""

        def submit(self, unit: Unit) -> asyncio.Future[Outcome]:
            later.append(asyncio.get_running_loop().create_future())
            return later[-1] if len(later) == 1 else services.store.submit(unit)

    store: Any = Slow()
    access = Access(structs.replace(services, store=store))
    await access.admit(asking(secret), EXPOSED)
    writing = asyncio.ensure_future(access.flush())
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    if fails:
        later[0].set_exception(StorageUnavailable("full"))
    else:
        later[0].set_result(Outcome())
    await asyncio.sleep(0)
    await access.flush()
    used = [
        line.count
        for line in await tokens.audit(limit=10, before=None, token="ci")
        if line.event is AuditEvent.USED
    ]
    assert used == ([1] if fails else [])


async def test_the_audit_is_bounded(ordain: Ordain, tokens: Tokens) -> None:
    """Beyond its lines the oldest go, whoever fills it."""
    with sqlite3.connect(ordain.settings.home / "ordain.db", timeout=30) as db:
        db.executemany(
            "INSERT INTO token_audit(day, event, token, asked, reason, by, address, first_at, "
            "last_at, count) VALUES (?,?,?,?,?,?,?,?,?,?)",
            (
                (day, "refused", "", "any", "access.unknown", "", "", 1, 1, 1)
                for day in range(AUDIT_LINES)
            ),
        )
    await tokens.create(NEW, by="local:test")
    ((lines, oldest),) = ordain.store.query("SELECT count(*), min(day) FROM token_audit")
    assert (lines, oldest) == (AUDIT_LINES, 1)


async def test_an_attacker_makes_few_lines(ordain: Ordain, tokens: Tokens) -> None:
    """Wrong tokens of every shape, from everywhere, for every address, are a line for each reason
    and scope a day, not one each.
    """
    access = ordain.runtime.access
    other = (await tokens.create(replace_name("other"), by="local:test")).secret
    for number in range(300):
        address = f"203.0.113.{number % 250}"
        assert refused(access, asking(f"junk{number}", address)) in (
            "unauthenticated",
            "rate_limited",
        )
        assert refused(access, asking(None, address)) == "unauthenticated"
        assert refused(
            access, asking(other[:-1] + ("0" if other[-1] != "0" else "1"), address)
        ) in ("unauthenticated", "rate_limited")
    await access.flush()
    lines = [
        line
        for line in await tokens.audit(limit=100, before=None, token=None)
        if line.event is AuditEvent.REFUSED
    ]
    assert {line.token for line in lines} == {""}
    assert len(lines) <= 6  # three reasons, on two days at most
    assert sum(line.count for line in lines) == 900


def replace_name(name: str) -> NewToken:
    return NewToken(name=name, scopes=NEW.scopes, workspaces=NEW.workspaces)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("", "", True),
        ("testclient", "another", False),
    ],
)
async def test_guesses_count_by_network(
    ordain: Ordain, one: str, other: str, together: bool
) -> None:
    """An IPv6 caller has a whole /64 to guess from, and it counts as one address; an IPv4 address
    counts for itself.
    """
    access = ordain.runtime.access
    assert [refused(access, asking("junk", one)) for _ in range(3)] == [
        "unauthenticated",
        "unauthenticated",
        "rate_limited",
    ]
    assert refused(access, asking("junk", other)) == (
        "rate_limited" if together else "unauthenticated"
    )
    # who sends nothing guesses nothing
    assert refused(access, asking(None, one)) == "unauthenticated"


async def test_wrong_guesses_shut_nobody_out(ordain: Ordain, tokens: Tokens) -> None:
    """Behind a proxy all callers are one address: whatever one of them guesses, the owner and a
    token never seen before are let in.
    """
    access = ordain.runtime.access
    fresh, key = (
        (await tokens.create(NEW, by="local:test")).secret,
        (await tokens.create(replace_name("key"), by="local:test")).secret,
    )
    parsed = parse_token(key)
    assert parsed is not None
    shared = Exposure(demanded=True, owner=parsed.digest, failed_rate=EXPOSED.failed_rate)
    assert [refused(access, asking("junk"), shared) for _ in range(3)] == [
        "unauthenticated",
        "unauthenticated",
        "rate_limited",
    ]
    assert (await access.admit(asking(fresh), shared)).principal == "token:ci"
    assert (await access.admit(asking(key), shared)).principal == OWNER
    await tokens.revoke("ci", by="local:test")
    assert refused(access, asking(fresh), shared) == "unauthenticated"  # was given once: no guess


async def test_the_owners_key_and_nobody(ordain: Ordain, tokens: Tokens) -> None:
    """The key of the data folder is the owner in every workspace and scope; on loopback nobody is
    nobody, and a wrong token is refused.
    """
    key = (await tokens.create(NEW, by="local:test")).secret
    parsed = parse_token(key)
    assert parsed is not None
    owned = Exposure(demanded=True, owner=parsed.digest)
    access = ordain.runtime.access
    assert (
        await access.admit(asking(key, scopes=(TokenScope.ADMIN,), workspace="elsewhere"), owned)
    ).principal == OWNER
    assert await access.admit(asking(None), Exposure()) is NOBODY
    assert refused(access, asking("", workspace="default"), Exposure()) == "unauthenticated"
    for shown in (owned, asking(key), parsed):
        assert key not in repr(shown)
        assert str(parsed.digest) not in repr(shown)


async def test_what_was_let_in_is_asked_again(ordain: Ordain, tokens: Tokens) -> None:
    """A stream's token is good until it is revoked or its secret replaced; looking again spends and
    notes nothing.
    """
    made = await tokens.create(
        NewToken(
            name="few",
            scopes=NEW.scopes,
            workspaces=NEW.workspaces,
            rate=Rate(requests=1, seconds=3600),
        ),
        by="me",
    )
    access, asked = ordain.runtime.access, asking(made.secret)
    await access.admit(asked, EXPOSED)
    assert all([await access.still(asked, EXPOSED) for _ in range(5)])
    with pytest.raises(Refused) as spent:
        await access.admit(asked, EXPOSED)
    assert (spent.value.code, spent.value.retry_after_s) == ("rate_limited", 3600)
    second = asking((await tokens.rotate("few", grace_s=0, by="me")).secret)
    assert [await access.still(one, EXPOSED) for one in (asked, second)] == [False, True]
    await tokens.revoke("few", by="me")
    assert not await access.still(second, EXPOSED)
    with pytest.raises(Unauthenticated, match="revoked"):
        await access.admit(second, EXPOSED)


async def test_two_that_give_the_same_name_give_it_once(
    tmp_path: Path, ordain: Ordain, tokens: Tokens
) -> None:
    """A guest beside the engine and the engine itself race for a name: one has it, the other is
    told, and the audit has one line.
    """
    guest = SqliteStore(tmp_path)
    try:
        services = ordain.runtime.services
        beside = Tokens(services.tokens, guest, services.clock)
        results = await asyncio.gather(
            tokens.create(NEW, by="engine"), beside.create(NEW, by="guest"), return_exceptions=True
        )
    finally:
        guest.close()
    assert sorted(isinstance(one, Conflict) for one in results) == [False, True]
    assert len(await tokens.audit(limit=10, before=None, token="ci")) == 1
    with pytest.raises(NotFound):
        await tokens.revoke("nobody", by="me")
