"""From a request to a plan: the planner is asked, or the agents that somebody named are taken;
rules ``plan`` and ``plan_step`` say what is followed.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.agent_verbs import WhyHanded
from ordain.contracts.roster import (
    GENERAL_AGENT,
    RAW_CHARS,
    SCHEMA_VERSION,
    HandoffStrategy,
    PlannedStep,
    PlannerPlan,
    PlannerPlanPayload,
    StepRecord,
    StepStatus,
    read_plan,
)
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import ask
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.roster.prompt import ROSTER_PROMPT
from ordain.flows.roster.request import RosterArgs
from ordain.flows.steps.trace import proposal_of
from ordain.rules.plan import (
    PLAN,
    PlanFacts,
    PlanFallback,
    PlanInputs,
    PlanMade,
    PlannedBy,
    PlanRefused,
)
from ordain.rules.plan_step import PLAN_STEP, PlanStepFacts, StepGiven
from ordain.rules.proposals import Parsed, Unparsed

CODE_CHARS = 64


class Planned(Struct, frozen=True, kw_only=True):
    """A plan to be followed: what each step was planned as and whom it is handed to, "" of one whom
    nobody may be handed.
    """

    plan: PlannerPlan
    strategy: HandoffStrategy
    records: tuple[StepRecord, ...]
    reason: WhyHanded

    @property
    def needs(self) -> tuple[tuple[int, ...], ...]:
        """What each step needs; () where the plan says nothing of it."""
        return (
            tuple(step.needs for step in self.plan.steps)
            if any(step.needs for step in self.plan.steps)
            else ()
        )


BY_REQUEST = "named by the request"
OR_A_MODEL = "named by the request, or by a model that was asked whom it means"


async def planned(
    context: FlowContext, call: VerbPlanInput, args: RosterArgs, *, doubts: bool, apart: bool
) -> Planned | PlanRefused:
    """The plan that is followed, or why there is none. ``doubts``: it says so where a model may
    have named who is to do it. ``apart``: of dropped steps it says which need dropped ones.
    """
    cards = context.catalog.data.cards
    if args.named:
        facts = PlanFacts(by=PlannedBy.MESSAGE, cards=len(cards), named=len(args.named))
        outcome = context.fx.decide(
            PLAN, facts, PlanInputs(cards=cards, named=args.named), (0,)
        ).outcome
        return (
            outcome
            if isinstance(outcome, PlanRefused)
            else _named(context, outcome, _by_whom(context, doubts=doubts))
        )
    answer = await ask(context, ROSTER_PROMPT, call)
    had = isinstance(answer, ModelAnswer)
    proposal: Parsed | Unparsed | None = proposal_of(answer) if had else None
    facts = PlanFacts(
        by=PlannedBy.MODEL,
        cards=len(cards),
        answered=had,
        size_bytes=0 if proposal is None else proposal.size_bytes,
        code="" if had else answer.code[:CODE_CHARS],
        apart=apart,
    )
    outcome = context.fx.decide(
        PLAN, facts, PlanInputs(cards=cards, proposal=proposal), (answer.seq,) if had else ()
    ).outcome
    said = (answer.content or "") if had else ""
    match outcome:
        case PlanMade():
            return _followed(
                context,
                outcome,
                read_plan(proposal.value if isinstance(proposal, Parsed) else {}),
                said,
            )
        case PlanFallback():
            return _fallback(outcome, said)
        case _:
            return outcome


def _by_whom(context: FlowContext, *, doubts: bool) -> str:
    """Who named them, as approvers are told: where policy has a model asked, nobody below it knows
    which of the two it was.
    """
    return OR_A_MODEL if doubts and context.catalog.policy.outcome.ask is not None else BY_REQUEST


def _named(context: FlowContext, made: PlanMade, by_whom: str) -> Planned:
    """A step for each agent that somebody named, with the tools that its card prefers."""
    cards = context.catalog.data.cards
    steps = tuple(PlannedStep(agent=agent, reason=by_whom) for agent in made.agents)
    plan = PlannerPlan(
        steps=steps, metadata={"handoff_strategy": str(made.strategy), "confidence": 1.0}
    )
    records = tuple(
        StepRecord(
            index=index,
            planned_agent=agent,
            planned_reason=steps[index].reason,
            executed_agent=agent,
        )
        for index, agent in enumerate(made.agents)
        if agent in cards
    )
    return Planned(plan=plan, strategy=made.strategy, records=records, reason=WhyHanded.REQUESTED)


def _followed(context: FlowContext, made: PlanMade, payload: Any, said: str) -> Planned:
    """The steps that are left of what was proposed, each through its own gate (PLAN-14)."""
    proposed: PlannerPlanPayload = payload
    needs = made.needs or ((),) * len(made.steps)
    steps = tuple(
        PlannedStep(
            agent=step.agent,
            reason=step.reason,
            tools=tuple(step.tools),
            fallback_tools=tuple(step.fallback_tools),
            confidence=step.confidence,
            needs=needs[place],
        )
        for place, step in enumerate(proposed.steps[index] for index in made.steps)
    )
    metadata = {
        "handoff_strategy": str(made.strategy),
        **proposed.metadata,
        "confidence": made.confidence,
        "schema_version": SCHEMA_VERSION,
    }
    plan = PlannerPlan(
        steps=steps, metadata=metadata, confidence=made.confidence, raw_response=said[:RAW_CHARS]
    )
    records = tuple(_gated(context, step, index, len(steps)) for index, step in enumerate(steps))
    return Planned(plan=plan, strategy=made.strategy, records=records, reason=WhyHanded.DOMAIN)


def _gated(context: FlowContext, step: PlannedStep, index: int, steps: int) -> StepRecord:
    facts = PlanStepFacts(
        step=index,
        steps=steps,
        agent=step.agent,
        confidence=step.confidence,
        general=GENERAL_AGENT in context.catalog.data.cards,
    )
    decision = context.fx.decide(PLAN_STEP, facts, None, ())
    record = StepRecord(
        index=index,
        planned_agent=step.agent,
        planned_reason=step.reason,
        planned_tools=step.tools,
        planned_fallback_tools=step.fallback_tools,
        planned_confidence=step.confidence,
        executed_agent=step.agent,
        confidence_threshold=context.catalog.policy.roster.threshold,
    )
    given = decision.outcome
    if not isinstance(given, StepGiven):
        return msgspec.structs.replace(
            record, executed_agent="", status=StepStatus.FAILED, error="no_general_agent"
        )
    if not given.instead:
        return record
    return msgspec.structs.replace(
        record,
        executed_agent=given.agent,
        fallback_applied=True,
        fallback_agent=given.agent,
        fallback_reason=str(decision.reason),
    )


def _fallback(outcome: PlanFallback, said: str) -> Planned:
    """The plan of a single step that takes the place of what may not be followed (PLAN-13, C6's
    metadata).
    """
    step = PlannedStep(agent=outcome.agent, reason=outcome.reason, confidence=0.0)
    metadata: dict[str, Any] = {
        "fallback_applied": True,
        "fallback_reason": outcome.reason,
        "confidence": 0.0,
        "schema_version": SCHEMA_VERSION,
    }
    plan = PlannerPlan(
        steps=(step,), metadata=metadata, confidence=0.0, raw_response=said[:RAW_CHARS]
    )
    record = StepRecord(
        index=0,
        planned_agent=outcome.agent,
        planned_reason=outcome.reason,
        planned_confidence=0.0,
        executed_agent=outcome.agent,
        fallback_applied=True,
        fallback_agent=outcome.agent,
        fallback_reason=outcome.reason,
    )
    return Planned(
        plan=plan, strategy=HandoffStrategy.SEQUENTIAL, records=(record,), reason=WhyHanded.FALLBACK
    )
