"""The verb that a run carries out for its parent, held to what holds now: before each call that
goes out, until its end.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.approvals import Consent
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.journal.codec import decode
from ordain.journal.records import Started
from ordain.runtime.carried_verb import carried_verb
from ordain.runtime.configuration import ControlPlane, RecordChange
from ordain.runtime.setup import RunSetup
from tests.unit.runtime.office import BEN, CALLS, TELLS, Office, post, tell


async def test_who_carries_out_nothing_is_held_to_nothing() -> None:
    """A root's own verb calls are looked at one by one."""
    with Office() as office:
        run = await office.begun(post())
        started = decode(office.stored(run).records[0])
        assert isinstance(started, Started)
        setup = RunSetup.of(run, CALLS, started, office.catalog, office.kinds)
        assert carried_verb(office.services, office.stored(run), setup) is None


@pytest.mark.parametrize("narrowed", [{"deny": ["tell.*"]}, None])
async def test_what_a_run_of_its_own_carries_out_is_held_to_all_that_holds(
    narrowed: dict[str, Any] | None,
) -> None:
    """After its first step as well: the verb is switched off, or a profile lets nothing happen
    beyond reads.
    """
    with Office() as office:
        view = await office.asked(tell())
        assert await office.decide(view, drive=False) == ""
        await office.drive(view.row.run)
        if narrowed is not None:
            office.narrow({"verbs": {"default": narrowed}})
        else:
            control = ControlPlane(office.services.configuration, office.store, office.clock)
            for resource, name, config in (
                ("profile", "p", {"safety": {"mode": "read_only"}}),
                ("policy", "profile-pin:workspace:default", {"profile": "p"}),
            ):
                await control.change(
                    RecordChange(
                        place=DEFAULT_WORKSPACE, resource=resource, id=name, config=config
                    ),
                    by=BEN,
                )
        await office.go_on(view.row.run)
        assert (office.did, len(office.withdrawn())) == ([], 1)


async def test_a_run_of_its_own_says_what_it_rests_on() -> None:
    """Its first record names the yes; of a build before, which said nothing of it, a harmless
    change of policy is no narrowing.
    """
    with Office() as office:
        view = await office.asked(tell("cleo"))
        assert await office.decide(view, drive=False) == ""
        await office.drive(view.row.run)
        ((child,),) = office.store.query("SELECT id FROM runs WHERE parent IS NOT NULL")
        stored = office.stored(child)
        started = decode(stored.records[0])
        assert isinstance(started, Started)
        assert started.consent == Consent(id=view.row.id, by=BEN, told=())
        before = RunSetup.of(
            child, TELLS, structs.replace(started, consent=None), office.catalog, office.kinds
        )
        carried = carried_verb(office.services, stored, before)
        assert carried is not None
        office.use_policy({"verbs": {"retry_wait_ms": 7}})
        assert await carried.withdrawn() is None
        office.use_policy({"verbs": {"default": {"deny": ["tell.out"]}}})
        assert "switched off" in (await carried.withdrawn() or "")
