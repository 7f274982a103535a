"""The planner conversation: ``POST /plan/react`` and the directive a planner model proposes.

Names, nesting and numbers are the sources' own (PLN-06..PLN-23, PLN-29..PLN-31). Values that the
sources leave open (`orion_state_snapshot`, `goal.metadata`, `external_facts`, `preferences`) keep
unknown keys (B-44); everything else refuses them. Validation only: nothing here decides.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, WithJsonSchema

from ordain.contracts.ids import SESSION_ID
from ordain.contracts.json_only import JsonOnly
from ordain.contracts.text_links import Links
from ordain.contracts.verdict import HeaderVerdict

SLUG = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"
KNOWN_CALLERS = ("hub", "agent-daemon", "test", "other", "debug-shell")
KNOWN_GOAL_TYPES = (
    "chat",
    "agent_task",
    "spark_review",
    "system_maint",
    "other",
    "analysis",
    "routing",
    "planning",
)

TEXT_MAX = 200_000
"""Longest single text in a request, in characters."""

Slug = Annotated[str, StringConstraints(pattern=SLUG)]


class Strict(BaseModel):
    """A frozen wire shape that refuses unknown fields, coercion and non-finite numbers.

    Its validator is built when it is first used, and not by everybody who imports it.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )


class Open(BaseModel):
    """A frozen wire shape that keeps unknown keys (B-44)."""

    model_config = ConfigDict(
        extra="allow", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )
    # a caller in Python may give anything: what JSON has no form for would be another value on
    # record, or none
    __pydantic_extra__: dict[str, JsonOnly] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride] - how pydantic is told of them


class GoalMetadata(Open):
    """Open map with the known keys of PLN-09 and PLN-10."""

    user_message: str | None = Field(default=None, max_length=TEXT_MAX)
    mode: Slug | None = None
    tags: list[Annotated[str, StringConstraints(max_length=200)]] | None = Field(
        default=None, max_length=100
    )


class Goal(Strict):
    """What the run is to achieve (PLN-09)."""

    type: Slug = Field(
        description="Known: "
        + ", ".join(KNOWN_GOAL_TYPES)
        + ". Any other slug is accepted and recorded (B-03)."
    )
    description: str = Field(min_length=1, max_length=TEXT_MAX)
    metadata: GoalMetadata = Field(default_factory=GoalMetadata)


class HistoryMessage(Strict):
    """One earlier message of the conversation (PLN-11)."""

    role: Literal["user", "assistant", "system"]
    content: str = Field(max_length=TEXT_MAX)


class StateSnapshot(Open):
    """What the caller knows about the system's state (PLN-12, B-44)."""

    version: str = "v1"
    # a default that stands here is copied deep for each request
    themes: list[str] = Field(default_factory=list)
    curiosity: dict[str, float] = Field(default_factory=dict)
    strain: dict[str, float] = Field(default_factory=dict)
    notes: str | None = None


class ExternalFacts(Open):
    """Free JSON with known keys (PLN-13)."""

    text: str | None = Field(default=None, max_length=TEXT_MAX)
    collapse_ids: list[str] | None = None
    dream_ids: list[str] | None = None
    other_ids: list[str] | None = None


class PlannerContext(Strict):
    """What the planner model may see."""

    conversation_history: list[HistoryMessage] = Field(
        default_factory=list[HistoryMessage], max_length=1000
    )
    orion_state_snapshot: StateSnapshot = Field(default_factory=StateSnapshot)
    external_facts: ExternalFacts = Field(default_factory=ExternalFacts)


class ToolRef(Strict):
    """A tool the planner may call; ``tool_id`` is a verb id, the registry fills what is absent
    (PLN-14, PLN-17).
    """

    tool_id: str = Field(min_length=1, max_length=128)
    description: str | None = Field(default=None, max_length=4000)
    input_schema: dict[str, JsonValue] | None = None
    output_schema: dict[str, JsonValue] | None = None


class Limits(Strict):
    """Bounds of one run; a server cap may lower them and the header then says so (PLN-15, B-44)."""

    max_steps: int = Field(default=8, ge=1, le=1000)
    max_tokens_reason: int = Field(default=2048, ge=1, le=10_000_000)
    max_tokens_answer: int = Field(default=1024, ge=1, le=10_000_000)
    timeout_seconds: float = Field(default=60, gt=0, le=86_400)


TruthValue = Annotated[JsonValue, WithJsonSchema({"type": "boolean"})]
"""True or false, as requests are told; what earlier builds took may be anything."""

PlanSession = Annotated[
    str | None,
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": SESSION_ID}, {"type": "null"}]}),
]
"""A session's id, as requests are told (``PlannerRequest.no_session``); what earlier builds took
may be any text.
"""


