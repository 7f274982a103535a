"""Policy of models: which lane and profiles serve a call, what can go wrong with one, and what
follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from ordain.contracts.conversation import BudgetClass
from ordain.contracts.lanes import Lane
from ordain.contracts.planner import Strict
from ordain.contracts.verbs import Category


class ModelErrorCode(StrEnum):
    """Everything that can go wrong with one attempt at a model call."""

    RATE_LIMITED = "rate_limited"
    QUOTA_EXCEEDED = "quota_exceeded"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    AUTHENTICATION = "authentication"
    NOT_FOUND = "not_found"
    CONTEXT_TOO_LONG = "context_too_long"
    REJECTED = "rejected"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    TIMED_OUT = "timed_out"
    CONNECTION = "connection"
    PROMPT_OVER_BOUND = "prompt_over_bound"
    NOTHING_TO_QUOTE = "nothing_to_quote"
    NEEDS_MODEL = "needs_model"
    SCRIPT_EXHAUSTED = "script_exhausted"
    WITHDRAWN = "withdrawn"
    CIRCUIT_OPEN = "circuit_open"
    LOST = "lost"
    ADAPTER_BUG = "adapter_bug"


class OnModelError(StrEnum):
    """What policy lets happen after a model error."""

    RETRY = "retry"
    NEXT = "next"
    NEXT_OR_RETRY = "next_or_retry"
    FAIL = "fail"


class LaneWhy(StrEnum):
    """Why a row of the route table names its lane (LLM-02, LLM-03)."""

    ROUTINE = "routine"
    ESCALATED = "escalated"
    ROUTED = "routed"


class LaneRoute(Strict):
    """A row of the route table: a call that is all that the row names gets the row's lane. The
    first such row wins.
    """

    lane: Lane = Field(strict=False, description="The lane of the calls that fit.")
    why: LaneWhy = Field(
        default=LaneWhy.ROUTED, strict=False, description="The reason that decisions give."
    )
    purpose: str | None = Field(
        default=None,
        max_length=64,
        description="What the call is for: a purpose of one of this build's kinds.",
    )
    verb: str | None = Field(
        default=None, max_length=128, description="Id of the verb whose prompt plan asks."
    )
    category: Category | None = Field(
        default=None, strict=False, description="Category of that verb."
    )
    tag: str | None = Field(default=None, max_length=100, description="A tag of that verb.")
    budget_class: BudgetClass | None = Field(
        default=None, strict=False, description="Class of the conversation's turn."
    )
    ambiguous: bool | None = Field(
        default=None, description="Whether the turn's meaning or path was left open by its wording."
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.model_fields_set - {"lane", "why"}:
            raise ValueError(
                "a route names at least one of purpose, verb, category, tag, budget_class, "
                "ambiguous"
            )
        return self


class LanesPolicy(Strict):
    """Which lane serves which purpose, which model profiles stand behind a lane, in order, and what
    is routed otherwise.

    Any other key is a purpose with its lane; which purposes there are the kinds of a build know
    (``Kinds.check_policy``).
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Lane] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride] - as pydantic says

    planner: Lane = Lane.WORKER
    verb: Lane = Lane.WORKER
    profiles: dict[Lane, list[str]] = {}
    next_lane: dict[Lane, Lane] = {}
    routes: list[LaneRoute] = Field(
        default=[],
        max_length=200,
        description="Looked at before the lane of the purpose; only down to the first that fits.",
    )

    @property
    def by_purpose(self) -> Mapping[str, Lane]:
        """The lanes of purposes that are no fields of their own."""
        return self.__pydantic_extra__


NO_PURPOSES = frozenset(
    [
        *Lane,
        *(name for name, field in LanesPolicy.model_fields.items() if field.annotation is not Lane),
    ]
)
"""What no purpose may be called: other keys of ``lanes``, and lanes, which the environment names in
the same way.
"""


class FallbackPolicy(Strict):
    """What follows a model error (LLM-04): attempts at one profile, then the next, then the next
    lane.
    """

    attempts_per_profile: int = Field(default=2, ge=1, le=10)
    attempts_at_last: int = Field(
        default=0,
        ge=0,
        le=50,
        description=(
            "The same at the last model there is, after an error that may pass by itself; fewer "
            "than the above change nothing."
        ),
    )
    attempts_total: int = Field(default=4, ge=1, le=50)
    max_lost: int = Field(
        default=5,
        ge=0,
        le=100,
        description=(
            "How often a call whose outcome was lost with the process is made again; attempts are "
            "counted apart from that."
        ),
    )
    unanswered_max_ms: int = Field(
        default=10_000,
        ge=0,
        le=3_600_000,
        description=(
            "How long a run waits in all for a model that is not reached and has never answered."
        ),
    )
    backoff_ms: int = Field(
        default=0,
        ge=0,
        le=60_000,
        description=(
            "Wait before the first retry at a profile where the provider names none; doubles "
            "with each."
        ),
    )
    backoff_max_ms: int = Field(
        default=10_000, ge=0, le=600_000, description="The longest such wait."
    )
    wait_max_ms: int = Field(
        default=0,
        ge=0,
        description=(
            "A longer wait than this gives way to another profile or lane, where there is one; 0: "
            "waits within the deadline."
        ),
    )
    hedge_ms: dict[Lane, Annotated[int, Field(ge=0, le=3_600_000)]] = Field(
        default={},
        description=(
            "Lanes in which a second profile is asked too when the first has not answered after "
            "so many ms; 0: not."
        ),
    )
    on_error: dict[ModelErrorCode, OnModelError] = {}


class BreakerPolicy(Strict):
    """When an endpoint that keeps failing is left alone: nothing is sent until ``open_s`` has
    passed, then one probe, and more at once with each answer.
    """

    failures: int = Field(
        default=0,
        ge=0,
        le=100,
        description=(
            "Failures within the window that open the circuit, and answers that close it; 0: never."
        ),
    )
    window_s: int = Field(default=60, ge=1, le=86_400, description="The window, in seconds.")
    open_s: int = Field(
        default=30,
        ge=1,
        le=86_400,
        description="How long an endpoint is left alone before it is probed.",
    )
    rest_max_s: int = Field(
        default=0,
        ge=0,
        le=86_400,
        description=(
            "Longest time that a profile is left alone by all runs because its provider asked for "
            "a delay; 0: each run finds out."
        ),
    )
