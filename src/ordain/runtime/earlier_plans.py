"""What a run's planning session came to before it (FUT-01): earlier runs of its kind and its own
principal, as their kind recounts them. Read once, and recorded.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.children import NULL
from ordain.errors import JournalError
from ordain.journal.folds import ending
from ordain.journal.records import SETTLED
from ordain.ports.store import StoredRun
from ordain.rules.plan_session import SESSION_RUNS
from ordain.runtime.beginnings import started
from ordain.runtime.run_view import RunView, ending_of
from ordain.runtime.services import Services


async def earlier_plans(
    services: Services, stored: StoredRun, args: dict[str, Any]
) -> list[dict[str, Any]]:
    """Of the runs that are named, those that the run may see; of one that is not over yet, where it
    stands. What was erased or swept is not there.
    """
    named = [str(run) for run in args["runs"]][-SESSION_RUNS:]
    found, own = await services.store.load(named), _principal(stored)
    told: list[dict[str, Any]] = []
    for run in named:
        one = found.get(run)
        if (
            isinstance(one, StoredRun)
            and own is not None
            and _whose(one) == (*_whose(stored)[:2], own)
        ):
            told += _recounted(services, one)
    return told


def _whose(stored: StoredRun) -> tuple[str, str, str | None]:
    return stored.workspace, stored.flow, _principal(stored)


def _principal(stored: StoredRun) -> str | None:
    """Who asked for a run; None where nobody can tell any more."""
    body = started(stored.records[0] if stored.records else None)
    return None if body is None else body.principal


def _recounted(services: Services, one: StoredRun) -> list[dict[str, Any]]:
    kind, end = services.kinds.get(one.flow, one.flow_version), ending(one.records)
    if one.status not in SETTLED:
        return [{"run": one.id, "status": str(one.status)}]
    if (
        kind is None
        or kind.recounts is None
        or end is None
        or one.key is None
        or end.result == NULL
    ):
        return []
    view = RunView(stored=one, header=end.header, result=end.result, verdict=end.verdict)
    try:
        return [{"run": one.id, **kind.recounts(ending_of(view))}]
    except (JournalError, msgspec.MsgspecError):  # swept, or of a damaged row
        return []
