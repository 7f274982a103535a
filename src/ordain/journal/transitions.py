"""Where a run may stand after where it stands: the one table of how its status changes. Pure.

A store changes a status along it and in no other way; the pages that show it, and the machine that
tries every way, are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ordain.journal.records import SETTLED, STOPPED, Status

_GOING = frozenset({Status.READY, Status.RUNNING, Status.WAITING})


class Transition(Struct, frozen=True):
    """What happens to a run, and so from which statuses to which."""

    what: str
    sources: frozenset[Status]
    targets: frozenset[Status]


OPENED = frozenset({Status.QUEUED, Status.READY})
"""What a run begins as: behind the unsettled turns of its thread, or at once."""
NEXT_IN_THREAD = Transition(
    "is next in its thread", frozenset({Status.QUEUED}), frozenset({Status.READY})
)
HAS_MAIL = Transition("has mail", frozenset({Status.WAITING}), frozenset({Status.READY}))
"""These two befall a run by what others write; every other move is its holder's."""
TRANSITIONS = (
    NEXT_IN_THREAD,
    Transition(
        "is driven",
        frozenset({Status.READY, Status.WAITING}) | STOPPED,
        frozenset({Status.RUNNING}),
    ),
    Transition("waits", _GOING | STOPPED, frozenset({Status.WAITING})),
    HAS_MAIL,
    Transition(
        "is put back, for the process may have died of another",
        frozenset({Status.RUNNING}),
        frozenset({Status.READY}),
    ),
    Transition("comes to its end", _GOING | STOPPED, SETTLED),
    Transition("cannot go on", frozenset({Status.QUEUED}) | _GOING | STOPPED, STOPPED),
    Transition("is resumed by somebody", STOPPED, frozenset({Status.READY})),
)


def _sources(target: Status) -> frozenset[Status]:
    return frozenset[Status]().union(
        *(move.sources for move in TRANSITIONS if target in move.targets)
    )


SOURCES: Mapping[Status, frozenset[Status]] = {status: _sources(status) for status in Status}
"""From where a run may come to each status; from nowhere to one that it only begins as."""
