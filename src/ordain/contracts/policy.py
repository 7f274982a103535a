"""Policy: the tables that rules read. TOML, versioned, unknown keys refused; the shipped default is
``policy.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, Self

from pydantic import Field, model_validator

from ordain.contracts.approvals import ApprovalsPolicy
from ordain.contracts.attachments import AttachmentsPolicy
from ordain.contracts.chain import ChainPolicy
from ordain.contracts.conversation import BudgetClass
from ordain.contracts.council import CouncilPolicy
from ordain.contracts.guardrails import GuardrailsPolicy
from ordain.contracts.handoff import HandoffPolicy
from ordain.contracts.lanes import AttachPolicy, Lane
from ordain.contracts.library import MemoryPolicy, RecallPolicy
from ordain.contracts.model_policy import BreakerPolicy, FallbackPolicy, LanesPolicy
from ordain.contracts.pinned import ProfilePolicy
from ordain.contracts.planner import Strict
from ordain.contracts.probes import Probe
from ordain.contracts.roster import RosterPolicy
from ordain.contracts.workflow import OutcomePolicy


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


class AccountPolicy(Strict):
    """Bound of a shared account (0: none); money in micro-dollars. ``per``: the UTC period after
    which it begins anew.
    """

    tokens: int = Field(default=0, ge=0, description="Tokens, prompts and answers together.")
    usd_micros: int = Field(default=0, ge=0, description="Money at the profiles' list prices.")
    per: Literal["day", "month", "ever"] = Field(
        default="ever", description="The UTC period after which the account begins anew."
    )


class BudgetPolicy(Strict):
    """Hard bounds of one run, its children included, and of the accounts that runs share (0: none).
    Money in micro-dollars.

    A run that starts takes its whole bound out of every shared account, all or none, and gives back
    at its end what it did not use.
    """

    run_tokens: int = Field(default=2_000_000, ge=1)
    run_usd_micros: int = Field(default=5_000_000, ge=0)
    run_model_calls: int = Field(default=200, ge=1)
    run_verb_calls: int = Field(default=200, ge=1)
    day_tokens: int = Field(default=0, ge=0)
    day_usd_micros: int = Field(default=0, ge=0)
    session: AccountPolicy = Field(default=AccountPolicy(), description="Of each session.")
    agent: AccountPolicy = Field(
        default=AccountPolicy(per="day"),
        description="Of each agent: a turn's mode, a request's caller.",
    )
    workspace: AccountPolicy = Field(
        default=AccountPolicy(per="month"), description="Of the whole workspace, beside its day."
    )
    rest: bool = Field(
        default=False,
        description=(
            "Where an account does not cover a run's whole bound, the run may use what is left of "
            "it, instead of being refused."
        ),
    )

    @property
    def day(self) -> AccountPolicy:
        """Of all runs of a day together."""
        # kept outside: a copy with other fields would have this one's
        return _of_day(self.day_tokens, self.day_usd_micros)


@lru_cache(64)
def _of_day(tokens: int, usd_micros: int) -> AccountPolicy:
    return AccountPolicy(tokens=tokens, usd_micros=usd_micros, per="day")


class Activation(Strict):
    """Empty allow means all; deny wins (C1)."""

    allow: list[str] = []
    deny: list[str] = []


class VerbsPolicy(Strict):
    """The activation manifest and the state that safety rules look at."""

    default: Activation = Activation()
    nodes: dict[str, Activation] = {}
    system_state: str | None = None
    unconfirmed: Literal["mark", "deny"] = Field(
        default="mark", description="Verbs that nobody confirmed: headers tell, or they are off."
    )
    max_depth: int = Field(default=4, ge=1, le=16)
    retry_wait_ms: int = Field(
        default=0,
        ge=0,
        le=60_000,
        description=(
            "Wait before the first retry of a call whose failure names no delay; doubles with each."
        ),
    )
    retry_wait_max_ms: int = Field(
        default=10_000,
        ge=0,
        le=600_000,
        description="The longest wait before a retry; a failure that names a longer one stands.",
    )
    max_lost: int = Field(
        default=5,
        ge=0,
        le=100,
        description=(
            "How often a call that was cut off with the process is made again, where that is safe."
        ),
    )


class RetentionPolicy(Strict):
    """Days after a run's end that each class of content is kept; 0 keeps it for ever."""

    input_days: int = Field(default=0, ge=0)
    model_days: int = Field(default=0, ge=0)
    verb_days: int = Field(default=0, ge=0)
    result_days: int = Field(default=0, ge=0)

    def by_class(self) -> dict[str, int]:
        """Days by payload class."""
        return {
            "input": self.input_days,
            "model": self.model_days,
            "verb": self.verb_days,
            "result": self.result_days,
        }


class EnginePolicy(Strict):
    """How much runs at once; over it, callers are refused with a delay after which to try again."""

    max_running: int = Field(default=256, ge=1)
    max_accepted: int = Field(default=4096, ge=1)
    retry_after_s: int = Field(default=2, ge=1)


class SessionPolicy(Strict):
    """What one session may have going at once, and how long a question stays open."""

    max_active: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Turns at work at once in one session, each in a thread of its own.",
    )
    max_open: int = Field(
        default=16,
        ge=1,
        le=256,
        description=(
            "Turns of one session that have not ended: at work, queued or waiting for an answer."
        ),
    )
    question_seconds: int = Field(default=86_400, ge=1, le=2_592_000)
    hold_seconds: int = Field(
        default=604_800,
        ge=60,
        le=7_776_000,
        description=(
            "Longest life of one turn by its own time, which stands still while a person is asked."
        ),
    )


