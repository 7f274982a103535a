"""Laws of pinned profiles: the narrowest pin decides alone, and whatever a profile says only takes
away, but for what policy leaves to it.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import LanesPolicy
from ordain.contracts.pinned import (
    PinnedProfile,
    PinScope,
    ProfilePolicy,
    Relaxable,
    RoleCalls,
    SafetyMode,
    canonical,
    pins_of,
)
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import TrustClass, VerbEffect, VerbSpec
from ordain.rules.lane import LANE, LaneFacts, LaneInputs
from ordain.rules.profile import (
    PROFILE,
    HeldProfile,
    NoProfile,
    PinsSeen,
    ProfiledBy,
    ProfileInputs,
    ProfileSeen,
    enables,
    model_of,
    profiled_by,
    stricter,
)
from tests.unit.rules.given import catalog, decided, json_values

NAMES = ["x", "y", "z"]
VERBS = ["math.evaluate", "mail.send", "mcp.read", "mcp.write", "plug.do", "chat_general"]
patterns = st.sampled_from(["*", "math.*", "mail.send", "mcp.*", "plug.do", "none"])
sources = st.sampled_from(["*", "files", "web", "kit@1", "none"])
safeties = st.fixed_dictionaries(
    {
        "mode": st.sampled_from([str(mode) for mode in SafetyMode]),
        "notRequester": st.sampled_from([None, True, False]),
        "expiresS": st.one_of(st.none(), st.integers(1, 1000)),
    }
)
parts = st.fixed_dictionaries(
    {
        "skills": st.lists(patterns, max_size=3),
        "mcpServers": st.lists(sources, max_size=2),
        "plugins": st.lists(sources, max_size=2),
        "safety": safeties,
        "providers": st.dictionaries(
            st.sampled_from(["writing", "research"]), st.sampled_from(["m1", "m2", "m3"])
        ),
        "systemPrompt": st.text(st.characters(categories=["L", "Nd", "Zs"]), max_size=20),
    }
)
profiles = st.builds(PinnedProfile.model_validate, parts)
sections = st.builds(
    lambda said, relaxable: ProfilePolicy.model_validate(
        {**said, "relaxable": [str(one) for one in relaxable]}
    ),
    parts,
    st.lists(st.sampled_from(Relaxable), unique=True),
)
pinned = st.dictionaries(
    st.sampled_from([str(scope) for scope in PinScope]), st.sampled_from(NAMES)
)
stored = st.dictionaries(st.sampled_from(NAMES), st.builds(canonical, profiles))


def verb(name: str) -> VerbSpec:
    trust, source = {
        "mcp.read": (TrustClass.MCP, "files"),
        "mcp.write": (TrustClass.MCP, "web"),
        "plug.do": (TrustClass.PLUGIN, "kit@1"),
    }.get(name, (TrustClass.SKILL, ""))
    return VerbSpec(
        name=name, description="d", effect=VerbEffect.READ, trust_class=trust, source=source
    )


def house() -> Catalog:
    return catalog({name: verb(name) for name in VERBS})


def seen(pins: dict[str, str], said: dict[str, dict[str, Any]]) -> PinsSeen:
    return PinsSeen(
        pins=pins,
        profiles={name: ProfileSeen(version=3, config=config) for name, config in said.items()},
    )


def held(found: PinsSeen, section: ProfilePolicy) -> HeldProfile | NoProfile:
    policy = Policy(version=1, profile=section)
    return decided(PROFILE, found.facts(), ProfileInputs(seen=found), policy).outcome


def under(profile: PinnedProfile, section: ProfilePolicy) -> HeldProfile:
    found = held(seen({"session": "x"}, {"x": canonical(profile)}), section)
    assert isinstance(found, HeldProfile)
    return found


@given(pinned, stored, sections)
def test_the_narrowest_pin_decides_alone(
    pins: dict[str, str], said: dict[str, dict[str, Any]], section: ProfilePolicy
) -> None:
    """Whatever is pinned elsewhere changes nothing of it; a profile that is not there is found by
    no wider pin; without pins policy's section holds.

    PRF-05 "Resolution order session override → workspace default → global default."
    """
    outcome = held(seen(pins, said), section)
    scope = next((scope for scope in PinScope if scope in pins), None)
    if scope is None:
        assert isinstance(outcome, HeldProfile)
        assert outcome.pin == "policy"
        return
    assert outcome == held(seen({scope: pins[scope]}, said), section)
    assert (outcome.pin, outcome.profile) == (scope, pins[scope])
    assert isinstance(outcome, HeldProfile) == (pins[scope] in said)


@given(profiles, sections)
def test_a_profile_only_tightens_what_policy_does_not_relax(
    profile: PinnedProfile, section: ProfilePolicy
) -> None:
    """Verbs, safety mode and settings of approvals are at least as strict as policy's own section,
    wherever that does not leave them to a profile.

    PRF-02g "Safety mode and approval settings."
    """
    policy, catalogue = Policy(version=1, profile=section), house()
    own, got = held(PinsSeen(), section), under(profile, section)
    assert isinstance(own, HeldProfile)
    if Relaxable.SAFETY_MODE not in section.relaxable:
        assert stricter(got.mode, own.mode) is got.mode
    if Relaxable.NOT_REQUESTER not in section.relaxable:
        assert got.not_requester or not own.not_requester
    if Relaxable.EXPIRES_S not in section.relaxable and own.expires_s:
        assert 0 < got.expires_s <= own.expires_s
    kinds = {TrustClass.MCP: Relaxable.MCP_SERVERS, TrustClass.PLUGIN: Relaxable.PLUGINS}
    for name, one in catalogue.verbs.items():
        if kinds.get(one.spec.trust_class, Relaxable.SKILLS) not in section.relaxable:
            assert enables(own, one.spec, policy) or not enables(got, one.spec, policy)
        if name == "chat_general":
            assert enables(got, one.spec, policy)


@given(profiles, sections, st.lists(st.sampled_from([*VERBS, "mcp.*", "*"]), unique=True))
def test_it_never_widens_a_scope(
    profile: PinnedProfile, section: ProfilePolicy, allowed: list[str]
) -> None:
    """What a profile leaves of a scope is within it, and asked twice leaves as much.

    PRF-02c "Enabled skill set."
    PRF-02d "Allowed MCP server bindings."
    PRF-02e "Enabled Claude plugins."
    """
    policy = Policy(version=1, profile=section)
    catalogue = catalog({name: verb(name) for name in VERBS}, policy)
    scope, got = CapabilityScope(allowed=tuple(allowed)), under(profile, section)
    left = got.leaves(scope, catalogue)
    assert scope.covers(left) or all(scope.permits(name) for name in left.allowed)
    assert set(left.allowed) == {
        name
        for name in VERBS
        if scope.permits(name) and enables(got, catalogue.verbs[name].spec, policy)
    }
    assert got.leaves(left, catalogue) == left


@given(profiles, sections, st.sampled_from(["skills", "mcpServers", "plugins"]), st.data())
def test_a_shorter_list_enables_no_more(
    profile: PinnedProfile, section: ProfilePolicy, part: str, data: st.DataObject
) -> None:
    """Taking names from a profile's lists never enables a verb that was not."""
    said = canonical(profile)
    fewer = data.draw(st.lists(st.sampled_from(said[part]), unique=True)) if said[part] else []
    less = under(PinnedProfile.model_validate({**said, part: fewer}), section)
    policy = Policy(version=1, profile=section)
    for one in house().verbs.values():
        assert enables(under(profile, section), one.spec, policy) or not enables(
            less, one.spec, policy
        )


