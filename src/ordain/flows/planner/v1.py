"""Flow ``planner``, version 1, frozen: for runs that began as such. Where the loop ended was found
here and not by a rule.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.planner import CONTENT_MAX, PlannerRequest
from ordain.flows.accounts import open_account
from ordain.flows.ask import AskFailed
from ordain.flows.context import FlowContext
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.flows.planner.prompt import PROMPT_3 as PROMPT
from ordain.flows.recording_1 import spelled_out
from ordain.flows.steps.steps import (
    Progress,
    ProposedCall,
    ProposedFinish,
    RefusedStep,
    add_step,
    begin,
    carry_out,
    left_answer,
    left_reason,
    next_step,
)
from ordain.ports.effects import Interrupted
from ordain.rules.step import REASK, Reask, ReaskFacts


@spelled_out(PROMPT)
async def run_planner(context: FlowContext, request: PlannerRequest) -> PlannerOutcome:
    """Version 1."""
    context, progress, refused = begin(context, request, PROMPT)
    if refused is not None:
        return _end(context, progress, "error", _error(refused.code, f"toolset: {refused.verb}"))
    try:
        if (short := await open_account(context, request.caller)) is not None:
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
    while len(progress.steps) < progress.limits.max_steps:
        if context.now() >= context.deadline:
            return _timeout(context, progress)
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
                if context.now() >= context.deadline:
                    return _timeout(context, progress)
                return _end(context, progress, "error", _error(step.code, step.message))
        if left_reason(progress) < 0:
            return _end(
                context,
                progress,
                "error",
                _error("token_limit", "max_tokens_reason is spent"),
                _salvage(progress, "token_limit"),
            )
    return _end(
        context,
        progress,
        "error",
        _error("max_steps_exhausted", f"no final answer within {progress.limits.max_steps} steps"),
        _salvage(progress, "max_steps_exhausted"),
    )


def _finish(context: FlowContext, progress: Progress, step: ProposedFinish) -> PlannerOutcome:
    if left_answer(progress) < 0 or left_reason(progress) < 0:
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
    return _end(context, progress, "ok", None, step.final_answer)


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
