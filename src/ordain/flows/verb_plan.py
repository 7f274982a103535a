"""Flow ``verb_plan``: one prompt-plan verb, its steps in order (VRB-06, VRB-07). Flow ``verb``: one verb for a caller (VRB-02)."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog, CompiledVerb
from ordain.contracts.verbs import MODEL_SERVICE, PlanStep, Trust
from ordain.effects.calls import Call
from ordain.effects.results import ModelAnswer, VerbReturned
from ordain.flows.act import VERB_PLAN, Acted, StepResult, VerbPlanInput, VerbPlanOutput, act, turn_kind
from ordain.flows.ask import AskFailed, Question, ask
from ordain.flows.context import Flow, FlowContext, open_account, settled_by_error
from ordain.flows.observations import error_of
from ordain.flows.transcript import Spoken
from ordain.ports.effects import Interrupted
from ordain.prompts.verb_step import VerbPrompt, size_bound
from ordain.rules.output import OUTPUT, Accepted, OutputFacts, OutputInputs
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed, parse_object
from ordain.rules.step import STEP


def plan_steps(verb: CompiledVerb) -> tuple[PlanStep, ...]:
    """The verb's steps by ``order``; a step's services and prompt default to the verb's (C3)."""
    spec = verb.spec
    return tuple(
        step.model_copy(
            update={"services": step.services or spec.services, "prompt_template": step.prompt_template or spec.prompt_template}
        )
        for step in sorted(spec.plan, key=lambda step: step.order)
    )


def asks_model(step: PlanStep) -> bool:
    """Whether the step goes to a model; a step without the model service only composes the prompt of the next."""
    return MODEL_SERVICE in step.services


async def run_verb_plan(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Run the steps; the last model answer is the verb's output. A step that fails ends the verb."""
    verb = context.catalog.verbs[call.verb]
    context.turn = turn_kind(call)
    done: list[StepResult] = []
    previous: ModelAnswer | None = None
    output: dict[str, Any] | None = None
    for step in plan_steps(verb):
        if not asks_model(step):
            done.append(StepResult(step_name=step.name, order=step.order, ok=True))
            continue
        answer = await ask(context, _question(context.catalog, call, step, previous, output))
        if isinstance(answer, AskFailed):
            done.append(_step(step, error=answer.code))
            return VerbPlanOutput(ok=False, error=answer.code, message=answer.message, step_results=tuple(done))
        proposal = proposal_of(answer)
        facts = OutputFacts(verb=call.verb, step=step.name, size_bytes=proposal.size_bytes)
        grounds = verb.spec.grounds
        inputs = OutputInputs(proposal=proposal, schema=verb.output, grounds=grounds, args=call.args, by_code=answer.by_code)
        decision = context.fx.decide(OUTPUT, facts, inputs, (0, answer.seq) if grounds else (answer.seq,))
        if not isinstance(decision.outcome, Accepted) or not isinstance(proposal, Parsed):
            done.append(_step(step, error=decision.reason))
            return VerbPlanOutput(ok=False, error="bad_output", message=decision.reason.meaning, step_results=tuple(done))
        previous, output = answer, proposal.value
        done.append(_step(step, prompt_digest=answer.prompt_digest))
    if output is None:
        return VerbPlanOutput(ok=False, error="empty_plan", message="no step of the plan asks a model", step_results=tuple(done))
    declared = verb.spec.output
    trust = {name: declared[name].trust if name in declared else Trust.FOREIGN for name in output}
    return VerbPlanOutput(ok=True, output=output, trust=trust, step_results=tuple(done))


def _step(step: PlanStep, *, prompt_digest: str = "", error: str = "") -> StepResult:
    return StepResult(
        step_name=step.name, order=step.order, ok=not error, services=tuple(step.services), prompt_digest=prompt_digest, error=error
    )


def proposal_of(answer: ModelAnswer) -> Parsed | Unparsed:
    """The one JSON object of an answer; a withheld answer carries the reason it did not parse."""
    if answer.content is not None:
        return parse_object(answer.content)
    withheld = answer.withheld
    return Unparsed(
        reason=STEP.reason(withheld.reason) if withheld else ProposalReason.EMPTY, size_bytes=withheld.size_bytes if withheld else 0
    )


def verb_prompt(
    catalog: Catalog, call: VerbPlanInput, step_name: str, previous: dict[str, Any] | None, spoken: Spoken | None = None
) -> VerbPrompt:
    """The typed input of a step's template; ``spoken`` is the call's history, where it is at hand."""
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


def _question(
    catalog: Catalog, call: VerbPlanInput, step: PlanStep, previous: ModelAnswer | None, output: dict[str, Any] | None
) -> Question:
    name = step.prompt_template or ""
    bare = msgspec.structs.replace(call, recalled=())  # counted with the history: it is shown once
    prompt, history = verb_prompt(catalog, bare, step.name, output), call.history
    shown = (0, 0) if history is None else (history.entries + 1, history.size_bytes)
    recalled = sum(len(msgspec.json.encode(one)) for one in call.recalled)
    spec = catalog.verbs[call.verb].spec
    return Question(
        purpose="verb",
        prompt=name,
        contract=f"verb:{call.verb}",
        refs=(0,) if previous is None else (0, previous.seq),
        args={"step": step.name},
        prompt_tokens=size_bound(catalog.data.prompts[name], prompt, (shown[0] + len(call.recalled), shown[1] + recalled)),
        max_tokens=min(spec.output_max_tokens, call.max_tokens or spec.output_max_tokens),
        narrative=(spec.narrates or "") if call.narrate else "",
    )


VERB_PLAN_FLOW: Flow[VerbPlanInput, VerbPlanOutput] = Flow(
    name=VERB_PLAN, version=1, run=run_verb_plan, decode_input=msgspec.json.Decoder(VerbPlanInput).decode, settle=settled_by_error
)


# --- one verb for a caller (VRB-02, VRB-03) ----------------------------------------------------------------------------------------


class VerbRunInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verb request as accepted."""

    verb_id: str
    payload: dict[str, Any]
    caller: str
    request_id: str | None = None


class VerbRunOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The source's reply ``{ok, output, error}``, and for a prompt plan what each of its steps did (VRB-08)."""

    ok: bool
    output: dict[str, Any] | None
    error: dict[str, Any] | None
    step_results: tuple[StepResult, ...] = ()


async def run_verb(context: FlowContext, request: VerbRunInput) -> VerbRunOutput:
    """Carry out one verb call through the same door as every other."""
    context.scope = frozenset({request.verb_id})
    try:
        if (short := await open_account(context, request.caller)) is not None:
            message = f"account {short.account} does not cover the run"
            return VerbRunOutput(ok=False, output=None, error={"code": "budget_exceeded", "message": message})
        acted: Acted = await act(context, Call(verb=request.verb_id, args=request.payload), (0,))
    except Interrupted:
        return VerbRunOutput(ok=False, output=None, error={"code": "cancelled", "message": "the run was cancelled"})
    if isinstance(acted.result, VerbReturned):
        return VerbRunOutput(ok=True, output=acted.result.output, error=None, step_results=acted.steps)
    return VerbRunOutput(ok=False, output=None, error=error_of(acted), step_results=acted.steps)


VERB_FLOW: Flow[VerbRunInput, VerbRunOutput] = Flow(
    name="verb", version=1, run=run_verb, decode_input=msgspec.json.Decoder(VerbRunInput).decode, settle=settled_by_error
)
