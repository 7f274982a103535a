"""``open_account``: which shared accounts bound a run, by which names, and what it takes out of
them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import AccountPolicy, BudgetPolicy
from ordain.flows.accounts import open_account, period, shared_accounts
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.journal.records import Label
from ordain.rules.budget import CarveRefused
from ordain.rules.spend import Spend
from ordain.testing import Played, ScriptedEffects, Standing, carved, catalog_of, kind_of

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
DAY = "day:2026-05-17"


async def _open(context: FlowContext, most: Any) -> Any:
    return await open_account(
        context, "helper", None if most is None else Spend(tokens=most, usd_micros=most)
    )


KIND: Kind[Any, Any] = replace(kind_of(_open, charged=True), label=lambda _: Label(agent="helper"))


def play(
    *script: Any, most: int | None = None, standing: Standing | None = None, **budget: Any
) -> Played[Any]:
    table = {"run_tokens": 1000, "run_usd_micros": 500, **budget}
    effects = ScriptedEffects(
        KIND,
        catalog_of(),
        policy={"budget": table},
        standing=standing or Standing(at=NOON, session="s1"),
    )
    played = effects.play(most, script)
    assert played.replayed().equal
    return played


def test_no_bound_no_claim() -> None:
    """Where policy bounds no account there is none to ask."""
    assert play().asked == ()


def test_the_whole_bound_is_taken() -> None:
    """Out of every account that policy bounds, all in one claim."""
    bounds = {"tokens": 10_000, "usd_micros": 0}
    played = play(
        day_tokens=10_000,
        session=bounds,
        agent={**bounds, "per": "month"},
        workspace={**bounds, "per": "ever"},
    )
    (made,) = played.decisions
    assert set(made.outcome.accounts) == {DAY, "session:s1", "agent:helper:2026-05", "workspace"}
    assert (made.outcome.tokens, made.outcome.usd_micros, played.output) == (1000, 500, None)


def test_a_run_that_needs_less_takes_less() -> None:
    """And is held to that."""
    played = play(most=100, day_tokens=10_000)
    assert (played.left.tokens, played.left.usd_micros) == (100, 100)


def test_what_is_left_is_had_where_policy_lets_it() -> None:
    """Else an account that does not cover the whole bound refuses."""
    spent = carved({DAY: Spend(tokens=9900)})
    assert play(spent, day_tokens=10_000, rest=True).left.tokens == 100
    assert play(spent, day_tokens=10_000, rest=False).output == CarveRefused(DAY)


def test_a_child_spends_what_its_parent_carved() -> None:
    """It asks nobody."""
    assert (
        play(standing=Standing(at=NOON, session="s1", child=True, depth=1), day_tokens=10_000).asked
        == ()
    )


@pytest.mark.parametrize(
    ("per", "ends"), [("day", "2026-05-17"), ("month", "2026-05"), ("ever", "")]
)
def test_names_hold_their_period(per: str, ends: str) -> None:
    """In UTC."""
    assert period(per, NOON) == ends


amounts = st.integers(0, 5)


@given(amounts, amounts, amounts, st.booleans())
def test_only_bounded_accounts_are_asked(
    day: int, session: int, agent: int, in_session: bool
) -> None:
    """Each with its caps, and a session's only inside one."""
    policy = BudgetPolicy(
        day_tokens=day,
        session=AccountPolicy(tokens=session),
        agent=AccountPolicy(tokens=agent, per="day"),
    )
    names = [
        one["name"].partition(":")[0]
        for one in shared_accounts(policy, "a", "s1" if in_session else "", NOON)
    ]
    assert names == [
        name
        for name, bound in (
            ("day", day),
            ("agent", agent),
            ("session", session if in_session else 0),
        )
        if bound
    ]
