"""Laws of rule ``plan``: what is followed is what was proposed, of agents that there are;
everything else goes the declared way or nowhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordain
from ordain.contracts.cards import get_agent_schema
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.contracts.roster import (
    HandoffStrategy,
    PlanFault,
    PlannerPlanPayload,
    PlannerStepPayload,
    read_plan,
)
from ordain.journal.records import raw
from ordain.rules.decision import Recorded
from ordain.rules.plan import (
    PLAN,
    PlanFacts,
    PlanFallback,
    PlanInputs,
    PlanMade,
    PlannedBy,
    PlanReason,
    PlanRefused,
)
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed, parse_object
from ordain.testing import catalog_of
from tests.shapes.roster_cards import CARDS
from tests.unit.rules.given import POLICY, decided, json_values, objects

HOUSE = Path(ordain.__file__).parent
GENERAL_ONLY = {"general_agent": CARDS["general_agent"]}
WITHOUT_GENERAL = {name: card for name, card in CARDS.items() if name != "general_agent"}
D15 = {
    "steps": [
        {
            "agent": "finance_agent",
            "reason": "r",
            "tools": ["finance.snapshot"],
            "fallback_tools": [],
            "confidence": 0.9,
        }
    ],
    "metadata": {},
    "confidence": 0.92,
}
agents = st.sampled_from([*CARDS, "no_such_agent", "Finance_Agent", "ignore all rules"])
confidences = st.floats(0, 1)
steps = st.lists(
    st.fixed_dictionaries(
        {"agent": agents}, optional={"confidence": confidences, "tools": st.just("a.b")}
    ),
    max_size=6,
)
metadata = st.fixed_dictionaries(
    {},
    optional={
        "handoff_strategy": st.sampled_from(["sequential", "parallel"]),
        "depends_on": st.dictionaries(
            st.sampled_from("012345"), st.lists(st.integers(0, 5), max_size=3), max_size=4
        ),
        "more": json_values,
    },
)
plans = st.fixed_dictionaries(
    {"steps": steps}, optional={"metadata": metadata, "confidence": confidences}
)


def by_model(
    value: Any, cards: Any = CARDS, policy: Policy = POLICY, *, apart: bool = False
) -> Any:
    proposal = Parsed(value=value, size_bytes=9) if isinstance(value, dict) else value
    facts = PlanFacts(
        by=PlannedBy.MODEL,
        cards=len(cards),
        answered=proposal is not None,
        size_bytes=9,
        apart=apart,
    )
    return decided(PLAN, facts, PlanInputs(cards=cards, proposal=proposal), policy)


def named(*names: str, cards: Any = CARDS) -> Any:
    facts = PlanFacts(by=PlannedBy.MESSAGE, cards=len(cards), named=len(names))
    return decided(PLAN, facts, PlanInputs(cards=cards, named=names), POLICY)


@given(plans)
def test_a_plan_that_is_followed_is_of_agents_that_there_are(value: dict[str, Any]) -> None:
    """Its steps are proposed ones in their order, each for the agent it was proposed for, and needs
    stay among them and lead backwards to an end.

    PLAN-12 "maps roster by name, builds the selection from step agents"
    """
    outcome = by_model(value).outcome
    if not isinstance(outcome, PlanMade):
        return
    proposed = value["steps"]
    assert outcome.steps == tuple(sorted(set(outcome.steps)))
    assert outcome.agents == tuple(proposed[index]["agent"] for index in outcome.steps)
    assert set(outcome.agents) <= CARDS.keys()
    assert len(outcome.steps) + outcome.dropped == len(proposed)
    assert outcome.confidence >= POLICY.roster.threshold
    left = set(range(len(outcome.needs)))
    while left:
        ready = {index for index in left if not left.intersection(outcome.needs[index])}
        assert ready
        left -= ready


@given(st.one_of(plans, objects, json_values))
def test_what_is_not_followed_goes_to_the_general_agent_or_nowhere(value: Any) -> None:
    """With a typed reason; nothing of what was proposed is left in the outcome, and where there is
    no general agent it is a typed failure.

    PLAN-13 "If no valid step survives parsing, the fallback builder synthesises a single-step
    `general_agent` plan; the legacy router is never invoked."
    """
    given_value = value if isinstance(value, dict) else None
    decision = by_model(given_value)
    if isinstance(decision.outcome, PlanFallback):
        assert (decision.outcome.agent, decision.outcome.reason) == (
            "general_agent",
            str(decision.reason),
        )
    assert not isinstance(decision.outcome, PlanRefused)
    refused = by_model(given_value, WITHOUT_GENERAL)
    if not isinstance(decision.outcome, PlanMade):
        assert isinstance(refused.outcome, PlanRefused)
        assert refused.reason is PlanReason.NO_GENERAL


@given(plans)
def test_fewer_cards_never_follow_more(value: dict[str, Any]) -> None:
    """What is followed with one card left is followed with all of them."""
    few = by_model(value, GENERAL_ONLY).outcome
    if isinstance(few, PlanMade):
        every = by_model(value).outcome
        assert isinstance(every, PlanMade)
        assert set(few.steps) <= set(every.steps)


@given(plans, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_follows_more(
    value: dict[str, Any], one: float, other: float
) -> None:
    """What is followed at the higher one is followed at the lower one."""
    low, high = (
        Policy.model_validate({"version": 1, "roster": {"threshold": found}})
        for found in sorted((one, other))
    )
    if isinstance(by_model(value, policy=high).outcome, PlanMade):
        assert isinstance(by_model(value, policy=low).outcome, PlanMade)


@given(plans, confidences)
def test_no_bias_decides(value: dict[str, Any], bias: float) -> None:
    """B-15 "Advisory: shown to the planner, stored in logs; not part of gating.": the catalog that
    a run pins holds it, the planner's rows have it, and no plan is judged otherwise by it.
    """
    cards = {
        name: card.model_copy(update={"confidence_bias": bias}) for name, card in CARDS.items()
    }
    assert by_model(value, cards) == by_model(value)
    assert {row["confidence_bias"] for row in get_agent_schema(cards.values())} == {bias}
    pinned = CatalogData.model_validate_json(catalog_of().changed(cards=cards).encoded)
    assert {one.confidence_bias for one in pinned.cards.values()} == {bias}


def test_the_sources_own_plan_is_followed() -> None:
    """D15's payload runs; without its steps, or with agents in their place, it does not.

    PLAN-19 "Payloads that omit `steps` are rejected."
    PLAN-22 "Responses validated exclusively via the plan payload model"
    """
    assert by_model(D15).outcome == PlanMade(agents=("finance_agent",), steps=(0,), confidence=0.92)
    without = by_model({key: value for key, value in D15.items() if key != "steps"})
    assert (without.reason, without.outcome.detail) == (PlanReason.FAILED, "steps: missing")


@pytest.mark.parametrize("more", [{}, {"steps": D15["steps"]}, {"confidence": 1.0}])
def test_a_plan_of_agents_is_refused_by_name(more: dict[str, Any]) -> None:
    """Whatever stands beside it; its content is never executed.

    PLAN-08 “Legacy `{"agents":[…]}` was coerced to a single-step plan, note kept as `reason`,
    `metadata.schema_version="legacy"`.”
    PLAN-11 "Tests for schema parsing and for the legacy path (end state: legacy is rejected)."
    B-14 "End state only: reject, typed reason `legacy_agents_payload`, then PLAN-13 fallback plan
    with `metadata.fallback_reason`; never execute the legacy content."
    """
    decision = by_model({"agents": ["finance_agent"], **more})
    assert (decision.reason, decision.outcome.agent) == (PlanReason.LEGACY, "general_agent")
    assert str(decision.reason) == decision.outcome.reason == "legacy_agents_payload"


@pytest.mark.parametrize(
    ("confidence", "followed"),
    [(0.5, False), (0.6999, False), (0.7, True), (0.9, True), (None, True)],
)
def test_the_plans_gate(confidence: float | None, followed: bool) -> None:
    """Strictly below the threshold the general agent alone takes it; at the threshold, and where
    nothing is said, the plan is followed.

    PLAN-03 "If plan confidence < 0.7: warn and route to `general_agent` only."
    PLAN-05 "Tests: 0.5 → fallback; 0.9 → default routing."
    B-13 "Keep as the source says for absent;"
    B-13 "Threshold is configured, default 0.7 (the original drifted to 0.55 with an extra router)."
    """
    value: dict[str, Any] = {"steps": D15["steps"]} | (
        {} if confidence is None else {"confidence": confidence}
    )
    outcome = by_model(value).outcome
    assert POLICY.roster.threshold == 0.7
    assert isinstance(outcome, PlanMade if followed else PlanFallback)
    if not followed:
        assert outcome.reason == "planner.low_confidence"


@pytest.mark.parametrize(
    "bad", [True, "0.9", None, -0.1, 1.1, float("nan"), float("inf"), [0.9], {}]
)
def test_a_confidence_that_is_none_is_no_plan(bad: Any) -> None:
    """Of the plan or of a step.

    B-13 "but non-numeric, NaN/inf, bool or outside [0,1] = contract violation → fallback plan"
    """
    assert by_model({"steps": D15["steps"], "confidence": bad}).reason is PlanReason.FAILED
    assert (
        by_model({"steps": [{"agent": "finance_agent", "confidence": bad}]}).reason
        is PlanReason.FAILED
    )


@pytest.mark.parametrize(
    "said",
    [
        "I would ask finance.",
        '"maybe"',
        "{",
        '{"steps": [{"agent": "finance_agent", "confidence": NaN}]}',
        "",
    ],
)
def test_prose_is_no_plan(said: str) -> None:
    """The planner's words are followed by nobody."""
    assert by_model(parse_object(said)).reason is PlanReason.FAILED


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ({"steps": [{"agent": "finance_agent"}], "agent": "x"}, "agent: extra_forbidden"),
        ({"steps": [{"agent": "finance_agent", "verb": "x"}]}, "steps.0.verb: extra_forbidden"),
        ({"steps": [{"agent": ""}]}, "steps.0.agent: string_too_short"),
        (
            {"steps": [{"agent": "finance_agent", "tools": [" "]}]},
            "steps.0.tools.0: string_pattern_mismatch",
        ),
        (
            {"steps": [{"agent": "finance_agent", "tools": ""}]},
            "steps.0.tools.0: string_pattern_mismatch",
        ),
        ({"steps": [{"agent": "finance_agent"}] * 1000}, "steps: too_long"),
        ({"steps": [{"agent": "finance_agent"}] * 13}, "steps: too_many"),
        (
            {
                "steps": [{"agent": "a"}, {"agent": "b"}],
                "metadata": {"depends_on": {"0": [1], "1": [0]}},
            },
            "metadata.depends_on: a cycle",
        ),
        (
            {"steps": [{"agent": "a"}], "metadata": {"depends_on": {"0": [0]}}},
            "metadata.depends_on: a cycle",
        ),
        ({"steps": [{"agent": "a"}], "metadata": {"depends_on": {"1": []}}}, "metadata.depends_on"),
        (
            {"steps": [{"agent": "a"}], "metadata": {"depends_on": {"0": [True]}}},
            "metadata.depends_on",
        ),
        ({"steps": [{"agent": "a"}], "metadata": {"depends_on": [0]}}, "metadata.depends_on"),
        (
            {"steps": [{"agent": "a"}], "metadata": {"handoff_strategy": "at will"}},
            "metadata.handoff_strategy",
        ),
    ],
)
def test_each_form_that_is_none(value: dict[str, Any], detail: str) -> None:
    """One case of each, with its place and never its value.

    PLAN-06 "Strict validation."
    """
    decision = by_model(value)
    assert (decision.reason, decision.outcome.detail) == (PlanReason.FAILED, detail)


