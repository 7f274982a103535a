"""Flow ``question``, version 3, frozen: for runs that began as such. What was no whole answer ended
it.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.verbs import Trust
from ordain.effects.effect import UserQuestion, Wait, WaitFor
from ordain.effects.results import Answered
from ordain.flows.answer_text import given_value, said
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, ExpectedType, Unfit
from ordain.wording.wording import wording_of

EXPIRED = "question_expired"
WITHDRAWN = "withdrawn"
UNFIT = "answer_unfit"


async def run_question(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 3."""
    args = call.args
    expects = ExpectedType(args.get("expected_type", ExpectedType.FREEFORM))
    deadline = min(
        context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000
    )
    question = UserQuestion(key=args.get("key", "answer"), expects=str(expects))
    result = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about=args["question"], deadline=deadline, question=question)
    )
    if not isinstance(result, Answered):
        if result.why:
            return VerbPlanOutput(ok=False, error=WITHDRAWN, message=result.why)
        return VerbPlanOutput(ok=False, error=EXPIRED, message="nobody answered in time")
    text = said(result.value)
    facts = AnswerFacts(
        expects=expects, size=len(text), given_as_text=isinstance(result.value, dict)
    )
    inputs = AnswerInputs(text=text, wording=wording_of(context.catalog))
    outcome = context.fx.decide(ANSWER, facts, inputs, (result.seq,)).outcome
    if isinstance(outcome, Unfit):
        return VerbPlanOutput(ok=False, error=UNFIT, message=f"the answer is no {expects}")
    output: dict[str, Any] = {"answer": text, "value": given_value(outcome, text)}
    return VerbPlanOutput(ok=True, output=output, trust={"answer": Trust.OWN, "value": Trust.OWN})
