"""Laws of rule ``handoff``: who may be handed work, with which verbs, and in what envelope."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from msgspec.structs import replace

from ordain.contracts.approvals import MayAsk
from ordain.contracts.cards import PRIMARY
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import PARTS, Envelope, HandoffBudget, missing_parts
from ordain.contracts.pinned import PinnedProfile
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.flows.envelopes import asks_of
from ordain.rules.decision import Decision
from ordain.rules.handoff import (
    HANDOFF,
    Diagnostic,
    HandingReason,
    HandoffAllowed,
    HandoffFacts,
    HandoffInputs,
    HandoffRefused,
    HandoffStage,
)
from ordain.rules.profile import HeldProfile
from ordain.rules.skills import temporary_card
from tests.shapes.cards import ALL, CARDS, VERBS, given, hand_to, house_of_cards
from tests.unit.rules.given import decided

CATALOG = house_of_cards()
VERB_NAMES = [verb.name for verb in VERBS]
EVERYTHING = CapabilityScope(allowed=("*",))
LEFT = HandoffBudget(tokens=1000, usd_micros=500, model_calls=20, verb_calls=10)
R = HandingReason


def held(**parts: Any) -> HeldProfile:
    said: dict[str, Any] = {
        "skills": ("*",),
        "handoff_targets": ALL,
        "handoff_modes": ("direct", "delegate", "fanout-fanin"),
        "fanout_agents": 8,
        **parts,
    }
    return HeldProfile(pin="session", profile="p", version=1, **said)


def asked(*calls: Call, catalog: Catalog = CATALOG, **more: Any) -> Decision[Any]:
    """What the rule says of these calls; facts and inputs by name."""
    asks = asks_of(calls)
    width = more.pop("width", len(asks))
    chain, may_ask, mode = (
        more.pop("chain", ()),
        more.pop("may_ask", MayAsk.PEOPLE),
        more.pop("mode", ""),
    )
    plan = more.pop("plan", False)
    facts = HandoffFacts(
        stage=HandoffStage.REQUEST,
        targets=len(asks),
        asked="d",
        width=width,
        mode=mode,
        chain=tuple(chain),
        may_ask=may_ask,
        plan=plan,
    )
    known: dict[str, Any] = {
        "held": None,
        "scope": EVERYTHING,
        "left": LEFT,
        "run": "r",
        "root": "t",
        **more,
    }
    return decided(
        HANDOFF, facts, HandoffInputs(calls=asks, catalog=catalog, **known), catalog.policy
    )


def envelope(call: Call, **more: Any) -> Envelope:
    outcome = asked(call, **more).outcome
    assert isinstance(outcome, HandoffAllowed)
    (made,) = outcome.envelopes
    return made


def begun(
    made: Envelope | None, call: Call, chain: tuple[str, ...], scope: CapabilityScope = EVERYTHING
) -> Decision[Any]:
    """What the rule says of a run that begins with this envelope."""
    facts = HandoffFacts(stage=HandoffStage.RUN, targets=1, asked="d", chain=chain)
    inputs = HandoffInputs(
        calls=asks_of((call,)), catalog=CATALOG, held=None, scope=scope, given=made
    )
    return decided(HANDOFF, facts, inputs, CATALOG.policy)


# --- the envelope ---------------------------------------------------------------------------------


def test_an_envelope_has_all_seven_parts() -> None:
    """Each made by code: who, to whom, why, what, with which verbs, under which model policy and
    budget, and where it belongs.

    HND-01 "Every agent handoff is an explicit object; the seven fields a-g are all required."
    HND-01a "Source agent id."
    HND-01b "Target agent id."
    """
    made = envelope(hand_to("reader", priority="high", return_expected=False))
    assert missing_parts(made) == ()
    assert (made.source, made.target, made.reason, made.intent) == (
        PRIMARY,
        "reader",
        "domain",
        "to know it",
    )
    assert made.payload is not None
    assert (
        made.payload.digest
        == asks_of((hand_to("reader", priority="high", return_expected=False),))[0].digest
    )
    assert made.scope == ("look",)
    assert made.models is not None
    assert made.models.catalog == CATALOG.digest
    assert made.budget == HandoffBudget(tokens=1000, usd_micros=500, model_calls=20, verb_calls=9)
    assert made.trace is not None
    assert (made.trace.root, made.trace.run, made.trace.depth) == ("t", "r", 1)
    assert (made.priority, made.return_expected) == ("high", False)


def test_what_an_envelope_says_of_why_and_of_what() -> None:
    """Reason and intent are the call's, the payload is the call itself by digest and size, of the
    type of the card's verb.

    HND-01c "Reason and intent."
    HND-01d "Typed input payload."
    """
    call = hand_to("reader", reason="tools", intent="to compare")
    made = envelope(call)
    assert (made.reason, made.intent) == ("tools", "to compare")
    assert made.payload is not None
    (ask,) = asks_of((call,))
    assert (made.payload.type, made.payload.digest, made.payload.size_bytes) == (
        "agent.reader",
        ask.digest,
        ask.size_bytes,
    )


def test_what_an_envelope_says_of_models_money_and_place() -> None:
    """The catalog and lane that hold, the profile by name, an equal share of what is left, and the
    cards that the work went through.

    HND-01f "Model policy snapshot and budget context."
    HND-01g "Trace correlation metadata."
    """
    made = envelope(hand_to("reader"), held=held(), chain=("keeper",))
    assert made.models is not None
    assert (made.models.catalog, made.models.lane, made.models.profile) == (
        CATALOG.digest,
        CATALOG.policy.lanes.planner,
        "p@1 (session)",
    )
    assert made.budget == HandoffBudget(tokens=1000, usd_micros=500, model_calls=20, verb_calls=9)
    assert made.trace is not None
    assert (made.trace.root, made.trace.run, made.trace.depth, made.trace.chain) == (
        "t",
        "r",
        2,
        ("keeper",),
    )
    assert made.source == "keeper"


@pytest.mark.parametrize("part", PARTS)
def test_an_envelope_without_a_part_is_refused(part: str) -> None:
    """By name, at the start of the run that it was made for, each part in turn and each field of
    it.

    HND-02 "No raw prompt-based handoff is accepted without typed envelope + policy validation."
    FAIL-01 "Validation failure before a handoff rejects it with a typed error."
    """
    call = hand_to("reader")
    made = envelope(call)
    assert begun(made, call, ("reader",)).reason is R.BEGUN
    for field in PARTS[part]:
        lacking = replace(made, **{field: msgspec.structs.asdict(Envelope())[field]})
        decision = begun(lacking, call, ("reader",))
        assert decision.reason is R.INVALID
        assert decision.outcome.detail == f"without {part}"
    assert begun(None, call, ("reader",)).reason is R.INVALID


def test_an_envelope_is_one_runs_own() -> None:
    """Another call's, another chain's, another catalog's, or one with more verbs than the run has,
    is refused for that.
    """
    call = hand_to("reader")
    made = envelope(call)
    other = hand_to("reader", task="Find another.")
    assert begun(made, other, ("reader",)).outcome.detail == "payload: not this run's"
    assert begun(made, call, ("keeper", "reader")).outcome.detail == "trace: not this run's"
    assert (
        begun(replace(made, source="keeper"), call, ("reader",)).outcome.detail
        == "source: not this run's"
    )
    assert (
        begun(replace(made, intent="else"), call, ("reader",)).outcome.detail
        == "reason: not this run's"
    )
    assert (
        begun(replace(made, target="keeper"), call, ("reader",)).outcome.detail
        == "target: not this run's"
    )
    assert (
        begun(made, call, ("reader",), CapabilityScope()).outcome.detail == "scope: not this run's"
    )
    assert (
        begun(
            replace(made, models=replace(made.models, catalog="x")), call, ("reader",)
        ).outcome.detail
        == "models: not this run's"
    )


@pytest.mark.parametrize(
    "extra",
    ["scope", "source", "target", "budget", "trace", "envelope", "models", "handoff", "depth"],
)
def test_a_model_names_no_part_of_an_envelope(extra: str) -> None:
    """What a model says beside the wish is refused, and no such argument is there to be
    believed.
    """
    decision = asked(hand_to("reader", **{extra: ["*"]}))
    assert decision.reason is R.INVALID
    assert isinstance(decision.outcome, HandoffRefused)


@pytest.mark.parametrize("without", ["task", "intent", "reason", "payload"])
def test_a_request_without_what_it_needs_is_refused(without: str) -> None:
    """A task, why, what for, and with what; and a reason is one of a closed set."""
    args = {name: value for name, value in given().items() if name != without}
    assert asked(Call(verb="agent.reader", args=args)).reason is R.INVALID
    assert asked(hand_to("reader", reason="because")).reason is R.INVALID


# --- the targets ----------------------------------------------------------------------------------


@drawn(
    st.lists(st.sampled_from(ALL), min_size=1, max_size=5, unique=True),
    st.sets(st.sampled_from(ALL)),
    st.sets(st.sampled_from(ALL)),
)
def test_one_target_outside_refuses_the_whole_request(
    targets: list[str], own: set[str], pinned: set[str]
) -> None:
    """Whom policy's section or the pinned profile does not name is handed nothing, nor is anybody
    beside it; nobody named means nobody.

    PRF-02h "`allowedHandoffTargets`, strictly populated, governs privilege expansion downstream."
    HND-08 "`allowedHandoffTargets` on the pinned profile strictly bounds delegation downstream."
    B-30 "Reject whole request pre-execution if any target is disallowed"
    B-30 "Empty/missing `allowedHandoffTargets` = none allowed (original treats missing as
    unrestricted)."
    """
    catalog = house_of_cards(profile={"allowed_handoff_targets": sorted(own)})
    decision = asked(
        *map(hand_to, targets), catalog=catalog, held=held(handoff_targets=tuple(pinned))
    )
    assert (decision.reason is R.TARGET) == (not set(targets) <= own & pinned)
    assert isinstance(decision.outcome, HandoffRefused) == (decision.reason is R.TARGET)
    assert PinnedProfile().allowed_handoff_targets == []


def test_nobody_hands_work_to_itself_or_in_a_circle_or_too_deep() -> None:
    """Depth is a count of its own, at most five, and policy may lower it."""
    assert asked(hand_to("reader"), chain=("reader",)).reason is R.SELF
    assert asked(hand_to("reader"), chain=("reader", "keeper")).reason is R.CYCLE
    five = ("a1", "a2", "a3", "a4", "a5")
    assert asked(hand_to("reader"), chain=five[:4]).reason is R.HANDED
    assert asked(hand_to("reader"), chain=five).reason is R.DEPTH
    assert (
        asked(
            hand_to("reader"), chain=("keeper",), catalog=house_of_cards(handoff={"max_depth": 1})
        ).reason
        is R.DEPTH
    )
    assert asked(hand_to("nobody")).reason is R.UNKNOWN_AGENT
    assert asked().reason is R.INVALID


def test_how_work_is_handed_on_is_the_profiles_to_say() -> None:
    """As C5 has it: a mode that is not allowed is refused, else what fits; too many are cut, and
    that is told.
    """
    two, three = (
        [hand_to("reader"), hand_to("keeper")],
        [hand_to("reader"), hand_to("keeper"), hand_to("talker")],
    )
    assert asked(hand_to("reader")).outcome.mode == "delegate"
    assert asked(*two).outcome.mode == "fanout-fanin"
    assert asked(*two, mode="delegate", held=held(handoff_modes=("fanout-fanin",))).reason is R.MODE
    assert asked(hand_to("reader"), held=held(handoff_modes=("direct",))).reason is R.MODE
    adjusted = asked(*two, held=held(handoff_modes=("delegate",))).outcome
    assert adjusted.diagnostics == (Diagnostic.MODE_ADJUSTED, Diagnostic.TARGET_ADJUSTED)
    assert [one.target for one in adjusted.envelopes] == ["reader"]
    limited = asked(*three, held=held(fanout_agents=2)).outcome
    assert (limited.diagnostics, len(limited.envelopes), limited.width) == (
        (Diagnostic.FANOUT_LIMITED,),
        2,
        2,
    )
    plan = asked(*three, width=2, held=held(fanout_agents=2)).outcome
    assert (plan.diagnostics, len(plan.envelopes), plan.width) == ((), 3, 2)
    for width in (2, 3):
        # the steps of a plan are worked through whole, and nothing of it is called limited
        steps = asked(*three, width=width, plan=True, held=held(fanout_agents=2)).outcome
        assert (steps.diagnostics, len(steps.envelopes), steps.width) == ((), 3, 2)
    inturn = asked(*three, width=1).outcome
    assert (inturn.mode, len(inturn.envelopes), inturn.width) == ("delegate", 3, 1)


def test_the_default_mode_holds_where_nobody_says_and_it_fits() -> None:
    """Of several targets at once each then has its turn, and that is told; what is named goes
    before it, and one that does not fit changes nothing.
    """
    two, both = [hand_to("reader"), hand_to("keeper")], ("delegate", "fanout-fanin")
    inturn = asked(*two, held=held(handoff_modes=both, handoff_default="delegate")).outcome
    assert (inturn.mode, len(inturn.envelopes), inturn.width, inturn.diagnostics) == (
        "delegate",
        2,
        1,
        (Diagnostic.MODE_ADJUSTED,),
    )
    named = asked(
        *two, mode="fanout-fanin", held=held(handoff_modes=both, handoff_default="delegate")
    ).outcome
    assert (named.mode, named.width, named.diagnostics) == ("fanout-fanin", 2, ())
    assert (
        asked(
            hand_to("reader"), held=held(handoff_modes=both, handoff_default="fanout-fanin")
        ).outcome.mode
        == "delegate"
    )
    assert asked(*two, held=held(handoff_default="direct")).outcome.mode == "fanout-fanin"
    own = {
        "allowed_handoff_modes": ["delegate", "fanout-fanin"],
        "default_handoff_mode": "delegate",
    }
    assert asked(*two, catalog=house_of_cards(profile=own)).outcome.width == 1


# --- what each may use ----------------------------------------------------------------------------

skills = st.lists(
    st.sampled_from([*VERB_NAMES, "agent.reader", "agent.keeper", "no.such"]),
    max_size=4,
    unique=True,
)
requests = st.fixed_dictionaries(
    {}, optional={"forward_skills": skills, "tools": skills, "fallback_tools": skills}
)
scopes = st.lists(st.sampled_from([*VERB_NAMES, "look*", "*"]), max_size=4).map(
    lambda allowed: CapabilityScope(allowed=tuple(allowed))
)
askers = st.none() | st.sampled_from(MayAsk)


def passed(decision: Decision[Any]) -> set[str]:
    outcome = decision.outcome
    return (
        {verb for one in outcome.envelopes for verb in one.scope}
        if isinstance(outcome, HandoffAllowed)
        else set()
    )


@drawn(st.sampled_from(ALL), requests, scopes, askers)
def test_a_scope_is_what_all_have_in_common(
    card: str, wish: dict[str, Any], scope: CapabilityScope, may_ask: MayAsk | None
) -> None:
    """Of the card, the profile, policy and the one who hands on; beyond the card only what is told
    as such, and only where a person can be asked.

    RTE-10 "Code enforces capability scope, tool allowlists, delegated skill-forwarding limits."
    HND-03 "Sub-agents run with explicit capability scope and inherited policy constraints."
    HND-07 "Cross-domain privilege expansion needs explicit policy approval."
    """
    catalog = house_of_cards(verbs={"default": {"allow": [], "deny": ["tell"]}})
    decision = asked(
        hand_to(card, **wish),
        catalog=catalog,
        scope=scope,
        held=held(skills=("look*", "keep", "tell")),
        may_ask=may_ask,
    )
    domain = catalog.domain_of(CARDS[card])
    for verb in passed(decision):
        assert scope.permits(verb)
        assert verb in ("look", "look.far", "keep")
    if isinstance(decision.outcome, HandoffAllowed):
        (made,) = decision.outcome.envelopes
        assert set(made.expansion) == set(made.scope or ()) - domain
        assert not made.expansion or may_ask is MayAsk.PEOPLE
        assert set(made.expansion) <= {*wish.get("tools", ()), *wish.get("fallback_tools", ())}


@drawn(st.sampled_from(ALL), requests, scopes, st.data())
def test_narrowing_never_allows_more(
    card: str, wish: dict[str, Any], scope: CapabilityScope, data: st.DataObject
) -> None:
    """A smaller scope of the one who hands on, fewer skills of the profile, more denied by policy,
    fewer forwarded: nothing is passed on that was not.
    """
    wide = passed(asked(hand_to(card, **wish), scope=scope, held=held()))
    less = CapabilityScope(
        allowed=tuple(
            data.draw(st.lists(st.sampled_from(scope.allowed), unique=True))
            if scope.allowed
            else ()
        )
    )
    assert passed(asked(hand_to(card, **wish), scope=less, held=held())) <= wide
    some = tuple(data.draw(st.lists(st.sampled_from(VERB_NAMES), max_size=3)))
    assert passed(asked(hand_to(card, **wish), scope=scope, held=held(skills=some))) <= wide
    tighter = house_of_cards(verbs={"default": {"allow": [], "deny": list(some)}})
    assert passed(asked(hand_to(card, **wish), scope=scope, held=held(), catalog=tighter)) <= wide
    forwarded = {
        **wish,
        "forward_skills": [
            verb for verb in wish.get("forward_skills", VERB_NAMES) if data.draw(st.booleans())
        ],
    }
    assert passed(asked(hand_to(card, **forwarded), scope=scope, held=held())) <= wide
    assert passed(asked(hand_to(card, **wish), scope=scope, held=held(), may_ask=None)) <= wide


@drawn(st.sampled_from(ALL), requests, scopes)
def test_each_skill_that_is_rejected_is_told(
    card: str, wish: dict[str, Any], scope: CapabilityScope
) -> None:
    """By name, and by who does not allow it; where nothing is left of what was asked for, the
    handoff is blocked.

    HND-04 "Least privilege by default; requested `forward_skills` are untrusted and clamped by
    server policy."
    B-29 "Block (safer default), typed `delegation_blocked`; rejected items logged."
    """
    decision = asked(hand_to(card, **wish), scope=scope)
    wished = {
        *wish.get("forward_skills", ()),
        *wish.get("tools", ()),
        *wish.get("fallback_tools", ()),
    }
    outcome = decision.outcome
    rejected = (
        outcome.rejected if isinstance(outcome, HandoffRefused) else outcome.envelopes[0].rejected
    )
    assert {one.verb for one in rejected} == wished - passed(decision)
    wanted = "forward_skills" in wish or wished or CARDS[card].allow or CARDS[card].tool_preference
    assert (decision.reason is R.BLOCKED) == bool(wanted and not passed(decision))


def test_a_card_without_tools_works_without() -> None:
    """Where nobody asked for any: words are all that it was for."""
    assert envelope(hand_to("talker")).scope == ()
    assert asked(hand_to("talker", forward_skills=[])).reason is R.BLOCKED


def test_work_is_not_passed_on_to_where_it_came_from() -> None:
    """A specialist that may hand on is not given the verb of a card that the work went through, nor
    its own.
    """
    assert envelope(hand_to("ruler")).scope == (
        "agent.dropper",
        "agent.keeper",
        "agent.reader",
        "agent.talker",
        "look",
        "rule",
    )
    deeper = envelope(hand_to("ruler"), chain=("keeper", "reader"))
    assert deeper.scope == ("agent.dropper", "agent.talker", "look", "rule")
    assert deeper.source == "reader"


@drawn(st.sampled_from(ALL), st.integers(2, 4), requests)
def test_a_temporary_sub_agent_is_its_card_and_narrower(
    card: str, copies: int, wish: dict[str, Any]
) -> None:
    """Where a fan-out names a card several times each further one is a sub-agent that code makes of
    it: named, traced, with no more, and never to hand work on.

    HND-06 "Temporary sub-agents allowed for bounded parallel work, explicitly traced."
    """
    outcome = asked(
        *(hand_to(card, **wish, task=f"Part {number}.") for number in range(copies))
    ).outcome
    if isinstance(outcome, HandoffAllowed):
        first, *others = outcome.envelopes
        assert first.temporary == ""
        assert [one.temporary for one in others] == [
            f"{card}_{number}" for number in range(2, copies + 1)
        ]
        for one in others:
            assert one.target == card
            assert set(one.scope or ()) == {
                verb for verb in first.scope or () if not verb.startswith("agent.")
            }
    made = temporary_card(CARDS[card], 2, ("look", "agent.reader"))
    assert (made.allow, made.fallback_agent, made.domain) == (["look"], None, CARDS[card].domain)


# --- the budget -----------------------------------------------------------------------------------

amounts = st.integers(-5, 10_000)
lefts = st.builds(
    HandoffBudget, tokens=amounts, usd_micros=amounts, model_calls=amounts, verb_calls=amounts
)


@drawn(lefts, st.integers(1, 8))
def test_shares_together_are_no_more_than_what_is_left(left: HandoffBudget, parts: int) -> None:
    """The calls themselves counted; and of what is overdrawn nobody gets anything."""
    outcome = asked(
        *(hand_to("reader", task=f"Part {number}.") for number in range(parts)), left=left
    ).outcome
    budgets = [one.budget for one in outcome.envelopes]
    for kind in ("tokens", "usd_micros", "model_calls"):
        assert sum(getattr(one, kind) for one in budgets) <= max(0, getattr(left, kind))
    assert all(one.verb_calls >= 0 for one in budgets)
    assert sum(one.verb_calls + 1 for one in budgets) <= max(parts, left.verb_calls)
