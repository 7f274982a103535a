"""A session's history by reference: a run's journal holds which entries and their digest, never
what they say.

``gather`` reads where the history stands, lets rule ``history`` choose, and has older entries
summarised by policy's verb.
"""

from __future__ import annotations

import msgspec

from ordain.contracts.verbs import text_of
from ordain.effects.calls import Call
from ordain.effects.effect import Say, SharedState
from ordain.effects.results import ReadValue, VerbReturned
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.carried import InConversation
from ordain.flows.context import FlowContext
from ordain.flows.transcript import HistoryRef
from ordain.ports.sessions import Uncovered
from ordain.rules.history import HISTORY, HistoryFacts, Window

AHEAD = 16
"""How many uncovered entries beyond policy's number are looked at."""
SUMMARY_CHARS = 8000
ROUNDS = 2
"""How often one turn has something summarised; what is left then is counted as left out, and the
next turn goes on.
"""


async def gather(
    context: FlowContext, own: int, room_bytes: int, done: list[Acted] | None = None
) -> tuple[HistoryRef, Window]:
    """The history for a prompt in which ``room_bytes`` are left; ``own`` is the number of the
    message being answered.

    ``done`` gets the calls that were made for it.
    """
    done = [] if done is None else done
    table = context.catalog.policy.history
    rounds = ROUNDS if table.verb in context.catalog.verbs else 0
    while True:
        found, seq = await _read(context, own, table.max_entries + AHEAD)
        facts = HistoryFacts(
            sizes=tuple([size for _, size in found.entries]),
            older=found.older,
            summary_bytes=-1 if found.summary is None else found.summary[1],
            room_bytes=max(0, room_bytes),
            may_summarise=rounds > 0,
            imported=found.imported,
        )
        outcome = context.fx.decide(HISTORY, facts, None, (seq,)).outcome
        if isinstance(outcome, Window):
            return _reference(
                context.session, own, found, outcome, context.catalog.policy.history.entry_bytes
            ), outcome
        most = outcome.entries
        if found.older:  # the oldest come first: a summary covers everything before its end
            found, _ = await _read(context, own, table.max_entries + AHEAD, oldest=True)
            most = len(found.entries)
        rounds = rounds - 1 if await _summarise(context, own, found, (most, done)) else 0


async def _read(
    context: FlowContext, own: int, limit: int, *, oldest: bool = False
) -> tuple[Uncovered, int]:
    args = {
        "session": context.session,
        "own": own,
        "limit": limit,
        **({"oldest": True} if oldest else {}),
    }
    result = await context.fx.perform(context.read(SharedState.HISTORY, args))
    if isinstance(result, ReadValue):
        return msgspec.convert(result.value, Uncovered), result.seq
    return Uncovered(entries=(), older=0, summary=None), result.seq


async def _summarise(
    context: FlowContext, own: int, found: Uncovered, how: tuple[int, list[Acted]]
) -> bool:
    """Have the oldest entries, so many at the most, summarised, together with the summary before
    them; whether that succeeded.
    """
    most, done = how
    bound, room = (
        context.catalog.policy.history.entry_bytes,
        context.catalog.policy.history.max_bytes,
    )
    entries: list[tuple[int, int]] = []
    for seq, size in found.entries[:most]:
        room -= min(size, bound)
        if seq >= own or room < 0:
            # what is being answered now is not summed up, nor more than one prompt holds
            break
        entries.append((seq, size))
    if not entries:
        return False
    part = _reference(
        context.session,
        own,
        msgspec.structs.replace(found, entries=tuple(entries)),
        Window(whole=len(entries), summary=found.summary is not None, left_out=0),
        bound,
    )
    acted: Acted = await act(
        context,
        Call(verb=context.catalog.policy.history.verb, args={}),
        talk=InConversation(history=part),
    )
    done.append(acted)
    if not isinstance(acted.result, VerbReturned):
        return False
    output = acted.result.output
    text = output["summary"] if "summary" in output else text_of(output)
    if not isinstance(text, str) or not text.strip():
        return False
    await context.fx.perform(Say(text=text[:SUMMARY_CHARS], summary_through=entries[-1][0]))
    return True


def _reference(session: str, own: int, found: Uncovered, window: Window, bound: int) -> HistoryRef:
    whole = found.entries[len(found.entries) - window.whole :]
    summary = found.summary if window.summary else None
    sizes = [size for _, size in whole]
    cut = bound if max(sizes, default=0) > bound else 0
    return HistoryRef(
        session=session,
        first=whole[0][0] if whole else 0,
        last=whole[-1][0] if whole else 0,
        own=own,
        entries=len(whole),
        size_bytes=sum([min(size, bound) for size in sizes] if cut else sizes)
        + (0 if summary is None else summary[1]),
        summary=0 if summary is None else summary[0],
        cut=cut,
        head=found.head,
        digest=found.chain,
    )
