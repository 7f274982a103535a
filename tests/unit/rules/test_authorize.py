"""Laws of rule ``authorize``."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ordain.contracts.approvals import GRANTABLE, TIERS, MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import moment
from ordain.contracts.policy import Activation, Policy
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.rules.authorize import (
    AUTHORIZE,
    Allow,
    AuthorizeFacts,
    AuthorizeInputs,
    AuthorizeReason,
    Deny,
    NeedsApproval,
    RefusedWhy,
)
from ordain.rules.decision import Decision
from tests.unit.rules.given import (
    NAMES,
    POLICY,
    ROLES,
    catalog,
    catalogs,
    counts,
    decided,
    json_values,
    names,
    objects,
    policies,
    texts,
)

somebodys_yes: dict[str, st.SearchStrategy[Any]] = {
    "may_ask": st.none() | st.sampled_from(MayAsk),
    "approval": st.sampled_from(["", "a1"]),
    "grant": st.sampled_from(["", "g1"]),
    "grant_asked": st.booleans(),
    "refused": st.none() | st.sampled_from(RefusedWhy),
    "in_doubt": st.booleans(),
    "redo": st.booleans(),
}
anywhere = st.builds(
    AuthorizeFacts,
    verb=names,
    call=texts,
    in_scope=st.booleans(),
    depth=st.integers(0, 20),
    verb_calls=counts,
    cap_verb_calls=counts,
    reserved=st.booleans(),
    **somebodys_yes,
)
within = st.builds(
    AuthorizeFacts,
    verb=names,
    call=texts,
    in_scope=st.just(True),
    depth=st.just(0),
    verb_calls=st.just(0),
    cap_verb_calls=st.just(9),
    **somebodys_yes,
)
"""What only its effect can keep back: of facts from anywhere few come as far as that."""
facts = anywhere | within
R = AuthorizeReason
arguments = st.one_of(
    objects, st.fixed_dictionaries({}, optional={"x": json_values, "y": json_values})
)


def authorize(
    facts: AuthorizeFacts, args: dict[str, Any], catalog: Any, policy: Policy
) -> Decision[Any]:
    return decided(AUTHORIZE, facts, AuthorizeInputs(args=args, catalog=catalog), policy)


def exactly(value: object) -> str:
    """A value's JSON, in which true, 1 and 1.0 differ."""
    return json.dumps(value, sort_keys=True)


def call(verb: str = "a", **changes: Any) -> AuthorizeFacts:
    return AuthorizeFacts(
        **{
            "verb": verb,
            "call": "d",
            "in_scope": True,
            "depth": 0,
            "verb_calls": 0,
            "cap_verb_calls": 9,
            **changes,
        }
    )


@given(facts, arguments, catalogs(), policies)
def test_every_call_is_decided(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy
) -> None:
    """Any facts and arguments give one decision; it allows only the very call it was asked about,
    for a reason that allows.
    """
    decision = authorize(facts, args, found, policy)
    allowing = {R.READ, R.PRIVATE, R.EGRESS_DECLARED, R.APPROVED, R.GRANTED}
    assert (decision.reason in allowing) == isinstance(decision.outcome, Allow)
    if isinstance(decision.outcome, Allow):
        assert decision.outcome.call == facts.call


@given(within, arguments, catalogs(), policies, st.integers(0, 20), st.integers(0, 20))
def test_what_a_declaration_raises_is_the_depth_alone(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy, depth: int, raised: int
) -> None:
    """As deep as it says, and policy, a call is decided as at no depth; deeper than policy has it
    nothing is allowed.
    """
    deep = msgspec.structs.replace(facts, depth=depth, raised=raised)
    decision = authorize(deep, args, found, policy)
    if depth < min(raised, policy.verbs.max_depth):
        assert decision == authorize(facts, args, found, policy)
    if depth >= policy.verbs.max_depth:
        assert isinstance(decision.outcome, Deny)


