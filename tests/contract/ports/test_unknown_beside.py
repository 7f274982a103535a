"""Where a journal store finds what may have happened already: beside a run, below its root and its
session's, and nowhere else.
"""

from __future__ import annotations

from ordain.effects.results import AnyResult, VerbReturned, VerbUnknown
from ordain.journal.records import ObservationBody, RecordKind, raw
from ordain.ports.sessions import EntryKind
from ordain.ports.store import Append, load_run
from tests.contract.ports.conftest import Ports
from tests.contract.ports.test_sessions import SERVED, begun, entry, turn
from tests.contract.writing import Run, message

CUT_OFF, DONE = (
    VerbUnknown(message="cut off"),
    VerbReturned(output={"result": "unknown", "said": "outcome_unknown"}),
)


async def written(ports: Ports, run: Run, result: AnyResult) -> None:
    """What became of a call, and what the session is told of it."""
    found = await load_run(ports.store, run.id)
    record = run.write(
        RecordKind.OBSERVATION, "verb_call", ObservationBody(addr=1, result=raw(result))
    )
    assert found is not None
    told = (
        (entry(f"e-{run.id}", kind=EntryKind.REPLY, run=run.id, thread=1),) if found.session else ()
    )
    await ports.store.submit(Append(run=run.id, records=(record,), writes=told, epoch=found.epoch))


async def test_what_went_out_and_nobody_knows_is_found_in_the_same_conversation(
    ports: Ports,
) -> None:
    """Of the runs of a session those that hold such an end, the latest first, and not the one that
    asks; what only speaks of it is none.
    """
    first, second, third, asks = await begun(ports, "r1", "r2", "r3", "r4")
    for run, result in ((first, CUT_OFF), (second, DONE), (third, CUT_OFF), (asks, CUT_OFF)):
        await written(ports, run, result)
    other, writes = turn("x1", session="s2")
    await ports.store.submit(
        message(entry("m-x1", session="s2", author="ada"), *writes, placed=SERVED)
    )
    assert list(await ports.store.unknown_beside(asks.id)) == ["r3", "r1"]
    assert list(await ports.store.unknown_beside(other.id)) == []
    assert list(await ports.store.unknown_beside("nobody")) == []


async def test_what_is_below_the_same_root_is_found_outside_of_sessions_too(ports: Ports) -> None:
    """A sister's call, with whoever opened her: how she ended stands there, too."""
    root = Run("top")
    await ports.store.submit(root.open())
    sister, asks = Run("sister", parent=root, addr=1), Run("asks", parent=root, addr=1, index=1)
    opening = root.note()
    await ports.store.submit(
        Append(run=root.id, records=(opening,), writes=(sister.new, asks.new), epoch=1)
    )
    assert list(await ports.store.unknown_beside(asks.id)) == []
    await written(ports, sister, CUT_OFF)
    assert list(await ports.store.unknown_beside(asks.id)) == ["sister", "top"]
