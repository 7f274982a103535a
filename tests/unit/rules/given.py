"""What the laws of the rules draw from: any JSON, any policy, catalogs of verbs, and a check that a
rule is a function.
"""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.model_policy import FallbackPolicy, LanesPolicy, ModelErrorCode, OnModelError
from ordain.contracts.policy import Activation, Lane, LimitsPolicy, Policy, StepPolicy, VerbsPolicy
from ordain.contracts.verbs import Argument, ArgumentRole, SafetyRule, VerbEffect, VerbSpec
from ordain.rules.decision import Decision, Rule
from tests.lanes import is_full

ROLES = {
    VerbEffect.SEND: ArgumentRole.RECIPIENT,
    VerbEffect.PAY: ArgumentRole.RECIPIENT,
    VerbEffect.DELETE: ArgumentRole.TARGET,
}
"""What a verb of such an effect has an argument of."""
NAMES = ["a", "b.c", "b.d", "send", "extract_facts"]

texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)
counts = st.integers(0, 2**40)
names = st.one_of(st.sampled_from(NAMES), texts)


def frozen(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(fields)


step_policies = st.builds(
    StepPolicy,
    reask=st.integers(0, 10),
    max_bytes=st.integers(256, 1_000_000),
    max_depth=st.integers(4, 128),
)
limits_policies = st.builds(
    LimitsPolicy,
    max_steps=st.integers(1, 10**6),
    max_tokens_reason=st.integers(1, 10**8),
    max_tokens_answer=st.integers(1, 10**8),
    timeout_seconds=st.floats(0.001, 10**6),
)
lanes = st.sampled_from(Lane)
lanes_policies = st.builds(
    LanesPolicy,
    planner=lanes,
    verb=lanes,
    profiles=st.dictionaries(lanes, st.lists(texts, max_size=3)),
    next_lane=st.dictionaries(lanes, lanes),
)
fallback_policies = st.builds(
    FallbackPolicy,
    attempts_per_profile=st.integers(1, 10),
    attempts_at_last=st.integers(0, 12),
    attempts_total=st.integers(1, 50),
    on_error=st.dictionaries(st.sampled_from(ModelErrorCode), st.sampled_from(OnModelError)),
)
patterns = st.sampled_from([*NAMES, "*", "b.*", "?", "[", "none"])
activations = st.builds(
    Activation, allow=st.lists(patterns, max_size=3), deny=st.lists(patterns, max_size=3)
)
verbs_policies = st.builds(
    VerbsPolicy,
    default=activations,
    nodes=st.dictionaries(st.sampled_from(["here", "there"]), activations),
    system_state=st.sampled_from([None, "calm", "storm"]),
    max_depth=st.integers(1, 16),
)
policies = st.builds(
    Policy,
    version=st.just(1),
    step=step_policies,
    limits=limits_policies,
    lanes=lanes_policies,
    fallback=fallback_policies,
    verbs=verbs_policies,
)
POLICY = Policy(version=1)

OPEN: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


few = st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
declared_values: st.SearchStrategy[Any] = json_values if is_full() else scalars | few
"""What an argument is declared to be: most of what a law about catalogs draws, so that outside
`--full` it nests once.
"""


@st.composite
def specs(
    draw: st.DrawFn, name: str, effect: st.SearchStrategy[VerbEffect] | None = None
) -> VerbSpec:
    """A verb with arguments x and y; what is egress may fix them or list what they may be."""
    effects = st.sampled_from(
        [VerbEffect.READ, VerbEffect.PRIVATE, VerbEffect.EGRESS, VerbEffect.ADMIN]
    )
    chosen = draw(effects if effect is None else effect)
    role = ROLES.get(chosen, ArgumentRole.CONTENT)
    argument = st.builds(
        Argument,
        role=st.just(role),
        resource=st.just("thing" if role is ArgumentRole.TARGET else None),
        fixed=declared_values,
        allowed=st.one_of(st.none(), st.lists(declared_values, max_size=3)),
    )
    return VerbSpec(
        name=name,
        description="d",
        effect=chosen,
        arguments={"x": draw(argument), "y": draw(argument)},
        input_schema={
            "type": "object",
            "properties": {"x": {}, "y": {}},
            "additionalProperties": draw(st.booleans()),
        },
        safety_rules=draw(
            st.lists(
                st.builds(SafetyRule, rule_name=st.just("r"), applies_when_state=st.just("storm")),
                max_size=1,
            )
        ),
        max_recursion_depth=draw(st.integers(1, 16)),
    )


@st.composite
def catalogs(draw: st.DrawFn, effect: st.SearchStrategy[VerbEffect] | None = None) -> Catalog:
    """Some of the names as verbs, under any policy."""
    chosen = draw(
        st.lists(
            st.sampled_from(NAMES), unique=True, min_size=1, max_size=len(NAMES) if is_full() else 3
        )
    )
    return catalog({name: draw(specs(name, effect)) for name in chosen}, draw(policies))


def catalog(verbs: dict[str, VerbSpec], policy: Policy = POLICY) -> Catalog:
    return Catalog(CatalogData(policy=policy, verbs=verbs, node="here"))


def decided(rule: Rule[Any, Any, Any], facts: Any, inputs: Any, policy: Policy) -> Decision[Any]:
    """Apply a rule twice and hold it to what every rule owes: it does not raise, repeats itself,
    leaves its inputs alone, and its facts and outcome come back from the journal's encoding as they
    were.
    """
    before = copy.deepcopy(facts)
    decision = rule.apply(facts, inputs, policy)
    assert rule.apply(facts, inputs, policy) == decision
    assert facts == before
    encoded = msgspec.json.encode(decision.outcome)
    assert msgspec.json.decode(encoded, type=rule.outcome) == decision.outcome
    fact_bytes = msgspec.json.encode(facts)
    assert msgspec.json.decode(fact_bytes, type=type(facts)) == facts
    return decision
