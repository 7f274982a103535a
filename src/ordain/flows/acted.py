"""What became of a call, as its caller and its header have it."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.verbs import VerbEffect
from ordain.effects.children import NULL, AnyEnded, Completed, Failed, TimedOut, Unknown
from ordain.effects.results import VerbFailed, VerbResult, VerbReturned, VerbTimedOut, VerbUnknown
from ordain.flows.carried import StepResult, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.journal.acts import call_end
from ordain.rules.acts import Act, ActEnd
from ordain.rules.authorize import AUTHORIZE
from ordain.rules.guardrail import GUARDRAIL
from ordain.rules.handoff import HANDOFF
from ordain.rules.header import HeaderFacts


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call: the result, the seq of the record that holds it (-1 where nothing went
    live), and its child run.

    ``below`` is the header of that run: what was done there. ``asked`` is the digest of the call.
    ``payload`` is what a run that failed gave all the same; ``mode`` is how work was handed on by
    it ("": it was not).
    """

    verb: str
    result: VerbResult
    seq: int
    child: str = ""
    steps: tuple[StepResult, ...] = ()
    denied: str = ""
    below: HeaderFacts | None = None
    asked: str = ""
    payload: dict[str, Any] | None = None
    mode: str = ""


_DENYING = {
    reason.value: reason
    for rule in (AUTHORIZE, HANDOFF, GUARDRAIL)
    for reasons in rule.reasons
    for reason in reasons
}


def denied(verb: str, code: str) -> Acted:
    """A call that rule ``authorize`` refused, or for which the rules before it gave no envelope:
    nothing went live, no record holds a result.
    """
    reason = _DENYING[code]
    return Acted(
        verb=verb,
        result=VerbFailed(code=reason.rpartition(".")[2], message=reason.meaning),
        seq=-1,
        denied=code,
    )


def acted_by_child(verb: str, ended: AnyEnded) -> Acted:
    """Read a ``verb_plan`` child's end as a verb result, with origin and trust as the child
    recorded them.
    """
    steps: tuple[StepResult, ...] = ()
    payload: dict[str, Any] | None = None
    match ended:
        case Completed(value=value):
            output = msgspec.json.decode(value, type=VerbPlanOutput)
            steps = output.step_results
            result = VerbReturned(output=output.output or {}, trust=output.trust)
        case Failed(reason=reason, value=value):
            output = (
                VerbPlanOutput(ok=False)
                if value == NULL
                else msgspec.json.decode(value, type=VerbPlanOutput)
            )
            steps, payload = output.step_results, output.output
            result = VerbFailed(code=output.error or reason, message=output.message or reason)
        case TimedOut():
            result = VerbTimedOut()
        case Unknown(reason=reason):
            result = VerbUnknown(message=reason)
        case _:
            result = VerbFailed(code="cancelled", message="the verb's run was cancelled")
    return Acted(
        verb=verb,
        result=result,
        seq=ended.seq,
        child=ended.child,
        steps=steps,
        below=ended.header,
        payload=payload,
    )


def acts_of(context: FlowContext, acted: Acted) -> tuple[Act, ...]:
    """The acts that a call came to, as the run's header has them: those of its run, then itself."""
    below = () if acted.below is None else acted.below.acts
    match acted.result:
        case VerbReturned():
            end = call_end(ActEnd.DONE, acted.below)
        case VerbUnknown():
            end = call_end(ActEnd.UNKNOWN, acted.below)
        case _:
            end = ActEnd.DENIED if acted.denied else ActEnd.FAILED
    verb = context.catalog.verbs.get(acted.verb)
    return (
        *below,
        Act(
            verb=acted.verb,
            call=acted.asked,
            end=end,
            reads=verb is not None and verb.spec.effect is VerbEffect.READ,
        ),
    )
