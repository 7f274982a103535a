"""What every flow is given, and the account it spends from."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Raw, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH
from ordain.contracts.policy import AccountPolicy, BudgetPolicy
from ordain.effects.effect import Claim, Read
from ordain.journal.records import Started, Status
from ordain.ports.effects import Effects
from ordain.rules.budget import CarveRefused
from ordain.rules.decision import Rule
from ordain.rules.lane import LaneChosen
from ordain.rules.rulebook import Rulebook, rulebook
from ordain.rules.spend import Spend

I = TypeVar("I")  # noqa: E741 - input, as in ordain.rules.decision
O = TypeVar("O")  # noqa: E741 - output

MICROSECOND = timedelta(microseconds=1)
READ_MS = 10_000
PERIODS: Mapping[str, str] = {"day": "%Y-%m-%d", "month": "%Y-%m", "ever": ""}
"""How an account's name ends that begins anew with each UTC day or month."""


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    return (moment - EPOCH) // MICROSECOND


async def open_account(context: FlowContext, agent: str, most: Spend | None = None) -> CarveRefused | None:
    """Take a root run's whole bound out of every shared account that policy bounds; the run's end gives back what it did not use.

    ``agent`` is whom the run works for: a turn's entry verb, a request's caller, ``triage``. ``most``: the run needs no more tokens and
    money than this. Where policy lets a run have the rest of an account, the run's own bound is lowered to it.
    """
    accounts = shared_accounts(context, agent)
    if context.depth or not accounts:
        return None
    cap = context.account.cap
    if most is not None:
        cap = structs.replace(cap, tokens=min(cap.tokens, most.tokens), usd_micros=min(cap.usd_micros, most.usd_micros))
    claim: Claim[Any] = Claim(name="carve", args={"tokens": cap.tokens, "usd_micros": cap.usd_micros, "accounts": accounts})
    outcome = (await context.fx.claim(claim)).outcome
    if isinstance(outcome, CarveRefused):
        return outcome
    context.account.cap = structs.replace(cap, tokens=outcome.tokens, usd_micros=outcome.usd_micros)
    return None


def shared_accounts(context: FlowContext, agent: str) -> list[dict[str, Any]]:
    """The accounts that bound this run, each with its caps, by a name that holds its period."""
    now, of = context.fx.now(), {"agent": agent, "session": context.session}
    return [
        {
            "name": ":".join(part for part in (kind, of.get(kind, ""), period(bound.per, now)) if part),
            "cap_tokens": bound.tokens,
            "cap_usd_micros": bound.usd_micros,
        }
        for kind, bound in account_kinds(context.catalog.policy.budget).items()
        if (bound.tokens or bound.usd_micros) and (kind != "session" or context.session)
    ]


def account_kinds(policy: BudgetPolicy) -> Mapping[str, AccountPolicy]:
    """The bound of each kind of shared account, by the word with which its name begins."""
    day = AccountPolicy(tokens=policy.day_tokens, usd_micros=policy.day_usd_micros, per="day")
    return {"day": day, "workspace": policy.workspace, "agent": policy.agent, "session": policy.session}


def period(per: str, at: datetime) -> str:
    """What the names of that period's accounts end with; "" where they never begin anew."""
    return format(at, PERIODS[per]) if PERIODS[per] else ""


