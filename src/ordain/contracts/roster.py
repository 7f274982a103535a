"""The roster's plan: which specialist does what, with which tools, and what became of each step
(PLAN-01..PLAN-22, C6). Validation only.

A plan is a model's proposal, of steps alone: nothing in it grants anything. Rule ``plan`` says
whether it is one, code makes a call of each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, cast

from msgspec import Struct
from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, ValidationError

from ordain.contracts.cards import AGENT_VERB, AgentCard
from ordain.contracts.guardrails import Degree
from ordain.contracts.planner import Strict

GENERAL_AGENT = "general_agent"
"""Who takes what nobody was planned for well enough (B-16)."""
ROSTER_VERB = "roster_runtime"
"""The verb whose run plans for the roster and hands each step on."""
WHATEVER_IS_SAID = "whatever agents say of it: the header has what was done"
"""Of work that agents say is done, and whose verdict is not ok."""
SCHEMA_VERSION = "v2"
"""The version of the contract that a plan is held to: of steps only."""
LEGACY_KEY = "agents"
"""What plans named before they had steps (B-14)."""
STEPS_MOST = 50
REASON_CHARS = 2000
RAW_CHARS = 4000
"""Most of a planner's own answer that is kept with the plan, in characters; the whole of it is on
record.
"""

ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")]


def _listed(value: object) -> object:
    """One name stands for a list of it (C6)."""
    return [value] if isinstance(value, str) else value


ToolNames = Annotated[list[ToolName], BeforeValidator(_listed), Field(max_length=20)]


class RosterPolicy(Strict):
    """How plans for the roster are judged and carried out (C6, B-13, B-16)."""

    threshold: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Least confidence of a plan, and of each step, that is followed.",
    )
    max_steps: int = Field(
        default=12,
        ge=1,
        le=STEPS_MOST,
        description="Most steps of one plan; one with more is none.",
    )
    max_concurrency: int = Field(default=3, ge=1, le=16, description="Most steps at work at once.")
    attempts: int = Field(
        default=3, ge=1, le=10, description="How often a step is tried whose failure may pass."
    )
    backoff_ms: int = Field(
        default=2000,
        ge=0,
        le=600_000,
        description="Wait before the second attempt; doubles with each.",
    )
    backoff_max_ms: int = Field(
        default=60_000, ge=0, le=3_600_000, description="The longest such wait."
    )
    plan_seconds: int = Field(
        default=3600, ge=1, le=86_400, description="Longest work on one plan."
    )
    agreement: float = Field(
        default=0.15,
        ge=0,
        le=1,
        description="How far below the best proposal's confidence one still supports it.",
    )


class PlannerStepPayload(Strict):
    """One step as a model proposes it (PLAN-06)."""

    agent: str = Field(min_length=1, max_length=100)
    reason: str = Field(default="", max_length=REASON_CHARS)
    tools: ToolNames = []
    fallback_tools: ToolNames = []
    confidence: Degree = 1.0


class PlannerPlanPayload(Strict):
    """A plan as a model proposes it: steps, which have to be named, and nothing that this does not
    know (PLAN-06, PLAN-19).
    """

    steps: list[PlannerStepPayload] = Field(max_length=STEPS_MOST)
    metadata: dict[str, JsonValue] = Field(default={}, max_length=50)
    confidence: Degree = 1.0


class HandoffStrategy(StrEnum):
    """How a plan's steps follow each other where ``depends_on`` does not say it."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class PlannedStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of such a plan; ``needs`` are the indexes of the steps that have to be done before
    it.
    """

    agent: str
    reason: str = ""
    tools: tuple[str, ...] = ()
    fallback_tools: tuple[str, ...] = ()
    confidence: float = 1.0
    needs: tuple[int, ...] = ()


class PlannerPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plan that is carried out (PLAN-01, PLAN-10): ``metadata`` holds its confidence too,
    ``raw_response`` is the planner's own answer, cut.
    """

    steps: tuple[PlannedStep, ...]
    metadata: dict[str, Any]
    confidence: float = 1.0
    raw_response: str = ""
    schema_version: str = SCHEMA_VERSION


class StepStatus(StrEnum):
    """Where a step stands (C6)."""

    QUEUED = "queued"
    PLANNED = "planned"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepEventName(StrEnum):
    """What happens to a step. Whoever reads the plan's events is told of C6's three; the others
    move it between the words of its lifecycle.
    """

    ACCEPTED = "accepted"
    SCHEDULED = "scheduled"
    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


EVENTS_TOLD = frozenset({StepEventName.STARTED, StepEventName.COMPLETED, StepEventName.FAILED})
"""C6's events of a step."""


class StepEvent(Struct, frozen=True, kw_only=True):
    """Something happened to a step: ``agent`` was handed it for the ``attempt``-th time, or came to
    an end with it.
    """

    event: StepEventName
    step: int
    agent: str
    attempt: int


class GateName(StrEnum):
    """What stands between a step that was planned and its agent (B-40)."""

    GUARDRAIL = "guardrail"
    SCHEDULER = "scheduler"
    REVIEW = "review"


