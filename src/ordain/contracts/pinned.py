"""Pinned profiles: what a session, a workspace or everybody is pinned to, and the records that hold
them (PRF-01..PRF-05, B-11, B-12). Validation only.

A profile is data of the operator's. Of its parts the prompt is advice; all others only take away
from what policy permits (rule ``profile``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from ordain.contracts.conversation import WORKSPACE_ID, Camel
from ordain.contracts.ids import SESSION_ID
from ordain.contracts.planner import Strict

EVERYWHERE = "*"
"""The place of records that belong to no workspace but to all: the global pin, and profiles for
whoever has none of that name.
"""
PROFILE_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
PIN = "profile-pin:"
PIN_ID = rf"^{PIN}(global|workspace:{WORKSPACE_ID[1:-1]}|session:{SESSION_ID[1:-1]})$"
PROMPT_CHARS = 4000
"""Longest prompt of a profile, in characters: it stands in each prompt of a turn."""
CONFIG_BYTES = 65_536
"""Most bytes of one record's config as JSON."""
HELD_FOR_LATER = ("heartbeat",)
"""Parts of a profile, by their names on the wire, that no flow of this build reads: stored and
shown.
"""

ProfileId = Annotated[str, StringConstraints(pattern=PROFILE_ID)]
ProfileRole = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
VerbPattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.*?\[\]!-]{1,128}$")]
SourcePattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.*?@/-]{1,128}$")]
ProfilePattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._*?-]{1,64}$")]
TargetName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,127}$")]
PromptText = Annotated[
    str,
    StringConstraints(
        max_length=PROMPT_CHARS, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    ),
]
"""Words of several lines, without what commands a terminal."""
CheckName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
Purpose = Annotated[str, StringConstraints(max_length=64)]
HandoffMode = Literal["direct", "delegate", "fanout-fanin"]


class ResourceType(StrEnum):
    """What a record of the control plane is of: a profile, or a policy record, of which there are
    pins.
    """

    PROFILE = "profile"
    POLICY = "policy"


class PinScope(StrEnum):
    """For whom a pin holds, the narrowest first: that is the order of resolution (PRF-05)."""

    SESSION = "session"
    WORKSPACE = "workspace"
    GLOBAL = "global"


class SafetyMode(StrEnum):
    """How much may happen without a person, the loosest first.

    ``standard``: what policy lets happen. ``guarded``: everything beyond reads needs an approval.
    ``read_only``: nothing beyond reads happens.
    """

    STANDARD = "standard"
    GUARDED = "guarded"
    READ_ONLY = "read_only"


class Relaxable(StrEnum):
    """What policy's own section may leave to a pinned profile to loosen; whatever it does not name
    a profile can only tighten.
    """

    SKILLS = "skills"
    MCP_SERVERS = "mcp_servers"
    PLUGINS = "plugins"
    SAFETY_MODE = "safety.mode"
    NOT_REQUESTER = "safety.not_requester"
    EXPIRES_S = "safety.expires_s"


class HeartbeatDefaults(Camel):
    """What heartbeats and automations of the profile begin with (PRF-02f); hours are UTC, and a
    window may wrap midnight.
    """

    enabled: bool = Field(default=False, description="Whether a heartbeat runs.")
    cadence_minutes: int = Field(
        default=60, ge=1, le=1440, description="Minutes from one to the next."
    )
    active_from_hour_utc: int | None = Field(
        default=None, ge=0, le=23, description="From this hour on; with the next, or neither."
    )
    active_to_hour_utc: int | None = Field(
        default=None, ge=0, le=23, description="Until this hour."
    )
    delivery_rule: Literal["ok", "alerts", "indicators"] = Field(
        default="alerts", description="What is told."
    )
    model_lane_default: Literal["local", "worker", "brain"] = Field(
        default="local", description="The lane of its models."
    )
    escalation_enabled: bool = Field(
        default=False, description="Whether failures move it to another lane."
    )
    escalation_failure_threshold: int = Field(
        default=1, ge=1, le=100, description="After so many failures."
    )
    escalation_target_lane: Literal["local", "worker", "brain"] = Field(
        default="worker", description="To this lane."
    )
    checks: list[CheckName] = Field(default=[], max_length=100, description="What is looked at.")

    @model_validator(mode="after")
    def _whole_window(self) -> Self:
        if (self.active_from_hour_utc is None) != (self.active_to_hour_utc is None):
            raise ValueError("activeFromHourUtc and activeToHourUtc stand together")
        return self


