"""The paths of a turn on which a model plans: the supervised loop, the agent chain and the council,
each a child run, and what its end makes of the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.conversation import ExecMode
from ordain.contracts.cortex import ExecutionStep
from ordain.contracts.legible_text import legible_part
from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.carried import InConversation
from ordain.flows.commission import MessageFacts
from ordain.flows.context import FlowContext
from ordain.flows.findings import StepFinding, set_apart
from ordain.flows.kind import PromptKind
from ordain.flows.observations import error_of
from ordain.flows.steps.chain import ChainAsked, enter_chain, pack_tools
from ordain.flows.turn.execution_plan import execution_plan
from ordain.flows.turn.judged import judged
from ordain.flows.turn.request import TurnOutput
from ordain.flows.turn.router import ROUTER_PROMPT, RoutedTurn
from ordain.rules.acts import Act
from ordain.rules.entry import Entered
from ordain.rules.route import Path, Routed


class TurnTerms(Struct, frozen=True, kw_only=True):
    """What versions do otherwise: how a router is asked, whether a chain has no more time than its
    step of the execution plan, and how code lists what agents found.
    """

    router: PromptKind[RoutedTurn] = ROUTER_PROMPT
    bounds_chain: bool = True
    by_code: Callable[[Sequence[StepFinding]], str] = set_apart


class PlannedWork(Struct, frozen=True, kw_only=True):
    """What is carried out: the words, the path and its caps, the verb that carries it out, and the
    verbs that it, and an agent chain below it, may use.

    ``chain_steps``: what the message lowers a chain's steps to, 0 leaves them. ``acts`` is what was
    done for the turn before it, ``refs`` the records of that. ``bounds_chain``: a chain has no more
    time than its step of the plan, which it had before version 9 of the turn.
    """

    words: str
    routed: Routed
    verb: str
    tools: tuple[str, ...]
    chain_tools: tuple[str, ...]
    chain_steps: int
    before: str
    recalled: str
    acts: tuple[Act, ...]
    refs: tuple[int, ...]
    bounds_chain: bool = True


class _Came(Struct, frozen=True, kw_only=True):
    """What it came to: the call, and the answer or the error."""

    acted: Acted
    answer: dict[str, Any] | None = None
    error: dict[str, Any] = {}


def chain_tools(message: MessageFacts, entry: Entered, catalog: Catalog) -> tuple[str, ...]:
    """The verbs that a chain may use: those that the message names, itself or by its packs; else
    those of policy's packs for a chain (C2).
    """
    return (
        entry.tools
        if message.allowed_verbs or message.packs or message.verb
        else pack_tools(catalog)
    )


async def carry(
    context: FlowContext, work: PlannedWork, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """Carry the path out; the answer stands as written, and whether all went well is the verdict's
    alone (B-34, RTE-12).
    """
    council = work.routed.path is Path.COUNCIL
    # whatever the turn's mode, it works by that plan
    plan = execution_plan(ExecMode.COUNCIL if council else ExecMode.AGENT, work.verb)
    routed = msgspec.structs.replace(
        work.routed, timeout_ms=min(work.routed.timeout_ms, plan.timeout_ms)
    )
    if routed.path is Path.AGENT_CHAIN:
        if work.bounds_chain:
            step_ms = plan.steps[1].timeout_ms
            routed = msgspec.structs.replace(routed, timeout_ms=min(routed.timeout_ms, step_ms))
        came, ran = await _chain(context, work, routed, talk), plan.steps[1:]
    else:
        came, ran = (
            await _supervisor(context, work, routed, talk, plan.steps[0].timeout_ms),
            plan.steps[:1],
        )
    told = _with_steps(told, came.acted, names(ran), names(plan.steps))
    if came.answer is None:
        return failed(told, came.error["code"], came.error["message"])
    told = msgspec.structs.replace(
        told, narrative=came.answer["content"], structured=came.answer["structured"]
    )
    return judged(context, told, came.acted.below, (*work.refs, came.acted.seq), work.acts)


async def _chain(
    context: FlowContext, work: PlannedWork, routed: Routed, talk: InConversation
) -> _Came:
    asked = ChainAsked(
        text=work.words,
        tools=work.chain_tools,
        max_steps=routed.max_steps,
        max_tokens_reason=routed.max_tokens_reason,
        max_tokens_answer=routed.max_tokens_answer,
        timeout_ms=routed.timeout_ms,
        before=work.before,
        recalled=work.recalled,
    )
    chained = await enter_chain(context, asked, talk, (0,))
    return _Came(
        acted=chained.acted,
        answer=chained.answer,
        error={"code": chained.error, "message": chained.message},
    )


async def _supervisor(
    context: FlowContext, work: PlannedWork, routed: Routed, talk: InConversation, step_ms: int
) -> _Came:
    args: dict[str, Any] = {
        "text": work.words,
        "tools": list(work.tools),
        "max_steps": routed.max_steps,
        "max_tokens_reason": routed.max_tokens_reason,
        "max_tokens_answer": routed.max_tokens_answer,
        "timeout_ms": routed.timeout_ms,
    }
    more = {
        "before": work.before,
        "recalled": work.recalled,
        "step_timeout_ms": step_ms,
        "chain_tools": list(work.chain_tools),
        "chain_steps": work.chain_steps,
    }
    args |= {name: value for name, value in more.items() if value}
    acted = await act(context, Call(verb=work.verb, args=args), (0,), talk)
    if isinstance(acted.result, VerbReturned):
        return _Came(acted=acted, answer=acted.result.output)
    return _Came(acted=acted, error=error_of(acted))


def _with_steps(
    told: TurnOutput, acted: Acted, ran: tuple[str, ...], planned: tuple[str, ...]
) -> TurnOutput:
    """What of the plan ran; a chain that a supervised loop escalated to did as well."""
    executed = tuple(dict.fromkeys(step.step_name for step in acted.steps if not step.skipped))
    told = msgspec.structs.replace(told, executed=executed, steps=acted.steps)
    if acted.denied:
        return told
    ran = tuple(
        name
        for name in planned
        if name in ran or (name.startswith(f"{CHAIN_VERB}/") and CHAIN_VERB in executed)
    )
    return msgspec.structs.replace(
        told, plan=ran, skipped=tuple(name for name in told.skipped if name not in ran)
    )


def names(steps: Sequence[ExecutionStep]) -> tuple[str, ...]:
    """Steps of an execution plan as ``step/service``."""
    return tuple(f"{step.step_name}/{service}" for step in steps for service in step.services)


def failed(told: TurnOutput, code: str, message: str) -> TurnOutput:
    """A failed turn: what is said about it is written here, by code."""
    return msgspec.structs.replace(
        told, ok=False, narrative=why_not(code, message), error={"code": code, "message": message}
    )


def why_not(code: str, message: str) -> str:
    """What code says of a turn that failed. Of a call whose end nobody knows it does not say that
    it was not done; what others named is spelled where it is mistaken.
    """
    said = "\n".join(map(legible_part, message.split("\n"))).rstrip(".")
    return (
        f"{said[:1].upper()}{said[1:]} ({code})."
        if code == "outcome_unknown"
        else f"This was not done: {said} ({code})."
    )


def why_not_7(code: str, message: str) -> str:
    """The same until version 7 of the turn."""
    return f"This was not done: {message.rstrip('.')} ({code})."
