"""Routing probes: messages with what must come of them, which policy holds and ``ordain doctor``
checks.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ordain.contracts.conversation import BudgetClass, ExecMode, WorkflowHint
from ordain.contracts.planner import Strict


class ProbeMessage(Strict):
    """The part of a message that routing looks at."""

    text: str = Field(min_length=1, max_length=2000)
    mode: ExecMode = Field(default=ExecMode.BRAIN, strict=False)
    verb: str | None = None
    supervised: bool = False
    workflow: str | WorkflowHint | None = Field(
        default=None, description="A template's name, or `{template, args}`."
    )
    delegates: list[str] = []


class ProbeExpectation(Strict):
    """What must come out; what is not named is not compared."""

    attached: str | None = None
    verb: str | None = None
    outcome: str | None = None
    path: str | None = None
    budget_class: BudgetClass | None = Field(default=None, strict=False)
    refused: str | None = None


class Probe(Strict):
    """A routing probe: a message, what a model that is asked about it is supposed to suggest (the
    router, and who may name a workflow), and what policy must make of it.
    """

    message: ProbeMessage
    suggests: dict[str, Any] | str | None = None
    asked: bool = Field(
        default=False,
        description=(
            "Whether the probe is held to the policy as if it had a router model asked, also "
            "where `router.ask` names no lane."
        ),
    )
    expect: ProbeExpectation
