"""Shared accounts as rows: who shares one, and which are over."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from ordain.contracts.policy import AccountPolicy, BudgetPolicy
from ordain.runtime.accounts import AGENTS_MAX, ended_periods, sharing


@pytest.mark.parametrize(
    ("per", "name", "shared"),
    [
        (
            "day",
            "agent:helper:2026-05-17",
            {
                "name": "agent:helper:2026-05-17",
                "to": "agent:(others):2026-05-17",
                "like": "agent:*:2026-05-17",
            },
        ),
        (
            "month",
            "agent:a:b:2026-05",
            {
                "name": "agent:a:b:2026-05",
                "to": "agent:(others):2026-05",
                "like": "agent:*:2026-05",
            },
        ),
        (
            "ever",
            "agent:helper",
            {"name": "agent:helper", "to": "agent:(others)", "like": "agent:*"},
        ),
    ],
)
def test_new_agents_share_one_where_there_are_enough(
    per: str, name: str, shared: dict[str, object]
) -> None:
    """Whatever is in a name, its period ends where policy says."""
    policy = BudgetPolicy.model_validate({"agent": {"tokens": 1, "per": per}})
    found = sharing(policy, [{"name": "day:2026-05-17"}, {"name": name}])
    assert msgspec.to_builtins(found) == {**shared, "most": AGENTS_MAX}


def test_without_an_agents_account_nobody_shares() -> None:
    """Each account is as it is named."""
    assert sharing(BudgetPolicy(), [{"name": "session:s1"}]) is None


def test_periods_before_the_last_ones_are_over() -> None:
    """A run that began in the last day or month may still ask for its account; accounts for ever
    stay.
    """
    now = round(datetime(2026, 3, 1, 0, 30, tzinfo=UTC).timestamp() * 1e6)
    policy = BudgetPolicy(session=AccountPolicy(per="ever"), workspace=AccountPolicy(per="month"))
    over = ended_periods(policy, now)
    assert over.before == ("2026-02-28", "2026-02")
    assert set(over.kinds) == {"day", "workspace", "agent"}
