"""Laws of rule ``route``: a suggestion moves a turn only within its mode's paths, and only lowers
what it may use.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import BudgetClass, ExecMode
from ordain.contracts.policy import BudgetCaps, Policy, RouterPolicy, SupervisorPolicy
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed, parse_object
from ordain.rules.reasons import Reason
from ordain.rules.route import (
    ALLOWED,
    ROUTE,
    Path,
    Routed,
    RouteFacts,
    RouteInputs,
    RouteReason,
    allowed_paths,
)
from tests.unit.rules.given import POLICY, counts, decided, json_values, limits_policies, objects

caps = st.builds(
    BudgetCaps,
    max_steps=st.integers(1, 100),
    max_tokens_reason=st.integers(1, 10**6),
    max_tokens_answer=st.integers(1, 10**6),
    timeout_seconds=st.floats(0.001, 10**4),
)
policies = st.builds(
    Policy,
    version=st.just(1),
    limits=limits_policies,
    router=st.builds(
        RouterPolicy,
        threshold=st.floats(0, 1),
        default_class=st.sampled_from(BudgetClass),
        classes=st.fixed_dictionaries(dict.fromkeys(BudgetClass, caps)),
    ),
    supervisor=st.builds(SupervisorPolicy, max_steps=st.integers(1, 100)),
)
states = st.builds(
    RouteFacts,
    mode=st.sampled_from(ExecMode),
    supervised=st.booleans(),
    budget_class=st.sampled_from(["", *BudgetClass]).map(str),
    max_steps=st.integers(0, 100),
    asked=st.sampled_from(["", "answered", "unanswered"]),
)
suggestions = st.one_of(
    objects,
    st.fixed_dictionaries(
        {
            "path": st.one_of(st.sampled_from([*map(str, Path), "warp"]), json_values),
            "confidence": st.one_of(st.floats(0, 1), json_values),
            "budget_class": st.one_of(
                st.sampled_from([*map(str, BudgetClass), "huge"]), json_values
            ),
        },
        optional={"more": json_values},
    ),
)
valid = st.fixed_dictionaries(
    {
        "path": st.sampled_from([*map(str, Path)]),
        "confidence": st.floats(0, 1),
        "budget_class": st.sampled_from([*map(str, BudgetClass)]),
    }
)
proposals = st.one_of(
    st.none(),
    st.builds(Unparsed, reason=st.just(ProposalReason.PROSE), size_bytes=counts),
    st.builds(Parsed, value=st.one_of(suggestions, valid), size_bytes=counts),
)


def route(
    facts: RouteFacts, proposal: Parsed | Unparsed | None, policy: Policy
) -> tuple[Routed, Reason]:
    """The rule applied, and held to what every rule owes."""
    decision = decided(ROUTE, facts, RouteInputs(proposal=proposal), policy)
    return decision.outcome, decision.reason


def bounds(routed: Routed) -> tuple[int, ...]:
    """What a turn may use."""
    return routed.max_steps, routed.max_tokens_reason, routed.max_tokens_answer, routed.timeout_ms


@given(states, proposals, policies)
def test_no_path_outside_the_modes(facts: RouteFacts, proposal: Any, policy: Policy) -> None:
    """B-10 "Allowed-path table per mode": whatever a model says, the path is one of the mode's, and
    the default where it says nothing valid.
    """
    routed, reason = route(facts, proposal, policy)
    paths = allowed_paths(facts.mode, supervised=facts.supervised)
    assert routed.path in paths
    if reason is not RouteReason.SUGGESTED:
        assert routed.path is paths[0]


def test_the_table_of_paths_is_the_whole_of_it() -> None:
    """Each mode has exactly these, its own first, and only a supervised brain turn has one more.

    B-10 "Allowed-path table per mode: brain→{direct} (+react_lite only if `supervised`),
    agent→{react_lite, agent_chain}, council→{council}"
    """
    table = {
        (mode, supervised): set(allowed_paths(mode, supervised=supervised))
        for mode in ExecMode
        for supervised in (False, True)
    }
    agent, council = {Path.REACT_LITE, Path.AGENT_CHAIN}, {Path.COUNCIL}
    assert table == {
        (ExecMode.BRAIN, False): {Path.DIRECT},
        (ExecMode.BRAIN, True): {Path.DIRECT, Path.REACT_LITE},
        (ExecMode.AGENT, False): agent,
        (ExecMode.AGENT, True): agent,
        (ExecMode.COUNCIL, False): council,
        (ExecMode.COUNCIL, True): council,
    }


@pytest.mark.parametrize("suggested", list(BudgetClass))
@pytest.mark.parametrize("asked", list(BudgetClass))
def test_a_class_stands_for_caps_that_policy_names(
    asked: BudgetClass, suggested: BudgetClass
) -> None:
    """Steps, tokens and time are those of the lower class of what was asked and what the model
    suggests, whichever of the three each is; a step count that the request names stays.

    B-10 "`budget_class ∈ small|standard|large` mapped in code to step/token/time caps; the model
    may only lower, never raise, the request's caps"
    """
    assert [str(one) for one in BudgetClass] == ["small", "standard", "large"]
    said = {"path": "react_lite", "confidence": 1.0, "budget_class": str(suggested)}
    facts = RouteFacts(mode=ExecMode.AGENT, budget_class=str(asked), asked="answered")
    routed, reason = route(facts, parse_object(msgspec.json.encode(said).decode()), POLICY)
    lower = min(asked, suggested, key=list(BudgetClass).index)
    caps, limits = POLICY.router.classes[lower], POLICY.limits
    assert reason is RouteReason.SUGGESTED
    assert routed.budget_class is lower
    assert bounds(routed) == (
        min(caps.max_steps, limits.max_steps, POLICY.supervisor.max_steps),
        min(caps.max_tokens_reason, limits.max_tokens_reason),
        min(caps.max_tokens_answer, limits.max_tokens_answer),
        int(min(caps.timeout_seconds, limits.timeout_seconds) * 1000),
    )
    two = msgspec.structs.replace(facts, max_steps=2)
    assert route(two, None, POLICY)[0].max_steps == 2


@given(states, proposals, policies)
def test_a_suggestion_only_lowers(facts: RouteFacts, proposal: Any, policy: Policy) -> None:
    """B-10 "the model may only lower, never raise": the class is never larger than what was asked,
    and steps never more than asked.
    """
    routed, _ = route(facts, proposal, policy)
    silent, _ = route(msgspec.structs.replace(facts, asked=""), None, policy)
    order = list(BudgetClass)
    assert order.index(routed.budget_class) <= order.index(silent.budget_class)
    if facts.max_steps:
        assert routed.max_steps <= facts.max_steps
    assert routed.max_steps <= policy.limits.max_steps
    assert routed.max_tokens_reason <= policy.limits.max_tokens_reason
    assert routed.max_tokens_answer <= policy.limits.max_tokens_answer


@given(states, proposals)
def test_a_lower_class_is_no_more_under_the_shipped_table(facts: RouteFacts, proposal: Any) -> None:
    """With classes that grow as shipped, no suggestion raises any of a turn's caps."""
    routed, _ = route(facts, proposal, POLICY)
    silent, _ = route(msgspec.structs.replace(facts, asked=""), None, POLICY)
    assert all(
        with_model <= without
        for with_model, without in zip(bounds(routed), bounds(silent), strict=True)
    )


