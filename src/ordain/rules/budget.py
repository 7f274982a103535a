"""Rules of the budget: may this spend happen, and what did it come to. Local over the run's own
account, shared when carving.

A reservation is an upper bound: a call that might not fit does not start. A settlement replaces it
by what was used; a lost attempt settles at its reservation. Money is integer micro-dollars.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule, tells_of
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason
from ordain.rules.spend import Carved, Spend


class ReserveReason(Reason):
    """Why a spend is reserved or refused."""

    RESERVED = "budget.reserved", "The spend fits and is reserved at its upper bound."
    TOKENS = "budget.tokens", "The run's token budget does not cover the call."
    MONEY = "budget.money", "The run's money budget does not cover the call."
    MODEL_CALLS = "budget.model_calls", "The run's model calls are spent."


class SettleReason(Reason):
    """How a spend was booked."""

    SETTLED = "budget.settled", "The reservation is replaced by what was used."
    OVERRUN = (
        "budget.overrun",
        "More was used than reserved; the excess is booked and blocks the next.",
    )


class CarveReason(Reason):
    """Whether shared accounts cover a run's bound."""

    CARVED = "budget.carved", "The run's bound was taken out of the shared accounts."
    REST = (
        "budget.rest",
        "What was left of a shared account is less than the run's bound: the run may use that.",
    )
    ACCOUNT = "budget.account", "A shared account does not cover the run's bound."


class Reserved(Struct, frozen=True, gc=False, tag="reserved"):
    """The call may use at most what its facts name."""


class BudgetRefused(Struct, frozen=True, tag="refused"):
    """The call does not start."""


class Settled(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="settled"):
    """What the facts name was used; ``overrun_tokens`` is what exceeded the reservation."""

    overrun_tokens: int = 0


class ReserveFacts(Struct, frozen=True, gc=False, kw_only=True):
    """What the call may come to, and what the run has left; less than nothing after an overrun.
    ``calls`` is told where it is not one.
    """

    tokens: int
    usd_micros: int
    left_tokens: int
    left_usd_micros: int
    left_calls: int
    calls: int | UnsetType = UNSET


class SettleFacts(Struct, frozen=True, gc=False, kw_only=True):
    """How many tokens were reserved and what was used; ``calls`` is 0 where nothing was sent."""

    reserved: int
    tokens: int
    usd_micros: int
    calls: int


def decide_reserve(
    facts: ReserveFacts, inputs: None, policy: Policy
) -> Decision[Reserved | BudgetRefused]:
    """All of the bound must fit."""
    if facts.left_calls < (1 if facts.calls is UNSET else facts.calls):
        return Decision(outcome=BudgetRefused(), reason=ReserveReason.MODEL_CALLS)
    if facts.tokens > facts.left_tokens:
        return Decision(outcome=BudgetRefused(), reason=ReserveReason.TOKENS)
    if facts.usd_micros > facts.left_usd_micros:
        return Decision(outcome=BudgetRefused(), reason=ReserveReason.MONEY)
    return _RESERVED


def decide_settle(facts: SettleFacts, inputs: None, policy: Policy) -> Decision[Settled]:
    """Book what was used, and an overrun as such."""
    overrun = facts.tokens - facts.reserved
    if overrun <= 0:
        return _SETTLED
    return Decision(outcome=Settled(overrun_tokens=overrun), reason=SettleReason.OVERRUN)


_RESERVED: Decision[Reserved | BudgetRefused] = Decision(
    outcome=Reserved(), reason=ReserveReason.RESERVED
)
_SETTLED = Decision(outcome=Settled(), reason=SettleReason.SETTLED)
"""Decisions that hold nothing of the call that they are about, and are made about nearly each."""


class _Booked(Struct):
    """What of a settlement's facts its run's header counts."""

    tokens: int = 0
    usd_micros: int = 0
    calls: int = 1


_BOOKED = msgspec.json.Decoder(_Booked)
_OVERRUN = tells_of("settle", (SettleReason.OVERRUN,))


