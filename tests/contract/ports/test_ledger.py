"""The ledger of every store: at most one row for a commit, none for what it does not cover, and
after every one it says what stands.
"""

from __future__ import annotations

import msgspec
import pytest

from ordain.journal.ledger import LedgerFold, Thing
from ordain.journal.ledger_items import LedgerItem
from ordain.journal.records import Status
from ordain.ports.ledger import Ledger
from ordain.ports.sessions import Placed, ThreadChange
from ordain.ports.shared import Ruling, SessionRead, Shared
from ordain.ports.store import Append, Arrive
from ordain.ports.writes import AccountCharge, EntryPlaced, Refund
from ordain.store.ledger_reads import SqliteLedger
from ordain.store.sqlite import SqliteStore
from ordain.testing import MemoryLedger, MemoryStore
from tests.contract.ports.conftest import Ports
from tests.contract.ports.test_sessions import entry, turn
from tests.contract.writing import WORKSPACE, Run, message


def ledger_of(ports: Ports) -> Ledger:
    if isinstance(ports.store, MemoryStore):
        return MemoryLedger(ports.store.shared)
    assert isinstance(ports.store, SqliteStore)
    return SqliteLedger(ports.store)


async def told(ports: Ports) -> LedgerFold:
    """The ledger as it is, after it was held to what stands."""
    fold, standing = LedgerFold(), list[LedgerItem]()
    await ledger_of(ports).read(fold.take, standing.append)
    found = LedgerFold()
    await ledger_of(ports).read(found.take, lambda _: None)
    assert [one for item in standing for one in found.differing(item)] == []
    assert list(found.missing()) == []
    assert list(await ledger_of(ports).contradictions()) == []
    return fold


async def test_each_commit_that_changes_what_is_covered_is_one_row(ports: Ports) -> None:
    """Opening and ending are on it; what a run does in between, and what is refused, is not."""
    begun = (await told(ports)).no
    run = Run("a")
    await ports.store.submit(run.open("once"))
    assert (await told(ports)).no == begun + 1
    await ports.store.submit(Append(run="a", epoch=1, records=(run.intent(), run.observation())))
    assert (await ports.store.submit(Run("b").open("once", "another"))).refused
    assert (await told(ports)).no == begun + 1
    await ports.store.submit(run.end())
    assert (await told(ports)).no == begun + 2


async def test_units_of_one_batch_share_a_row(ports: Ports) -> None:
    """However many units one transaction takes, at most one row is written with it."""
    begun = (await told(ports)).no
    futures = [ports.store.submit(Run(f"r{number}").open()) for number in range(20)]
    for future in futures:
        await future
    batches = 20 if isinstance(ports.store, MemoryStore) else 1
    assert (await told(ports)).no == begun + batches


async def test_a_session_goes_on_under_the_ledger(ports: Ports) -> None:
    """Its head, threads, questions' ends and the places of its turns are covered as each
    changes.
    """
    run, writes = turn("a")
    await ports.store.submit(
        message(
            entry("m1"),
            *writes,
            placed=Placed(attached="new_request", reason="x", decision=b"{}", thread=1, serves="a"),
        )
    )
    await told(ports)
    second, queued = turn("b", queued=True)
    await ports.store.submit(message(entry("m2", at=2), *queued))
    await told(ports)
    change = ThreadChange(id=1, session="s1", status=None, slot=("city", "Oslo"), at=9)
    await ports.store.submit(msgspec.structs.replace(run.step(), writes=(change,)))
    await told(ports)
    await ports.store.submit(run.end())
    await told(ports)
    await ports.store.submit(second.end())
    await told(ports)


async def test_a_message_that_is_placed_anew_is_said_so(ports: Ports) -> None:
    """Its link stays, what stands now is on the ledger, and so is each message that its run
    kept.
    """
    run, writes = turn("a")
    postponed = Placed(attached="triage", reason="x", decision=b"{}", thread=1, serves="a")
    await ports.store.submit(message(entry("m1"), *writes, placed=postponed))
    await ports.store.submit(
        message(
            entry("m2", at=2),
            placed=Placed(attached="filler", reason="x", decision=b"{}", serves="a"),
        )
    )
    anew = Placed(attached="new_request", reason="y", decision=b'{"a":1}', thread=1, serves="b")
    placed = EntryPlaced(session="s1", seq=1, instead_of="a", placed=anew)
    await ports.store.submit(msgspec.structs.replace(run.step(), writes=(placed,)))
    entries = {
        one.seq: one for one in await ports.sessions.entries(WORKSPACE, "s1", after=0, limit=9)
    }
    fold = await told(ports)
    assert {seq: cover for seq, (cover, _) in fold.placed[WORKSPACE, "s1"].items()} == {
        seq: one.cover for seq, one in entries.items()
    }
    assert [len(one.marks or b"") for one in entries.values()] == [48, 48]


async def test_accounts_are_covered(ports: Ports) -> None:
    """What is charged and given back."""
    run = Run("a")
    await ports.store.submit(run.open())
    await ports.store.submit(
        msgspec.structs.replace(
            run.step(), writes=(AccountCharge(account="day", tokens=5, usd_micros=7),)
        )
    )
    charged = await told(ports)
    await ports.store.submit(
        msgspec.structs.replace(run.step(), writes=(Refund(account="day", tokens=1, usd_micros=2),))
    )
    assert (await told(ports)).no == charged.no + 1


@pytest.mark.parametrize("status", [Status.FAULTED, Status.DIVERGED, Status.QUARANTINED])
async def test_a_stop_and_what_comes_after_it_are_covered(ports: Ports, status: Status) -> None:
    """A stopped run has its reason on the ledger; it keeps that when it goes on, and each way it
    goes on is covered.
    """
    run = Run("a")
    await ports.store.submit(run.open())
    await ports.store.submit(Append(run="a", epoch=1, status=status, reason="broken"))
    await told(ports)
    await ports.store.submit(run.step(status=Status.READY))
    await told(ports)
    await ports.store.submit(Append(run="a", epoch=1, status=status, reason="again"))
    await ports.store.submit(Append(run="a", epoch=1, status=Status.RUNNING))
    await told(ports)
    await ports.store.submit(run.end())
    await ports.store.submit(run.step())
    await told(ports)


async def test_what_is_refused_leaves_no_trace(ports: Ports) -> None:
    """A unit that is undone after it wrote has written nothing into the ledger."""
    before = (await told(ports)).no
    read = SessionRead(session="s9", channel="", message_id="m", author="")
    undone = Arrive(
        workspace=WORKSPACE,
        shared=Shared(reads=(), decide=lambda: Ruling(writes=(Run("a").new,), accepted=0)),
    )
    assert (await ports.store.submit(undone)).refused == "busy"
    with pytest.raises(Exception, match=r".*"):
        await ports.store.submit(
            Arrive(workspace=WORKSPACE, shared=Shared(reads=(read,), decide=lambda _: Ruling()))
        )
    assert (await told(ports)).no == before
    assert Thing.RUN == "run"