@given(profiles, sections, st.text(max_size=40))
def test_a_prompt_changes_nothing_else(
    profile: PinnedProfile, section: ProfilePolicy, prompt: str
) -> None:
    """Two profiles that differ in their prompt alone hold the same but for it.

    PRF-02b "System prompt and behaviour constraints: advisory, never an enforcement mechanism."
    """
    advised = profile.model_copy(update={"system_prompt": "".join(filter(str.isalnum, prompt))})
    assert msgspec.structs.replace(under(profile, section), prompt="") == msgspec.structs.replace(
        under(advised, section), prompt=""
    )


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3), sections)
def test_what_is_no_profile_holds_nothing(config: dict[str, Any], section: ProfilePolicy) -> None:
    """A stored config that this build cannot read ends the turn with a reason; the rule raises
    nothing, whatever it is given.
    """
    found = seen({"session": "x", "global": "y"}, {"x": {**config, "unknown": 1}, "y": {}})
    decision = decided(
        PROFILE, found.facts(), ProfileInputs(seen=found), Policy(version=1, profile=section)
    )
    assert (decision.reason, decision.outcome) == (
        "profile.unreadable",
        NoProfile(pin="session", profile="x"),
    )


def test_pins_that_cannot_be_read_hold_nothing() -> None:
    """Whoever could not look does not go on as if nothing were pinned."""
    decision = decided(
        PROFILE, PinsSeen().facts(unread=True), ProfileInputs(seen=PinsSeen()), Policy(version=1)
    )
    assert (decision.reason, isinstance(decision.outcome, NoProfile)) == (
        "profile.unreadable",
        True,
    )


