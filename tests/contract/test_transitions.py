"""A store changes a run's status along the table of transitions, for who holds it, and in no other way."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.errors import RunLost
from ordain.journal.records import SETTLED, EndedBody, Record, RecordKind, Status, raw
from ordain.journal.transitions import SOURCES
from ordain.ports.store import Append, Operation, Outcome
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run

HELD_ANEW = "held anew"
MAIL = "mail"
steps = st.lists(st.tuples(st.sampled_from([*Status, HELD_ANEW, MAIL]), st.booleans(), st.sampled_from([-1, 0, 0, 0, 1])), max_size=25)


def _record(run: Run, status: Status) -> Record:
    body = EndedBody(status=status, reason="ok", header="", result=raw(None))
    return run.write(RecordKind.ENDED, "end", body) if status in SETTLED else run.note()


@settings(max_examples=150)
@given(steps)
async def test_every_way_through_the_table_and_none_beside_it(steps: list[tuple[str, bool, int]]) -> None:
    """With records and without, in the epoch of who holds the run and in others, mail between them: the status is the machine's."""
    store, run = SqliteStore(None, StoreOptions(holder="one")), Run("a")
    try:
        await store.submit(run.open())
        status, epoch, mails = Status.READY, 1, 0
        for what, with_record, off in steps:
            if what == HELD_ANEW:
                await store.submit(Operation(name="release", args={"engine": 1, "runs": ["a"]}))
                await store.submit(Operation(name="hold", args={"engine": 1, "runs": ["a"]}))
                epoch += 1
            elif what == MAIL:
                mails += 1
                await store.submit(run.post(key=f"k{mails}", addr=mails))
                status = Status.READY if status is Status.WAITING else status
            else:
                target, mark, length = Status(what), run.scribe.mark(), len(run.records)
                records = (_record(run, target),) if with_record or target in SETTLED else ()
                held = off == 0
                may = held and (status in SOURCES[target] or (not records and status is target))  # said again, it is so already
                try:
                    outcome = await store.submit(Append(run="a", epoch=epoch + off, records=records, status=target))
                except RunLost:
                    assert not may
                    run.scribe.back_to(mark)
                    del run.records[length:]
                else:
                    assert (outcome, may) == (Outcome(run="a"), True)
                    status = target
            stored = store.stored("a")
            assert stored is not None
            assert (stored.status, stored.epoch, list(stored.records)) == (status, epoch, run.records)
    finally:
        store.close()