@given(facts, arguments, catalogs())
def test_nothing_outside_its_bounds_is_allowed(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any
) -> None:
    """A call out of scope, unknown, switched off, too deep, beyond the budget, or unfit for its
    schema is never allowed.
    """
    policy = found.policy
    verb = found.verbs.get(facts.verb)
    if isinstance(authorize(facts, args, found, policy).outcome, Allow):
        assert verb is not None
        assert facts.in_scope
        assert not facts.reserved
        assert found.inactive_reason(facts.verb, policy.verbs) is None
        assert facts.depth < policy.verbs.max_depth
        assert not verb.spec.composite or facts.depth < verb.spec.max_recursion_depth
        assert facts.verb_calls < facts.cap_verb_calls
        assert verb.input.accepts(args)
        assert (
            verb.spec.effect not in TIERS
            or verb.spec.effect is VerbEffect.EGRESS
            or facts.approval
            or facts.grant
        )


@given(facts, arguments, catalogs(), st.data())
def test_less_never_allows_more(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, data: st.DataObject
) -> None:
    """Out of scope, deeper, with more calls made or a lower cap, or under a longer deny list: what
    was denied stays denied.
    """
    policy = found.policy
    less = msgspec.structs.replace(
        facts,
        in_scope=facts.in_scope and data.draw(st.booleans()),
        reserved=facts.reserved or data.draw(st.booleans()),
        depth=facts.depth + data.draw(st.integers(0, 3)),
        verb_calls=facts.verb_calls + data.draw(st.integers(0, 3)),
        cap_verb_calls=max(0, facts.cap_verb_calls - data.draw(st.integers(0, 3))),
    )
    deny = [
        *policy.verbs.default.deny,
        *data.draw(st.lists(st.sampled_from([*NAMES, "*"]), max_size=2)),
    ]
    tighter = policy.verbs.model_copy(
        update={
            "default": policy.verbs.default.model_copy(update={"deny": deny}),
            "max_depth": max(1, policy.verbs.max_depth - data.draw(st.integers(0, 2))),
        }
    )
    narrowed = policy.model_copy(update={"verbs": tighter})
    verbs = {name: verb.spec for name, verb in found.verbs.items()}
    if isinstance(authorize(less, args, catalog(verbs, narrowed), narrowed).outcome, Allow):
        assert isinstance(authorize(facts, args, found, policy).outcome, Allow)


@given(st.sampled_from(NAMES), st.data())
def test_deny_wins(name: str, data: st.DataObject) -> None:
    """C1: a verb that a pattern denies is denied whatever the allow list says, on the node or
    everywhere.
    """
    denied = Activation(
        allow=[name, "*"], deny=[data.draw(st.sampled_from([name, "*", name[0] + "*"]))]
    )
    here = data.draw(st.booleans())
    verbs = POLICY.verbs.model_copy(
        update={"nodes": {"here": denied}} if here else {"default": denied}
    )
    policy = POLICY.model_copy(update={"verbs": verbs})
    found = catalog(
        {
            name: VerbSpec(
                name=name, description="d", effect=VerbEffect.READ, input_schema={"type": "object"}
            )
        },
        policy,
    )
    decision = authorize(call(name), {}, found, policy)
    assert decision == Decision(outcome=Deny("denied"), reason=AuthorizeReason.INACTIVE)


@given(facts, arguments, catalogs())
def test_what_settings_do_not_configure_is_denied(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any
) -> None:
    """A verb that the catalog names as unconfigured is never allowed, and its denial says so where
    nothing is said before.
    """
    without = found.changed(unconfigured=[facts.verb])
    decision = authorize(facts, args, without, found.policy)
    assert isinstance(decision.outcome, Deny)
    if facts.verb in found.verbs and facts.in_scope and not facts.lacks:
        assert decision.reason is AuthorizeReason.NOT_CONFIGURED
    assert found.digest != without.digest


@given(arguments, catalogs(st.just(VerbEffect.EGRESS)))
def test_egress_sends_only_what_was_declared(args: dict[str, Any], found: Any) -> None:
    """An egress call is allowed only if each argument is exactly its fixed value and exactly a
    member of its declared list.
    """
    for name, verb in found.verbs.items():
        decision = authorize(call(name), args, found, POLICY)
        if isinstance(decision.outcome, Allow):
            for argument, value in args.items():
                declared = verb.spec.arguments[argument]
                assert declared.fixed is not None or declared.allowed is not None
                assert declared.fixed is None or exactly(declared.fixed) == exactly(value)
                assert declared.allowed is None or exactly(value) in map(exactly, declared.allowed)


