"""Where a supervised turn goes on elsewhere: an agent chain, or the council and what its word leads
to (EXE-12, EXE-15, ACH-03, CNC-04).

Either ends the turn: with an answer that counts, or typed. What was done so far is told to whoever
takes over, so that nothing is done twice.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, structs

from ordain.contracts.council import CouncilDirective, DeliberationRequest
from ordain.flows.carried import InConversation, StepResult, VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.deliberate import deliberate
from ordain.flows.steps.chain import ChainAsked, enter_chain, left_open, steps_told
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.flows.supervisor.request import arguments_of
from ordain.rules.council import UNRESOLVED
from ordain.rules.header import SIGNS, plain

TENTATIVE_CHARS = 4000
"""Most of such words, in characters."""


class Escalation(Struct, frozen=True, kw_only=True):
    """What an escalation is made of: the context with all the turn's verbs, the turn's call, where
    its loop stands, and its steps so far, to which it adds.

    ``attaches``: what a council proposed last and did not accept is told with the failure, which
    versions before 7 did not. ``bounds``: a chain has no more time than a step of the turn's plan,
    which it had before version 9.
    """

    context: FlowContext
    call: VerbPlanInput
    progress: Progress
    done: list[StepResult]
    attaches: bool = True
    bounds: bool = True


class Escalated(Struct, frozen=True, kw_only=True):
    """What it came to: an answer as ``{content, structured}``, or the code and the words for why
    there is none.
    """

    answer: dict[str, Any] | None = None
    error: str = ""
    message: str = ""


async def escalate(escalation: Escalation, refs: tuple[int, ...], known: str = "") -> Escalated:
    """Hand over to an agent chain, within what is left of the turn's tokens and time; ``known`` is
    told to it beside the steps so far.
    """
    context, progress, args = escalation.context, escalation.progress, arguments_of(escalation.call)
    left = max(1, progress.limits.timeout_ms - (context.now() - progress.began) // 1000)
    step_ms = args.step_timeout_ms if escalation.bounds else 0
    asked = ChainAsked(
        text=args.text,
        tools=args.chain_tools,
        max_steps=args.chain_steps,
        max_tokens_reason=max(1, left_reason(progress)),
        max_tokens_answer=max(1, left_answer(progress)),
        timeout_ms=min(left, step_ms) if step_ms else left,
        before="\n".join(filter(None, (args.before, *steps_told(progress), known))),
        recalled=args.recalled,
    )
    talk = InConversation(
        history=escalation.call.history,
        narrate=escalation.call.narrate,
        max_tokens=escalation.call.max_tokens,
    )
    chained = await enter_chain(context, asked, talk, refs)
    for step in (*chained.acted.steps, chained.step):
        escalation.done.append(structs.replace(step, order=len(escalation.done)))
    return Escalated(answer=chained.answer, error=chained.error, message=chained.message)


async def consult(escalation: Escalation, refs: tuple[int, ...]) -> Escalated:
    """Ask the council about the goal and what was done for it: its accepted text is the answer, or
    it hands over to a chain (EXE-15).

    What is left open when no round is left goes with the failure, as words that are no answer
    (B-08).
    """
    context, call = escalation.context, escalation.call
    text, told = arguments_of(call).text, steps_told(escalation.progress)
    prompt = "\n".join((text, "", "What was done for it:", *told)) if told else text
    asked = DeliberationRequest(
        prompt=prompt, source=call.verb, universe=context.catalog.policy.council.universe
    )
    came = await deliberate(context, asked, call.history)
    result = came.result
    if came.next is CouncilDirective.ACCEPT_TEXT and result is not None:
        return Escalated(
            answer={
                "content": result.final_text,
                "structured": {"deliberation": msgspec.to_builtins(result.meta)},
            }
        )
    if came.next is CouncilDirective.DELEGATE_CHAIN and result is not None:
        return await escalate(escalation, refs, left_open(result))
    proposed = result.tentative_text if result is not None and escalation.attaches else ""
    shown = plain(proposed.translate(SIGNS), TENTATIVE_CHARS) if came.error == UNRESOLVED else ""
    attached = f' Proposed, and not final: "{shown}"' if shown else ""
    return Escalated(error=came.error, message=f"{came.message}{attached}")
