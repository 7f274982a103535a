"""Upkeep carried out: slice after slice, others in between, in an order that a crash does not
matter to.
"""

from __future__ import annotations

import asyncio

from ordain.contracts.moments import DAY_US
from ordain.contracts.policy import Policy, RetentionPolicy
from ordain.ports.upkeep import (
    BegunErasures,
    EndedPeriods,
    FreedSpace,
    OldContent,
    Reached,
    Slice,
    UpkeepRule,
)
from ordain.runtime.upkeep import carried_out, destroyed, swept


class Sliced:
    """An upkeep of so many slices for each thing, that notes what it was asked."""

    def __init__(self, slices: int) -> None:
        self.slices = slices
        self.asked: list[tuple[UpkeepRule | int, Reached | None]] = []

    async def erase(self, subject: int, after: Reached | None) -> Slice:
        return self._slice(subject, after)

    async def sweep(self, rule: UpkeepRule, after: Reached | None) -> Slice:
        return self._slice(rule, after)

    async def probe(self) -> None:
        raise NotImplementedError

    def _slice(self, what: UpkeepRule | int, after: Reached | None) -> Slice:
        self.asked.append((what, after))
        number = 1 if after is None else int(after[0]) + 1
        return Slice(rows=2, after=None if number == self.slices else (number,))


async def test_each_slice_begins_where_the_last_one_ended() -> None:
    """Until none is left; the rows of all are counted."""
    upkeep = Sliced(3)
    assert await carried_out(upkeep, FreedSpace()) == 6
    assert await destroyed(upkeep, 7) == 6
    assert upkeep.asked == [
        (what, after) for what in (FreedSpace(), 7) for after in (None, (1,), (2,))
    ]


async def test_others_go_on_between_two_slices() -> None:
    """Whoever is ready to run does so before the next slice is asked for."""
    upkeep, seen, ended = Sliced(5), set[int](), False

    async def others() -> None:
        while not ended:
            seen.add(len(upkeep.asked))
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(others())
    await carried_out(upkeep, FreedSpace())
    ended = True
    await beside
    assert seen >= {1, 2, 3, 4}


async def test_a_sweep_is_what_policy_keeps_no_longer() -> None:
    """What was begun is ended first, then each class with its days, the periods that are over, and
    at last the room.
    """
    upkeep, now = Sliced(1), 400 * DAY_US
    policy = Policy(version=1, retention=RetentionPolicy(model_days=3, result_days=30))
    assert await swept(upkeep, policy, now) == {"model": 2, "result": 2}
    rules = [rule for rule, _ in upkeep.asked]
    assert rules[:3] == [
        BegunErasures(),
        OldContent(content_class="model", before=397 * DAY_US, at=now),
        OldContent(content_class="result", before=370 * DAY_US, at=now),
    ]
    assert [type(rule) for rule in rules[3:]] == [EndedPeriods, FreedSpace]
