"""Rule ``profile``: which pinned profile holds for a turn, and what it takes away (PRF-01..PRF-05,
WFL-04).

A session's pin, else its workspace's, else the global one, else policy's own section. A pin to a
profile that is not there ends the search: the next scope is never asked. What a profile says takes
away from what policy permits; only what policy names as relaxable it may loosen. Its prompt is
advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec import Raw, Struct
from pydantic import ValidationError

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.pinned import PinnedProfile, PinScope, ProfilePolicy, Relaxable, SafetyMode
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import TrustClass, VerbSpec
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.entry import ENTRY_OF
from ordain.rules.reasons import Reason


class ProfileReason(Reason):
    """Why a profile holds, or none can (PRF-05)."""

    SESSION = "profile.session", "The session's own pin."
    WORKSPACE = "profile.workspace", "The workspace's pin; the session has none."
    GLOBAL = "profile.global", "The global pin; neither session nor workspace has one."
    POLICY = "profile.policy", "Nothing is pinned: policy's own section holds."
    NOT_FOUND = (
        "profile.not_found",
        (
            "The pin that counts names a profile that is not there; the next scope is never asked "
            "instead."
        ),
    )
    UNREADABLE = (
        "profile.unreadable",
        "The profile that is pinned, or what is pinned, cannot be read as one by this build.",
    )


_BY_PIN: Mapping[PinScope, Reason] = {
    PinScope.SESSION: ProfileReason.SESSION,
    PinScope.WORKSPACE: ProfileReason.WORKSPACE,
    PinScope.GLOBAL: ProfileReason.GLOBAL,
}
BY_POLICY = "policy"
"""Where what holds was pinned, if it was pinned nowhere."""


class ProfiledBy(StrEnum):
    """What a run decides from which profile holds: pins, which it reads, or policy's section
    alone.
    """

    PINS = "pins"
    POLICY = "policy"


def profiled_by(policy: Policy, *, pinned: bool) -> ProfiledBy | None:
    """What a turn decides from; None where no profile says anything of it."""
    if pinned:
        return ProfiledBy.PINS
    return ProfiledBy.POLICY if policy.profile.governs else None


class HeldProfile(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="held"):
    """What holds: by which pin, which profile in which version ("" and 0 of policy's section), and
    what it says, bounded by policy.

    ``models`` are model profiles by role, ``not_requester`` and ``expires_s`` what approvals are
    held to (None and 0: as policy says).
    """

    pin: str
    profile: str = ""
    version: int = 0
    skills: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    models: dict[str, str] = {}
    prompt: str = ""
    mode: SafetyMode = SafetyMode.STANDARD
    not_requester: bool | None = None
    expires_s: int = 0
    handoff_targets: tuple[str, ...] = ()
    handoff_modes: tuple[str, ...] = ()
    handoff_default: str = ""
    fanout_agents: int = 0

    @property
    def name(self) -> str:
        """As people are told: profile, version and pin."""
        return f"{self.profile}@{self.version} ({self.pin})" if self.profile else f"by {self.pin}"

    @property
    def apart(self) -> bool:
        """Whether somebody else than who asked for a run has to approve what it does."""
        return self.not_requester is True

    @property
    def safety(self) -> str:
        """Its safety mode as facts have it; "" where that says nothing."""
        return "" if self.mode is SafetyMode.STANDARD else self.mode

    def open_s(self, by_policy: int) -> int:
        """How long an approval stays open, where policy leaves it open for so many seconds."""
        return min(by_policy, self.expires_s) if self.expires_s else by_policy

    def leaves(self, scope: CapabilityScope, catalog: Catalog) -> CapabilityScope:
        """What it leaves of a scope, as ids: a glob stays only as the verbs that it names now."""
        verbs, policy = catalog.verbs, catalog.policy
        return scope.narrowed(
            name
            for name in verbs
            if scope.permits(name) and enables(self, verbs[name].spec, policy)
        )


class NoProfile(Struct, frozen=True, gc=False, kw_only=True, tag="none"):
    """The pin that counts leads nowhere: nothing is done under it."""

    pin: str
    profile: str

    @property
    def name(self) -> str:
        """As people are told."""
        return f"{self.profile} ({self.pin})"


ProfileOutcome = HeldProfile | NoProfile


class ProfileSeen(Struct, frozen=True, kw_only=True):
    """A profile as it stands: its version and config, None where that cannot be read."""

    version: int
    config: dict[str, Any] | None


class PinFact(Struct, frozen=True):
    """One pin that stands: its scope, the profile that it names, and that one's version (0: it is
    not there).
    """

    scope: PinScope
    profile: str
    version: int


class ProfileFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pins that concern the session, the narrowest first; ``unread``: they could not be
    read.
    """

    pins: tuple[PinFact, ...] = ()
    unread: bool = False


