"""The council: its seats, what they are asked, what each of them says, and what comes back (C4,
CNC-01..CNC-04).

Requests and policy are checked here. What models propose (``Opinion``, ``BlinkJudgement``,
``AuditVerdict``) rules read with ``read_proposal``: whole and of exactly this shape, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct
from pydantic import Field, JsonValue, StringConstraints

from ordain.contracts.planner import CONTENT_MAX, TEXT_MAX, HistoryMessage, Slug, Strict

SeatName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
UniverseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
P = TypeVar("P", bound=Struct)

# --- seats ----------------------------------------------------------------------------------------


class Seat(Strict):
    """One seat: as whom a model is asked, and at which temperature."""

    name: SeatName
    role_description: str = Field(default="", max_length=2000)
    temperature: float = Field(default=0.5, ge=0, le=2)
    weight: float = Field(default=1.0, ge=0, le=100)
    universe: UniverseName = "core"
    tags: list[str] = Field(default=[], max_length=50)
    use_phi: bool = False


CHAIR, AUDITOR = "Chair", "Auditor"
"""The two that judge: they have seats of their own in the catalog, and belong to no universe."""
CORE = "core"
UNIVERSES = (CORE, "relational", "safety", "explore", "shadow")
"""Each is the core's seats with those of its own name, or with its name among their tags. Any other
universe is all seats.
"""
SEATS_MAX = 50
"""Most seats that one round asks."""


def seats_of(seats: Mapping[str, Seat], universe: str) -> tuple[Seat, ...]:
    """The seats of a universe, by name: a catalog's bytes know no other order. A catalog of before
    may have more than one round asks.
    """
    asked = [seat for _, seat in sorted(seats.items()) if seat.name not in (CHAIR, AUDITOR)]
    if universe in UNIVERSES:
        asked = [
            seat for seat in asked if seat.universe in (CORE, universe) or universe in seat.tags
        ]
    return tuple(asked[:SEATS_MAX])


def sitting(seats: Iterable[str]) -> list[str]:
    """Who of these is asked in a round where all are, by name."""
    return sorted(name for name in seats if name not in (CHAIR, AUDITOR))


# --- the request ----------------------------------------------------------------------------------


class Phi(Strict):
    """The state that seats with ``use_phi`` are told of."""

    valence: float = 0.0
    energy: float = 0.0
    coherence: float = 0.0
    novelty: float = 0.0


class DeliberationRequest(Strict):
    """What a council is asked (C4). ``event``, ``source``, ``tags`` and ``response_channel`` are
    kept as they are told; nothing is decided by them.

    ``max_rounds`` is how many rounds are granted, fewer than policy's where it says so (B-08).
    """

    event: Slug = "council_deliberation"
    trace_id: str = Field(default="", max_length=200)
    source: str = Field(default="", max_length=200)
    prompt: str = Field(min_length=1, max_length=TEXT_MAX, pattern=r"\S")
    history: list[HistoryMessage] = Field(default=[], max_length=100)
    tags: list[Annotated[str, StringConstraints(max_length=200)]] = Field(default=[], max_length=50)
    universe: UniverseName = CORE
    response_channel: str = Field(default="", max_length=200)
    phi: Phi | None = None
    self_field: dict[str, JsonValue] | None = Field(default=None, max_length=100)
    persona_state: dict[str, JsonValue] | None = Field(default=None, max_length=100)
    max_rounds: int | None = Field(default=None, ge=1, le=10)


# --- what models propose --------------------------------------------------------------------------

OPINION_CHARS = 4000
NOTE_CHARS = 2000
POINTS = 20
Score = Annotated[float, Meta(ge=0, le=1)]
Note = Annotated[str, Meta(max_length=NOTE_CHARS)]
ConstraintPoints = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...], Meta(max_length=POINTS)
]
AnswerText = Annotated[str, Meta(pattern=r"\S", max_length=CONTENT_MAX)]


class Opinion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one seat says."""

    text: Annotated[str, Meta(pattern=r"\S", max_length=OPINION_CHARS)]


class ChairDecision(StrEnum):
    """What the chair may decide by itself."""

    ACCEPT = "ACCEPT"
    DELEGATE = "DELEGATE"


