"""What was to be handed on is held to the rule that let it be: it still may where rule ``handoff``,
asked for it in that way now, says the same.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.approvals import MayAsk
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.flows.act import act_all
from ordain.flows.acted import Acted
from ordain.flows.context import FlowContext
from ordain.flows.envelopes import asks_of
from ordain.flows.shipped import shipped_kinds
from ordain.ports.store import StoredRun
from ordain.rules.handoff import (
    HandoffAllowed,
    HandoffFacts,
    HandoffInputs,
    HandoffStage,
    decide_handoff,
)
from ordain.rules.profile import HeldProfile
from ordain.runtime.handed_on import no_target_now
from ordain.testing import ScriptedEffects, Standing, approved, completed, joined, kind_of
from tests.shapes.cards import VERBS, hand_to, house_of_cards

CARDS = ("reader", "keeper", "talker")
CATALOG = house_of_cards()
EVERY = tuple(sorted((*(verb.name for verb in VERBS), *(f"agent.{card}" for card in CARDS))))
MODES = ("direct", "delegate", "fanout-fanin")
PROFILES = st.builds(
    HeldProfile,
    pin=st.just("global"),
    skills=st.just(("*",)),
    handoff_targets=st.lists(st.sampled_from(CARDS), unique=True).map(tuple),
    handoff_modes=st.lists(st.sampled_from(MODES), unique=True).map(tuple),
    handoff_default=st.sampled_from(MODES),
    fanout_agents=st.integers(0, 4),
)


def handed(calls: list[Call]) -> StoredRun:
    """A run that had a yes to all of them and handed them on."""

    async def run(context: FlowContext, _: Any) -> tuple[Acted, ...]:
        return await act_all(context, calls)

    kind = kind_of(run, verbs=EVERY)
    effects = ScriptedEffects(
        kind,
        CATALOG,
        standing=Standing(session="s1", may_ask=MayAsk.PEOPLE),
        kinds=shipped_kinds((kind,)),
    )
    answer = completed(
        {
            "ok": True,
            "output": {
                "status": "completed",
                "mode": "delegate",
                "outputPayload": {"content": "found"},
            },
        }
    )
    return effects.play({}, [approved(), joined(*(answer for _ in calls))]).stored


ASKED = [[hand_to(card) for card in CARDS[:many]] for many in range(1, len(CARDS) + 1)]
RUNS = [handed(calls) for calls in ASKED]


@given(many=st.integers(1, len(CARDS)), held=PROFILES)
def test_it_still_may_where_the_rule_says_the_same(many: int, held: HeldProfile) -> None:
    """Of every profile: by targets, ways, and how many at once; the default way takes nothing away.

    RTE-10 "Code enforces capability scope, tool allowlists, delegated skill-forwarding limits."
    """
    calls, mode = ASKED[many - 1], "delegate" if many == 1 else "fanout-fanin"
    asks = asks_of(calls)
    facts = HandoffFacts(
        stage=HandoffStage.REQUEST,
        targets=many,
        asked="",
        width=many,
        mode=mode,
        may_ask=MayAsk.PEOPLE,
    )
    inputs = HandoffInputs(
        calls=asks, catalog=CATALOG, held=held, scope=CapabilityScope(allowed=EVERY)
    )
    outcome = decide_handoff(facts, inputs, CATALOG.policy).outcome
    same = isinstance(outcome, HandoffAllowed) and outcome.mode == mode and outcome.width == many
    assert (no_target_now(RUNS[many - 1], CATALOG, calls, held) is None) == same


def test_what_no_decision_is_on_record_for_needs_a_target_and_a_way() -> None:
    """A workflow's step is asked about before it is handed on: any way will do, and none will
    not.
    """
    other = [hand_to("reader", task="Something else.")]
    held = HeldProfile(
        pin="global", skills=("*",), handoff_targets=("reader",), handoff_modes=("fanout-fanin",)
    )
    assert no_target_now(RUNS[0], CATALOG, other, held) is None
    assert no_target_now(
        RUNS[0],
        CATALOG,
        other,
        HeldProfile(pin="global", handoff_targets=("reader",), handoff_modes=("direct",)),
    )
    assert no_target_now(
        RUNS[0],
        CATALOG,
        other,
        HeldProfile(pin="global", handoff_targets=("keeper",), handoff_modes=MODES),
    )


def test_policy_alone_takes_away_as_well() -> None:
    """Where no profile holds, by policy's own section; a call that hands nothing on is not looked
    at.
    """
    narrowed = house_of_cards(profile={"allowed_handoff_targets": ["keeper"]})
    assert no_target_now(RUNS[0], CATALOG, ASKED[0], None) is None
    assert "by policy" in (no_target_now(RUNS[0], narrowed, ASKED[0], None) or "")
    assert no_target_now(RUNS[0], narrowed, [Call(verb="look", args={"text": "a"})], None) is None
