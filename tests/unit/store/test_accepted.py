"""How many runs are accepted: never more than the limit, whoever opened them, and without counting
those that wait at every arrival.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from ordain.ports.store import Outcome
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run

MOST = 60
BUSY = Outcome(refused="busy")


def counted(store: SqliteStore) -> list[str]:
    """Each count of the runs that is made from now on."""
    made = list[str]()
    store._db.set_trace_callback(
        lambda said: made.append(said) if "count(*) FROM runs" in said else None
    )
    return made


async def test_runs_that_wait_are_not_counted_at_every_arrival() -> None:
    """Thirty runs are opened, and what is there was counted once: far from the limit nothing is."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    made = counted(store)
    for number in range(30):
        assert (await store.submit(Run(f"r{number}").open(accepted=10_000))).run
    assert len(made) == 1
    store.close()


async def test_never_more_than_the_limit() -> None:
    """Runs that open, end, and are refused and undone, in batches of any order: whether one more is
    accepted is as it would be counted then.
    """
    store, chance = SqliteStore(None, StoreOptions(holder="test", lock=False)), random.Random(13)
    going, at_limit = list[Run](), 0
    for number in range(300):
        ends = [
            going.pop(chance.randrange(len(going)))
            for _ in range(min(len(going), chance.choice((0, 0, 0, 0, 0, 1, 2))))
        ]
        new, none = Run(f"r{number}"), Run(f"none{number}")
        units = [*(run.end() for run in ends), none.step(), new.open(accepted=MOST)]
        *_, undone, outcome = await asyncio.gather(
            *map(store.submit, units), return_exceptions=True
        )
        assert isinstance(undone, Exception | Outcome)
        assert outcome == (BUSY if len(going) >= MOST else Outcome(run=new.id)), number
        if outcome == BUSY:
            at_limit += 1
        else:
            going.append(new)
    assert at_limit > 10
    store.close()


async def test_what_another_process_opened_counts(tmp_path: Path) -> None:
    """A guest of the folder opens runs; whoever drives them has no room for one more at once."""
    store, guest = (
        SqliteStore(tmp_path, StoreOptions(holder="test", lock=False)),
        SqliteStore(tmp_path),
    )
    assert (await store.submit(Run("a").open(accepted=MOST))).run == "a"
    for number in range(MOST - 1):
        assert (await guest.submit(Run(f"g{number}").open(accepted=MOST))).run
    assert await store.submit(Run("b").open(accepted=MOST)) == BUSY
    guest.close()
    store.close()


async def test_what_was_undone_is_no_reason_to_accept() -> None:
    """A count that was made in a transaction which was rolled back is not gone by."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    transaction = store.writer._transaction
    await store.submit(Run("a").open(accepted=MOST))
    assert transaction.accepted is not None
    transaction.back_to(transaction.mark())
    assert transaction.accepted is None
    store.close()
