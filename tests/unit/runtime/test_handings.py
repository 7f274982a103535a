"""A flow makes no envelope by itself: what it hands over is held to what a rule decided of the
run's own.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import structs

from ordain.contracts.approvals import MayAsk
from ordain.contracts.handoff import HandoffBudget
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Authorized
from ordain.effects.children import Join, Spawn
from ordain.errors import FlowFault
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.envelopes import guarded, hand_on
from ordain.flows.shipped import shipped_kinds
from ordain.journal.records import raw
from ordain.rules.spend import Spend
from ordain.testing import ScriptedEffects, Standing, kind_of
from tests.shapes.cards import VERBS, hand_to, house_of_cards

CATALOG = house_of_cards(approvals={"delegation": "never"})
CALL = hand_to("reader")
NAMES = (*(verb.name for verb in VERBS if verb.name != "drop"), "agent.reader")


def play(run: Any) -> Any:
    kind = kind_of(run, verbs=NAMES)
    standing = Standing(session="s1", may_ask=MayAsk.PEOPLE)
    return ScriptedEffects(kind, CATALOG, standing=standing, kinds=shipped_kinds((kind,))).play({})


def hostile(**changes: Any) -> Any:
    """A flow that hands on by the rules, and then puts something else in the envelope or gives more
    than it says.
    """

    async def run(context: FlowContext, _: Any) -> Any:
        (part,) = hand_on(context, (CALL,), ()).calls
        assert part is not None
        guarded(context, CALL, part, (), None)
        decision = context.fx.authorize(CALL, context.scope)
        share = context.share(1, calls=1)
        budget = HandoffBudget(**structs.asdict(changes.get("budget", share)))
        made = structs.replace(part.envelope, budget=budget, **changes.get("envelope", {}))
        spawn = Spawn[Any](
            flow="handoff",
            input=raw(
                VerbPlanInput(
                    verb=CALL.verb,
                    args=CALL.args,
                    handoff=made if changes.get("whole", True) else None,
                )
            ),
            scope=changes.get("scope", ("look",)),
            deadline=context.deadline,
            allowance=share,
            authorized=Authorized(call=CALL, decision=decision.address),
        )
        return await context.fx.children((spawn,), Join())

    return run


@pytest.mark.parametrize(
    "changes",
    [
        {"envelope": {"scope": ("look", "keep")}, "scope": ("look", "keep")},
        {"envelope": {"source": "ruler"}},
        {"envelope": {"trace": None}},
        {"envelope": {"expansion": ("keep",)}},
        {"scope": ("keep",)},
        {"budget": Spend(tokens=1)},
        {"whole": False},
    ],
    ids=[
        "wider",
        "another source",
        "no trace",
        "expanded",
        "more verbs",
        "less budget",
        "no envelope",
    ],
)
def test_a_forged_envelope_opens_nothing(changes: dict[str, Any]) -> None:
    """Wider, of somebody else, without a part, or beside the child's own bounds: the run stops
    before anything goes live.

    HND-01e "Capability scope, server-owned and validated."
    """
    with pytest.raises(FlowFault):
        play(hostile(**changes))


@pytest.mark.parametrize("what", ["chain", "scope", "held", "digest", "may_ask"])
def test_a_decision_of_something_else_is_none(what: str) -> None:
    """Of another chain, of more than the run may do, of another call: the port knows what is the
    run's own.
    """
    pretended: dict[str, Any] = {
        "chain": {"chain": ("keeper",)},
        "scope": {"granted": CapabilityScope(allowed=("*",))},
        "held": {"held": None},
        "may_ask": {"may_ask": None},
    }

    async def run(context: FlowContext, _: Any) -> Any:
        if what == "held":
            context = structs.replace(
                context, held=msgspec.convert({"type": "held", "pin": "session"}, type=_held())
            )
        elif what != "digest":
            context = structs.replace(context, **pretended[what])
        part = hand_on(context, (CALL,), ()).calls[0]
        assert part is not None
        guarded(
            context, CALL if what != "digest" else hand_to("reader", task="Else."), part, (), None
        )

    with pytest.raises(FlowFault):
        play(run)


def _held() -> Any:
    from ordain.rules.profile import HeldProfile

    return HeldProfile


def test_the_door_is_closed_where_nobody_asked_the_rule() -> None:
    """A call of a card's verb by a flow that asks neither rule is denied, and so is one for which
    the guardrails were not asked.
    """

    async def run(context: FlowContext, _: Any) -> Any:
        first = context.fx.authorize(CALL, context.scope).reason
        hand_on(context, (CALL,), ())
        return first, context.fx.authorize(CALL, context.scope).reason

    assert play(run).output == ("authorize.no_envelope", "authorize.no_envelope")
