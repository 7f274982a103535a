"""Flow ``planner``, version 3, frozen: for runs that began as such. Each request was alone, and its
first answer that was accepted was its last.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.planner import CONTENT_MAX, PlannerRequest
from ordain.flows.accounts import open_account
from ordain.flows.ask import AskFailed
from ordain.flows.context import FlowContext
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.flows.planner.prompt import PROMPT_3 as PROMPT
from ordain.flows.steps.bounds import bound_met
from ordain.flows.steps.steps import (
    Progress,
    ProposedCall,
    ProposedFinish,
    RefusedStep,
    add_step,
    begin,
    carry_out,
    next_step,
)
from ordain.ports.effects import Interrupted
from ordain.rules.proceed import Bound
from ordain.rules.step import REASK, Reask, ReaskFacts


async def run_planner(context: FlowContext, request: PlannerRequest) -> PlannerOutcome:
    """Version 3."""
    context, progress, refused = begin(context, request, PROMPT)
    if refused is not None:
        return _end(context, progress, "error", _error(refused.code, f"toolset: {refused.verb}"))
    try:
        if (short := await open_account(context, context.agent)) is not None:
            return _end(
                context,
                progress,
                "error",
                _error("budget_exceeded", f"account {short.account} does not cover the run"),
            )
        return await _loop(context, progress)
    except Interrupted as interrupted:
        return _end(
            context,
            progress,
            "error",
            _error("cancelled", f"{interrupted.what} by {interrupted.by}"),
        )


async def _loop(context: FlowContext, progress: Progress) -> PlannerOutcome:
    while True:
        step = await next_step(context, progress)
        match step:
            case ProposedFinish():
                add_step(progress, step.thought, step.answer)
                return _finish(context, progress, step)
            case RefusedStep():
                add_step(progress, step.thought, step.answer)
                first = progress.first_refusal = progress.first_refusal or step
                facts = ReaskFacts(used=progress.reasks, reason=step.reason)
                if not isinstance(
                    context.fx.decide(REASK, facts, None, (step.answer,)).outcome, Reask
                ):
                    return _end(
                        context,
                        progress,
                        "error",
                        _error(first.reason, f"{first.reason.meaning} {first.detail}".strip()),
                    )
                progress.reasks, progress.reask = progress.reasks + 1, step.reason
            case ProposedCall():
                progress.reask = None
                await carry_out(context, progress, step)
            case AskFailed():
                if bound_met(context, progress) is Bound.TIME:
                    return _timeout(context, progress)
                return _end(context, progress, "error", _error(step.code, step.message))
        match bound_met(context, progress):
            case Bound.TIME:
                return _timeout(context, progress)
            case Bound.TOKENS:
                error = _error("token_limit", "max_tokens_reason is spent")
                return _end(context, progress, "error", error, _salvage(progress, "token_limit"))
            case Bound.STEPS:
                error = _error(
                    "max_steps_exhausted",
                    f"no final answer within {progress.limits.max_steps} steps",
                )
                return _end(
                    context, progress, "error", error, _salvage(progress, "max_steps_exhausted")
                )
            case None:
                continue


def _finish(context: FlowContext, progress: Progress, step: ProposedFinish) -> PlannerOutcome:
    if bound_met(context, progress, answered=True) is None:
        return _end(context, progress, "ok", None, step.final_answer)
    salvaged = {
        "content": step.final_answer["content"],
        "structured": {
            **step.final_answer["structured"],
            "salvaged": True,
            "stop_reason": "token_limit",
        },
    }
    return _end(
        context,
        progress,
        "error",
        _error("token_limit", "the answer exceeds max_tokens_answer"),
        salvaged,
    )


def _timeout(context: FlowContext, progress: Progress) -> PlannerOutcome:
    return _end(
        context,
        progress,
        "timeout",
        _error("timeout", "timeout_seconds is over"),
        _salvage(progress, "timeout"),
    )


def _salvage(progress: Progress, stop_reason: str) -> dict[str, Any] | None:
    """What the last step's tool gave, marked as no answer (B-01); a thought is never made an answer
    (B-26).
    """
    observed = progress.steps[-1].wire["observation"] if progress.steps else None
    if not observed or not observed["llm_output"]:
        return None
    return {
        "content": observed["llm_output"][:CONTENT_MAX],
        "structured": {"salvaged": True, "stop_reason": stop_reason},
    }


def _error(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def _end(
    context: FlowContext,
    progress: Progress,
    status: str,
    error: dict[str, str] | None,
    answer: dict[str, Any] | None = None,
) -> PlannerOutcome:
    return PlannerOutcome(
        request_id=progress.request.request_id or "",
        status=status,
        error=error,
        final_answer=answer,
        steps=tuple((step.answer, step.acted, step.denied) for step in progress.steps),
        usage={
            "steps": len(progress.steps),
            "tokens_reason": progress.tokens_reason,
            "tokens_answer": progress.tokens_answer,
            "tools_called": progress.tools_called,
            "duration_ms": (context.now() - progress.began) // 1000,
            "estimated": progress.estimated,
        },
    )
