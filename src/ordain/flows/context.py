"""What every flow is given: a frozen view of its run. What it may do is the port's to say; a flow
can only hold itself to less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct, structs

from ordain.contracts.access import TokenScope, lacking
from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH, MICROSECOND
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import VerbEffect
from ordain.contracts.work_bounds import WorkBounds
from ordain.effects.effect import Read, SharedState
from ordain.ports.effects import Effects
from ordain.rules.lane import LaneChosen
from ordain.rules.profile import HeldProfile, ProfiledBy
from ordain.rules.spend import Spend

READ_MS = 10_000


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    return (moment - EPOCH) // MICROSECOND


def advice_of(catalog: Catalog, session: str, held: HeldProfile | None) -> str:
    """What models are asked to heed: who the assistant is, in a conversation, and what the profile
    that holds says.
    """
    if not session and held is None:
        return ""
    assistant = catalog.data.assistant if session else None
    return "\n".join(
        filter(
            None,
            ("" if assistant is None else assistant.advice, "" if held is None else held.prompt),
        )
    )


class Account(Protocol):
    """What the run may spend and has spent, as its port has it: a fold of its journal."""

    @property
    def cap(self) -> Spend:
        """The most that it may spend."""
        ...

    @property
    def spent(self) -> Spend:
        """What it has spent so far."""
        ...

    @property
    def runs_left(self) -> int:
        """How many more runs it may open below it."""
        ...


class TurnKind(Struct, frozen=True, kw_only=True):
    """What a conversation's turn is like, as far as policy routes by it: its budget class, and
    whether its wording left its path open.

    ``bounds`` is what its message says that work may use which is handed on for it.
    """

    budget_class: str = ""
    ambiguous: bool = False
    bounds: WorkBounds | None = None


class Prompted(Protocol):
    """What models are asked for, as far as it decides which models: ``flows.kind.PromptKind`` is
    one.
    """

    @property
    def purpose(self) -> str:
        """What it is for, as policy names it."""
        ...

    @property
    def lane(self) -> Callable[[Policy], Lane]:
        """The lane where policy's table names none for the purpose."""
        ...


class Carrying(Struct, frozen=True, kw_only=True):
    """How a kind of run carries out a verb's call, as far as its caller has to know.

    ``waits``: perhaps for a person, so that its time is its caller's and not the verb's, and it
    bounds its own work. ``inherits``: it works with its caller's verbs. ``prompt``: what the models
    that read its caller's history are asked for, None where none reads it; ``by_verb``: policy
    routes that by the verb, too.
    """

    waits: bool = False
    inherits: bool = False
    prompt: Prompted | None = None
    by_verb: bool = False


ALONE = Carrying()
"""Within the verb's own time, and with no other verb."""


