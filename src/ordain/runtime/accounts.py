"""Shared accounts as rows: who shares one where there are too many names, and which are over.
Without either, made-up names would pile up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ordain.contracts.policy import BudgetPolicy
from ordain.flows.accounts import account_kinds, period
from ordain.ports.shared import SharedName
from ordain.ports.upkeep import EndedPeriods

AGENTS_MAX = 1000
"""So many agents of a workspace have accounts of their own in a period; who names itself so that
there would be more shares one.
"""
OTHERS = "agent:(others)"
_ENDS = {"day": len(":2026-01-31"), "month": len(":2026-01"), "ever": 0}


def sharing(policy: BudgetPolicy, accounts: Sequence[Mapping[str, Any]]) -> SharedName | None:
    """Which account a new agent shares where there are enough of them; None where no account is an
    agent's.

    What is in a name is the caller's own; where its period begins is not: policy says how long that
    is.
    """
    agent = next(
        (account["name"] for account in accounts if account["name"].startswith("agent:")), None
    )
    if agent is None:
        return None
    since = agent[len(agent) - _ENDS[policy.agent.per] :]
    return SharedName(name=agent, to=OTHERS + since, like=f"agent:*{since}", most=AGENTS_MAX)


def ended_periods(policy: BudgetPolicy, now: int) -> EndedPeriods:
    """What has the store drop the accounts of days and months before the last ones; a run that
    began in the last ones may still ask for them.

    ``now``: microseconds since 1970 UTC.
    """
    today = datetime.fromtimestamp(now / 1e6, UTC)
    last = {
        "day": period("day", today - timedelta(days=1)),
        "month": period("month", today.replace(day=1) - timedelta(days=1)),
    }
    # there any name may look like a period
    kinds = [kind for kind, bound in account_kinds(policy).items() if bound.per != "ever"]
    return EndedPeriods(kinds=tuple(kinds), before=tuple(last.values()))
