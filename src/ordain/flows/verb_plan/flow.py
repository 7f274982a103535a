"""Flow ``verb_plan``: one prompt-plan verb, its steps in order (VRB-06, VRB-07)."""

from __future__ import annotations

from typing import Any

from ordain.contracts.verbs import MODEL_SERVICE, PlanStep, Trust
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import AskFailed, ask
from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.verb_plan.prompt import VERB_PROMPT, PlanQuestion, step_proposal
from ordain.rules.output import OUTPUT, OutputAccepted, OutputFacts, OutputInputs
from ordain.rules.proposals import Parsed


def asks_model(step: PlanStep) -> bool:
    """Whether the step goes to a model; a step without the model service only composes the prompt
    of the next.
    """
    return MODEL_SERVICE in step.services


async def run_verb_plan(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Run the steps; the last model answer is the verb's output. A step that fails ends the verb,
    and what is left of the plan is skipped.
    """
    verb = context.catalog.verbs[call.verb]
    context = context.told(turn_kind(call))
    done: list[StepResult] = []
    previous: ModelAnswer | None = None
    output: dict[str, Any] | None = None
    for number, step in enumerate(verb.steps):
        if not asks_model(step):
            done.append(StepResult(step_name=step.name, order=step.order, ok=True))
            continue
        answer = await ask(
            context,
            VERB_PROMPT,
            PlanQuestion(call=call, step=step, previous=previous, output=output),
        )
        if isinstance(answer, AskFailed):
            done += (_step(step, error=answer.code), *map(_skipped, verb.steps[number + 1 :]))
            return VerbPlanOutput(
                ok=False, error=answer.code, message=answer.message, step_results=tuple(done)
            )
        proposal = step_proposal(verb.spec, answer)
        facts = OutputFacts(verb=call.verb, step=step.name, size_bytes=proposal.size_bytes)
        grounds = verb.spec.grounds
        inputs = OutputInputs(
            proposal=proposal,
            schema=verb.output,
            grounds=grounds,
            args=call.args,
            by_code=answer.by_code,
            text=verb.spec.answer == "text",
        )
        decision = context.fx.decide(
            OUTPUT, facts, inputs, (0, answer.seq) if grounds else (answer.seq,)
        )
        if not isinstance(decision.outcome, OutputAccepted) or not isinstance(proposal, Parsed):
            done += (_step(step, error=decision.reason), *map(_skipped, verb.steps[number + 1 :]))
            return VerbPlanOutput(
                ok=False,
                error="bad_output",
                message=decision.reason.meaning,
                step_results=tuple(done),
            )
        previous, output = answer, proposal.value
        done.append(_step(step, prompt_digest=answer.prompt_digest))
    if output is None:
        return VerbPlanOutput(
            ok=False,
            error="empty_plan",
            message="no step of the plan asks a model",
            step_results=tuple(done),
        )
    declared = verb.spec.output
    trust = {name: declared[name].trust if name in declared else Trust.FOREIGN for name in output}
    return VerbPlanOutput(ok=True, output=output, trust=trust, step_results=tuple(done))


def _step(step: PlanStep, *, prompt_digest: str = "", error: str = "") -> StepResult:
    return StepResult(
        step_name=step.name,
        order=step.order,
        ok=not error,
        services=tuple(step.services),
        prompt_digest=prompt_digest,
        error=error,
    )


def _skipped(step: PlanStep) -> StepResult:
    return StepResult(step_name=step.name, order=step.order, ok=False, skipped=True)
