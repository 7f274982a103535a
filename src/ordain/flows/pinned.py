"""Which pinned profile holds for a run: read where anything is pinned, decided by rule ``profile``,
and what follows for the rest of the flow.
"""

from __future__ import annotations

import msgspec

from ordain.effects.effect import SharedState
from ordain.effects.results import ReadValue
from ordain.flows.context import FlowContext
from ordain.rules.profile import PROFILE, NoProfile, PinsSeen, ProfiledBy, ProfileInputs


async def profiled(context: FlowContext) -> FlowContext | NoProfile:
    """The same under the profile that holds, which the port holds it to in any case; or that the
    pin that counts leads nowhere.

    Where nothing is pinned, and policy says nothing of profiles, nothing is read or decided.
    """
    if context.profiled is None:
        return context
    seen, refs, unread = PinsSeen(), (), False
    if context.profiled is ProfiledBy.PINS:
        result = await context.fx.perform(context.read(SharedState.PROFILE, {}))
        unread = not isinstance(result, ReadValue)
        seen = msgspec.convert(result.value, PinsSeen) if isinstance(result, ReadValue) else seen
        refs = (result.seq,)
    outcome = context.fx.decide(
        PROFILE, seen.facts(unread=unread), ProfileInputs(seen=seen), refs
    ).outcome
    if isinstance(outcome, NoProfile):
        return outcome
    return context.under(outcome)
