"""A kind of run that the build knows nothing of: a prompt, a rule, header lines and a child, all of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import Completed, Join, Spawn
from ordain.effects.effect import ModelCall
from ordain.effects.results import VerbReturned
from ordain.flows.act import act
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, ModelQuestion, PromptKind, settled_by_error
from ordain.flows.steps.trace import proposal_of
from ordain.flows.values import PromptInputs, Values
from ordain.journal.records import Label, raw
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason

SUM = "math.evaluate"


class WorthReason(Reason):
    """Whether a topic is worth the work."""

    MUCH = "worth.much", "The model rates the topic high enough."
    LITTLE = "worth.little", "The model rates the topic too low, or gave no rating."


class Worthy(Struct, frozen=True, tag="worthy"):
    """It is."""


class Unworthy(Struct, frozen=True, tag="unworthy"):
    """It is not."""


class WorthFacts(Struct, frozen=True, kw_only=True):
    """The size of the answer in bytes."""

    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorthInputs:
    """The answer as parsed."""

    proposal: Parsed | Unparsed


def decide_worth(
    facts: WorthFacts, inputs: WorthInputs, policy: Policy
) -> Decision[Worthy | Unworthy]:
    """Five of ten and more."""
    worth = inputs.proposal.value.get("worth") if isinstance(inputs.proposal, Parsed) else None
    if isinstance(worth, int) and worth >= 5:
        return Decision(outcome=Worthy(), reason=WorthReason.MUCH)
    return Decision(outcome=Unworthy(), reason=WorthReason.LITTLE)


WORTH: Rule[WorthFacts, WorthInputs, Any] = Rule(
    name="worth",
    outcome=Worthy | Unworthy,
    apply=decide_worth,
    reasons=(WorthReason,),
    tells=tells_of("worth", WorthReason),
)


class Survey(Struct, frozen=True, kw_only=True):
    """A topic, and a sum that the child works out."""

    topic: str
    expression: str


class Surveyed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of it."""

    result: str = ""
    error: str = ""


def _asked(context: FlowContext, given: Survey) -> ModelQuestion:
    return ModelQuestion(refs=(0,), args={}, prompt_tokens=4000, max_tokens=50)


def _built(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    given: Survey = values[0]
    schema = {
        "type": "object",
        "properties": {"worth": {"type": "integer"}},
        "required": ["worth"],
        "additionalProperties": False,
    }
    return PromptInputs(inputs={"topic": given.topic}, schema=schema)


def _lane(policy: Policy) -> Lane:
    return Lane.LOCAL


SURVEY_PROMPT: PromptKind[Survey] = PromptKind(
    purpose="survey",
    template="survey_step",
    package="tests.shapes",
    contract="survey_step",
    lane=_lane,
    ask=_asked,
    build=_built,
)


async def run_survey(context: FlowContext, given: Survey) -> Surveyed:
    """Ask what the topic is worth; a child works out the sum where it is worth it."""
    answer = await ask(context, SURVEY_PROMPT, given)
    if isinstance(answer, AskFailed):
        return Surveyed(error=answer.code)
    proposal = proposal_of(answer)
    facts = WorthFacts(size_bytes=proposal.size_bytes)
    if isinstance(
        context.fx.decide(WORTH, facts, WorthInputs(proposal=proposal), (answer.seq,)).outcome,
        Unworthy,
    ):
        return Surveyed(error="unworthy")
    part = Spawn[Any](
        flow="survey_part",
        input=raw(given),
        scope=(SUM,),
        deadline=context.deadline,
        allowance=context.share(1),
    )
    (end,) = await context.fx.children((part,), Join())
    return (
        msgspec.json.decode(end.value, type=Surveyed)
        if isinstance(end, Completed)
        else Surveyed(error="part_failed")
    )


async def run_part(context: FlowContext, given: Survey) -> Surveyed:
    """Work out the sum."""
    acted = await act(context, Call(verb=SUM, args={"expression": given.expression}), (0,))
    return (
        Surveyed(result=acted.result.output["result"])
        if isinstance(acted.result, VerbReturned)
        else Surveyed(error="no_sum")
    )


def _lines(output: Surveyed) -> tuple[HeaderLine, ...]:
    return (HeaderLine(mark="info", what="survey", excerpt=output.result),) if output.result else ()


SURVEY: Kind[Survey, Surveyed] = Kind(
    name="survey",
    version=1,
    run=run_survey,
    decode_input=msgspec.json.Decoder(Survey).decode,
    settle=settled_by_error,
    label=lambda given: Label(agent="surveyor"),
    grant=lambda _, __: CapabilityScope(allowed=(SUM,)),
    prompts=(SURVEY_PROMPT,),
    rules=(WORTH,),
    header=_lines,
)


def _shown(output: Raw) -> str:
    return f"worked out: {msgspec.json.decode(output, type=Surveyed).result}"


SURVEY_PART: Kind[Survey, Surveyed] = Kind(
    name="survey_part",
    version=1,
    run=run_part,
    decode_input=msgspec.json.Decoder(Survey).decode,
    settle=settled_by_error,
    excerpt=_shown,
)
