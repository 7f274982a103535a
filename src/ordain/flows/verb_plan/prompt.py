"""The prompt of a verb's plan step, put on record and made from it again (VRB-07)."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.verbs import TEXT_FIELD, WORDS_MOST, PlanStep, VerbSpec, properties_of
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import VERB_CONTRACT
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.images import IMAGE_TOKENS
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.observations import TEXT_KEYS
from ordain.flows.steps.trace import proposal_of
from ordain.flows.transcript import Spoken, resolve
from ordain.flows.values import PromptInputs, Values, advice_bytes
from ordain.ports.model import ByCode
from ordain.prompts.verb_step import VerbPrompt, size_bound
from ordain.rules.proposals import Parsed, Unparsed, read_text


class PlanQuestion(Struct, frozen=True, kw_only=True):
    """What a step of a verb's plan asks: the call, the step, and what the step before it that asked
    gave.
    """

    call: VerbPlanInput
    step: PlanStep
    previous: ModelAnswer | None
    output: dict[str, Any] | None


def verb_prompt(
    catalog: Catalog,
    call: VerbPlanInput,
    step_name: str,
    previous: dict[str, Any] | None,
    spoken: Spoken | None = None,
) -> VerbPrompt:
    """The typed input of a step's template; ``spoken`` is the call's history, where it is at
    hand.
    """
    spec = catalog.verbs[call.verb].spec
    message = call.args.get("text") if call.history is not None else None
    return VerbPrompt(
        verb=call.verb,
        description=spec.description,
        step=step_name,
        input=call.args,
        previous=previous,
        output_schema=spec.output_schema,
        message=message if isinstance(message, str) else None,
        history=spoken.history if spoken is not None else (),
        summary=spoken.summary if spoken is not None else None,
        recalled=call.recalled,
    )


def _ask(context: FlowContext, given: PlanQuestion) -> ModelQuestion:
    call, catalog = given.call, context.catalog
    name = given.step.prompt_template or ""
    bare = msgspec.structs.replace(call, recalled=())  # counted with the history: it is shown once
    prompt, history = verb_prompt(catalog, bare, given.step.name, given.output), call.history
    shown = (0, 0) if history is None else (history.entries + 1, history.size_bytes)
    recalled = sum(len(msgspec.json.encode(one)) for one in call.recalled)
    spec, images = catalog.verbs[call.verb].spec, call.images
    return ModelQuestion(
        template=name,
        contract=f"{VERB_CONTRACT}{call.verb}",
        refs=(0,) if given.previous is None else (0, given.previous.seq),
        args={"step": given.step.name}
        if images is None
        else {"step": given.step.name, "images": msgspec.to_builtins(images)},
        prompt_tokens=size_bound(
            catalog.data.prompts[name], prompt, (shown[0] + len(call.recalled), shown[1] + recalled)
        )
        + (0 if history is None else advice_bytes(context.advice))
        + (0 if images is None else IMAGE_TOKENS * len(images.digests)),
        max_tokens=min(spec.output_max_tokens, call.max_tokens or spec.output_max_tokens),
        narrative=_narrative(spec) if call.narrate else "",
        images=0 if images is None else len(images.digests),
    )


def _narrative(spec: VerbSpec) -> str:
    """Where the output has text for the user: words are that, all of them."""
    return TEXT_FIELD if spec.answer == "text" else spec.narrates or ""


def _build(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    plan: VerbPlanInput = values[0]
    previous: dict[str, Any] | None = None
    if len(call.refs) > 1:
        answer: ModelAnswer = values[call.refs[1]]
        proposal = step_proposal(catalog.verbs[plan.verb].spec, answer)
        previous = proposal.value if isinstance(proposal, Parsed) else None
    prompt = verb_prompt(
        catalog, plan, call.args["step"], previous, resolve(values.transcript, plan.history)
    )
    spec = catalog.verbs[plan.verb].spec
    schema: dict[str, Any] | None = None if spec.answer == "text" else dict(spec.output_schema)
    most = 0 if schema is not None else words_most(spec)
    return PromptInputs(
        inputs=msgspec.structs.asdict(prompt),
        schema=schema,
        advised=plan.history is not None,
        words_most=most,
        words_at=() if schema is None else (*filter(None, (spec.narrates,)), *TEXT_KEYS),
    )


def words_most(spec: VerbSpec) -> int:
    """How many characters the words of a verb that answers in words may have, where it has the
    house's bound; 0 of one of its own, which rule ``output`` holds.
    """
    field: Any = properties_of(spec.output_schema).get(TEXT_FIELD)
    bound = cast("dict[str, Any]", field).get("maxLength") if isinstance(field, dict) else None
    return WORDS_MOST if bound == WORDS_MOST else 0


def step_proposal(spec: VerbSpec, answer: ModelAnswer) -> Parsed | Unparsed:
    """What a step's answer proposes as its output: its one JSON object, or its words without the
    thought before them.
    """
    if spec.answer == "text":
        return read_text(answer.content or "", TEXT_FIELD)
    return proposal_of(answer)


def _lane(policy: Policy) -> Lane:
    return policy.lanes.verb


VERB_PROMPT: PromptKind[PlanQuestion] = PromptKind(
    purpose="verb", contract="", lane=_lane, ask=_ask, build=_build, by_code=ByCode.QUOTE
)