def egress(**fields: Any) -> Any:
    spec = VerbSpec(
        name="a",
        description="d",
        effect=VerbEffect.EGRESS,
        arguments={"x": Argument(role=ArgumentRole.URL, **fields)},
        input_schema={"type": "object", "properties": {"x": {}}},
    )
    return catalog({"a": spec})


@given(json_values.filter(lambda value: value is not None), st.booleans())
@example([1], True)
@example({"k": [0]}, False)
def test_a_declared_value_may_be_sent(value: Any, listed: bool) -> None:
    """A value that is fixed or on the list is allowed, for the reason that it was declared."""
    found = egress(allowed=[value]) if listed else egress(fixed=value)
    assert authorize(call(), {"x": value}, found, POLICY).reason is AuthorizeReason.EGRESS_DECLARED


CONFUSED = [
    (True, 1),
    (1, 1.0),
    (False, 0),
    ("1", 1),
    (None, "null"),
    (0.0, False),
    ([], {}),
    ("a", "A"),
    ("a", "a "),
    (None, []),
]


@given(
    st.sampled_from(CONFUSED),
    st.booleans(),
    st.booleans(),
    st.sampled_from([lambda v: v, lambda v: [v], lambda v: {"k": [0, v]}]),
)
def test_what_only_looks_declared_is_denied(
    pair: tuple[Any, Any], flip: bool, listed: bool, within: Any
) -> None:
    """Values that Python takes for equal, or that are nearly so, are not the declared one; not
    inside a list or object either.
    """
    declared, value = map(within, pair[::-1] if flip else pair)
    assume(declared is not None)
    found = egress(allowed=[declared]) if listed else egress(fixed=declared)
    assert authorize(call(), {"x": value}, found, POLICY).reason is AuthorizeReason.NO_APPROVAL


def test_fixed_and_listed_both_hold() -> None:
    """Where an argument is fixed and has a list, only the fixed value may be sent: declaring more
    never allows more.
    """
    found = egress(fixed=1, allowed=[1, 2])
    assert isinstance(authorize(call(), {"x": 1}, found, POLICY).outcome, Allow)
    assert isinstance(authorize(call(), {"x": 2}, found, POLICY).outcome, Deny)
    assert isinstance(
        authorize(call(), {"x": 1}, egress(fixed=1, allowed=[2]), POLICY).outcome, Deny
    )
    assert isinstance(authorize(call(), {"x": None}, egress(), POLICY).outcome, Deny)


@given(
    st.dictionaries(texts, st.integers(), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=40, max_size=60),
)
def test_a_denial_names_places_and_no_values(args: dict[str, Any], private: str) -> None:
    """The detail of a refused call is short and quotes no argument's value."""
    spec = VerbSpec(
        name="a",
        description="d",
        effect=VerbEffect.READ,
        input_schema={
            "type": "object",
            "properties": {"x": {"type": "string", "maxLength": 1}},
            "additionalProperties": False,
        },
    )
    decision = authorize(call(), {**args, "x": private}, catalog({"a": spec}), POLICY)
    assert decision.reason is AuthorizeReason.SCHEMA
    assert private not in decision.outcome.detail
    assert len(decision.outcome.detail) <= 200


# --- somebody's yes -------------------------------------------------------------------------------


of_any_effect = catalogs(st.sampled_from(VerbEffect))


@given(facts, arguments, of_any_effect, policies)
def test_dropping_a_yes_never_allows_more(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy
) -> None:
    """Without the approval, the grant, or whom it might ask, or where it is in doubt, a call that
    was not allowed is not allowed, and nobody is asked more.
    """
    full = authorize(facts, args, found, policy).outcome
    for dropped in (
        {"approval": ""},
        {"grant": ""},
        {"approval": "", "grant": "", "may_ask": None},
        {"in_scope": False},
        {"in_doubt": True},
    ):
        less = authorize(msgspec.structs.replace(facts, **dropped), args, found, policy).outcome
        assert isinstance(full, Allow) or not isinstance(less, Allow)
    nobody = authorize(msgspec.structs.replace(facts, may_ask=None), args, found, policy).outcome
    assert not isinstance(nobody, NeedsApproval)


