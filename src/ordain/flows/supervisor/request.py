"""The call of a supervised turn, and the planner's request behind it."""

from __future__ import annotations

import msgspec
from msgspec import Struct

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


class SupervisorArgs(Struct, frozen=True, kw_only=True):
    """The arguments of ``agent_runtime``: what the user said, the tools and the caps, as the turn's
    rules decided them.

    ``step_timeout_ms`` bounds one call of the planner (EXE-17; 0: its time is the turn's).
    ``before``: what an interrupted run had done that this one takes the place of. ``recalled``:
    fragments of memory, a JSON object a line. ``chain_tools`` and ``chain_steps`` are what an agent
    chain may use that it is escalated to; 0 steps: as policy has it.
    """

    text: str
    tools: tuple[str, ...]
    max_steps: int
    max_tokens_reason: int
    max_tokens_answer: int
    timeout_ms: int
    step_timeout_ms: int = 0
    before: str = ""
    recalled: str = ""
    chain_tools: tuple[str, ...] = ()
    chain_steps: int = 0

    @property
    def known(self) -> str:
        """What the planner is told beside the request; "" where there is nothing."""
        done = f"Already done before this request:\n{self.before}" if self.before else ""
        return "\n\n".join(filter(None, (done, self.recalled)))


def arguments_of(call: VerbPlanInput) -> SupervisorArgs:
    """The call's arguments, which its schema has accepted."""
    return msgspec.convert(call.args, SupervisorArgs)


def request_of(call: VerbPlanInput) -> PlannerRequest:
    """The planner's request behind a supervised turn; its history is by reference and stands in the
    prompt alone.
    """
    args = arguments_of(call)
    return PlannerRequest(
        caller="hub",
        goal=Goal(type="chat", description=args.text, metadata=GoalMetadata(mode="agent")),
        context=PlannerContext(external_facts=ExternalFacts(text=args.known))
        if args.known
        else PlannerContext(),
        toolset=[ToolRef(tool_id=tool) for tool in args.tools],
        limits=Limits(
            max_steps=args.max_steps,
            max_tokens_reason=args.max_tokens_reason,
            max_tokens_answer=args.max_tokens_answer,
            timeout_seconds=args.timeout_ms / 1000,
        ),
    )
