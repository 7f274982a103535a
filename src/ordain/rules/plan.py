"""Rule ``plan``: is what a planner proposes for the roster a plan, and may it be followed
(PLAN-01..PLAN-13, B-13, B-14, B-31, B-38)?

The plan's confidence first, then its steps: who is no card is dropped, and with him what needs him.
Where nothing is left that may be followed the one declared way out is a plan of a single step for
``general_agent``, which never passes for what was proposed. Agents that a message names are no
proposal: one who is unknown refuses all of them (B-30).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.cards import AgentCard
from ordain.contracts.policy import Policy
from ordain.contracts.roster import (
    GENERAL_AGENT,
    HandoffStrategy,
    PlanFault,
    PlannerPlanPayload,
    read_needs,
    read_plan,
    read_strategy,
)
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason

DETAIL_CHARS = 200
NAME_CHARS = 64


class PlanReason(Reason):
    """What a plan for the roster comes to (C6, B-13, B-14, B-31)."""

    PLANNED = "plan.planned", "A planner's plan, confident enough, of agents that there are."
    NAMED = "plan.named", "The agents that the message names, each handed all of it."
    LOW_CONFIDENCE = (
        "planner.low_confidence",
        "The plan's confidence is below policy's threshold: general_agent alone takes the request.",
    )
    EMPTY_PLAN = (
        "planner.empty_plan",
        "The plan has no steps: general_agent alone takes the request.",
    )
    UNKNOWN_AGENTS = (
        "planner.unknown_agents",
        "No step of the plan is for an agent that there is: general_agent alone takes the request.",
    )
    FAILED = (
        "planner.failed",
        "There is no plan, or what was proposed is none: general_agent alone takes the request.",
    )
    LEGACY = (
        "legacy_agents_payload",
        (
            "The plan names agents instead of steps, which nothing follows: general_agent alone "
            "takes "
            "the request."
        ),
    )
    NO_GENERAL = (
        "plan.no_general_agent",
        (
            "Nothing that was proposed may be followed, and there is no general_agent to take the "
            "request."
        ),
    )
    UNKNOWN_NAMED = (
        "plan.unknown_agent",
        "The message names an agent that there is not: nobody is handed anything.",
    )


class PlannedBy(StrEnum):
    """Who says which agents there are to be: a planner model, or the message itself."""

    MODEL = "model"
    MESSAGE = "message"


class PlanMade(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="planned"):
    """The plan is followed: ``steps`` are the indexes of what was proposed that are left, ``needs``
    what each needs, by its place among them.

    ``dropped`` counts those for agents that there are not, and those that need them, which
    ``needing`` counts of plans that tell them apart; ``missing`` has the names of these agents, as
    they were written, cut.
    """

    agents: tuple[str, ...]
    steps: tuple[int, ...]
    confidence: float
    strategy: HandoffStrategy = HandoffStrategy.SEQUENTIAL
    needs: tuple[tuple[int, ...], ...] = ()
    dropped: int = 0
    missing: str = ""
    needing: int = 0


class PlanFallback(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="fallback"):
    """``general_agent`` takes the request (PLAN-13); ``detail`` names the place, or the agents that
    there are not.
    """

    agent: str
    reason: str
    detail: str = ""


class PlanRefused(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """Nobody is handed anything."""

    code: str
    detail: str = ""


PlanOutcome = PlanMade | PlanFallback | PlanRefused


class PlanFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who plans, how many agents there are, how many the message names; of a planner whether it
    answered, with how many bytes, or why not (``code``).

    ``apart``: steps that were dropped for what they need are told apart from the others.
    """

    by: PlannedBy
    cards: int
    named: int = 0
    answered: bool = False
    size_bytes: int = 0
    code: str = ""
    apart: bool = False


class PlanInputs(Struct, frozen=True, kw_only=True):
    """The cards of the catalog, the planner's answer, or whom the message names."""

    cards: Mapping[str, AgentCard]
    proposal: Parsed | Unparsed | None = None
    named: Sequence[str] = ()


def decide_plan(facts: PlanFacts, inputs: PlanInputs, policy: Policy) -> Decision[PlanOutcome]:
    """Form, then confidence, then who is there."""
    if facts.by is PlannedBy.MESSAGE:
        return _named(inputs)
    proposal = inputs.proposal
    if proposal is None or isinstance(proposal, Unparsed):
        return _fallback(
            inputs, PlanReason.FAILED, facts.code if proposal is None else str(proposal.reason)
        )
    if proposal.size_bytes > policy.step.max_bytes:
        return _fallback(inputs, PlanReason.FAILED, "too large")
    payload = read_plan(proposal.value)
    if isinstance(payload, PlanFault):
        return _fallback(
            inputs, PlanReason.LEGACY if payload.legacy else PlanReason.FAILED, payload.where
        )
    return _followed(facts, payload, inputs, policy)