@given(facts, arguments, of_any_effect, policies)
def test_what_is_asked_for_is_what_a_yes_would_allow(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy
) -> None:
    """Nobody is asked in vain: with the approval it is allowed. And a grant is asked for only where
    one could be.

    B-27 "all-read, private and egress whose every argument is declared → auto; external
    write/destructive/undeclared egress/delegating → proposal."
    """
    outcome = authorize(facts, args, found, policy).outcome
    if isinstance(outcome, NeedsApproval):
        assert outcome.call == facts.call
        assert outcome.tier is TIERS[found.verbs[facts.verb].spec.effect]
        assert outcome.why is not MayAsk.GRANTS or (
            outcome.tier in GRANTABLE and not facts.grant_asked
        )
        assert isinstance(
            authorize(msgspec.structs.replace(facts, approval="a"), args, found, policy).outcome,
            Allow,
        )


BY_ITSELF = {VerbEffect.READ: R.READ, VerbEffect.PRIVATE: R.PRIVATE}
GRANTED_OR_APPROVED = {
    VerbEffect.EGRESS: "egress",
    VerbEffect.SEND: "write",
    VerbEffect.ADMIN: "write",
}
EACH_TIME = (VerbEffect.PAY, VerbEffect.DELETE, VerbEffect.SECRET)
REFUSALS = {
    RefusedWhy.DENIED: R.NOT_APPROVED,
    RefusedWhy.EXPIRED: R.APPROVAL_EXPIRED,
    RefusedWhy.WITHDRAWN: R.APPROVAL_WITHDRAWN,
}


def by_the_tiers(
    effect: VerbEffect, facts: AuthorizeFacts
) -> tuple[type, AuthorizeReason, str, MayAsk | None]:
    """What the tiers of risk come to, told once more: outcome, reason, and of what is asked tier
    and whom.
    """
    if effect in BY_ITSELF and not facts.in_doubt:
        return Allow, BY_ITSELF[effect], "", None
    if facts.approval:
        return Allow, R.APPROVED, "", None
    if effect in BY_ITSELF and facts.redo and facts.refused is not None:
        return Deny, REFUSALS[facts.refused], "", None
    if effect in BY_ITSELF and facts.redo and facts.may_ask is MayAsk.PEOPLE:
        return NeedsApproval, R.NEEDS_APPROVAL, "write", MayAsk.PEOPLE
    if effect in BY_ITSELF:
        return Deny, R.IN_DOUBT, "", None
    if facts.grant and effect in GRANTED_OR_APPROVED:
        return Allow, R.GRANTED, "", None
    if facts.refused is not None:
        return Deny, REFUSALS[facts.refused], "", None
    tier = GRANTED_OR_APPROVED.get(effect, "destructive")
    if facts.may_ask is not None and effect in GRANTED_OR_APPROVED and not facts.grant_asked:
        return NeedsApproval, R.NEEDS_GRANT, tier, MayAsk.GRANTS
    if facts.may_ask is MayAsk.PEOPLE:
        return NeedsApproval, R.NEEDS_APPROVAL, tier, MayAsk.PEOPLE
    return Deny, R.NO_APPROVAL, "", None


@pytest.mark.parametrize("effect", VerbEffect)
def test_the_tiers_of_risk(effect: VerbEffect) -> None:
    """Every effect under every yes, no and silence: what reads or is one's own goes by itself, but
    for the very call that is in doubt, and no grant lets out what is destructive.

    B-27 "Code risk tiers (C5): all-read, private and egress whose every argument is declared →
    auto;"
    """
    assert {*BY_ITSELF, *GRANTED_OR_APPROVED, *EACH_TIME} == set(VerbEffect)
    role = ROLES.get(effect, ArgumentRole.CONTENT)
    argument = Argument(
        role=role, resource="thing" if role is ArgumentRole.TARGET else None, fixed="tea"
    )
    spec = VerbSpec(
        name="a",
        description="d",
        effect=effect,
        arguments={"x": argument},
        input_schema={"properties": {"x": {}}},
    )
    found = catalog({"a": spec})
    for may_ask, approval, grant, asked, refused, (in_doubt, redo) in product(
        [None, *MayAsk],
        ["", "a"],
        ["", "g"],
        [False, True],
        [None, *RefusedWhy],
        [(False, False), (True, False), (True, True)],
    ):
        facts = call(
            may_ask=may_ask,
            approval=approval,
            grant=grant,
            grant_asked=asked,
            refused=refused,
            in_doubt=in_doubt,
            redo=redo,
        )
        made = authorize(facts, {"x": "coffee"}, found, POLICY)
        needs = made.outcome if isinstance(made.outcome, NeedsApproval) else None
        tier, why = ("", None) if needs is None else (needs.tier, needs.why)
        assert (type(made.outcome), made.reason, tier, why) == by_the_tiers(effect, facts), facts
        declared = authorize(facts, {"x": "tea"}, found, POLICY)
        assert (
            effect is not VerbEffect.EGRESS
            or in_doubt
            or declared == Decision(outcome=Allow("d"), reason=R.EGRESS_DECLARED)
        )


