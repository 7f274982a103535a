"""What a request's preferences have done with an accepted answer before it counts (FUT-04): a
critique, after which there is another step, and a council.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.contracts.council import CouncilDirective, DeliberationRequest
from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.flows.act import act
from ordain.flows.carried import NO_TALK
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.deliberate import Deliberated, deliberate
from ordain.flows.planner.prompt import CRITIC, CRITIQUE, DRAFT
from ordain.flows.steps.chain import ChainAsked, enter_chain, left_open, steps_told
from ordain.flows.steps.steps import Progress, ProposedFinish, left_answer, left_reason
from ordain.rules.second_look import SECOND_LOOK, AnswerLook, SecondLookFacts

GOAL_CHARS = 4000


class AnswerCounts(Struct, frozen=True, kw_only=True):
    """The answer that counts, as ``{content, structured}``."""

    answer: dict[str, Any]


class AnswerFails(Struct, frozen=True, kw_only=True):
    """No answer counts; the code and the words for why."""

    code: str
    message: str


class SecondLooks:
    """The looks that a request asks for, and which of them were taken. Rebuilt by re-execution."""

    def __init__(self, whole: FlowContext, context: FlowContext, progress: Progress) -> None:
        """``whole`` is the run's context with all that it may do, ``context`` that of the loop."""
        wanted = progress.request.preferences
        self._whole, self._context, self._progress = (
            whole.until(context.deadline),
            context,
            progress,
        )
        self._critique, self._council = wanted.self_critique is True, wanted.council is True
        self.draft: dict[str, Any] | None = None

    async def take(self, step: ProposedFinish) -> AnswerCounts | AnswerFails | None:
        """What becomes of an accepted answer; None: it was criticised, and there is another
        step.
        """
        while self._critique or self._council:
            self.draft = step.final_answer
            match self._decided(step):
                case AnswerLook.CRITIQUE:
                    self._critique = False
                    if await self._criticised(step):
                        return None
                case AnswerLook.COUNCIL:
                    return await self._deliberated(step)
                case AnswerLook.STANDS:
                    break
        return AnswerCounts(answer=step.final_answer)

    def _decided(self, step: ProposedFinish) -> AnswerLook:
        facts = SecondLookFacts(
            critique=self._critique,
            council=self._council,
            critic=self._whole.scope.permits(CRITIC),
            steps_left=self._progress.limits.max_steps - len(self._progress.steps),
        )
        return self._context.fx.decide(SECOND_LOOK, facts, None, (step.answer,)).outcome.look

    async def _criticised(self, step: ProposedFinish) -> bool:
        """Have the answer criticised; whether there is something to go by. A critic that fails
        shows in the header, and the answer goes on without.
        """
        goal, content = self._progress.request.goal.description, step.final_answer["content"]
        acted = await act(
            self._whole,
            Call(verb=CRITIC, args={"text": content, "goal": goal[:GOAL_CHARS]}),
            (0, step.answer),
        )
        if not isinstance(acted.result, VerbReturned):
            return False
        sizes = len(msgspec.json.encode(acted.result.output)), len(msgspec.json.encode(content))
        self._progress.beside |= {CRITIQUE: (acted.seq, sizes[0]), DRAFT: (step.answer, sizes[1])}
        return True

    async def _deliberated(self, step: ProposedFinish) -> AnswerCounts | AnswerFails:
        """The council's accepted text takes the answer's place; a chain's answer does where it
        hands over.
        """
        request, told = self._progress.request, steps_told(self._progress)
        said = (request.goal.description, "", *(("What was done for it:", *told) if told else ()))
        prompt = "\n".join((*said, "What would be answered:", step.final_answer["content"]))
        asked = DeliberationRequest(
            prompt=prompt, source="planner", universe=self._whole.catalog.policy.council.universe
        )
        came = await deliberate(self._whole, asked)
        if came.result is not None and came.next is CouncilDirective.ACCEPT_TEXT:
            meta = {"deliberation": msgspec.to_builtins(came.result.meta)}
            return AnswerCounts(
                answer={
                    "content": came.result.final_text,
                    "structured": {**step.final_answer["structured"], **meta},
                }
            )
        if came.result is not None and came.next is CouncilDirective.DELEGATE_CHAIN:
            return await self._handed_over(came, step)
        return AnswerFails(code=came.error, message=came.message)

    async def _handed_over(
        self, came: Deliberated, step: ProposedFinish
    ) -> AnswerCounts | AnswerFails:
        """Longer work, with the request's own tools and within what is left of its limits
        (ACH-03).
        """
        progress, left = self._progress, "" if came.result is None else left_open(came.result)
        asked = ChainAsked(
            text=progress.request.goal.description,
            tools=tuple(tool.tool_id for tool in progress.tools),
            mode=ExecMode.COUNCIL,
            max_tokens_reason=max(1, left_reason(progress)),
            max_tokens_answer=max(1, left_answer(progress)),
            timeout_ms=max(1, self._context.left_ms()),
            before="\n".join((*steps_told(progress), left)),
        )
        chained = await enter_chain(self._whole, asked, NO_TALK, (step.answer,))
        return (
            AnswerFails(code=chained.error, message=chained.message)
            if chained.answer is None
            else AnswerCounts(answer=chained.answer)
        )
