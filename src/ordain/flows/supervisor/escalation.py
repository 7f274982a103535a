"""Where a supervised turn goes on elsewhere: an agent chain, or the council and what its word leads to (EXE-12, EXE-15, ACH-03, CNC-04).

Either ends the turn: with an answer that counts, or typed. What was done so far is told to whoever takes over, so that nothing is done twice.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from ordain.flows.act import InConversation, StepResult, VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.steps.chain import STEP_CHARS, ChainAsked, enter_chain
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.flows.supervisor.request import arguments_of

NO_COUNCIL = "path_unavailable"


class Escalation(Struct, frozen=True, kw_only=True):
    """What an escalation is made of: the context with all the turn's verbs, the turn's call, where its loop stands, and its steps so far, to which it adds."""

    context: FlowContext
    call: VerbPlanInput
    progress: Progress
    done: list[StepResult]


class Escalated(Struct, frozen=True, kw_only=True):
    """What it came to: an answer as ``{content, structured}``, or the code and the words for why there is none."""

    answer: dict[str, Any] | None = None
    error: str = ""
    message: str = ""


async def escalate(escalation: Escalation, refs: tuple[int, ...]) -> Escalated:
    """Hand over to an agent chain, within what is left of the turn's tokens and time."""
    context, progress, args = escalation.context, escalation.progress, arguments_of(escalation.call)
    asked = ChainAsked(
        text=args.text,
        tools=args.chain_tools,
        max_steps=args.chain_steps,
        max_tokens_reason=max(1, left_reason(progress)),
        max_tokens_answer=max(1, left_answer(progress)),
        timeout_ms=max(1, progress.limits.timeout_ms - (context.now() - progress.began) // 1000),
        before="\n".join(filter(None, (args.before, *steps_told(progress)))),
        recalled=args.recalled,
    )
    talk = InConversation(history=escalation.call.history, narrate=escalation.call.narrate, max_tokens=escalation.call.max_tokens)
    chained = await enter_chain(context, asked, talk, refs)
    for step in (*chained.acted.steps, chained.step):
        escalation.done.append(structs.replace(step, order=len(escalation.done)))
    return Escalated(answer=chained.answer, error=chained.error, message=chained.message)


async def consult(_: Escalation, __: tuple[int, ...]) -> Escalated:
    """Ask the council. This build has none."""
    return Escalated(error=NO_COUNCIL, message="this build has no council")


def steps_told(progress: Progress) -> list[str]:
    """The steps that were carried out, a line each: what was called, and what it gave."""
    told: list[str] = []
    for step in progress.steps:
        action, observed = step.wire["action"], step.wire["observation"]
        if action is not None and observed is not None:
            said = observed["llm_output"] if observed["ok"] else f"failed, {observed['error']['code']}"
            told.append(f"{action['tool_id']}: {said}"[:STEP_CHARS])
    return told
