"""The agent chain: what it is asked and what it gives (C2, ACH-01..ACH-03), and what a chain may
use where nobody says less.

It has no way in of its own: a router's path, a supervisor's escalation and a council's word lead to
it. What it says is taken only with the directive that led there.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from ordain.contracts.conversation import PackName, VerbName
from ordain.contracts.planner import CONTENT_MAX, HistoryMessage, Slug, Strict

CHAIN_VERB = "agent_chain"
"""The reserved verb of a chain."""
TOOLS_MAX = 100


class ChainPolicy(Strict):
    """What an agent chain may use (C2): a message, a budget class and a caller only lower it."""

    packs: list[PackName] = Field(
        default=["executive_pack", "memory_pack"],
        max_length=100,
        description=(
            "Packs whose verbs a chain may use as tools where the message names neither tools nor "
            "packs."
        ),
    )
    max_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="Steps of a chain; a message and its budget class lower them.",
    )
    timeout_seconds: float = Field(
        default=90, gt=0, le=86_400, description="Time of a chain; the budget class lowers it."
    )


class AgentChainRequest(Strict):
    """What a chain is asked (C2). ``tools`` are the verbs that it may use; without them those of
    ``packs``, or policy's packs.

    ``max_steps``, ``max_tokens_reason``, ``max_tokens_answer`` and ``timeout_ms`` lower what policy
    lets a chain use. ``before`` and ``recalled`` are material: what was done for the same message
    already, and what is remembered.
    """

    text: Annotated[str, StringConstraints(min_length=1, max_length=32_000, pattern=r"\S")]
    mode: Slug = "agent"
    session_id: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    user_id: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    goal_description: Annotated[str, StringConstraints(min_length=1, max_length=32_000)] | None = (
        None
    )
    messages: list[HistoryMessage] = Field(default=[], max_length=100)
    tools: list[VerbName] | None = Field(default=None, max_length=TOOLS_MAX)
    packs: list[PackName] | None = Field(default=None, max_length=100)
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    max_tokens_reason: int | None = Field(default=None, ge=1)
    max_tokens_answer: int | None = Field(default=None, ge=1)
    timeout_ms: int | None = Field(default=None, ge=1)
    before: Annotated[str, StringConstraints(max_length=8000)] = ""
    recalled: Annotated[str, StringConstraints(max_length=20_000)] = ""


class AgentChainResult(Strict):
    """What a chain gives (ACH-01). ``text`` is the content of the final answer in ``planner_raw``'s
    directive, and counts with that alone.
    """

    mode: Slug
    text: str = Field(min_length=1, max_length=CONTENT_MAX)
    structured: dict[str, Any] = {}
    planner_raw: dict[str, Any] = {}