class Account:
    """What this run may spend and has spent; a fold of its own decisions, so that running again rebuilds it."""

    def __init__(self, cap: Spend) -> None:
        """Begin with nothing spent."""
        self.cap = cap
        self.spent = Spend()

    def book(self, amount: Spend) -> None:
        """Add to what was spent."""
        self.spent = self.spent.plus(amount)

    def share(self, parts: int) -> Spend:
        """An equal part of what is left, for each of ``parts`` children."""
        cap, spent = self.cap, self.spent
        return Spend(
            tokens=max(0, cap.tokens - spent.tokens) // parts,
            usd_micros=max(0, cap.usd_micros - spent.usd_micros) // parts,
            model_calls=max(0, cap.model_calls - spent.model_calls) // parts,
            verb_calls=max(0, cap.verb_calls - spent.verb_calls) // parts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnKind:
    """What a conversation's turn is like, as far as policy routes by it: its budget class, and whether its wording left its path open."""

    budget_class: str = ""
    ambiguous: bool = False


@dataclass(slots=True, kw_only=True)
class FlowContext:
    """A run's own things: its port, pinned catalog, account, scope and bounds. ``deadline`` in microseconds since 1970.

    A flow may draw ``deadline`` nearer for what it does itself; ``hard`` is the run's own and stays. ``session``: the conversation
    that the run belongs to ("": none); ``turn`` what its turn is like, and ``tells_turn`` whether every verb that the flow calls is told so,
    or only the one that answers.

    ``lanes`` are the lanes decided so far, by purpose: one decision holds for the run, until a fallback moves on.
    """

    fx: Effects
    catalog: Catalog
    account: Account
    scope: frozenset[str]
    deadline: int
    depth: int
    hard: int
    session: str = ""
    keep_thoughts: bool = True
    turn: TurnKind = TurnKind()
    tells_turn: bool = True
    lanes: dict[str, LaneChosen] = field(default_factory=dict[str, LaneChosen])

    def now(self) -> int:
        """The flow's time in microseconds since 1970."""
        return micros(self.fx.now())

    def read(self, what: str, args: dict[str, Any]) -> Read:
        """The effect that reads what this build has registered under ``what``."""
        return Read(what=what, args=args, deadline=self.now() + READ_MS * 1000)

    def left_ms(self) -> int:
        """What is left until the deadline, by the flow's own time."""
        return (self.deadline - self.now()) // 1000


def flow_context(fx: Effects, catalog: Catalog, started: Started) -> FlowContext:
    """What the flow is given, from its own started record: the same live, resumed and replayed."""
    return FlowContext(
        fx=fx,
        catalog=catalog,
        account=Account(started.allowance),
        scope=frozenset(started.scope),
        deadline=started.deadline,
        depth=started.depth,
        hard=started.deadline,
        session=started.session,
        keep_thoughts=started.keep_thoughts,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a flow's output settles its run: the status and a stable code."""

    status: Status
    reason: str


_STATUS_OF = {
    "": Status.COMPLETED,
    **dict.fromkeys(("cancelled", "interrupted"), Status.CANCELLED),
    **dict.fromkeys(("timed_out", "timeout", "question_expired", "repair_expired"), Status.TIMED_OUT),
}


class Erring(Protocol):
    """A flow's output that says what went wrong: a code, or an error with its code; nothing where all went well."""

    @property
    def error(self) -> str | Mapping[str, str] | None:
        """The code, or an error with its code."""
        ...


def settled_by_error(output: Erring) -> Settlement:
    """How an output's typed error settles its run; a code that is not in the table is a failure."""
    error = output.error or ""
    code = error if isinstance(error, str) else error["code"]
    return Settlement(status=_STATUS_OF.get(code, Status.FAILED), reason=code or "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow(Generic[I, O]):
    """A flow with its name, version and codec. A run pins (name, version); a build that lacks it cannot resume that run.

    ``reply`` is what the run's session is answered from the output, below the header; None where nobody is answered.
    """

    name: str
    version: int
    run: Callable[[FlowContext, I], Coroutine[Any, Any, O]]
    decode_input: Callable[[Raw], I]
    settle: Callable[[O], Settlement]
    reply: Callable[[O], str | None] | None = None

    def settled(self, output: O, *, masked: bool) -> Settlement:
        """How its output settles a run; ``masked``: the run was cancelled and only cleaned up, so that is how it ended."""
        settlement = self.settle(output)
        return replace(settlement, status=Status.CANCELLED) if masked else settlement


class Flows(dict[tuple[str, int], Flow[Any, Any]]):
    """The flows of a build by (name, version), and the rules that their decisions are read back by. A value that is passed in."""

    def __init__(self, flows: Iterable[Flow[Any, Any]] = (), rules: Iterable[Rule[Any, Any, Any]] = ()) -> None:
        """``rules`` are added to those of the house."""
        super().__init__({(flow.name, flow.version): flow for flow in flows})
        self.rules: Rulebook = rulebook(rules)
