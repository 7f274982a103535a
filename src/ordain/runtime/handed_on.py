"""Work that is handed on, held to what policy and the profile that holds now say of targets and
ways, and to what the cards name now that it came through.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Call
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest
from ordain.journal.records import DecisionBody, RecordKind, Started
from ordain.ports.store import StoredRun
from ordain.rules.handoff import HANDOFF, HandoffAllowed, HandoffOutcome, taken_away
from ordain.rules.profile import HeldProfile

_OUTCOME: msgspec.json.Decoder[HandoffOutcome] = msgspec.json.Decoder(HandoffOutcome)


def no_target_now(
    run: StoredRun, current: Catalog, calls: Sequence[Call], held: object
) -> str | None:
    """Why one of a run's calls would not hand its work on any more: the first found; None where all
    would. ``held`` is the profile that holds now.

    The way, and how many at once, are those of the run's decision on record; where there is none
    yet, any.
    """
    profile = held if isinstance(held, HeldProfile) else None
    for call in calls:
        if (card := current.card_of(call.verb)) is not None:
            mode, width = _way(run, call)
            if (why := taken_away(card.name, mode, width, profile, current.policy)) is not None:
                return why
    return None


def no_longer_named(run: StoredRun, pinned: Catalog, current: Catalog, verb: str) -> str | None:
    """Why a run that works by cards may not use a verb any more: the first of them that named it
    when the work was handed on and does not by now; None of any other.

    A card that is gone is not looked at: its own verb is, by whoever carries that out.
    """
    if current.digest == pinned.digest or verb not in current.verbs:
        return None
    for name in _cards(run):
        then, now = pinned.data.cards.get(name), current.data.cards.get(name)
        if then is None or now is None or then == now:
            continue
        if verb in pinned.domain_of(then) and verb not in current.domain_of(now):
            return f"the card of {now.verb} no longer names {verb}"
    return None


def narrows(
    then: AgentCard | None, now: AgentCard | None, pinned: Catalog, current: Catalog
) -> bool:
    """Whether a card is what it was but that it names fewer verbs: no work goes further by it than
    by the one of then.
    """
    if then is None or now is None:
        return False
    named = {"allow": now.allow, "deny": now.deny, "tool_preference": now.tool_preference}
    return then.model_copy(update=named) == now and current.domain_of(now) <= pinned.domain_of(then)


def _cards(run: StoredRun) -> tuple[str, ...]:
    first = run.records[0]
    body = None if first.body is None else decode(first)
    return body.chain if isinstance(body, Started) else ()


def _way(run: StoredRun, call: Call) -> tuple[str, int]:
    """How a run decided, the latest time, to hand a call's work on, and beside how many."""
    digest = call_digest(call)
    for record in reversed(run.records):
        if (
            record.kind is RecordKind.DECISION
            and record.name == HANDOFF.name
            and record.body is not None
        ):
            body = decode(record)
            outcome = _OUTCOME.decode(body.outcome) if isinstance(body, DecisionBody) else None
            for envelope in outcome.envelopes if isinstance(outcome, HandoffAllowed) else ():
                if envelope.payload is not None and envelope.payload.digest == digest:
                    return envelope.mode, outcome.width if isinstance(
                        outcome, HandoffAllowed
                    ) else 1
    return "", 1