class FlowContext(Struct, frozen=True, kw_only=True):
    """A run's own things: its port, pinned catalog, account, scope and bounds. ``deadline`` in
    microseconds since 1970.

    ``scope`` and ``deadline`` are what this part of the flow holds itself to; ``hard`` is the run's
    own deadline. ``agent`` is whom the run works for, as its first record says, and so whose
    account it opens. ``session``: the conversation that it belongs to ("": none), ``child`` that
    another run opened it, ``turn`` what its turn is like. ``may_ask`` is whom the run may ask for a
    yes, None: nobody. ``carrying`` is how the kinds of this build carry out a verb's call, by name.
    ``deadline`` and ``hard`` are moments of the run's own time, as ``now`` is, which ``moment``
    tells; ``dated`` tells the day by the wall clock, for what goes by the calendar.

    ``profiled``: by what is to be decided which pinned profile holds, before anything is done;
    ``held`` is the one that does. ``granted`` is all that the run may do, whatever a part of its
    flow holds itself to; ``run`` and ``root`` are its id and its root's, ``chain`` the cards that
    its work was handed through; ``principal`` is who asked for the root, ``scopes`` those of the
    token that did (None: the owner). ``lanes`` are the lanes decided so far, by purpose: one
    decision holds for the run, until a fallback moves on.
    """

    fx: Effects
    moment: Callable[[], int]
    dated: Callable[[], datetime]
    catalog: Catalog
    account: Account
    scope: CapabilityScope
    deadline: int
    hard: int
    agent: str = ""
    child: bool = False
    session: str = ""
    keep_thoughts: bool = True
    turn: TurnKind = TurnKind()
    may_ask: MayAsk | None = None
    carrying: Mapping[str, Carrying] = {}
    profiled: ProfiledBy | None = None
    held: HeldProfile | None = None
    granted: CapabilityScope = CapabilityScope()
    run: str = ""
    root: str = ""
    chain: tuple[str, ...] = ()
    principal: str = ""
    scopes: tuple[TokenScope, ...] | None = None
    lanes: dict[str, LaneChosen] = {}

    def narrowed(self, verbs: Iterable[str]) -> FlowContext:
        """The same for a part of the flow that uses only these verbs, as far as they are in
        scope.
        """
        return structs.replace(self, scope=self.scope.narrowed(verbs))

    def until(self, deadline: int) -> FlowContext:
        """The same for a part of the flow that ends by then, and with the run at the latest."""
        return structs.replace(self, deadline=min(self.hard, deadline))

    def told(self, turn: TurnKind) -> FlowContext:
        """The same for a part of the flow that works for such a turn."""
        return structs.replace(self, turn=turn)

    @property
    def budgets(self) -> dict[str, int]:
        """What is left of each bound of the run, as models are told of it; less than nothing of
        what was overdrawn.
        """
        left = self.account.cap.less(self.account.spent)
        return {
            "tokens": left.tokens,
            "usd_micros": left.usd_micros,
            "model_calls": left.model_calls,
            "verb_calls": left.verb_calls,
            "ms": self.left_ms(),
        }

    def under(self, held: HeldProfile) -> FlowContext:
        """The same under a pinned profile, with what that leaves of its scope."""
        scope, granted = (
            held.leaves(self.scope, self.catalog),
            held.leaves(self.granted, self.catalog),
        )
        return structs.replace(self, held=held, scope=scope, granted=granted)

    @property
    def lends(self) -> CapabilityScope:
        """What of all that the run may do it can pass on: what the token that asked for it may not
        call it lends nobody.
        """
        if self.scopes is None:
            return self.granted
        verbs = ((verb, found.spec) for verb, found in self.catalog.verbs.items())
        return self.granted.narrowed(
            verb
            for verb, spec in verbs
            if not lacking(spec.scopes, self.scopes, reads=spec.effect is VerbEffect.READ)
        )

    @property
    def advice(self) -> str:
        """What the settings say of the assistant, in a conversation, and the profile that holds:
        words for prompts, and nothing else.
        """
        return advice_of(self.catalog, self.session, self.held)

    @property
    def safety(self) -> str:
        """The safety mode of the profile that holds, as facts have it; "" where that says
        nothing.
        """
        return "" if self.held is None else self.held.safety

    def now(self) -> int:
        """The flow's time in microseconds since 1970."""
        return self.moment()

    def read(self, what: SharedState, args: dict[str, Any]) -> Read:
        """The effect that reads what is shared, as durable then."""
        return Read(what=what, args=args, deadline=self.now() + READ_MS * 1000)

    def left_ms(self) -> int:
        """What is left until the deadline, by the flow's own time."""
        return (self.deadline - self.now()) // 1000

    def room(self) -> int:
        """How many more calls may be made that each have a run of their own."""
        return max(
            0,
            min(
                self.account.runs_left, self.account.cap.verb_calls - self.account.spent.verb_calls
            ),
        )

    def share(self, parts: int, *, calls: int = 0) -> Spend:
        """An equal part of what is left once ``calls`` more verb calls are made, for each of
        ``parts`` children.
        """
        left = self.account.cap.less(self.account.spent)
        return Spend(
            tokens=max(0, left.tokens) // parts,
            usd_micros=max(0, left.usd_micros) // parts,
            model_calls=max(0, left.model_calls) // parts,
            verb_calls=max(0, left.verb_calls - calls) // parts,
        )
