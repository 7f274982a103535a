"""Where a journal store finds what may have happened already: beside a run, below its root and its
session's, and nowhere else.
"""

from __future__ import annotations

import msgspec

from ordain.effects.results import AnyResult, VerbReturned, VerbUnknown
from ordain.journal.records import ObservationBody, RecordKind, Status, raw
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


async def over(ports: Ports, run: Run) -> None:
    """The run settles, whoever has held it."""
    found = await load_run(ports.store, run.id)
    assert found is not None
    end = run.end()
    await ports.store.submit(msgspec.structs.replace(end, epoch=found.epoch))


async def begins(ports: Ports, name: str) -> Run:
    """A message, and the turn that serves it."""
    run, writes = turn(name)
    placed = msgspec.structs.replace(SERVED, serves=name)
    said = entry(f"m-{name}", author="ada")
    await ports.store.submit(message(said, *writes, placed=placed))
    return run


async def test_what_went_out_and_nobody_knows_is_found_in_the_same_conversation(
    ports: Ports,
) -> None:
    """Of the runs of a session those that hold such an end or are at work, the latest first, and not
    the one that asks; what only speaks of it, and has settled, is none.
    """
    first, second, third, asks = await begun(ports, "r1", "r2", "r3", "r4")
    for run, result in ((first, CUT_OFF), (second, DONE), (third, CUT_OFF), (asks, CUT_OFF)):
        await written(ports, run, result)
    assert list(await ports.store.unknown_beside(asks.id)) == ["r3", "r2", "r1"]
    for run in (first, second):  # each waits for the one before it
        await over(ports, run)
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
    sister, asks, brother = (
        Run(name, parent=root, addr=1, index=index)
        for index, name in enumerate(("sister", "asks", "brother"))
    )
    opened = (sister.new, asks.new, brother.new)
    await ports.store.submit(
        Append(run=root.id, records=(root.note(),), writes=opened, epoch=1, status=Status.WAITING)
    )
    await over(ports, brother)
    await written(ports, sister, CUT_OFF)
    await over(ports, sister)
    assert list(await ports.store.unknown_beside(asks.id)) == ["sister", "top"]


async def test_a_conversation_is_looked_through_from_its_beginning_and_as_it_goes_on(
    ports: Ports,
) -> None:
    """However much was said since, and whatever was looked through before; what has settled without
    such an end is none.
    """
    first, asks = await begun(ports, "r1", "r2")
    await written(ports, first, CUT_OFF)
    await over(ports, first)
    for number in range(60):
        await over(ports, await begins(ports, f"n{number}"))
        if number == 30:
            assert list(await ports.store.unknown_beside(asks.id)) == ["r1"]
    assert list(await ports.store.unknown_beside(asks.id)) == ["r1"]
    last = await begins(ports, "last")
    assert list(await ports.store.unknown_beside(asks.id)) == ["last", "r1"]
    await written(ports, last, CUT_OFF)
    await over(ports, last)
    assert list(await ports.store.unknown_beside(asks.id)) == ["last", "r1"]