@given(facts, arguments, of_any_effect, policies)
def test_no_grant_allows_what_is_destructive(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy
) -> None:
    """It is approved each time."""
    decision = authorize(facts, args, found, policy)
    if decision.reason is AuthorizeReason.GRANTED:
        assert TIERS[found.verbs[facts.verb].spec.effect] in GRANTABLE


@given(facts, arguments, of_any_effect, policies)
def test_a_bound_never_allows_more(
    facts: AuthorizeFacts, args: dict[str, Any], found: Any, policy: Policy
) -> None:
    """A call that a scope without bounds does not allow, none with bounds does; and a bound that no
    call fits denies whatever anybody said.
    """
    free = authorize(facts, args, found, policy).outcome
    bounds = (Constraint(max_calls=0),)
    bound = decided(
        AUTHORIZE, facts, AuthorizeInputs(args=args, catalog=found, bounds=bounds), policy
    )
    assert isinstance(bound.outcome, Deny)
    assert not isinstance(free, Allow) or bound.reason is AuthorizeReason.CONSTRAINT


DAY = 86_400_000_000


def booking(within_days: int | None = 30) -> Catalog:
    """A verb with an argument that says when, and lists of such."""
    when = (
        Argument(role=ArgumentRole.WHEN, within_days=within_days)
        if within_days
        else Argument(role=ArgumentRole.LABEL)
    )
    properties: Any = {"x": {}}
    schema = {"type": "object", "properties": properties}
    return catalog(
        {
            "a": VerbSpec(
                name="a",
                description="d",
                effect=VerbEffect.PRIVATE,
                arguments={"x": when},
                input_schema=schema,
            )
        }
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("1970-01-31", R.PRIVATE),
        ("1970-01-31T00:00:00Z", R.PRIVATE),
        ("1970-01-31T00:00:01Z", R.TOO_FAR),
        ("1970-01-31T00:30:00+01:00", R.PRIVATE),
        ("1969-01-01", R.PRIVATE),
        ("9999-12-31", R.TOO_FAR),
        (["1970-01-02", "1970-01-03"], R.PRIVATE),
        (["1970-01-02", "1971-01-01"], R.TOO_FAR),
        ("next week", R.TOO_FAR),
        (5, R.TOO_FAR),
        (None, R.TOO_FAR),
        ({"date": "1970-01-02"}, R.TOO_FAR),
    ],
)
def test_a_moment_is_no_further_ahead_than_the_verb_declares(
    value: object, reason: AuthorizeReason
) -> None:
    """What cannot be read as one is beyond the bound as well, whatever anybody said to it; a call
    that names no moment breaks none.
    """
    assert authorize(call(at=1), {"x": value}, booking(), POLICY).reason is reason
    assert authorize(call(at=1, approval="a1"), {"x": value}, booking(), POLICY).reason is reason
    assert authorize(call(at=1), {}, booking(), POLICY).reason is R.PRIVATE
    assert authorize(call(at=1), {"x": value}, booking(None), POLICY).reason is R.PRIVATE


@given(st.integers(1, 4000), st.integers(-4000, 40_000))
def test_fewer_days_never_allow_more(days: int, ahead: int) -> None:
    """What is within so many days is within one more, and exactly what is."""
    value = moment(max(0, ahead) * DAY)
    near, far = (
        authorize(call(at=1), {"x": value}, booking(n), POLICY).outcome for n in (days, days + 1)
    )
    assert isinstance(near, Allow) == (max(0, ahead) * DAY <= days * DAY + 1)
    assert not isinstance(near, Allow) or isinstance(far, Allow)
