"""What handoffs came to, in the words of whoever asked for them: one by one, and of a fan-out all
together (C5, B-30).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.handoff import HandoffResult, completed, failed
from ordain.effects.results import VerbReturned
from ordain.flows.acted import Acted
from ordain.flows.observations import error_of


def handoff_result(acted: Acted, run: str) -> HandoffResult:
    """The result of one; of what never ran the trace is in ``run``, which asked for it."""
    if isinstance(acted.result, VerbReturned):
        return completed(acted.mode, acted.result.output.get("outputPayload"))
    error = error_of(acted)
    return failed(acted.mode, error["code"], error["message"], acted.child or run)


def fan_in(acted: Sequence[Acted], run: str) -> dict[str, Any]:
    """All results with their targets: ``completed``, ``partial`` where some failed, ``failed``
    where all did; and who failed, by name.
    """
    results = [(one.verb.removeprefix(AGENT_VERB), handoff_result(one, run)) for one in acted]
    lost = [target for target, result in results if result.failure is not None]
    status = "completed" if not lost else "failed" if len(lost) == len(results) else "partial"
    return {
        "status": status,
        "results": [
            {"target": target, **msgspec.to_builtins(result)} for target, result in results
        ],
        "failed": lost,
    }
