"""A turn's workflow: what is suggested, what that comes to, and carrying it out as a run of its own
(RTE-06, WFL-01..WFL-03, B-41).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.effects.children import NULL, AnyEnded, Completed, Failed, Join, Spawn, Unknown
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import ask
from ordain.flows.context import FlowContext
from ordain.flows.kind import FailedStep
from ordain.flows.observations import as_text
from ordain.flows.steps.trace import proposal_of
from ordain.flows.turn.judged import judged
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.suggestion import WORKFLOW_PROMPT, offered
from ordain.flows.workflow_run import CANCELLED, WORKFLOW_KIND, WorkflowInput, WorkflowOutput
from ordain.journal.records import raw
from ordain.ports.effects import Interrupted
from ordain.rules.acts import ActEnd
from ordain.rules.header import plain
from ordain.rules.outcome import (
    OPEN,
    OUTCOME,
    Expansion,
    OutcomeChosen,
    OutcomeFacts,
    OutcomeRefused,
)
from ordain.rules.proposals import Parsed
from ordain.rules.workflow import (
    WORKFLOW,
    Expanded,
    SuggestedBy,
    SuggestionRefused,
    WorkflowFacts,
    WorkflowInputs,
    WorkflowOutcome,
)

NAME_CHARS = 64
TOLD_CHARS = 200
FAILED_CHARS = 300
"""Most of what is kept of a step that nobody knows the end of (C5)."""
REFUSED = {
    "unknown_template": "there is no workflow {}",
    "missing_argument": "workflow {} needs {}",
    "unknown_argument": "workflow {} has no argument {}",
    "mistyped_argument": "an argument of workflow {} does not fit: {}",
    "tool_unavailable": "workflow {} needs what is not here: {}",
    "step_arguments": "workflow {} cannot be filled in with that: {}",
    "out_of_scope": "workflow {} needs verbs that this turn may not use: {}",
    "safety": "workflow {} would do more than the profile that holds lets happen: {}",
    "malformed_suggestion": "the model suggested a workflow in a form that is none",
}
"""What a refusal says, by its code: with the template and the places, which somebody else named."""


class Suggestion(Struct, frozen=True, kw_only=True):
    """A workflow that is suggested, and what rule ``workflow`` says of it."""

    template: str
    args: dict[str, Any]
    outcome: WorkflowOutcome


class Course(Struct, frozen=True, kw_only=True):
    """What the turn is, and the workflow that it carries out or was refused, where one was
    suggested.
    """

    chosen: OutcomeChosen | OutcomeRefused
    suggestion: Suggestion | None = None


async def course_of(context: FlowContext, given: TurnInput) -> Course:
    """What the turn is: by its mode, by what its sender suggests, else by what a model suggests
    where policy has one asked.
    """
    message = given.message
    facts = OutcomeFacts(
        mode=message.mode,
        workflow=message.template,
        delegates=len(message.delegates),
        verb=bool(message.verb),
    )
    suggestion = None
    if message.template and message.mode is ExecMode.BRAIN:
        suggestion = suggested_by_sender(context, message.template, message.workflow_args)
        facts = with_expansion(facts, suggestion.outcome)
    decision = context.fx.decide(OUTCOME, facts, None, (0,))
    if (
        decision.reason not in OPEN
        or context.catalog.policy.outcome.ask is None
        or not offered(context.catalog)
    ):
        return Course(chosen=decision.outcome, suggestion=suggestion)
    suggestion, ref = await _asked(context, given)
    facts = msgspec.structs.replace(with_expansion(facts, suggestion.outcome), suggested=True)
    if facts.expansion is Expansion.NOT_ASKED:
        return Course(chosen=decision.outcome)
    return Course(
        chosen=context.fx.decide(OUTCOME, facts, None, (0, *ref)).outcome, suggestion=suggestion
    )


async def _asked(context: FlowContext, given: TurnInput) -> tuple[Suggestion, tuple[int, ...]]:
    answer = await ask(context, WORKFLOW_PROMPT, given)
    facts = WorkflowFacts(
        by=SuggestedBy.MODEL, answered=isinstance(answer, ModelAnswer), safety=context.safety
    )
    proposal, refs = (
        (proposal_of(answer), (answer.seq,)) if isinstance(answer, ModelAnswer) else (None, ())
    )
    inputs = WorkflowInputs(catalog=context.catalog, scope=context.scope, proposal=proposal)
    outcome = context.fx.decide(WORKFLOW, facts, inputs, refs).outcome
    if not isinstance(outcome, Expanded) or not isinstance(proposal, Parsed):
        return Suggestion(template="", args={}, outcome=outcome), refs
    return Suggestion(template=outcome.template, args=proposal.value["args"], outcome=outcome), refs


def suggested_by_sender(context: FlowContext, template: str, args: dict[str, Any]) -> Suggestion:
    """The workflow that a message names, as rule ``workflow`` judges it."""
    facts = WorkflowFacts(
        by=SuggestedBy.SENDER, template=template, given=len(args), safety=context.safety
    )
    inputs = WorkflowInputs(
        catalog=context.catalog, scope=context.scope, template=template, args=args
    )
    return Suggestion(
        template=template,
        args=args,
        outcome=context.fx.decide(WORKFLOW, facts, inputs, (0,)).outcome,
    )


def with_expansion(facts: OutcomeFacts, outcome: WorkflowOutcome) -> OutcomeFacts:
    """The facts of rule ``outcome`` with what rule ``workflow`` says."""
    match outcome:
        case Expanded(tier=""):
            return msgspec.structs.replace(facts, expansion=Expansion.UNASKED)
        case Expanded():
            return msgspec.structs.replace(facts, expansion=Expansion.TO_BE_APPROVED)
        case SuggestionRefused(code=code):
            return msgspec.structs.replace(facts, expansion=Expansion.REFUSED, why=code)
        case _:
            return facts


def refusal(refused: OutcomeRefused, suggestion: Suggestion | None) -> str:
    """What is said of a workflow that is not carried out."""
    outcome = None if suggestion is None else suggestion.outcome
    template, detail = (
        (outcome.template, outcome.detail) if isinstance(outcome, SuggestionRefused) else ("", "")
    )
    return REFUSED[refused.code].format(plain(template, NAME_CHARS), plain(detail, TOLD_CHARS))


async def carry_out(
    context: FlowContext, suggestion: Suggestion, told: TurnOutput
) -> tuple[TurnOutput, dict[str, str] | None]:
    """The workflow as a child run with its verbs alone; gives the turn's output so far, and the
    error where it was not done.

    It is done where each of its steps was, whatever failed below one (turn@6).
    """
    told, error, _ = await _carried_out(context, suggestion, told)
    return told, error


async def carry_out_judged(
    context: FlowContext, suggestion: Suggestion, told: TurnOutput
) -> tuple[TurnOutput, dict[str, str] | None]:
    """The same; where each of its steps was done, by what was done below them as well."""
    told, error, ended = await _carried_out(context, suggestion, told)
    return (
        (told, error)
        if error is not None or ended is None
        else (judged(context, told, ended.header, (ended.seq,)), None)
    )


async def _carried_out(
    context: FlowContext, suggestion: Suggestion, told: TurnOutput
) -> tuple[TurnOutput, dict[str, str] | None, AnyEnded | None]:
    """What became of the turn, the error where it was not done, and how the workflow's run ended,
    where it did.
    """
    verbs = context.catalog.reach_of(suggestion.template)
    spawn: Spawn[WorkflowOutput] = Spawn(
        flow=WORKFLOW_KIND,
        input=raw(WorkflowInput(template=suggestion.template, args=suggestion.args)),
        scope=context.scope.narrowed(verbs).allowed,
        deadline=context.hard,
        allowance=context.share(1),
        keep_thoughts=context.keep_thoughts,
    )
    try:
        (ended,) = await context.fx.children((spawn,), Join(deadline=context.hard))
    except Interrupted as interrupted:
        return told, _stopped(suggestion.template, interrupted), None
    output = _output(ended)
    if output is None:
        return *_endless(suggestion.template, ended, told), ended
    ran = tuple(f"{step.order}:{step.step_name}" for step in output.steps if not step.skipped)
    told = msgspec.structs.replace(
        told,
        plan=ran,
        skipped=output.skipped,
        executed=output.executed,
        steps=(*output.steps, *output.undone),
        failed=None
        if output.failed is None
        else msgspec.structs.replace(output.failed, workflow=ended.child),
    )
    if not output.ok:
        return told, {"code": output.error, "message": output.message}, ended
    narrative = as_text(output.output) if output.output else f"Workflow {output.template} is done."
    return (
        msgspec.structs.replace(told, ok=True, narrative=narrative, structured=output.output),
        None,
        ended,
    )


def _stopped(template: str, interrupted: Interrupted) -> dict[str, str]:
    """Of a workflow that was stopped between steps: the run's header has those that were done, and
    nothing is undone.
    """
    by_hand = interrupted.what != "override"
    why = f"stopped by {interrupted.by}" if by_hand else "a later message interrupted it"
    message = f"workflow {template}: {why}; the steps that stand above as done were done"
    return {"code": CANCELLED if by_hand else "interrupted", "message": message}


def _endless(template: str, ended: AnyEnded, told: TurnOutput) -> tuple[TurnOutput, dict[str, str]]:
    """Of a workflow's run that came to no end of its own: where nobody knows what a step did, that
    step is what it failed at.
    """
    if not isinstance(ended, Unknown):
        return told, {
            "code": str(ended.__struct_config__.tag),
            "message": f"workflow {template} came to no end of its own",
        }
    acts = () if ended.header is None else ended.header.acts
    verb = next((act.verb for act in acts if act.end is ActEnd.UNKNOWN), "")
    failed = FailedStep(workflow=ended.child, verb=verb, output=ended.reason[:FAILED_CHARS])
    told = msgspec.structs.replace(
        told,
        executed=tuple(dict.fromkeys(act.verb for act in acts if act.end is not ActEnd.DENIED)),
        failed=failed,
    )
    return told, {
        "code": "outcome_unknown",
        "message": f"nobody knows whether {verb or 'a step'} of workflow {template} happened",
    }


def _output(ended: AnyEnded) -> WorkflowOutput | None:
    """What the workflow's run returned; None where it came to no end of its own."""
    if not isinstance(ended, Completed | Failed) or ended.value == NULL:
        return None
    return msgspec.json.decode(ended.value, type=WorkflowOutput)
