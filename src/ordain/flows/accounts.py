"""Shared accounts that bound a root run: their names and caps by policy, and the claim that takes
the run's bound out of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import structs

from ordain.contracts.policy import AccountPolicy, BudgetPolicy
from ordain.effects.effect import Claim
from ordain.flows.context import FlowContext
from ordain.rules.budget import CARVE, CarveRefused
from ordain.rules.spend import Spend

UNKNOWN_AGENTS = "other"
"""The account of everybody whom nobody knows."""
PERIODS: Mapping[str, str] = {"day": "%Y-%m-%d", "month": "%Y-%m", "ever": ""}
"""How an account's name ends that begins anew with each UTC day or month."""


async def open_account(
    context: FlowContext, agent: str, most: Spend | None = None
) -> CarveRefused | None:
    """Take a root run's whole bound out of every shared account that policy bounds; the run's end
    gives back what it did not use.

    ``agent`` is whom the run works for, as its label says. ``most``: the run needs no more tokens
    and money than this. Where policy lets a run have the rest of an account, the port lowers the
    run's own bound to it. A child spends what its parent carved.
    """
    budget = context.catalog.policy.budget
    if context.child or not bounding(budget, context.session):
        return None
    accounts = shared_accounts(budget, agent, context.session, context.dated())
    cap = context.account.cap
    if most is not None:
        cap = structs.replace(
            cap,
            tokens=min(cap.tokens, most.tokens),
            usd_micros=min(cap.usd_micros, most.usd_micros),
        )
    claim: Claim[Any] = Claim(
        name=CARVE.name,
        args={"tokens": cap.tokens, "usd_micros": cap.usd_micros, "accounts": accounts},
    )
    outcome = (await context.fx.claim(claim)).outcome
    return outcome if isinstance(outcome, CarveRefused) else None


def known_agent(name: str, known: Collection[str]) -> str:
    """Whom a run works for as its account is named: policy keys on known names alone, and whoever
    has another name shares one (B-03).
    """
    return name if name in known else UNKNOWN_AGENTS


def shared_accounts(
    policy: BudgetPolicy, agent: str, session: str, now: datetime
) -> list[dict[str, Any]]:
    """The accounts that bound such a run, each with its caps, by a name that holds its period."""
    of = {"agent": agent, "session": session}
    return [
        {
            "name": ":".join(
                part for part in (kind, of.get(kind, ""), period(bound.per, now)) if part
            ),
            "cap_tokens": bound.tokens,
            "cap_usd_micros": bound.usd_micros,
        }
        for kind, bound in bounding(policy, session)
    ]


def bounding(policy: BudgetPolicy, session: str) -> Sequence[tuple[str, AccountPolicy]]:
    """The kinds of shared account that policy bounds a run with, outside of a session (``""``) or
    in one, each with its bound.
    """
    return [
        (kind, bound)
        for kind, bound in account_kinds(policy).items()
        if (bound.tokens or bound.usd_micros) and (kind != "session" or session)
    ]


def account_kinds(policy: BudgetPolicy) -> Mapping[str, AccountPolicy]:
    """The bound of each kind of shared account, by the word with which its name begins."""
    return {
        "day": policy.day,
        "workspace": policy.workspace,
        "agent": policy.agent,
        "session": policy.session,
    }


def period(per: str, at: datetime) -> str:
    """What the names of that period's accounts end with; "" where they never begin anew."""
    return format(at, PERIODS[per]) if PERIODS[per] else ""