ENTRY_BYTES_LEAST = 16
"""An entry that is cut still says so: what is less than that is no entry."""


class HistoryPolicy(Strict):
    """Which part of a session's history a prompt holds: recent entries whole, older ones summarised
    by ``verb``.
    """

    max_bytes: int = Field(default=24_000, ge=0, le=1_000_000)
    max_entries: int = Field(
        default=40,
        ge=2,
        le=100,
        description="More recent entries than this are summarised down to keep_entries.",
    )
    keep_entries: int = Field(default=24, ge=0, le=100)
    verb: str = Field(
        default="summarize_conversation",
        description=(
            "The verb that summarises; empty: older entries are left out, and the header says so."
        ),
    )

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.keep_entries >= self.max_entries:
            raise ValueError(
                "keep_entries is less than max_entries: otherwise every turn would summarise"
            )
        return self

    @property
    def entry_bytes(self) -> int:
        """What one entry may take in a prompt; a longer one is shown cut, and counted as cut."""
        return max(ENTRY_BYTES_LEAST, self.max_bytes // 4)


class BudgetCaps(Strict):
    """What one budget class permits (B-10)."""

    max_steps: int = Field(ge=1, le=100)
    max_tokens_reason: int = Field(ge=1)
    max_tokens_answer: int = Field(ge=1)
    timeout_seconds: float = Field(gt=0)


class RouterPolicy(Strict):
    """Who may suggest a path, and what a turn of each budget class may use (EXE-09, EXE-10,
    B-10).
    """

    ask: Lane | None = None
    threshold: float = Field(default=0.7, ge=0, le=1)
    default_class: BudgetClass = Field(default=BudgetClass.STANDARD, strict=False)
    classes: dict[BudgetClass, BudgetCaps] = {
        BudgetClass.SMALL: BudgetCaps(
            max_steps=2, max_tokens_reason=1024, max_tokens_answer=512, timeout_seconds=60
        ),
        BudgetClass.STANDARD: BudgetCaps(
            max_steps=8, max_tokens_reason=4096, max_tokens_answer=2048, timeout_seconds=180
        ),
        BudgetClass.LARGE: BudgetCaps(
            max_steps=16, max_tokens_reason=16_384, max_tokens_answer=4096, timeout_seconds=300
        ),
    }


PACKS: Mapping[str, Sequence[str]] = {
    "executive_pack": (
        "analyze_text",
        "triage",
        "plan_action",
        "assess_risk",
        "goal_formulate",
        "evaluate",
        "extract_facts",
    ),
    "memory_pack": (
        "recall.fetch_context",
        "summarize_context",
        "extract_facts",
        "tag_enrich",
        "pattern_detect",
        "story_weave",
    ),
    "emergent_pack": (
        "introspect",
        "reflect",
        "self_critique",
        "counterfactual",
        "dream_preprocess",
        "simulate",
    ),
}
"""The sources' packs (C3). What they call ``recall`` is ``recall.fetch_context``: a verb has one
id.
"""


class SupervisorPolicy(Strict):
    """The supervised loop: its steps (EXE-16), its tools (SAF-01), and who may suggest the next
    move (EXE-11).
    """

    ask: Lane | None = None
    max_steps: int = Field(
        default=3,
        ge=1,
        le=100,
        description="Steps of a turn whose message names no number; its budget class caps both.",
    )
    tools: list[str] = Field(
        default=[
            "ask_user",
            "extract_facts",
            "summarize_facts",
            "propose_next_steps",
            "math.evaluate",
            "research.search",
        ],
        description="Verbs that an agent turn may use as tools where the message names none.",
    )
    packs: dict[str, list[str]] = Field(
        default={name: list(verbs) for name, verbs in PACKS.items()},
        max_length=100,
        description="Verbs by the name of a pack, under which a message may ask for them together.",
    )


class Policy(Strict):
    """All tables that rules read."""

    version: Literal[1]
    step: StepPolicy = StepPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    lanes: LanesPolicy = LanesPolicy()
    fallback: FallbackPolicy = FallbackPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    verbs: VerbsPolicy = VerbsPolicy()
    approvals: ApprovalsPolicy = ApprovalsPolicy()
    retention: RetentionPolicy = RetentionPolicy()
    memory: MemoryPolicy = MemoryPolicy()
    recall: RecallPolicy = RecallPolicy()
    attachments: AttachmentsPolicy = AttachmentsPolicy()
    engine: EnginePolicy = EnginePolicy()
    session: SessionPolicy = SessionPolicy()
    history: HistoryPolicy = HistoryPolicy()
    attach: AttachPolicy = AttachPolicy()
    outcome: OutcomePolicy = OutcomePolicy()
    router: RouterPolicy = RouterPolicy()
    supervisor: SupervisorPolicy = SupervisorPolicy()
    agent_chain: ChainPolicy = ChainPolicy()
    council: CouncilPolicy = CouncilPolicy()
    profile: ProfilePolicy = ProfilePolicy()
    roster: RosterPolicy = RosterPolicy()
    handoff: HandoffPolicy = HandoffPolicy()
    guardrails: GuardrailsPolicy = GuardrailsPolicy()
    probes: list[Probe] = Field(default=[], max_length=1000)
