"""Shared accounts as rows: who shares one where there are too many names, and which are over. Without either, made-up names would pile up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ordain.contracts.policy import BudgetPolicy
from ordain.flows.accounts import account_kinds, period
from ordain.ports.upkeep import EndedPeriods

AGENTS_MAX = 1000
"""So many agents of a workspace have accounts of their own in a period; who names itself so that there would be more shares one."""
OTHERS = "agent:(others)"
_ENDS = {"day": len(":2026-01-31"), "month": len(":2026-01"), "ever": 0}


def with_sharing(policy: BudgetPolicy, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a claim on accounts as the store gets them: which account a new agent shares where there are enough of them.

    What is in a name is the caller's own; where its period begins is not: policy says how long that is.
    """
    agent = next((account["name"] for account in args["accounts"] if account["name"].startswith("agent:")), None)
    if agent is None:
        return args
    since = agent[len(agent) - _ENDS[policy.agent.per] :]
    return {**args, "shared": {"name": agent, "as": OTHERS + since, "like": f"agent:*{since}", "most": AGENTS_MAX}}


def ended_periods(policy: BudgetPolicy, now: int) -> EndedPeriods:
    """What has the store drop the accounts of days and months before the last ones; a run that began in the last ones may still ask for them.

    ``now``: microseconds since 1970 UTC.
    """
    today = datetime.fromtimestamp(now / 1e6, UTC)
    last = {"day": period("day", today - timedelta(days=1)), "month": period("month", today.replace(day=1) - timedelta(days=1))}
    kinds = [kind for kind, bound in account_kinds(policy).items() if bound.per != "ever"]  # there any name may look like a period
    return EndedPeriods(kinds=tuple(kinds), before=tuple(last.values()))
