"""Verb ``plan.subgoal``: a tool that plans (FUT-02). What it is asked, and what holds where the
call says no less. Validation only.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from ordain.contracts.conversation import VerbName
from ordain.contracts.planner import Strict

SUBGOAL_STEPS = 4
SUBGOAL_SECONDS = 60.0


class SubgoalRequest(Strict):
    """A goal of its own, the material for it, and the verbs that may be used, of which each has to
    be the caller's too.
    """

    goal: Annotated[str, StringConstraints(min_length=1, max_length=8000, pattern=r"\S")]
    facts: Annotated[str, StringConstraints(max_length=10_000)] = ""
    tools: list[VerbName] = Field(default=[], max_length=50)
    max_steps: int = Field(default=SUBGOAL_STEPS, ge=1, le=100)
