"""The Effects port: all that a flow can await or ask, and the two signals that reach it.

``perform`` makes ONE attempt; a hedged model call makes a second one beside it, and its result
tells of both. What loops is a flow: ``flows.ask`` and ``flows.act``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from msgspec import Struct

from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded, Join, Spawn
from ordain.effects.effect import Claim, Effect
from ordain.rules.authorize import AuthorizeOutcome
from ordain.rules.decision import Decision, Rule

R = TypeVar("R")
F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letters of ordain.rules.decision
O = TypeVar("O", bound=Struct)  # noqa: E741 - see above


class Suspended(BaseException):
    """The run waits: thrown through the flow, which is evicted. No flow catches it."""


class Interrupted(BaseException):
    """Somebody wants the run to stop; raised once. A flow may catch it, say, read and settle, and
    must then end.
    """

    def __init__(self, what: str, by: str, why: str, *, in_flight: bool = False) -> None:
        """``what`` is cancel or override; ``by`` the principal; ``why`` their words; ``in_flight``
        that an effect was given up for it.
        """
        super().__init__(what)
        self.what, self.by, self.why, self.in_flight = what, by, why, in_flight
        self.ended: tuple[AnyEnded, ...] = ()

    def bringing(self, ended: Sequence[AnyEnded]) -> Self:
        """The same, with what the children came to whose join it broke off, in the order of the
        spawns. Whoever raises it keeps no name for it, which would hold its frame.
        """
        self.ended = tuple(ended)
        return self


class Effects(Protocol):
    """All a flow may await or ask. Effects are numbered; decisions are addressed ``effect/rule#k``.

    Ordering: a flow is sequential. Idempotency: running a flow again over its journal answers every
    recorded call from the record. Errors: ``JournalDiverged`` where the flow does something else
    than its record; ``Suspended`` and ``Interrupted`` are signals.
    """

    async def perform(self, effect: Effect[R]) -> R:
        """Attempt one thing once; recorded before (intent) and after (observation).

        A model call is reserved before it and settled after it, by decisions on record; where the
        budget does not cover it nothing goes live, and the result is ``Unreserved``.
        """
        ...

    async def children(self, spawns: Sequence[Spawn[Any]], until: Join) -> tuple[AnyEnded, ...]:
        """Start child runs and wait as ``until`` says; one ``Ended`` each, in the order of
        ``spawns``.
        """
        ...

    def decide(
        self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()
    ) -> Decision[O]:
        """Apply a local rule to facts; ``refs`` are the seqs of the records ``inputs`` came from.
        Granting rules are the port's own.
        """
        ...

    def authorize(
        self, call: Call, within: CapabilityScope, refs: tuple[int, ...] = (), *, ahead: int = 0
    ) -> Decision[AuthorizeOutcome]:
        """Apply rule ``authorize`` to a verb call: what the run may do the port knows, ``within``
        is what the flow holds itself to.

        ``ahead`` are the calls that are decided with it and are to be made before it: what they
        take is not left for it.
        """
        ...

    async def claim(self, claim: Claim[O]) -> Decision[O]:
        """Apply a shared rule inside the write transaction."""
        ...

    def now(self) -> datetime:
        """Flow time: ``at`` of the last record handed to the flow, less what was lost until then
        (B-23); never journalled.
        """
        ...

    def new_id(self) -> str:
        """H(run, address, k); never journalled."""
        ...