@given(sections, st.booleans())
def test_who_has_to_decide_a_profile(section: ProfilePolicy, pin: bool) -> None:
    """A turn that is pinned reads its pins; one that is not decides only where policy's section
    says something.
    """
    policy = Policy(version=1, profile=section)
    expected = ProfiledBy.PINS if pin else ProfiledBy.POLICY if section.governs else None
    assert profiled_by(policy, pinned=pin) is expected


def test_the_section_as_shipped_says_nothing() -> None:
    """A policy that names roles, or what may be relaxed, holds nobody to anything by that."""
    assert not ProfilePolicy().governs
    assert not ProfilePolicy(
        roles={"writing": RoleCalls(verbs=["a"])}, relaxable=[Relaxable.SKILLS]
    ).governs
    silent = ProfilePolicy()
    assert not silent.governs
    assert silent.model_copy(update={"skills": ["a"]}).governs, "a copy is judged by what it says"
    assert ProfilePolicy.model_validate({"skills": ["a"]}).governs
    for said, told in (
        ({"heartbeat": {"enabled": True}}, True),
        ({"safety": {"expires_s": 60}}, True),
        ({"heartbeat": {"enabled": False}, "safety": {"mode": "standard"}}, False),
    ):
        assert ProfilePolicy.model_validate(said).governs is told, "a default that is written out"


@pytest.mark.parametrize(
    ("purpose", "called", "expected"),
    [
        ("planner", "", "m1"),
        ("verb", "draft.letter", "m2"),
        ("verb", "other", ""),
        ("verdict", "", ""),
        ("router", "", ""),
    ],
)
def test_a_role_is_the_calls_that_policy_names(purpose: str, called: str, expected: str) -> None:
    """The first of policy's roles that a call is of, and of which the profile names a model; a role
    of the profile's alone stands for nothing.

    PRF-02a "Pinned LLM provider mapping by role (e.g. Anthropic→writing, Gemini→web research)."
    """
    roles = {
        "research": RoleCalls(purposes=["planner"]),
        "writing": RoleCalls(purposes=["planner", "verb-of-none"], verbs=["draft.*"]),
        "judging": RoleCalls(purposes=["verdict"]),
    }
    policy = Policy(version=1, profile=ProfilePolicy(roles=roles))
    profile = PinnedProfile(providers={"research": "m1", "writing": "m2", "unheard": "m3"})
    assert model_of(under(profile, policy.profile), purpose, called, policy) == expected


@given(
    st.sampled_from(["m1", "m2", "m3"]),
    st.sampled_from(Lane),
    st.dictionaries(st.sampled_from(Lane), st.sampled_from(Lane)),
)
def test_a_pinned_model_comes_first_where_its_lane_reaches_it(
    model: str, lane: Lane, following: dict[Lane, Lane]
) -> None:
    """It is named before the lane's own; one that the lane and those that may follow it do not have
    is told, and the lane's order stands.
    """
    behind = {Lane.LOCAL: ["m1"], Lane.WORKER: ["m2", "m1"], Lane.BRAIN: ["m3"]}
    lanes = LanesPolicy.model_validate(
        {"planner": lane, "profiles": behind, "next_lane": following}
    )
    section = ProfilePolicy(roles={"planning": RoleCalls(purposes=["planner"])})
    policy = Policy(version=1, lanes=lanes, profile=section)
    inputs = LaneInputs(
        by_purpose=lambda policy: policy.lanes.planner,
        held=under(PinnedProfile(providers={"planning": model}), section),
    )
    decision = decided(LANE, LaneFacts(purpose="planner", profile="x"), inputs, policy)
    reached, at = list[Lane](), lane
    while at not in reached:
        reached.append(at)
        at = following.get(at, at)
    named = [one for name in reached for one in behind[name]]
    plain = decided(
        LANE, LaneFacts(purpose="planner"), LaneInputs(by_purpose=inputs.by_purpose), policy
    )
    assert decision.outcome.lane is plain.outcome.lane
    if model in named:
        assert decision.reason == "lane.pinned"
        assert list(decision.outcome.profiles) == [
            model,
            *(one for one in behind[lane] if one != model),
        ]
    else:
        assert decision.reason == "lane.pin_not_here"
        assert decision.outcome == plain.outcome


def test_where_pins_are() -> None:
    """A session and a workspace are pinned in their workspace, everybody where all workspaces
    look.
    """
    assert pins_of("team", "s:1") == {
        PinScope.SESSION: ("team", "profile-pin:session:s:1"),
        PinScope.WORKSPACE: ("team", "profile-pin:workspace:team"),
        PinScope.GLOBAL: ("*", "profile-pin:global"),
    }