class PinsSeen(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is pinned for a session: the profile's name by scope, and those of the profiles named
    that are there.
    """

    pins: dict[str, str] = {}
    profiles: dict[str, ProfileSeen] = {}

    def facts(self, *, unread: bool = False) -> ProfileFacts:
        """The features of what was read; ``unread``: it could not be."""
        if unread:
            return ProfileFacts(unread=True)
        pins = [(scope, self.pins[scope]) for scope in PinScope if scope in self.pins]
        found = ((scope, name, self.profiles.get(name)) for scope, name in pins)
        return ProfileFacts(
            pins=tuple(
                PinFact(scope, name, 0 if one is None else one.version)
                for scope, name, one in found
            )
        )


class ProfileInputs(Struct, frozen=True, kw_only=True):
    """What was read of pins and profiles."""

    seen: PinsSeen


def decide_profile(
    facts: ProfileFacts, inputs: ProfileInputs, policy: Policy
) -> Decision[ProfileOutcome]:
    """The narrowest pin decides alone."""
    if facts.unread:
        return Decision(outcome=NoProfile(pin="", profile=""), reason=ProfileReason.UNREADABLE)
    if not facts.pins:
        return Decision(
            outcome=_held(policy.profile, policy.profile, pin=BY_POLICY),
            reason=ProfileReason.POLICY,
        )
    pin = facts.pins[0]
    stands = inputs.seen.profiles.get(pin.profile)
    missing = NoProfile(pin=pin.scope, profile=pin.profile)
    if not pin.version or stands is None:
        return Decision(outcome=missing, reason=ProfileReason.NOT_FOUND)
    try:
        profile = PinnedProfile.model_validate(stands.config)
    except (ValidationError, RecursionError):
        return Decision(outcome=missing, reason=ProfileReason.UNREADABLE)
    held = _held(
        profile, policy.profile, pin=pin.scope, profile=pin.profile, version=stands.version
    )
    return Decision(outcome=held, reason=_BY_PIN[pin.scope])


def _held(given: PinnedProfile, own: ProfilePolicy, **whose: Any) -> HeldProfile:
    """What a profile says, its settings of safety no looser than policy's own but for those that
    may be.
    """
    asked, floor = given.safety, own.safety
    mode, not_requester, expires_s = asked.mode, asked.not_requester, asked.expires_s
    if Relaxable.SAFETY_MODE not in own.relaxable:
        mode = stricter(mode, floor.mode)
    if not_requester is None or (
        Relaxable.NOT_REQUESTER not in own.relaxable and floor.not_requester
    ):
        not_requester = floor.not_requester
    if expires_s is None or (
        Relaxable.EXPIRES_S not in own.relaxable and floor.expires_s is not None
    ):
        expires_s = min((one for one in (expires_s, floor.expires_s) if one is not None), default=0)
    return HeldProfile(
        skills=tuple(given.skills),
        mcp_servers=tuple(given.mcp_servers),
        plugins=tuple(given.plugins),
        models=dict(given.providers),
        prompt=given.system_prompt,
        mode=mode,
        not_requester=not_requester,
        expires_s=expires_s,
        handoff_targets=tuple(given.allowed_handoff_targets),
        handoff_modes=tuple(given.allowed_handoff_modes),
        handoff_default=given.default_handoff_mode,
        fanout_agents=given.max_fanout_agents,
        **whose,
    )


def stricter(one: SafetyMode, other: SafetyMode) -> SafetyMode:
    """The one that lets less happen."""
    order = list(SafetyMode)
    return max(one, other, key=order.index)


# --- what follows from it -------------------------------------------------------------------------


def enables(held: HeldProfile, verb: VerbSpec, policy: Policy) -> bool:
    """Whether a profile leaves a verb to use: its own lists name it, and so do policy's, where
    policy does not leave that to the profile.

    What each turn is made of is no skill: the modes' entries, an agent chain and what sums up
    history stay, or no turn could answer.
    """
    if verb.name in (*ENTRY_OF.values(), CHAIN_VERB, policy.history.verb):
        return True
    own = policy.profile
    match verb.trust_class:
        case TrustClass.MCP:
            which, name, lists = (
                Relaxable.MCP_SERVERS,
                verb.source,
                (held.mcp_servers, own.mcp_servers),
            )
        case TrustClass.PLUGIN:
            which, name, lists = Relaxable.PLUGINS, verb.source, (held.plugins, own.plugins)
        case _:
            which, name, lists = Relaxable.SKILLS, verb.name, (held.skills, own.skills)
    return _named(name, lists[0]) and (which in own.relaxable or _named(name, lists[1]))


def _named(name: str, patterns: Iterable[str]) -> bool:
    return bool(name) and any(fnmatchcase(name, pattern) for pattern in patterns)


def model_of(held: HeldProfile, purpose: str, verb: str, policy: Policy) -> str:
    """The model profile that a profile names for a call: of the first of policy's roles that it is;
    "" where it names none.
    """
    for role, calls in policy.profile.roles.items():
        if role in held.models and (
            purpose in calls.purposes or (verb and _named(verb, calls.verbs))
        ):
            return held.models[role]
    return ""


_OUTCOME = msgspec.json.Decoder(ProfileOutcome)


def _detail(outcome: Raw) -> str:
    return _OUTCOME.decode(outcome).name


PROFILE: Rule[ProfileFacts, ProfileInputs, Any] = Rule(
    name="profile",
    outcome=ProfileOutcome,
    apply=decide_profile,
    reasons=(ProfileReason,),
    tells=tells_of("profile", ProfileReason, _detail),
)
