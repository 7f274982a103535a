"""What a rule is: a pure function of facts, inputs and policy that returns a decision (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.reasons import Reason

F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letter for inputs beside F and O
O = TypeVar("O", bound=Struct)  # noqa: E741 - the established letter for an outcome

FACTS_BYTES = 1024
"""Facts are features, never bodies: at most this much canonical JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[O]):
    """An outcome with the one reason for it. ``address`` (``effect/rule#k``) is set by the port that recorded it."""

    outcome: O
    reason: Reason
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[F, I, O]):
    """A named rule with the type of its outcome union, so that a recorded decision can be read back.

    ``apply`` is total: it never raises and never looks at anything but its arguments.
    """

    name: str
    outcome: Any
    apply: Callable[[F, I, Policy], Decision[O]]
