"""The call of a chain, and the planner's request behind it."""

from __future__ import annotations

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import AgentChainRequest
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
from ordain.flows.steps.chain import pack_tools


def chain_request(call: VerbPlanInput) -> AgentChainRequest:
    """The call's arguments, which its schema has accepted."""
    return AgentChainRequest.model_validate_json(msgspec.json.encode(call.args))


def planner_request(catalog: Catalog, asked: AgentChainRequest) -> PlannerRequest:
    """The planner's request: the goal in the words that there are, the tools, and no more steps and
    time than policy lets a chain have.

    A history is by reference and stands in the prompt alone; ``messages`` are what somebody said
    who has no session.
    """
    policy = catalog.policy.agent_chain
    tools = (
        pack_tools(catalog, asked.packs)
        if asked.tools is None
        else tuple(dict.fromkeys(asked.tools))
    )
    known = "\n\n".join(
        filter(
            None,
            (
                f"Already done before this request:\n{asked.before}" if asked.before else "",
                asked.recalled,
            ),
        )
    )
    limits = {
        "max_tokens_reason": asked.max_tokens_reason,
        "max_tokens_answer": asked.max_tokens_answer,
    }
    return PlannerRequest(
        caller="hub",
        goal=Goal(
            type="chat",
            description=asked.goal_description or asked.text,
            metadata=GoalMetadata(
                mode=asked.mode, user_message=asked.text if asked.goal_description else None
            ),
        ),
        context=PlannerContext(
            conversation_history=asked.messages,
            external_facts=ExternalFacts(text=known) if known else ExternalFacts(),
        ),
        toolset=[ToolRef(tool_id=tool) for tool in tools],
        limits=Limits(
            max_steps=min(asked.max_steps or policy.max_steps, policy.max_steps),
            timeout_seconds=min(
                asked.timeout_ms or policy.timeout_seconds * 1000, policy.timeout_seconds * 1000
            )
            / 1000,
            **{name: value for name, value in limits.items() if value is not None},
        ),
    )
