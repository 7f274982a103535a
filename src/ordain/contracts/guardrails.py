"""Guardrails: what is looked at before a task is handed on, as policy has it; and the ticket of a
review (C6).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from pydantic import Field, StringConstraints

from ordain.contracts.planner import Strict
from ordain.contracts.verbs import VerbEffect, VerbId

Phrase = Annotated[
    str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Degree = Annotated[float, Field(ge=0, le=1)]
RISK: dict[VerbEffect, Degree] = {
    VerbEffect.READ: 0.0,
    VerbEffect.PRIVATE: 0.1,
    VerbEffect.EGRESS: 0.2,
    VerbEffect.SEND: 0.4,
    VerbEffect.ADMIN: 0.6,
    VerbEffect.PAY: 0.8,
    VerbEffect.DELETE: 0.8,
    VerbEffect.SECRET: 0.8,
}


class GuardrailsPolicy(Strict):
    """What a task is held to before it is handed on: words that forbid it, and how risky it may be
    before a person looks at it.
    """

    prohibited: list[Phrase] = Field(
        default=[],
        max_length=500,
        description=(
            "Words and phrases that forbid a task in which they stand as people see them: in any "
            "case, between any signs, with accents or look-alike letters, letter by letter; no "
            "part of a longer word, but where a script puts no blanks between words."
        ),
    )
    review_at: Degree = Field(
        default=0.5, description="From this risk on a person looks at the task first."
    )
    escalate_at: Degree = Field(
        default=0.8,
        description=(
            "From this risk on it is escalated: a person looks at it, and the ticket says why."
        ),
    )
    risk: dict[Annotated[VerbEffect, Field(strict=False)], Degree] = Field(
        default=RISK,
        description=(
            "The risk of a task by the gravest effect of the verbs that it is handed on with; "
            "what is not named is 1."
        ),
    )
    moderation: VerbId | None = Field(
        default=None,
        description=(
            "A read that scores a task beforehand: it takes {text} and gives {score}, from 0 to "
            "1. Where it gives none a person looks at the task."
        ),
    )


class ReviewTicket(Struct, frozen=True, kw_only=True):
    """A task that a person looks at (C6). ``sources`` are the policies of the guardrails that want
    it, ``escalation_payload`` is empty of a mere review.
    """

    ticket_id: str
    task_id: str
    status: str
    summary: str
    assigned_to: tuple[str, ...]
    sources: tuple[str, ...]
    escalation_payload: dict[str, object]
    notes: tuple[str, ...]
