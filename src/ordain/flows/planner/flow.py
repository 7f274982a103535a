"""Flow ``planner``: the ReAct loop of ``POST /plan/react`` (PLN-01, PLN-32).

The chain of tools is in no request; it emerges from toolset, trace and proposals (PLN-35). A
request may go on from earlier ones (``session``), and have its answer looked at before it counts
(``second_look``).
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.planner import CONTENT_MAX, PlannerRequest
from ordain.flows.accounts import open_account
from ordain.flows.ask import AskFailed
from ordain.flows.context import FlowContext
from ordain.flows.planner.outcome import PlannerOutcome, salvaged
from ordain.flows.planner.prompt import PROMPT
from ordain.flows.planner.second_look import AnswerCounts, AnswerFails, SecondLooks
from ordain.flows.planner.session import go_on
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
    """Work on one goal until there is an answer, or say exactly why there is none."""
    return await _run(context, request, counts=True)


async def run_planner_4(context: FlowContext, request: PlannerRequest) -> PlannerOutcome:
    """Version 4, where a directive that was refused for its shape was no proposed call."""
    return await _run(context, request, counts=False)


async def _run(context: FlowContext, request: PlannerRequest, *, counts: bool) -> PlannerOutcome:
    whole = context
    context, progress, refused = begin(context, request, PROMPT, counts=counts)
    if context.scope.permits(CHAIN_VERB):  # else it is narrowed to just these
        context = context.narrowed(
            tool.tool_id for tool in progress.tools if tool.tool_id != CHAIN_VERB
        )
    planning = _Planning(context, progress, SecondLooks(whole, context, progress))
    if refused is not None:
        return planning.failed(refused.code, f"toolset: {refused.verb}")
    try:
        if (short := await open_account(context, context.agent)) is not None:
            return planning.failed(
                "budget_exceeded", f"account {short.account} does not cover the run"
            )
        if (
            request.session_id is not None
            and (unread := await go_on(context, progress, request.session_id)) is not None
        ):
            return planning.failed(unread.code, unread.message)
        return await planning.run()
    except Interrupted as interrupted:
        return planning.failed("cancelled", f"{interrupted.what} by {interrupted.by}")


class _Planning:
    """One goal on its way. Rebuilt by re-execution."""

    def __init__(self, context: FlowContext, progress: Progress, looks: SecondLooks) -> None:
        self._context, self._progress, self._looks = context, progress, looks

    async def run(self) -> PlannerOutcome:
        """Step after step."""
        while True:
            ended = await self._step()
            if (ended := ended or self._bounded()) is not None:
                return ended

    async def _step(self) -> PlannerOutcome | None:
        context, progress = self._context, self._progress
        step = await next_step(context, progress)
        match step:
            case ProposedFinish():
                add_step(progress, step.thought, step.answer)
                return await self._finish(step)
            case RefusedStep():
                return self._refused(step)
            case ProposedCall():
                progress.reask = None
                await carry_out(context, progress, step)
                return None
            case AskFailed():
                if bound_met(context, progress) is Bound.TIME:
                    return self._timeout()
                return self.failed(step.code, step.message, self._draft(step.code))

    def _refused(self, step: RefusedStep) -> PlannerOutcome | None:
        progress = self._progress
        add_step(progress, step.thought, step.answer)
        first = progress.first_refusal = progress.first_refusal or step
        facts = ReaskFacts(used=progress.reasks, reason=step.reason)
        if not isinstance(
            self._context.fx.decide(REASK, facts, None, (step.answer,)).outcome, Reask
        ):
            return self.failed(
                first.reason,
                f"{first.reason.meaning} {first.detail}".strip(),
                self._draft(first.reason),
            )
        progress.reasks, progress.reask = progress.reasks + 1, step.reason
        return None

    def _bounded(self) -> PlannerOutcome | None:
        match bound_met(self._context, self._progress):
            case None:  # first, as most steps are told it
                return None
            case Bound.TIME:
                return self._timeout()
            case Bound.TOKENS:
                return self.failed(
                    "token_limit", "max_tokens_reason is spent", self._salvage("token_limit")
                )
            case Bound.STEPS:
                message = f"no final answer within {self._progress.limits.max_steps} steps"
                return self.failed(
                    "max_steps_exhausted", message, self._salvage("max_steps_exhausted")
                )

    async def _finish(self, step: ProposedFinish) -> PlannerOutcome | None:
        """The answer, once it was looked at as the request asks; None: it is to be bettered."""
        if bound_met(self._context, self._progress, answered=True) is not None:
            return self.failed(
                "token_limit",
                "the answer exceeds max_tokens_answer",
                salvaged(step.final_answer, "token_limit"),
            )
        match await self._looks.take(step):
            case AnswerCounts(answer=answer):
                return self._end("ok", None, answer)
            case AnswerFails(code=code, message=message):
                return self.failed(code, message, salvaged(step.final_answer, code))
            case None:
                self._progress.reask = None
                return None

    def _timeout(self) -> PlannerOutcome:
        return self._end(
            "timeout",
            {"code": "timeout", "message": "timeout_seconds is over"},
            self._salvage("timeout"),
        )

    def _salvage(self, stop_reason: str) -> dict[str, Any] | None:
        """What the last step's tool gave, marked as no answer (B-01); a thought is never made an
        answer (B-26).
        """
        if (draft := self._draft(stop_reason)) is not None:
            return draft
        observed = self._progress.steps[-1].wire["observation"] if self._progress.steps else None
        if not observed or not observed["llm_output"]:
            return None
        return salvaged(
            {"content": observed["llm_output"][:CONTENT_MAX], "structured": {}}, stop_reason
        )

    def _draft(self, stop_reason: str) -> dict[str, Any] | None:
        """An answer that was to be bettered, marked as none."""
        return None if self._looks.draft is None else salvaged(self._looks.draft, stop_reason)

    def failed(
        self, code: str, message: str, answer: dict[str, Any] | None = None
    ) -> PlannerOutcome:
        """No answer counts."""
        return self._end("error", {"code": code, "message": message}, answer)

    def _end(
        self, status: str, error: dict[str, str] | None, answer: dict[str, Any] | None
    ) -> PlannerOutcome:
        progress = self._progress
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
                "duration_ms": (self._context.now() - progress.began) // 1000,
                "estimated": progress.estimated,
            },
        )
