"""What a driven run puts on record: its mail once, nothing that mail was faster than, and whose
catalog was current.
"""

from __future__ import annotations

from ordain import verb
from ordain.journal.records import RecordKind, Status
from tests.unit.runtime.house import SECOND, House
from tests.unit.runtime.waiting import WAITS, kinds, replays, result


@verb(name="shelf.price", effect="read")
async def price(title: str) -> dict[str, int]:
    """Say what a book costs."""
    return {"cents": 900}


async def test_an_interrupt_reaches_the_flow_once() -> None:
    """At its wait, which is given up in the same commit; what it still says is said, and the run is
    cancelled.
    """
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        await house.drive(run)
        await house.interrupt(run, by="user:ada")
        await house.interrupt(run, by="user:bob")
        assert (await house.drive(run)).status is Status.CANCELLED
        assert result(house, run) == "cancel by user:ada"
        (delivered,) = house.bodies(run, RecordKind.DELIVERED)
        assert [note.by for note in house.bodies(run, RecordKind.NOTE)] == ["user:bob"]
        assert (delivered.by, len(house.store.untaken(run))) == ("user:ada", 0)
        assert replays(house, run)


async def test_mail_that_is_faster_than_the_suspension_is_met_at_once() -> None:
    """No record of a wait that never was: the answer is the effect's observation."""
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        await house.answer(run, 0, "early")
        assert (await house.drive(run)).status is Status.COMPLETED
        assert "suspended wait" not in kinds(house, run)
        assert result(house, run) == "early by user:ada"


async def test_another_catalog_leaves_its_digest_beside_what_was_seen_under_it() -> None:
    """The run decides by its own to the end."""
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        await house.drive(run)
        other = House(WAITS, verbs=[price])
        house.services.catalogs.swap(other.catalog)
        other.store.close()
        await house.answer(run, 0, 1)
        await house.drive(run)
        (seen,) = house.bodies(run, RecordKind.OBSERVATION)
        assert seen.catalog == other.catalog.digest != house.stored(run).catalog
        assert replays(house, run)


async def test_lost_time_is_on_record_before_what_gives_time_to_the_flow() -> None:
    """A run that waits for a person has lost that time when the answer is observed: the flow's
    clock stands where it stood.
    """
    with House(WAITS) as house:
        run = await house.open(WAITS, "answer")
        await house.drive(run)
        house.clock.at += 30 * SECOND
        await house.answer(run, 0, "late")
        await house.drive(run)
        names = kinds(house, run)
        assert names.index("resumed lost") == names.index("observation wait") - 1
        (lost,) = house.bodies(run, RecordKind.RESUMED)
        assert lost.lost_us == 30 * SECOND
        assert replays(house, run)
