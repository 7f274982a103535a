"""What is told of a word that came too late: that it did, what had run by then, and what of that
can still be undone.

Ordain takes nothing back by itself. What went out cannot be taken back by anybody; what else was
changed takes a request of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import VerbEffect
from ordain.rules.acts import ActEnd

RAN: Final = frozenset({ActEnd.DONE, ActEnd.QUOTED, ActEnd.PERMITTED})
"""What is permitted is perhaps just running; of what failed it is known that it did nothing."""
GONE: Final = frozenset({VerbEffect.SEND, VerbEffect.PAY, VerbEffect.EGRESS})
VERBS_TOLD: Final = 8
GOES_ON: Final = (
    "too late: what was answered before was taken, and its work goes on; a stop ends it."
)
NOTHING_RAN: Final = "Nothing that ran changed anything, so there is nothing to undo."


def told_late(found: dict[str, Any], catalog: Catalog, *, over: str) -> str:
    """The words; ``over`` says how the work ended."""
    acts: list[dict[str, Any]] = [
        act for act in found["header"].get("acts", ()) if act["verb"] and not act.get("reads")
    ]
    unknown = _verbs(acts, lambda act: act["end"] == ActEnd.UNKNOWN)
    ran = _verbs(acts, lambda act: act["end"] in RAN)
    gone = [
        verb for verb in ran if verb in catalog.verbs and catalog.verbs[verb].spec.effect in GONE
    ]
    kept = [verb for verb in ran if verb not in gone]
    parts = [f"too late: {over} before this came, so it stops nothing."]
    if not ran and not unknown:
        return f"{parts[0]} {NOTHING_RAN}"
    if ran:
        parts.append(f"What ran: {_listed(ran)}.")
    if gone:
        parts.append(f"What went out with {_listed(gone)} cannot be taken back.")
    if kept:
        parts.append(
            f"What {_listed(kept)} changed is undone by a request of its own alone, where that "
            "can be done."
        )
    if unknown:
        parts.append(f"Of {_listed(unknown)} nobody knows whether it happened.")
    return " ".join(parts)


def _verbs(acts: Sequence[dict[str, Any]], which: Callable[[dict[str, Any]], bool]) -> list[str]:
    return list(dict.fromkeys(str(act["verb"]) for act in acts if which(act)))


def _listed(verbs: Sequence[str]) -> str:
    more = f" and {len(verbs) - VERBS_TOLD} more" if len(verbs) > VERBS_TOLD else ""
    return f"{', '.join(verbs[:VERBS_TOLD])}{more}"