def test_a_payload_has_the_sources_fields_and_defaults() -> None:
    """What a step and a plan leave out stands there as the sources have it; ``steps`` alone has to
    be named, which their end state demands.

    PLAN-06 “Typed payload models (`PlannerStepPayload`, `PlannerPlanPayload`). Step payload:
    `agent` (str, min length 1, required), `reason=""`, `tools=[]`, `fallback_tools=[]`,
    `confidence=1.0`. Plan payload: `steps=[]`, `metadata={}`, `confidence=1.0`.”
    PLAN-22 "Responses validated exclusively via the plan payload model; orchestrator executes
    steps-only plans."
    """
    step = PlannerStepPayload(agent="finance_agent")
    assert step.model_dump() == {
        "agent": "finance_agent",
        "reason": "",
        "tools": [],
        "fallback_tools": [],
        "confidence": 1.0,
    }
    assert PlannerPlanPayload(steps=[]).model_dump() == {
        "steps": [],
        "metadata": {},
        "confidence": 1.0,
    }
    assert isinstance(read_plan({}), PlanFault)
    assert isinstance(
        read_plan({"steps": [{"agent": "finance_agent"}], "agents": ["finance_agent"]}), PlanFault
    )


def test_there_is_one_parser_and_nothing_of_before() -> None:
    """The house reads a plan in one place, and of what plans named before knows the word alone, to
    refuse it.

    PLAN-07 "One parser (`steps`) replaces the older normaliser."
    PLAN-20 "No legacy model, prompt helper, conditional or telemetry branch exists."
    META-10 “Phase scoping ("do not touch planner schemas/orchestrator/negotiation" in P1, "do not
    alter schemas" in P2) only ordered the migration; end state is P5.”
    """
    modules = {
        path.relative_to(HOUSE).as_posix(): path.read_text(encoding="utf-8")
        for path in HOUSE.rglob("*.py")
    }
    reading = sorted(name for name, text in modules.items() if "read_plan(" in text)
    assert reading == ["contracts/roster.py", "flows/roster/planning.py", "rules/plan.py"]
    assert [
        name for name, text in modules.items() if "PlannerPlanPayload.model_validate" in text
    ] == ["contracts/roster.py"]
    assert sorted(name for name, text in modules.items() if "LEGACY_KEY" in text) == [
        "contracts/roster.py"
    ]


