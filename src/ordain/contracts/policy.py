"""Policy: the tables that rules read. TOML, versioned, unknown keys refused; the shipped default is ``policy.toml``."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from ordain.contracts.planner import Strict


class Lane(StrEnum):
    """The class of model behind a call (RTE-01); a mode never implies one (B-09)."""

    LOCAL = "local"
    WORKER = "worker"
    BRAIN = "brain"


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
    SCRIPT_EXHAUSTED = "script_exhausted"
    WITHDRAWN = "withdrawn"
    LOST = "lost"
    ADAPTER_BUG = "adapter_bug"


class OnModelError(StrEnum):
    """What policy lets happen after a model error."""

    RETRY = "retry"
    NEXT = "next"
    FAIL = "fail"


class StepPolicy(Strict):
    """Bounds of a planner directive (B-25)."""

    reask: int = Field(default=1, ge=0, le=10)
    max_bytes: int = Field(default=32_768, ge=256, le=1_000_000)
    max_depth: int = Field(default=32, ge=4, le=128)


class LimitsPolicy(Strict):
    """Server caps on a request's limits (B-44)."""

    max_steps: int = Field(default=32, ge=1)
    max_tokens_reason: int = Field(default=32_768, ge=1)
    max_tokens_answer: int = Field(default=16_384, ge=1)
    timeout_seconds: float = Field(default=600, gt=0)


class LanesPolicy(Strict):
    """Which lane serves which purpose, and which model profiles stand behind a lane, in order."""

    planner: Lane = Lane.WORKER
    verb: Lane = Lane.WORKER
    profiles: dict[Lane, list[str]] = {}
    next_lane: dict[Lane, Lane] = {}


class FallbackPolicy(Strict):
    """What follows a model error (LLM-04): attempts at one profile, then the next, then the next lane."""

    attempts_per_profile: int = Field(default=2, ge=1, le=10)
    attempts_total: int = Field(default=4, ge=1, le=50)
    on_error: dict[ModelErrorCode, OnModelError] = {}


class BudgetPolicy(Strict):
    """Hard bounds of one run, its children included, and of a workspace's UTC day (0: none). Money in micro-dollars.

    A run that starts takes its whole bound out of the day's account and gives back at its end what it did not use.
    """

    run_tokens: int = Field(default=2_000_000, ge=1)
    run_usd_micros: int = Field(default=5_000_000, ge=0)
    run_model_calls: int = Field(default=200, ge=1)
    run_verb_calls: int = Field(default=200, ge=1)
    day_tokens: int = Field(default=0, ge=0)
    day_usd_micros: int = Field(default=0, ge=0)


class Activation(Strict):
    """Empty allow means all; deny wins (C1)."""

    allow: list[str] = []
    deny: list[str] = []


class VerbsPolicy(Strict):
    """The activation manifest and the state that safety rules look at."""

    default: Activation = Activation()
    nodes: dict[str, Activation] = {}
    system_state: str | None = None
    max_depth: int = Field(default=4, ge=1, le=16)


class RetentionPolicy(Strict):
    """Days after a run's end that each class of content is kept; 0 keeps it for ever."""

    input_days: int = Field(default=0, ge=0)
    model_days: int = Field(default=0, ge=0)
    verb_days: int = Field(default=0, ge=0)
    result_days: int = Field(default=0, ge=0)

    def by_class(self) -> dict[str, int]:
        """Days by payload class."""
        return {"input": self.input_days, "model": self.model_days, "verb": self.verb_days, "result": self.result_days}


class EnginePolicy(Strict):
    """How much runs at once; over it, callers are refused with a delay after which to try again."""

    max_running: int = Field(default=256, ge=1)
    max_accepted: int = Field(default=1024, ge=1)
    retry_after_s: int = Field(default=2, ge=1)


class Policy(Strict):
    """All tables that rules read."""

    version: Literal[1]
    step: StepPolicy = StepPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    lanes: LanesPolicy = LanesPolicy()
    fallback: FallbackPolicy = FallbackPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    verbs: VerbsPolicy = VerbsPolicy()
    retention: RetentionPolicy = RetentionPolicy()
    engine: EnginePolicy = EnginePolicy()


class ModelProfile(Strict):
    """One model behind a lane: where it is, what it can do, what it costs."""

    provider: Literal["openai", "scripted", "offline"]
    model: str = Field(min_length=1, max_length=200)
    base_url: str | None = None
    native_schema: bool = True
    timeout_ms: int = Field(default=60_000, ge=1)
    max_tokens: int = Field(default=4096, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    usd_micros_per_1k_input: int = Field(default=0, ge=0)
    usd_micros_per_1k_output: int = Field(default=0, ge=0)
    script: str | None = Field(default=None, description="Path of the file of proposals; provider scripted only.")
