"""Shared decisions, the same for every adapter: what they read, that all they write stands or falls
together, and that none is carried out twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from ordain.errors import ConfigurationError, RunLost
from ordain.journal.records import Status
from ordain.ports.shared import (
    AccountsRead,
    RowRead,
    Ruling,
    RunFound,
    RunRead,
    Shared,
    SharedName,
    SharedRead,
)
from ordain.ports.store import Append, Arrive, ClaimUnit, JournalStore, Outcome, load_run
from ordain.ports.writes import (
    AccountCharge,
    MailKind,
    OutboxRow,
    Refund,
    TableRow,
    TakenMail,
    Write,
)
from tests.contract.writing import WORKSPACE, Run

BOOK = RowRead(table="books", key=("a", "Emma"))


def arrival(
    decide: Callable[..., Ruling], *reads: SharedRead, workspace: str = WORKSPACE
) -> Arrive:
    return Arrive(workspace=workspace, shared=Shared(reads=reads, decide=decide))


async def read(
    store: JournalStore, *reads: SharedRead, workspace: str = WORKSPACE
) -> tuple[Any, ...]:
    """What a decision reads, which decides nothing."""
    found: list[tuple[Any, ...]] = []

    def decide(*given: Any) -> Ruling:
        found.append(given)
        return Ruling(refused="looked")

    assert (await store.submit(arrival(decide, *reads, workspace=workspace))).refused == "looked"
    return found[-1]


async def written(store: JournalStore, *writes: Write) -> Outcome:
    return await store.submit(arrival(lambda: Ruling(writes=writes)))


async def tokens(store: JournalStore, *names: str) -> list[int]:
    (accounts,) = await read(store, AccountsRead(accounts=tuple({"name": name} for name in names)))
    return [account["tokens"] for account in accounts]


async def test_accounts_are_charged_and_given_back_to(store: JournalStore) -> None:
    """An account begins with its first charge; to one that is not there nothing is given back; each
    workspace has its own.
    """
    await written(
        store,
        AccountCharge(account="day", tokens=7, usd_micros=70),
        AccountCharge(account="day", tokens=1, usd_micros=1),
    )
    await written(
        store,
        Refund(account="day", tokens=3, usd_micros=30),
        Refund(account="none", tokens=3, usd_micros=30),
    )
    (accounts,) = await read(
        store, AccountsRead(accounts=({"name": "none", "cap": 9}, {"name": "day"}))
    )
    assert accounts == [
        {"name": "day", "tokens": 5, "usd_micros": 41},
        {"name": "none", "cap": 9, "tokens": 0, "usd_micros": 0},
    ]
    (elsewhere,) = await read(store, AccountsRead(accounts=({"name": "day"},)), workspace="another")
    assert elsewhere[0]["tokens"] == 0


async def test_names_that_are_too_many_share_an_account(store: JournalStore) -> None:
    """A new one goes to the shared account where so many like it are there; one that is there keeps
    its own.
    """
    await written(
        store, *(AccountCharge(account=f"agent:{name}", tokens=1, usd_micros=0) for name in "ab")
    )
    found: list[str] = []
    for name, most in (("agent:a", 2), ("agent:c", 2), ("agent:c", 3)):
        sharing = SharedName(name=name, to="agent:*", like="agent:*", most=most)
        (accounts,) = await read(store, AccountsRead(accounts=({"name": name},), sharing=sharing))
        found.append(accounts[0]["name"])
    assert found == ["agent:a", "agent:*", "agent:c"]


async def test_rows_stand_by_their_key(store: JournalStore) -> None:
    """The last one that was put there; there is none in another workspace, and a table that nobody
    named is an error.
    """
    assert await read(store, BOOK) == (None,)
    await written(
        store,
        TableRow(table="books", key=BOOK.key, values=(1, "left")),
        TableRow(table="books", key=BOOK.key, values=(2, "right")),
    )
    assert await read(store, BOOK) == ((2, "right"),)
    assert await read(store, BOOK, workspace="another") == (None,)
    with pytest.raises(ConfigurationError):
        await written(store, TableRow(table="unknown", key=("a",), values=(1,)))


async def test_a_decision_that_is_refused_has_written_nothing(store: JournalStore) -> None:
    """Nor has one that fails behind what it wrote: everything beside it is undone."""
    (run,) = (Run("a"),)
    await store.submit(run.open())
    charge = AccountCharge(account="day", tokens=7, usd_micros=0)
    await written(store, OutboxRow(addr=1, text="x", at=1))
    refused = Arrive(
        workspace=WORKSPACE,
        shared=Shared(reads=(), decide=lambda: Ruling(writes=(charge,), accepted=0)),
    )
    assert (await store.submit(refused)).refused == "busy"
    with pytest.raises(RunLost):
        await written(store, charge, Run("a", given="another").new)
    assert await tokens(store, "day") == [0]


async def test_a_run_is_found_as_it_stands(store: JournalStore) -> None:
    """Whether mail of a key has come, whether a wait is over, and whether it is being stopped and
    has not been told.
    """
    run = Run("a")
    await store.submit(run.open())
    await store.submit(run.post("k"))
    await store.submit(Append(run="a", epoch=1, records=(run.observation("wait"),)))
    found = await read(
        store,
        RunRead(run="a", addr=0, key="k"),
        RunRead(run="a", addr=1, key="other"),
        RunRead(run="none"),
    )
    ready = RunFound(status=Status.READY)
    assert found == (RunFound(status=Status.READY, mailed=True, over=True), ready, None)
    await store.submit(run.post("stop", MailKind.INTERRUPT))
    assert await read(store, RunRead(run="a")) == (structs.replace(ready, interrupted=True),)
    mail = (await store.mail("a"))[-1].id
    await store.submit(run.step(writes=(TakenMail(mail=mail, seq=2),)))
    assert await read(store, RunRead(run="a")) == (ready,)


@pytest.mark.parametrize("own", [0, 2], ids=["its record alone", "behind its run's"])
async def test_a_claim_is_carried_out_once(store: JournalStore, own: int) -> None:
    """Offered again, because its answer was lost, it writes nothing more: what was decided stands
    in the journal, and the run goes on from there.
    """
    run = Run("a")
    await store.submit(run.open())
    records, claimed = tuple(run.note() for _ in range(own)), run.note("claimed")
    charge = AccountCharge(account="day", tokens=7, usd_micros=0)
    unit = ClaimUnit(
        append=Append(run="a", epoch=1, records=records),
        shared=Shared(reads=(), decide=lambda: Ruling(record=claimed, writes=(charge,))),
    )
    assert (await store.submit(unit)).refused == ""
    with pytest.raises(RunLost):
        await store.submit(unit)
    assert await tokens(store, "day") == [7]
    stored = await load_run(store, "a")
    assert stored is not None
    assert list(stored.records) == run.records