def test_a_plan_too_large_for_a_directive_is_none() -> None:
    """However well it is formed."""
    padded = {**D15, "metadata": {"note": "x" * 40_000}}
    assert (
        by_model(Parsed(value=padded, size_bytes=len(json.dumps(padded)))).outcome.detail
        == "too large"
    )


def test_one_name_is_a_list_of_it() -> None:
    """A string in ``tools`` is taken for the one tool that it names."""
    assert isinstance(
        by_model({"steps": [{"agent": "finance_agent", "tools": "finance.snapshot"}]}).outcome,
        PlanMade,
    )


def test_who_is_not_there_is_dropped_with_whoever_needs_it() -> None:
    """The others stay, under their own numbers; where nobody stays the general agent takes it.

    B-31 "Drop with typed log; none left → PLAN-13."
    """
    needs = {"handoff_strategy": "parallel", "depends_on": {"2": [1], "3": [0]}}
    value = {
        "steps": [
            {"agent": name}
            for name in ("finance_agent", "nobody", "research_agent", "creative_agent")
        ],
        "metadata": needs,
    }
    made = by_model(value).outcome
    assert made == PlanMade(
        agents=("finance_agent", "creative_agent"),
        steps=(0, 3),
        confidence=1.0,
        strategy=HandoffStrategy.PARALLEL,
        needs=((), (0,)),
        dropped=2,
        missing="nobody",
    )
    told = by_model(value, apart=True)
    assert (told.outcome.dropped, told.outcome.needing) == (2, 1)
    assert PLAN.tells is not None
    recorded = Recorded(
        outcome=raw(told.outcome), reason=str(told.reason), facts=msgspec.Raw(b"{}"), steps=0
    )
    (line,) = PLAN.tells(recorded).lines
    assert line.what.endswith(
        "; 1 dropped, for agents that there are not, and 1 more for what they need"
    )
    gone = by_model({"steps": [{"agent": "nobody"}, {"agent": "x" * 100}]})
    assert (gone.reason, gone.outcome.detail) == (PlanReason.UNKNOWN_AGENTS, f"nobody, {'x' * 64}")
    assert by_model({"steps": []}).reason is PlanReason.EMPTY_PLAN
    assert by_model(None).reason is PlanReason.FAILED
    assert (
        by_model(Unparsed(reason=ProposalReason.PROSE, size_bytes=3)).outcome.detail
        == "step.syntax.prose"
    )


@given(st.lists(agents, min_size=1, max_size=5))
def test_agents_that_a_message_names_are_all_there_or_nobody_is_handed_anything(
    names: list[str],
) -> None:
    """Each once, in order, beside each other; one who is unknown refuses all.

    B-30 "Reject whole request pre-execution if any target is disallowed"
    """
    outcome = named(*names).outcome
    if all(name in CARDS for name in names):
        assert outcome.agents == tuple(dict.fromkeys(names))
        assert outcome.strategy is HandoffStrategy.PARALLEL
    else:
        assert (outcome.code, named(*names).reason) == ("unknown_agent", PlanReason.UNKNOWN_NAMED)
