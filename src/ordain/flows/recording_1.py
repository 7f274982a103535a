"""The first form of what a run puts on record, frozen: several places say what one would. For the
versions of flows that began with it.

What flows share (``ask``, ``act``, steps, prompts) writes each thing once and knows no other form.
A version from before works over a port that stands before the run's own and puts what was asked of
it into the form of then; what comes back passes as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import AnyEnded, Join, Spawn
from ordain.effects.effect import Claim, Effect, ModelCall, VerbCall
from ordain.flows.context import FlowContext
from ordain.flows.kind import PromptKind
from ordain.flows.steps.prompt import PURPOSE
from ordain.flows.steps.trace import steps_of
from ordain.journal.digests import call_digest
from ordain.ports.effects import Effects
from ordain.rules.authorize import AuthorizeOutcome
from ordain.rules.decision import Decision, Rule
from ordain.rules.scope import ScopeFacts
from ordain.rules.step import StepFacts

R = TypeVar("R")
F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letters of ordain.rules.decision
O = TypeVar("O", bound=Struct)  # noqa: E741 - see above
G = TypeVar("G")
T = TypeVar("T")

Flow = Callable[[FlowContext, G], Coroutine[Any, Any, T]]


def spelled_out(*prompts: PromptKind[Any]) -> Callable[[Flow[G, T]], Flow[G, T]]:
    """The flow with its records in the first form; ``prompts`` are those that it asks itself."""
    by_purpose = {prompt.purpose: prompt for prompt in prompts}

    def over(run: Flow[G, T]) -> Flow[G, T]:
        @wraps(run)
        def begun(context: FlowContext, given: G) -> Coroutine[Any, Any, T]:
            return run(replace(context, fx=SpelledOut(context.fx, by_purpose)), given)

        return begun

    return over


class SpelledOut:
    """Implements ``ports.effects.Effects`` over a run's own port.

    A call's permit has the call's digest beside the decision that allows it, a model call its
    purpose's template and contract and, for a planner's step, the earlier steps in its arguments
    too, and rule ``step`` the digest of the toolset that rule ``scope`` was asked about.
    """

    def __init__(self, port: Effects, prompts: Mapping[str, PromptKind[Any]]) -> None:
        """``prompts`` by purpose."""
        self._port = port
        self._prompts = prompts
        self._toolset: str | UnsetType = UNSET

    async def perform(self, effect: Effect[R]) -> R:
        """See ``Effects``."""
        asked: Effect[Any] = effect
        if isinstance(effect, ModelCall):
            asked = self._asked(effect)
        elif isinstance(effect, VerbCall):
            asked = replace(effect, authorized=_permit(effect.authorized))
        return await self._port.perform(asked)

    async def children(self, spawns: Sequence[Spawn[Any]], until: Join) -> tuple[AnyEnded, ...]:
        """See ``Effects``."""
        permitted = [
            one if one.authorized is None else replace(one, authorized=_permit(one.authorized))
            for one in spawns
        ]
        return await self._port.children(permitted, until)

    def decide(
        self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()
    ) -> Decision[O]:
        """See ``Effects``."""
        if isinstance(facts, ScopeFacts):
            self._toolset = facts.digest
        elif isinstance(facts, StepFacts):
            facts = replace(facts, toolset=self._toolset)
        return self._port.decide(rule, facts, inputs, refs)

    def authorize(
        self, call: Call, within: CapabilityScope, refs: tuple[int, ...] = (), *, ahead: int = 0
    ) -> Decision[AuthorizeOutcome]:
        """See ``Effects``."""
        return self._port.authorize(call, within, refs, ahead=ahead)

    async def claim(self, claim: Claim[O]) -> Decision[O]:
        """See ``Effects``."""
        return await self._port.claim(claim)

    def now(self) -> datetime:
        """See ``Effects``."""
        return self._port.now()

    def new_id(self) -> str:
        """See ``Effects``."""
        return self._port.new_id()

    def _asked(self, call: ModelCall) -> ModelCall:
        prompt = self._prompts[call.purpose]
        named = replace(
            call, prompt=call.prompt or prompt.template, contract=call.contract or prompt.contract
        )
        return _with_steps(named) if call.purpose == PURPOSE else named


def _permit(authorized: Authorized) -> Authorized:
    return replace(authorized, digest=authorized.digest or call_digest(authorized.call))


def _with_steps(call: ModelCall) -> ModelCall:
    steps = [list(step) for step in steps_of(call)]
    args = {"first": call.args.get("first", 0), "steps": steps, "left": call.args["left"]}
    if "reask" in call.args:
        args["reask"] = call.args["reask"]
    return replace(
        call,
        args=args,
        refs=(
            0,
            *(seq for answer, acted, _ in steps for seq in (answer, acted) if seq is not None),
        ),
    )