class Scores(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chair's scores; what it leaves out has these values (C4), and that is told."""

    coherence: Score = 0.7
    faithfulness: Score = 0.7
    usefulness: Score = 0.7
    risk: Score = 0.3
    effort_cost: Score = 0.5
    novelty: Score = 0.5
    overall: Score = 0.7


class Disagreement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the seats are apart."""

    level: Score = 0.0
    notes: Note = ""


class BlinkJudgement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chair's judgement."""

    proposed_answer: AnswerText
    decision: ChairDecision | None = None
    scores: Scores = Scores()
    disagreement: Disagreement = Disagreement()
    notes: Note = ""


class AuditAction(StrEnum):
    """The auditor's four words (B-07)."""

    ACCEPT = "accept"
    REVISE = "revise_same_round"
    NEW_ROUND = "new_round"
    DELEGATE = "delegate"


class Constraints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the next answer is held to."""

    emphasize: ConstraintPoints = ()
    avoid: ConstraintPoints = ()
    notes: Note = ""


class AuditVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The auditor's verdict."""

    action: AuditAction
    reason: Note = ""
    constraints: Constraints = Constraints()
    override_answer: AnswerText | None = None


def read_proposal(value: object, shape: type[P]) -> P | None:
    """A parsed answer as this shape; None where it is not exactly that: nothing is coerced and
    nothing made up but what has a default.
    """
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return None


def absent_scores(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The scores that a judgement's answer leaves out, so that their defaults hold."""
    given, level = value.get("scores", {}), value.get("disagreement", {})
    missing = [name for name in Scores.__struct_fields__ if name not in given]
    return (*missing, *(() if "level" in level else ("disagreement",)))


# --- the result -----------------------------------------------------------------------------------


class CouncilDirective(StrEnum):
    """What a verdict has done (EXE-15): the auditor's words one to one, after code has looked at
    scores and rounds (B-07).
    """

    ACCEPT_TEXT = "accept_text"
    REVISE = "revise"
    DELEGATE_CHAIN = "delegate_chain"
    NEW_ROUND = "new_round"


class SeatOpinion(Struct, frozen=True, kw_only=True):
    """Which seat said what."""

    agent_name: str
    text: str


class CouncilMeta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How it came about: the last directive, how many messages of history were shown, and how many
    rounds were used (B-08).

    ``absent`` are the seats of the last round that said nothing, ``note`` what else is to be known.
    """

    decision: str
    history_used: int = 0
    rounds_used: int = 0
    absent: tuple[str, ...] = ()
    note: str = ""


class CouncilResult(Struct, frozen=True, kw_only=True):
    """What a council came to (CNC-01). ``final_text`` is "" unless a verdict accepted it; what was
    proposed instead stands in ``tentative_text``, and is no answer.
    """

    trace_id: str
    prompt: str
    final_text: str
    tentative_text: str
    opinions: tuple[SeatOpinion, ...]
    blink: BlinkJudgement | None
    verdict: AuditVerdict | None
    meta: CouncilMeta


# --- policy ---------------------------------------------------------------------------------------


class CouncilPolicy(Strict):
    """How a council works (C4): its rounds and times, how many seats must speak, and which scores
    an accepted answer must have.
    """

    max_rounds: int = Field(
        default=2,
        ge=1,
        le=10,
        description="Rounds of one council; `COUNCIL_MAX_ROUNDS` of the environment wins.",
    )
    round_timeout_seconds: float = Field(
        default=12,
        gt=0,
        le=3600,
        description=(
            "Time of one round: seats, chair and auditor together; `COUNCIL_ROUND_TIMEOUT_SEC` of "
            "the environment wins."
        ),
    )
    seats_percent: int = Field(
        default=60,
        ge=1,
        le=99,
        description="The seats' part of that time; the rest is the chair's and the auditor's.",
    )
    llm_timeout_seconds: float = Field(
        default=10,
        gt=0,
        le=3600,
        description=(
            "Time of one attempt at a model; `COUNCIL_LLM_TIMEOUT_SEC` of the environment wins."
        ),
    )
    attempts: int = Field(default=2, ge=1, le=10, description="Attempts for each question.")
    quorum: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="The share of the seats that must have spoken; a late one is absent.",
    )
    universe: UniverseName = Field(
        default=CORE, description="The seats of councils that a conversation or a supervisor calls."
    )
    risk_below: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="An answer as risky as this is not accepted, but revised.",
    )
    disagreement_below: float = Field(
        default=0.7, ge=0, le=1, description="Likewise one that the seats disagree on so much."
    )
    min_coherence: float = Field(
        default=0.5, ge=0, le=1, description="Likewise one that is less coherent."
    )
    min_faithfulness: float = Field(
        default=0.6, ge=0, le=1, description="Likewise one that is less faithful."
    )

    @property
    def llm_timeout_ms(self) -> int:
        """Time of one attempt in milliseconds, one at least."""
        return max(1, round(self.llm_timeout_seconds * 1000))


def missing_names(asked: Iterable[Seat], spoken: Sequence[SeatOpinion]) -> tuple[str, ...]:
    """The seats that said nothing."""
    heard = {opinion.agent_name for opinion in spoken}
    return tuple(seat.name for seat in asked if seat.name not in heard)
