"""Flow ``question``: verb ``ask_user``. A clarifying question to the session's user; the run costs
nothing until it is answered.

What is about the question and answers it neither way goes back once, as A and B (B.6); then the
question stays open for a whole answer or a condition, which is told in its words without a value.
"""

from __future__ import annotations

from typing import Any, Final

from ordain.contracts.verbs import Trust
from ordain.effects.effect import UserQuestion, Wait, WaitFor
from ordain.effects.results import Answered, WaitResult
from ordain.flows.answer_text import given_value, said, sorted_as
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.rules.answer import (
    ANSWER,
    OPTION_KEYS,
    SORTED,
    AnswerFacts,
    AnswerInputs,
    AnswerOutcome,
    Chosen,
    ExpectedType,
    HalfAnswer,
    Takes,
    Unfit,
)
from ordain.wording.wording import wording_of

EXPIRED = "question_expired"
WITHDRAWN = "withdrawn"
UNFIT = "answer_unfit"
YES_OR_NO: Final = ("yes", "no")
"""What a question that wants a yes or a no offers when it asks again."""


async def run_question(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Ask, wait, and give back what was said with the value it comes to."""
    args = call.args
    expects = ExpectedType(args.get("expected_type", ExpectedType.FREEFORM))
    options: tuple[str, ...] = (
        tuple(args.get("options", ())) if expects is ExpectedType.OPTION else ()
    )
    deadline = min(
        context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000
    )
    asking, about = (
        UserQuestion(
            key=args.get("key", "answer"),
            expects=str(expects),
            options=options,
            takes=_takes(expects),
        ),
        args["question"],
    )
    while True:
        result = await context.fx.perform(
            Wait(what=WaitFor.ANSWER, about=about, deadline=deadline, question=asking)
        )
        if not isinstance(result, Answered):
            return _unanswered(result)
        outcome = _judged(context, asking, result)
        if not isinstance(outcome, HalfAnswer):
            return _told(outcome, asking, said(result.value))
        offered = options or YES_OR_NO
        about = " ".join(
            (
                args["question"],
                *(f"{key}: {label}" for key, label in zip(OPTION_KEYS, offered, strict=False)),
            )
        )
        asking = UserQuestion(
            key=asking.key, expects=asking.expects, options=offered, takes=str(Takes.CONDITION)
        )


def _takes(expects: ExpectedType) -> str:
    return str(Takes.UNCLEAR if expects in SORTED else Takes.NOTHING)


def _judged(context: FlowContext, asking: UserQuestion, answered: Answered) -> AnswerOutcome:
    text, given = said(answered.value), answered.value
    facts = AnswerFacts(
        expects=ExpectedType(asking.expects),
        size=len(text),
        given_as_text=isinstance(given, dict),
        options=len(asking.options),
        takes=Takes(asking.takes),
        sorted=sorted_as(given),
    )
    inputs = AnswerInputs(text=text, wording=wording_of(context.catalog), options=asking.options)
    return context.fx.decide(ANSWER, facts, inputs, (answered.seq,)).outcome


def _unanswered(result: WaitResult) -> VerbPlanOutput:
    if why := getattr(result, "why", ""):
        return VerbPlanOutput(ok=False, error=WITHDRAWN, message=why)
    return VerbPlanOutput(ok=False, error=EXPIRED, message="nobody answered in time")


def _told(outcome: AnswerOutcome, asking: UserQuestion, text: str) -> VerbPlanOutput:
    if isinstance(outcome, Unfit):
        return VerbPlanOutput(ok=False, error=UNFIT, message=f"the answer is no {asking.expects}")
    value = given_value(outcome, text)
    if isinstance(outcome, Chosen):
        value = asking.options[OPTION_KEYS.index(outcome.option)]
    output: dict[str, Any] = {"answer": text, "value": value}
    return VerbPlanOutput(ok=True, output=output, trust={"answer": Trust.OWN, "value": Trust.OWN})
