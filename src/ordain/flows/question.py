"""Flow ``question``: verb ``ask_user``. A clarifying question to the session's user; the run costs nothing until it is answered."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.verbs import Trust
from ordain.effects.effect import Question, Wait, WaitFor
from ordain.effects.results import Answered
from ordain.flows.act import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import Flow, FlowContext, settled_by_error
from ordain.rules.answer import ExpectedType, answer_value, fits
from ordain.wording.wording import first_wording

EXPIRED = "question_expired"
WITHDRAWN = "withdrawn"
UNFIT = "answer_unfit"


async def run_question(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Ask, wait, and give back what was said with the value it comes to."""
    args = call.args
    expects = ExpectedType(args.get("expected_type", ExpectedType.FREEFORM))
    deadline = min(context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000)
    question = Question(key=args.get("key", "answer"), expects=str(expects))
    result = await context.fx.perform(Wait(what=WaitFor.ANSWER, about=args["question"], deadline=deadline, question=question))
    if not isinstance(result, Answered):
        if result.why:
            return VerbPlanOutput(ok=False, error=WITHDRAWN, message=result.why)
        return VerbPlanOutput(ok=False, error=EXPIRED, message="nobody answered in time")
    text = said(result.value)
    found = first_wording().cues(text)  # of version 1, whatever the catalog pins
    if not fits(expects, found) and expects is not ExpectedType.FREEFORM:
        return VerbPlanOutput(ok=False, error=UNFIT, message=f"the answer is no {expects}")
    output: dict[str, Any] = {"answer": text, "value": answer_value(expects, text, found)}
    return VerbPlanOutput(ok=True, output=output, trust={"answer": Trust.OWN, "value": Trust.OWN})


def said(value: Any) -> str:
    """An answer's text: a session's messages bring ``{text}``, an operator any JSON."""
    if isinstance(value, dict):
        value = value.get("text", "")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - any JSON
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


QUESTION_FLOW: Flow[VerbPlanInput, VerbPlanOutput] = Flow(
    name="question", version=1, run=run_question, decode_input=msgspec.json.Decoder(VerbPlanInput).decode, settle=settled_by_error
)