class Preferences(Open):
    """Output hints; they never change what is permitted (PLN-16, PLN-45).

    ``council`` and ``self_critique`` are experiments (FUT-04): ``true`` asks for one. A request in
    which one is no truth value is refused where it is taken (``misfit``); of what an earlier build
    took it asks for nothing.
    """

    style: Literal["warm", "technical", "neutral"] = "neutral"
    allow_internal_thought_logging: bool = True
    return_trace: bool = True
    council: TruthValue = Field(
        default=False,
        description="Experiment: `true` has a council look at the answer before it counts.",
    )
    self_critique: TruthValue = Field(
        default=False,
        description=(
            "Experiment: `true` has verb `self_critique` look at the first answer, after which "
            "there is another step."
        ),
    )

    @property
    def misfit(self) -> str | None:
        """The first experiment that is asked for with something else than a truth value; None where
        there is none.
        """
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                return name
        return None


_SWITCHES = tuple(
    name for name, field in Preferences.model_fields.items() if isinstance(field.default, bool)
)


class PlannerRequest(Strict):
    """One goal, worked on by one ReAct loop (PLN-06)."""

    request_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Echoed; the same id and body name the same run.",
    )
    caller: Slug = Field(
        default="other",
        description="Known: " + ", ".join(KNOWN_CALLERS) + ". Any other slug is accepted (B-03).",
    )
    goal: Goal
    context: PlannerContext = Field(default_factory=PlannerContext)
    toolset: list[ToolRef] = Field(default=[], max_length=100)
    limits: Limits = Field(default_factory=Limits)
    preferences: Preferences = Field(default_factory=Preferences)
    session_id: PlanSession = Field(
        default=None,
        min_length=1,
        max_length=200,
        description=(
            "Requests of one caller with the same id go on from each other: the next one's "
            "planner sees what the last ones did."
        ),
    )
    answer_schema: dict[str, JsonValue] | None = Field(
        default=None,
        description=(
            "The JSON Schema, of an object and without references, that `final_answer.structured` "
            "has to fit."
        ),
    )

    @property
    def no_session(self) -> bool:
        """Whether it names a session by what is no session's id."""
        return self.session_id is not None and re.fullmatch(SESSION_ID, self.session_id) is None


# --- what a planner model proposes ----------------------------------------------------------------

THOUGHT_MAX = 4000
CONTENT_MAX = 16_000
TOOL_ID_MAX = 128


class StepAction(Strict):
    """A proposed verb call."""

    tool_id: str = Field(min_length=1, max_length=TOOL_ID_MAX)
    input: dict[str, JsonValue]


class FinalAnswer(Strict):
    """The run's answer (PLN-19)."""

    content: str = Field(min_length=1, max_length=CONTENT_MAX)
    structured: dict[str, JsonValue] = {}


class ActStep(Strict):
    """A directive that calls a tool: ``finish`` false, an action, no final answer (PLN-31)."""

    thought: str = Field(max_length=THOUGHT_MAX)
    finish: Literal[False]
    action: StepAction
    final_answer: None = None


class FinishStep(Strict):
    """A directive that finishes: ``finish`` true, a final answer, no action (PLN-30)."""

    thought: str = Field(max_length=THOUGHT_MAX)
    finish: Literal[True]
    action: None = None
    final_answer: FinalAnswer


PlannerStep = Annotated[ActStep | FinishStep, Field(discriminator="finish")]


# --- what the caller gets -------------------------------------------------------------------------


class ErrorBody(Strict):
    """A stable code and a sentence."""

    code: str
    message: str


class PlanErrorBody(ErrorBody):
    """Why a plan has no answer that counts; ``remedy``, where a model gave none, is what people can
    do about it.
    """

    remedy: str | None = None


class TraceStep(Strict):
    """One step: every model answer and every tool call appears (PLN-20, PLN-27)."""

    step_index: int = Field(ge=0)
    thought: str | None = None
    action: StepAction | None = None
    observation: dict[str, Any] | None = None
    links: Links = []


class Usage(Strict):
    """What the run used (PLN-23); ``estimated`` is true where a provider reported no token counts
    (B-42).
    """

    steps: int = 0
    tokens_reason: int = 0
    tokens_answer: int = 0
    tools_called: list[str] = []
    duration_ms: int = 0
    estimated: bool = False


class PlannerResponse(Strict):
    """The sources' response plus ``run_id`` and the code-written ``header``."""

    request_id: str
    run_id: str
    status: Literal["ok", "error", "timeout"]
    error: PlanErrorBody | None = None
    final_answer: FinalAnswer | None = None
    trace: list[TraceStep] | None = None
    usage: Usage
    header: str
    verdict: HeaderVerdict = None
    links: Links = []