class SafetySettings(Camel):
    """The safety mode and what approvals of the profile's sessions are held to (PRF-02g, WFL-04);
    null is as policy says.
    """

    mode: SafetyMode = Field(
        default=SafetyMode.STANDARD,
        strict=False,
        description="How much may happen without a person.",
    )
    not_requester: bool | None = Field(
        default=None, description="Whether somebody else than the one who asked has to approve."
    )
    expires_s: int | None = Field(
        default=None, ge=1, le=2_592_000, description="How long an approval stays open, in seconds."
    )


class PinnedProfile(Camel):
    """What a session is pinned to, its eight parts each a field (PRF-02), and the bounds of a
    handoff's route (C5).

    ``skills`` are ids and globs of verbs that are this build's or an operator's; verbs of MCP
    servers and plugins are enabled by where they come from. Nobody is a handoff's target who is not
    named (B-30).
    """

    providers: dict[ProfileRole, ModelName] = Field(
        default={}, max_length=50, description="The model profile of each role (PRF-02a)."
    )
    system_prompt: PromptText = Field(
        default="", description="Advice to models; it decides nothing (PRF-02b)."
    )
    skills: list[VerbPattern] = Field(
        default=["*"],
        max_length=500,
        description="Verbs that are enabled, by id or glob (PRF-02c).",
    )
    mcp_servers: list[SourcePattern] = Field(
        default=[], max_length=100, description="MCP servers whose verbs are enabled (PRF-02d)."
    )
    plugins: list[SourcePattern] = Field(
        default=[], max_length=100, description="Plugins whose verbs are enabled (PRF-02e)."
    )
    heartbeat: HeartbeatDefaults = Field(
        default=HeartbeatDefaults(),
        description="What heartbeats begin with (PRF-02f); nothing reads it yet.",
    )
    safety: SafetySettings = Field(
        default=SafetySettings(), description="Safety mode and approval settings (PRF-02g)."
    )
    allowed_handoff_targets: list[TargetName] = Field(
        default=[],
        max_length=200,
        description="Who may be handed work, cards by name; nobody else is (PRF-02h).",
    )
    allowed_handoff_modes: list[HandoffMode] = Field(
        default=["direct"],
        min_length=1,
        max_length=3,
        description="How work may be handed on; direct hands nothing on.",
    )
    default_handoff_mode: HandoffMode = Field(
        default="direct",
        description=(
            "How it is where nobody says and it fits: as a delegation, several have their turn "
            "one after the other."
        ),
    )
    max_fanout_agents: int = Field(
        default=2,
        ge=2,
        le=100,
        description="Most agents of one fan-out, and at work at once on a plan.",
    )

    @model_validator(mode="after")
    def _default_is_allowed(self) -> Self:
        if self.default_handoff_mode not in self.allowed_handoff_modes:
            raise ValueError("defaultHandoffMode is one of allowedHandoffModes")
        return self


class ProfilePin(Camel):
    """The config of a pin: the profile that holds."""

    profile: ProfileId


class RoleCalls(Strict):
    """Which model calls a role stands for: purposes, as policy's lanes name them, and verbs whose
    prompt plan asks.
    """

    purposes: list[Purpose] = Field(default=[], max_length=50, description="As lanes name them.")
    verbs: list[VerbPattern] = Field(default=[], max_length=200, description="By id or glob.")