def _settle_tells(recorded: Recorded) -> HeaderShare:
    booked = _BOOKED.decode(recorded.facts)
    spent = Spend(tokens=booked.tokens, usd_micros=booked.usd_micros, model_calls=booked.calls)
    if recorded.reason not in _OVERRUN.speaking:
        return HeaderShare(spent=spent)
    return HeaderShare(spent=spent, lines=_OVERRUN(recorded).lines)


RESERVE: Rule[ReserveFacts, None, Any] = Rule(
    name="reserve",
    outcome=Reserved | BudgetRefused,
    apply=decide_reserve,
    reasons=(ReserveReason,),
    tells=tells_of(
        "reserve", (ReserveReason.TOKENS, ReserveReason.MONEY, ReserveReason.MODEL_CALLS)
    ),
)
SETTLE: Rule[SettleFacts, None, Any] = Rule(
    name="settle",
    outcome=Settled,
    apply=decide_settle,
    reasons=(SettleReason,),
    tells=_settle_tells,
)


# --- shared: the run's bound comes out of accounts that other runs use too ------------------------


class AccountFacts(Struct, frozen=True, kw_only=True):
    """A shared account as read inside the write transaction: its caps (0: none) and what is
    committed of it.
    """

    name: str
    cap_tokens: int
    cap_usd_micros: int
    tokens: int
    usd_micros: int


class CarveFacts(Struct, frozen=True, kw_only=True):
    """What the run asks for, and the accounts it comes out of, by name."""

    tokens: int
    usd_micros: int
    accounts: tuple[AccountFacts, ...]


class CarveRefused(Struct, frozen=True, tag="refused"):
    """No account was charged; the first that does not cover it."""

    account: str


def decide_carve(
    facts: CarveFacts, inputs: None, policy: Policy
) -> Decision[Carved | CarveRefused]:
    """All or none; where policy lets a run have the rest, at most what the tightest account has
    left.
    """
    if policy.budget.rest:
        return _carve_rest(facts)
    for account in facts.accounts:
        short = account.cap_tokens and account.tokens + facts.tokens > account.cap_tokens
        if short or (
            account.cap_usd_micros
            and account.usd_micros + facts.usd_micros > account.cap_usd_micros
        ):
            return Decision(outcome=CarveRefused(account.name), reason=CarveReason.ACCOUNT)
    names = tuple(account.name for account in facts.accounts)
    return Decision(
        outcome=Carved(tokens=facts.tokens, usd_micros=facts.usd_micros, accounts=names),
        reason=CarveReason.CARVED,
    )


def _carve_rest(facts: CarveFacts) -> Decision[Carved | CarveRefused]:
    """Without tokens nothing can be done; without money what costs nothing still can."""
    tokens, money = facts.tokens, facts.usd_micros
    for account in facts.accounts:
        if account.cap_tokens and account.tokens >= account.cap_tokens:
            return Decision(outcome=CarveRefused(account.name), reason=CarveReason.ACCOUNT)
        tokens = min(tokens, account.cap_tokens - account.tokens) if account.cap_tokens else tokens
        money = (
            min(money, max(0, account.cap_usd_micros - account.usd_micros))
            if account.cap_usd_micros
            else money
        )
    whole = (tokens, money) == (facts.tokens, facts.usd_micros)
    carved = Carved(
        tokens=tokens, usd_micros=money, accounts=tuple(account.name for account in facts.accounts)
    )
    return Decision(outcome=carved, reason=CarveReason.CARVED if whole else CarveReason.REST)


_CARVED = msgspec.json.Decoder(Carved)


def _carve_tells(recorded: Recorded) -> HeaderShare:
    """The whole bound goes without saying; the rest of an account, and none, do not."""
    if recorded.reason == str(CarveReason.ACCOUNT):
        return HeaderShare(lines=(HeaderLine(mark="fail", what="carve", reason=recorded.reason),))
    lines = (
        ()
        if recorded.reason == str(CarveReason.CARVED)
        else (HeaderLine(mark="info", what="carve", reason=recorded.reason),)
    )
    return HeaderShare(lines=lines, carved=_CARVED.decode(recorded.outcome))


CARVE: Rule[CarveFacts, None, Any] = Rule(
    name="carve",
    outcome=Carved | CarveRefused,
    apply=decide_carve,
    reasons=(CarveReason,),
    tells=_carve_tells,
)
