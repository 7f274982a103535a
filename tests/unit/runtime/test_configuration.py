"""What is pinned for a session, as it is read: whose profile a name stands for, and what a record
that this build cannot read comes to.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.pinned import EVERYWHERE, ResourceType
from ordain.contracts.policy import Policy
from ordain.engines.clock import SystemClock
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Arrive
from ordain.ports.writes import ConfigVersion
from ordain.runtime.configuration import Applied, ControlPlane, RecordChange, key_of, pins_seen
from ordain.testing import MemoryConfiguration, MemoryStore, SharedMemory

SESSION = "profile-pin:session:s1"


class Plane:
    """A control plane in memory."""

    def __init__(self) -> None:
        shared = SharedMemory(now=SystemClock().now)
        self.records, self.store = MemoryConfiguration(shared), MemoryStore(shared)
        self.control = ControlPlane(self.records, self.store, SystemClock())

    async def put(
        self, resource: str, name: str, config: dict[str, Any], place: str = "default"
    ) -> None:
        change = RecordChange(place=place, resource=resource, id=name, config=config, owner=True)
        assert isinstance(await self.control.change(change, by="op"), Applied)

    async def force(self, key: ConfigKey, config: bytes) -> None:
        """A record as another build may have written it."""
        write = ConfigVersion(record=ConfigRecord(key=key, version=1, config=config, by="op", at=1))
        await self.store.submit(
            Arrive(
                workspace="default", shared=Shared(reads=(), decide=lambda: Ruling(writes=(write,)))
            )
        )


async def test_a_workspaces_own_profile_comes_before_the_one_for_all() -> None:
    """Of one name; a workspace that has none is given the one that is everywhere."""
    plane = Plane()
    await plane.put("profile", "p", {"systemPrompt": "everywhere"}, EVERYWHERE)
    await plane.put("profile", "p", {"systemPrompt": "own"})
    for place in ("default", "another"):
        await plane.put("policy", SESSION, {"profile": "p"}, place)
    found = [
        (await pins_seen(plane.records, place, "s1")).profiles["p"].config or {}
        for place in ("default", "another")
    ]
    assert [one["systemPrompt"] for one in found] == ["own", "everywhere"]


async def test_nothing_is_looked_up_where_nothing_is_pinned() -> None:
    """A session without a pin is given no profile, whatever profiles there are."""
    plane = Plane()
    await plane.put("profile", "p", {})
    await plane.put("policy", SESSION, {"profile": "p"})
    seen = await pins_seen(plane.records, "default", "s2")
    assert (seen.pins, seen.profiles) == ({}, {})


@pytest.mark.parametrize(
    ("pin", "profile", "reason"),
    [
        (b'{"profile":"p"}', b'{"fromTomorrow":1}', "profile.unreadable"),
        (b'{"profile":"p"}', b"no json", "profile.unreadable"),
        (b'{"profile":"p"}', b"[]", "profile.unreadable"),
        (b'{"profile":"p"}', b"\xff", "profile.unreadable"),
        (b'{"other":"p"}', b"{}", "profile.not_found"),
        (b"[1]", b"{}", "profile.not_found"),
        (b'{"profile":{"p":1}}', b"{}", "profile.not_found"),
    ],
)
async def test_a_record_of_another_build_opens_nothing(
    pin: bytes, profile: bytes, reason: str
) -> None:
    """What cannot be read as a pin pins to nothing that is there, and what cannot be read as a
    profile is none: neither loosens anything.
    """
    plane = Plane()
    await plane.force(key_of("default", ResourceType.POLICY, SESSION), pin)
    await plane.force(key_of("default", ResourceType.PROFILE, "p"), profile)
    assert (await plane.control.holding("default", "s1", Policy(version=1))).reason == reason