class ProfilePolicy(PinnedProfile):
    """Policy's section ``profile``: what holds where nothing is pinned, and what no pinned profile
    exceeds but where ``relaxable`` names it.
    """

    mcp_servers: list[SourcePattern] = Field(
        default=["*"], max_length=100, description="MCP servers that any profile may enable."
    )
    plugins: list[SourcePattern] = Field(
        default=["*"], max_length=100, description="Plugins that any profile may enable."
    )
    roles: dict[ProfileRole, RoleCalls] = Field(
        default={},
        max_length=50,
        description="What a profile's roles stand for; the first that fits.",
    )
    relaxable: list[Annotated[Relaxable, Field(strict=False)]] = Field(
        default=[], max_length=len(Relaxable), description="What a pinned profile may loosen."
    )
    selectable: list[ProfilePattern] = Field(
        default=[],
        max_length=100,
        description=(
            "Profiles, by id or glob, to which whoever begins a session may bind it "
            "(`ordain:NAME` of /v1)."
        ),
    )

    @property
    def wants_another(self) -> bool:
        """Whether nobody approves, or grants himself, what he asked for: no pinned profile may
        loosen that.
        """
        return self.safety.not_requester is True and Relaxable.NOT_REQUESTER not in self.relaxable

    @property
    def governs(self) -> bool:
        """Whether the section says anything of a turn that is pinned to nothing. What nobody wrote
        says nothing, which is told without comparing it: each model call and each verb call asks.
        """
        return not self.model_fields_set.isdisjoint(_SPEAKING) and (
            _what_is_said(self) != _NOTHING
            or _says(self.heartbeat, _HEARTBEAT)
            or _says(self.safety, _SAFETY)
        )


def _says(part: Camel, nothing: Camel) -> bool:
    """Whether a part is not as if nobody had written it: most are asked of every model call, and
    nobody has, which is told without comparing them.
    """
    return bool(part.model_fields_set) and part != nothing


_HANDOFFS = frozenset(
    {
        "allowed_handoff_targets",
        "allowed_handoff_modes",
        "default_handoff_mode",
        "max_fanout_agents",
    }
)
_SAYS_NOTHING: Mapping[str, Any] = {
    part: said
    for part, said in ProfilePolicy()
    if part not in {"heartbeat", "safety", "roles", "relaxable", "selectable", *_HANDOFFS}
}
"""What a section of policy says of a turn where nobody has written one; roles, what is relaxable
and what is selectable say nothing by themselves, and handoffs are held to the section as it stands.
"""
_SPEAKING = _SAYS_NOTHING.keys() | {"heartbeat", "safety"}
_what_is_said = attrgetter(*_SAYS_NOTHING)
_NOTHING = tuple(_SAYS_NOTHING.values())
_HEARTBEAT, _SAFETY = HeartbeatDefaults(), SafetySettings()


def contract_of(resource: ResourceType) -> type[PinnedProfile | ProfilePin]:
    """What the config of a record of this type has to be."""
    return PinnedProfile if resource is ResourceType.PROFILE else ProfilePin


def canonical(config: PinnedProfile | ProfilePin) -> dict[str, Any]:
    """A config as it is stored and shown: by its names on the wire, every field said."""
    return config.model_dump(mode="json", by_alias=True)


def pin_id(scope: PinScope, name: str = "") -> str:
    """The id of the record that pins for a scope: of a session or workspace by its id."""
    return f"{PIN}{scope}:{name}" if name else f"{PIN}{scope}"


_SESSION, _WORKSPACE, _GLOBAL = PinScope.SESSION, PinScope.WORKSPACE, PinScope.GLOBAL
_ALL = pin_id(_GLOBAL)


def pins_of(workspace: str, session: str) -> dict[PinScope, tuple[str, str]]:
    """Where the pins that concern a session are, or ("") what is outside of any, by scope: the
    place and id of each one's record, the narrowest first.
    """
    own = {_SESSION: (workspace, pin_id(_SESSION, session))} if session else {}
    return {
        **own,
        _WORKSPACE: (workspace, pin_id(_WORKSPACE, workspace)),
        _GLOBAL: (EVERYWHERE, _ALL),
    }
