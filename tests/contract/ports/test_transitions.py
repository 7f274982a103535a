"""A store changes a run's status along the table of transitions, for who holds it, and in no other
way.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.errors import RunLost
from ordain.journal.records import SETTLED, EndedBody, Record, RecordKind, Status, raw
from ordain.journal.transitions import SOURCES
from ordain.ports.store import Append, Outcome, StoredRun, load_run
from tests.contract.ports.conftest import OpenPorts
from tests.contract.writing import Run
from tests.lanes import examples

HELD_ANEW = "held anew"
MAIL = "mail"
steps = st.lists(
    st.tuples(
        st.sampled_from([*Status, HELD_ANEW, MAIL]),
        st.booleans(),
        st.sampled_from([-1, 0, 0, 0, 1]),
    ),
    max_size=25,
)


def _record(run: Run, status: Status) -> Record:
    body = EndedBody(status=status, reason="ok", header="", result=raw(None))
    return run.write(RecordKind.ENDED, "end", body) if status in SETTLED else run.note()


@settings(
    max_examples=examples(150, quick=100),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # it opens a store for each example
@given(steps=steps)
async def test_every_way_through_the_table_and_none_beside_it(
    in_memory: OpenPorts, steps: list[tuple[str, bool, int]]
) -> None:
    """With records and without, in the epoch of who holds the run and in others, mail between them:
    the status is the machine's.
    """
    with in_memory() as ports:
        store, leases, run = ports.store, ports.leases, Run("a")
        await store.submit(run.open())
        status, epoch, mails = Status.READY, 1, 0
        for what, with_record, off in steps:
            if what == HELD_ANEW:
                await leases.release(ports.lease, ["a"])
                (held,) = await leases.hold(ports.lease, limit=1, flows=None, only=("a",))
                epoch += status not in SETTLED  # nobody drives those: they are only shown
                assert isinstance(held.run, StoredRun)
                assert (held.run.status, held.run.epoch) == (status, epoch)
            elif what == MAIL:
                mails += 1
                await store.submit(run.post(key=f"k{mails}", addr=mails))
                status = Status.READY if status is Status.WAITING else status
            else:
                target, mark, length = Status(what), run.scribe.mark(), len(run.records)
                records = (_record(run, target),) if with_record or target in SETTLED else ()
                held_now = off == 0
                # said again, it is so already
                may = held_now and (status in SOURCES[target] or (not records and status is target))
                try:
                    outcome = await store.submit(
                        Append(run="a", epoch=epoch + off, records=records, status=target)
                    )
                except RunLost:
                    assert not may
                    run.scribe.back_to(mark)
                    del run.records[length:]
                else:
                    assert (outcome, may) == (Outcome(run="a"), True)
                    status = target
            stored = await load_run(store, "a")
            assert stored is not None
            assert (stored.status, stored.epoch, list(stored.records)) == (
                status,
                epoch,
                run.records,
            )