@given(states, proposals, policies)
def test_only_an_exact_suggestion_counts(facts: RouteFacts, proposal: Any, policy: Policy) -> None:
    """Three keys, a known path and class, a confident number; else the reason is router_rejected.

    EXE-10 "A output is a strict enum object `{path: direct|react_lite|agent_chain|council,
    confidence, budget_class}`"
    """
    assert {str(path) for path in Path} == {"direct", "react_lite", "agent_chain", "council"}
    routed, reason = route(facts, proposal, policy)
    if reason is RouteReason.SUGGESTED:
        assert isinstance(proposal, Parsed)
        assert proposal.value.keys() == {"path", "confidence", "budget_class"}
        assert proposal.value["path"] == routed.path
        assert proposal.value["confidence"] >= policy.router.threshold
    else:
        assert str(reason).startswith("router_rejected:") == bool(facts.asked)


@given(states, valid, policies, st.floats(0, 1))
def test_less_confidence_never_counts_more(
    facts: RouteFacts, said: dict[str, Any], policy: Policy, lower: float
) -> None:
    """Monotone: a suggestion that is rejected is rejected at a lower confidence, too."""
    asked = msgspec.structs.replace(facts, asked="answered")
    _, reason = route(asked, Parsed(value=said, size_bytes=1), policy)
    if reason is not RouteReason.SUGGESTED:
        less = {**said, "confidence": min(lower, said["confidence"])}
        assert (
            route(asked, Parsed(value=less, size_bytes=1), policy)[1] is not RouteReason.SUGGESTED
        )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('{"path":"warp","confidence":1.0,"budget_class":"small"}', RouteReason.UNKNOWN_PATH),
        ('{"path":"council","confidence":1.0,"budget_class":"small"}', RouteReason.OUTSIDE_MODE),
        (
            '{"path":"react_lite","confidence":0.1,"budget_class":"small"}',
            RouteReason.LOW_CONFIDENCE,
        ),
        ('{"path":"react_lite","confidence":2,"budget_class":"small"}', RouteReason.CONFIDENCE),
        ('{"path":"react_lite","confidence":true,"budget_class":"small"}', RouteReason.CONFIDENCE),
        ('{"path":"react_lite","confidence":"1","budget_class":"small"}', RouteReason.CONFIDENCE),
        ('{"path":"react_lite","confidence":1.0,"budget_class":"huge"}', RouteReason.BUDGET_CLASS),
        ('{"path":"react_lite","confidence":1.0}', RouteReason.MALFORMED),
        (
            '{"path":["react_lite"],"confidence":1.0,"budget_class":"small"}',
            RouteReason.UNKNOWN_PATH,
        ),
        (
            '{"path":"react_lite","confidence":1.0,"budget_class":"small","verb":"chat_general"}',
            RouteReason.MALFORMED,
        ),
        ("react_lite, I am sure", RouteReason.MALFORMED),
        ("", RouteReason.MALFORMED),
    ],
)
def test_a_bad_answer_of_a_router_model(answer: str, reason: Reason) -> None:
    """D13: an answer outside the contract is rejected with its reason, and the mode's own path
    holds.

    B-10 "Proposal outside the set, invalid, or confidence below threshold → mode's default path,
    logged `router_rejected:<reason>`"
    """
    facts = RouteFacts(mode=ExecMode.AGENT, asked="answered")
    routed, why = route(facts, parse_object(answer), POLICY)
    assert (routed.path, why) == (ALLOWED[ExecMode.AGENT][0], reason)


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB."""
    facts = RouteFacts(
        mode=ExecMode.COUNCIL,
        supervised=True,
        budget_class="standard",
        max_steps=100,
        asked="unanswered",
    )
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
