"""Handoffs: the envelope in which work goes to a specialist, what policy bounds, and what comes
back (HND-01..HND-08, C5, C6).

Every part of an envelope is made by code, of records and the pinned catalog; a model's call of a
card's verb is a wish and holds none of them. Each part may be absent here, so that what lacks one
is refused by name (``missing_parts``) and is not unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct
from pydantic import Field

from ordain.contracts.pinned import HandoffMode
from ordain.contracts.planner import Strict

DELEGATE: HandoffMode = "delegate"
FANOUT: HandoffMode = "fanout-fanin"
DEPTH_MOST = 5
"""How deep handoffs may be nested at the most, whatever policy says (C6)."""


class HandoffPolicy(Strict):
    """Bounds of a handoff: how deep they nest, and what the specialist's own loop may use."""

    max_depth: int = Field(
        default=DEPTH_MOST,
        ge=0,
        le=DEPTH_MOST,
        description="How many handoffs may be nested in each other; 0: nothing is handed on.",
    )
    max_steps: int = Field(default=8, ge=1, le=100, description="Steps of a specialist.")
    max_tokens_reason: int = Field(
        default=4096, ge=1, description="Tokens for its steps before the last."
    )
    max_tokens_answer: int = Field(default=2048, ge=1, description="Tokens for its answer.")
    timeout_seconds: float = Field(
        default=120, gt=0, le=3600, description="Its time, without what a person takes to answer."
    )
    tool_calls: int = Field(
        default=12, ge=1, le=1000, description="Tool calls of one handoff's own loop."
    )
    planner_invocations: int = Field(
        default=3, ge=0, le=1000, description="Plans that it may have made below its own."
    )


# --- the envelope ---------------------------------------------------------------------------------


class HandedPayload(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The typed input (HND-01d): the verb whose schema it fits, the digest of the call that holds
    it, and its size.
    """

    type: str
    digest: str
    size_bytes: int


class ModelSnapshot(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The model policy that holds (HND-01f): the catalog by digest, the lane of the specialist's
    steps, and the pinned profile ("": none).
    """

    catalog: str
    lane: str
    profile: str = ""


class HandoffBudget(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What the handoff may spend (HND-01f): its share of what the one who hands on has left."""

    tokens: int = 0
    usd_micros: int = 0
    model_calls: int = 0
    verb_calls: int = 0


class HandoffTrace(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Where it belongs (HND-01g): the root run, the run that hands on, how deep this handoff is,
    and the cards that work went through so far.
    """

    root: str
    run: str
    depth: int
    chain: tuple[str, ...] = ()


class RejectedSkill(Struct, frozen=True, gc=False, kw_only=True):
    """A skill that was asked for and is not passed on, and who does not allow it."""

    verb: str
    by: str


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One handoff, whole (HND-01). ``scope`` are the verbs that the specialist may use,
    ``rejected`` what of the request it may not.

    ``expansion`` are verbs of the scope that lie outside the card's domain: they are in it only
    because a person said yes to this call (HND-07). ``temporary`` is the name of a sub-agent that
    code made of the target's card for this work, narrower than the card ("": the card itself
    works).
    """

    source: str = ""
    target: str = ""
    reason: str = ""
    intent: str = ""
    payload: HandedPayload | None = None
    scope: tuple[str, ...] | None = None
    models: ModelSnapshot | None = None
    budget: HandoffBudget | None = None
    trace: HandoffTrace | None = None
    mode: str = ""
    priority: str = "normal"
    return_expected: bool = True
    rejected: tuple[RejectedSkill, ...] = ()
    expansion: tuple[str, ...] = ()
    temporary: str = ""

    @property
    def worker(self) -> str:
        """Who does the work: the card, or the temporary sub-agent made of it."""
        return self.temporary or self.target


PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "source": ("source",),
        "target": ("target",),
        "reason": ("reason", "intent"),
        "payload": ("payload",),
        "scope": ("scope",),
        "models": ("models", "budget"),
        "trace": ("trace",),
    }
)
"""The seven parts that each envelope has, by what they are made of (HND-01a to g)."""


def missing_parts(envelope: Envelope) -> tuple[str, ...]:
    """The parts that an envelope lacks; an empty scope is one, and says that there is no verb to
    use.
    """
    return tuple(
        part
        for part, fields in PARTS.items()
        if any(getattr(envelope, field) in (None, "") for field in fields)
    )


class Handed(StrEnum):
    """What rules found of a call that hands work on, as rule ``authorize`` is told.

    ``refused``: there is no envelope for it. ``reads``: the specialist may read and no more,
    ``more``: it may do more than that. ``person``: a person has to say yes to it, whatever policy
    or a grant says.
    """

    REFUSED = "refused"
    READS = "reads"
    MORE = "more"
    PERSON = "person"


# --- what comes back ------------------------------------------------------------------------------


class HandoffFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a handoff failed, and the run that has the trace (FAIL-02)."""

    code: str
    message: str
    trace_id: str


class HandoffResult(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a handoff came to (C5): ``completed`` with what the specialist gave, where that was
    wanted back, or ``failed`` with why.
    """

    status: str
    mode: str
    output_payload: dict[str, object] | None = None
    failure: HandoffFailure | None = None


def completed(mode: str, payload: dict[str, object] | None) -> HandoffResult:
    """Of a specialist that came to an answer."""
    return HandoffResult(status="completed", mode=mode, output_payload=payload)


def failed(mode: str, code: str, message: str, trace_id: str) -> HandoffResult:
    """Of one that did not, or of a request that was refused."""
    return HandoffResult(
        status="failed",
        mode=mode,
        failure=HandoffFailure(code=code, message=message, trace_id=trace_id),
    )
