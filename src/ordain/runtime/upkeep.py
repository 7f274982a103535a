"""Upkeep carried out: slice after slice, with a pause after each that leaves the storage to others
for as long as the slice had it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ordain.contracts.moments import DAY_US
from ordain.contracts.policy import Policy
from ordain.errors import OrdainError
from ordain.ports.upkeep import (
    BegunErasures,
    FreedSpace,
    OldContent,
    Reached,
    Slice,
    Upkeep,
    UpkeepRule,
)
from ordain.runtime.accounts import ended_periods

LOG = logging.getLogger("ordain.upkeep")
PAUSE_MIN_S = 0.002
PAUSE_MAX_S = 0.5


async def _carried_out(slice_after: Callable[[Reached | None], Awaitable[Slice]]) -> int:
    now, rows, after = asyncio.get_running_loop().time, 0, None
    while True:
        began = now()
        made = await slice_after(after)
        rows, after = rows + made.rows, made.after
        if after is None:
            return rows
        await asyncio.sleep(min(max(now() - began, PAUSE_MIN_S), PAUSE_MAX_S))


async def carried_out(upkeep: Upkeep, rule: UpkeepRule) -> int:
    """All that the rule names; returns how many rows. Raises as ``Upkeep.sweep``; what was done
    until then is done.
    """
    return await _carried_out(lambda after: upkeep.sweep(rule, after))


async def destroyed(upkeep: Upkeep, subject: int) -> int:
    """The rows of a subject whose erasure was begun; returns how many held content. Raises as
    ``Upkeep.erase``.
    """
    return await _carried_out(lambda after: upkeep.erase(subject, after))


async def swept(upkeep: Upkeep, policy: Policy, now: int) -> dict[str, int]:
    """Erase content that policy's retention no longer keeps; returns how many values by class. A
    class of 0 days is kept.

    What was begun to be erased is erased, accounts of days and months that are over go, and the
    room is given back. ``now`` in microseconds.
    """
    await carried_out(upkeep, BegunErasures())
    found = {
        content_class: await carried_out(
            upkeep, OldContent(content_class=content_class, before=now - kept * DAY_US, at=now)
        )
        for content_class, kept in policy.retention.by_class().items()
        if kept
    }
    await carried_out(upkeep, ended_periods(policy.budget, now))
    pages = await carried_out(upkeep, FreedSpace())
    if pages or any(found.values()):
        LOG.info(
            "swept %s pages=%s", " ".join(f"{name}={count}" for name, count in found.items()), pages
        )
    return found


async def daily(sweep: Callable[[], Awaitable[object]]) -> None:
    """For ever: sweep now, and again every day. Storage that is away is tried again the next
    day.
    """
    while True:
        try:
            await sweep()
        except OrdainError as error:
            LOG.error("sweep failed: %s", error.message)
        await asyncio.sleep(DAY_US / 1e6)