def _named(inputs: PlanInputs) -> Decision[PlanOutcome]:
    agents = tuple(dict.fromkeys(inputs.named))
    if unknown := [name for name in agents if name not in inputs.cards]:
        return Decision(
            outcome=PlanRefused(code="unknown_agent", detail=_named_so(unknown)),
            reason=PlanReason.UNKNOWN_NAMED,
        )
    made = PlanMade(
        agents=agents,
        steps=tuple(range(len(agents))),
        confidence=1.0,
        strategy=HandoffStrategy.PARALLEL,
    )
    return Decision(outcome=made, reason=PlanReason.NAMED)


def _followed(
    facts: PlanFacts, payload: PlannerPlanPayload, inputs: PlanInputs, policy: Policy
) -> Decision[PlanOutcome]:
    steps = payload.steps
    if not steps:
        return _fallback(inputs, PlanReason.EMPTY_PLAN)
    if len(steps) > policy.roster.max_steps:
        return _fallback(inputs, PlanReason.FAILED, "steps: too_many")
    strategy, needs = read_strategy(payload.metadata), read_needs(payload.metadata, len(steps))
    for found in (strategy, needs):
        if isinstance(found, PlanFault):
            return _fallback(inputs, PlanReason.FAILED, found.where)
    if payload.confidence < policy.roster.threshold:
        return _fallback(inputs, PlanReason.LOW_CONFIDENCE)
    tables = needs if isinstance(needs, tuple) else ()
    kept = _kept([step.agent for step in steps], tables, inputs.cards)
    missing = _named_so(step.agent for step in steps if step.agent not in inputs.cards)
    if not kept:
        return _fallback(inputs, PlanReason.UNKNOWN_AGENTS, missing)
    place = {index: number for number, index in enumerate(kept)}
    made = PlanMade(
        agents=tuple(steps[index].agent for index in kept),
        steps=kept,
        confidence=payload.confidence,
        strategy=strategy if isinstance(strategy, HandoffStrategy) else HandoffStrategy.SEQUENTIAL,
        needs=tuple(tuple(place[before] for before in tables[index]) for index in kept)
        if tables
        else (),
        dropped=len(steps) - len(kept),
        missing=missing,
        needing=sum(
            facts.apart and index not in place and step.agent in inputs.cards
            for index, step in enumerate(steps)
        ),
    )
    return Decision(outcome=made, reason=PlanReason.PLANNED)


def _named_so(names: Iterable[str]) -> str:
    """Names that nobody has, each once, for a line that quotes them."""
    return ", ".join(name[:NAME_CHARS] for name in dict.fromkeys(names))[:DETAIL_CHARS]


def _kept(
    agents: Sequence[str], needs: Sequence[Sequence[int]], cards: Mapping[str, AgentCard]
) -> tuple[int, ...]:
    """The steps whose agents there are, and who need nothing of those that there are not."""
    gone = {index for index, agent in enumerate(agents) if agent not in cards}
    while more := {
        index
        for index, before in enumerate(needs)
        if index not in gone and not gone.isdisjoint(before)
    }:
        gone |= more
    return tuple(index for index in range(len(agents)) if index not in gone)


def _fallback(inputs: PlanInputs, reason: PlanReason, detail: str = "") -> Decision[PlanOutcome]:
    """The declared way out, where there is somebody for it: no plan is ever an empty success
    (B-31).
    """
    if GENERAL_AGENT not in inputs.cards:
        return Decision(
            outcome=PlanRefused(code="no_general_agent", detail=f"{reason} {detail}".strip()),
            reason=PlanReason.NO_GENERAL,
        )
    return Decision(
        outcome=PlanFallback(agent=GENERAL_AGENT, reason=str(reason), detail=detail[:DETAIL_CHARS]),
        reason=reason,
    )


_OUTCOME: msgspec.json.Decoder[PlanOutcome] = msgspec.json.Decoder(PlanOutcome)


def _tells(recorded: Recorded) -> HeaderShare:
    """Whom the plan is for, or why another one is followed than what was proposed."""
    match _OUTCOME.decode(recorded.outcome):
        case PlanMade(agents=agents, dropped=dropped, missing=missing, needing=needing):
            steps = f"{len(agents)} {'step' if len(agents) == 1 else 'steps'}: {', '.join(agents)}"
            gone = dropped - needing
            left_out = f"; {gone} dropped, for agents that there are not" if dropped else ""
            left_out += f", and {needing} more for what they need" if needing else ""
            line = HeaderLine(
                mark="info",
                what=f"plan of {steps}{left_out}",
                reason=recorded.reason,
                excerpt=missing,
            )
        case PlanFallback(agent=agent, detail=detail):
            what = (
                f"fallback applied: no plan of the planner's is followed, {agent} takes the request"
            )
            line = HeaderLine(mark="info", what=what, reason=recorded.reason, excerpt=detail)
        case PlanRefused(detail=detail):
            line = HeaderLine(
                mark="fail", what="plan refused", reason=recorded.reason, excerpt=detail
            )
    return HeaderShare(lines=(line,))


PLAN: Rule[PlanFacts, PlanInputs, Any] = Rule(
    name="plan", outcome=PlanOutcome, apply=decide_plan, reasons=(PlanReason,), tells=_tells
)
