"""The call of a card's verb, and the planner's request behind it."""

from __future__ import annotations

import json

from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import Envelope
from ordain.contracts.planner import (
    ExternalFacts,
    Goal,
    GoalMetadata,
    Limits,
    PlannerContext,
    PlannerRequest,
    ToolRef,
)
from ordain.flows.carried import VerbPlanInput
from ordain.flows.steps.bounds import lowered

NO_ENVELOPE = Envelope()


def planner_request(catalog: Catalog, call: VerbPlanInput) -> PlannerRequest:
    """What the specialist works on: who it is by its card, the task, and the payload as material;
    its tools are the envelope's scope and nothing else.
    """
    card, envelope, policy = (
        catalog.card_of(call.verb),
        call.handoff or NO_ENVELOPE,
        catalog.policy.handoff,
    )
    who = f"You are {envelope.worker}. {'' if card is None else card.description}".strip()
    limits = Limits(
        max_steps=policy.max_steps,
        max_tokens_reason=policy.max_tokens_reason,
        max_tokens_answer=policy.max_tokens_answer,
        timeout_seconds=policy.timeout_seconds,
    )
    payload = {
        **call.args["payload"],
        **({"found_before": list(call.recalled)} if call.recalled else {}),
    }
    return PlannerRequest(
        caller="other",
        goal=Goal(
            type="agent_task",
            description=f"{who}\nTask: {call.args['task']}\nWhat it is for: {call.args['intent']}",
            metadata=GoalMetadata(mode="agent"),
        ),
        context=PlannerContext(
            external_facts=ExternalFacts(text=json.dumps(payload, ensure_ascii=False))
        )
        if payload
        else PlannerContext(),
        toolset=[ToolRef(tool_id=verb) for verb in envelope.scope or ()],
        limits=lowered(limits, call.bounds),
    )
