"""What a message bounds of work that is handed on for it: it lowers what policy has for that work,
and never raises it.
"""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.conversation import BudgetClass
from ordain.contracts.policy import Policy


class WorkBounds(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The most that each worker may use; 0 of what the message says nothing of."""

    max_steps: int = 0
    max_tokens_reason: int = 0
    max_tokens_answer: int = 0
    timeout_ms: int = 0

    @classmethod
    def asked(cls, budget_class: str, max_steps: int, policy: Policy) -> WorkBounds | None:
        """The steps that a message names, and all that policy has of its budget class; None where
        it names neither.
        """
        if not budget_class:
            return cls(max_steps=max_steps) if max_steps else None
        caps = policy.router.classes[BudgetClass(budget_class)]
        return cls(
            max_steps=min(max_steps or caps.max_steps, caps.max_steps),
            max_tokens_reason=caps.max_tokens_reason,
            max_tokens_answer=caps.max_tokens_answer,
            timeout_ms=round(caps.timeout_seconds * 1000),
        )