class StepGate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a gate said of handing a step to ``agent`` (B-40, C6): the word and the code of the
    reason.

    Of the guardrails ``risk_score`` and the policies that want more than a look, of the scheduler
    the ``wave`` (from 1) in which the step had its turn.
    """

    gate: GateName
    agent: str
    decision: str
    reason: str
    risk_score: float | None = None
    policy_ids: tuple[str, ...] = ()
    wave: int = 0


class StepRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was planned of a step and what was done (C6). ``status`` is where it came to,
    ``attempts`` how often somebody was handed it, ``error`` why it failed.

    ``executed_agent`` is "" where nobody was, ``executed_tools`` are those that succeeded.
    ``gates`` is what guardrails, scheduler and review said, each time that somebody was to be
    handed it.
    """

    index: int
    planned_agent: str
    planned_reason: str = ""
    planned_tools: tuple[str, ...] = ()
    planned_fallback_tools: tuple[str, ...] = ()
    planned_confidence: float = 1.0
    executed_agent: str = ""
    executed_reason: str = ""
    executed_tools: tuple[str, ...] = ()
    fallback_applied: bool = False
    fallback_agent: str | None = None
    fallback_reason: str | None = None
    confidence_threshold: float | None = None
    status: StepStatus = StepStatus.PLANNED
    attempts: int = 0
    error: str = ""
    gates: tuple[StepGate, ...] = ()


class PlanFault(Struct, frozen=True, kw_only=True):
    """Why something is no plan: the place, never a value."""

    where: str
    legacy: bool = False


def read_plan(value: Mapping[str, Any]) -> PlannerPlanPayload | PlanFault:
    """The payload of a parsed proposal; the one parser there is (PLAN-07, PLAN-22)."""
    if LEGACY_KEY in value:
        return PlanFault(where=LEGACY_KEY, legacy=True)
    try:
        return PlannerPlanPayload.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return PlanFault(where=f"{'.'.join(map(str, first['loc']))[:100]}: {first['type']}"[:150])
    except RecursionError:
        return PlanFault(where="metadata: too deep")


def read_strategy(metadata: Mapping[str, Any]) -> HandoffStrategy | PlanFault:
    """How the steps follow each other; in order where the metadata says nothing."""
    named = metadata.get("handoff_strategy", HandoffStrategy.SEQUENTIAL)
    if isinstance(named, str) and named in set(HandoffStrategy):
        return HandoffStrategy(named)
    return PlanFault(where="metadata.handoff_strategy")


def read_needs(
    metadata: Mapping[str, Any], steps: int
) -> tuple[tuple[int, ...], ...] | PlanFault | None:
    """What each step needs, by ``depends_on``: index to indexes, without a cycle. None where it
    says nothing.
    """
    named = metadata.get("depends_on")
    if named is None:
        return None
    fault = PlanFault(where="metadata.depends_on")
    if not isinstance(named, dict):
        return fault
    needs: list[tuple[int, ...]] = [()] * steps
    for key, found in cast("dict[str, Any]", named).items():
        index, before = (
            _index(key, steps),
            cast("list[Any]", found) if isinstance(found, list) else None,
        )
        if index is None or before is None or len(before) > steps:
            return fault
        if any(
            isinstance(one, bool) or not isinstance(one, int) or not 0 <= one < steps
            for one in before
        ):
            return fault
        needs[index] = tuple(sorted(set(before)))
    return PlanFault(where="metadata.depends_on: a cycle") if _cyclic(needs) else tuple(needs)


def _index(key: str, steps: int) -> int | None:
    """A step's number as an object's key has it."""
    if not (key.isascii() and key.isdecimal() and len(key) <= 3):
        return None
    return int(key) if int(key) < steps and str(int(key)) == key else None


def _cyclic(needs: list[tuple[int, ...]]) -> bool:
    left = set(range(len(needs)))
    while ready := {index for index in left if not left.intersection(needs[index])}:
        left -= ready
    return bool(left)


def agents_with_substitutes(
    names: Iterable[str], cards: Mapping[str, AgentCard]
) -> tuple[str, ...]:
    """These agents as far as they are there, whoever may take their place (B-16), and
    ``general_agent``.
    """
    known = [name for name in dict.fromkeys(names) if name in cards]
    instead = [
        card.fallback_agent
        for card in (cards[name] for name in known)
        if card.fallback_agent is not None
    ]
    return tuple(name for name in dict.fromkeys((*known, *instead, GENERAL_AGENT)) if name in cards)


def answers_alone(verb: str) -> bool:
    """Whether a message that names this verb is answered by it alone, and no agents whom it names
    besides are handed it; the roster's hands it to them.
    """
    return verb not in ("", ROSTER_VERB)


def by_agents(verb: str) -> bool:
    """Whether a verb is carried out by agents, who choose what is done: what they say never decides
    whether it was (B-34).
    """
    return verb.startswith(AGENT_VERB) or verb == ROSTER_VERB
