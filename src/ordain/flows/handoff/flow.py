"""Flow ``handoff``: what a card's verb hands on. The envelope is looked at once more, then the
specialist works in a loop of its own (HND-02, HND-03).

What it gives is a validated final answer or a typed failure with the run that has its trace
(FAIL-02); what it may do its first record says, and rule ``authorize`` decides each of its calls
like any other.
"""

from __future__ import annotations

import msgspec

from ordain.contracts.agent_verbs import WhyHanded
from ordain.contracts.handoff import HandoffResult, completed, failed
from ordain.contracts.verbs import Trust
from ordain.effects.calls import Call
from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.envelopes import asks_of
from ordain.flows.handoff.counted import PASSED, VIOLATION, counted, takes_a_place
from ordain.flows.handoff.prompt import HANDOFF_PROMPT
from ordain.flows.handoff.request import NO_ENVELOPE, planner_request
from ordain.flows.steps.work import Working, work
from ordain.rules.handoff import (
    HANDOFF,
    HandoffFacts,
    HandoffInputs,
    HandoffOutcome,
    HandoffRefused,
    HandoffStage,
)
from ordain.rules.safety import SafetyLimits
from ordain.rules.tool_first import OutputPassed, ToolFirstViolation

COUNTS, APART = 2, 3
"""From which version on a directive that was refused for its shape is a proposed call, and a call
that the door refused is none that was made, and only a plan has somebody take another's place.
"""
TRUST = {"status": Trust.SYSTEM, "mode": Trust.SYSTEM, "outputPayload": Trust.FOREIGN}


async def run_handoff(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Do the work, or say exactly why it is not done."""
    return await _run(context, call, version=3)


async def run_handoff_2(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 2, where a call that the door refused was one that was made."""
    return await _run(context, call, version=2)


async def run_handoff_1(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 1, where a directive that was refused for its shape was no proposed call, too."""
    return await _run(context, call, version=1)


async def _run(context: FlowContext, call: VerbPlanInput, *, version: int) -> VerbPlanOutput:
    context, envelope = context.told(turn_kind(call)), call.handoff or NO_ENVELOPE
    begun = _begun(context, call)
    if isinstance(begun, HandoffRefused):
        return _failed(
            context,
            envelope.mode,
            begun.code,
            begun.detail or HANDOFF.reason(f"{HANDOFF.name}.{begun.code}").meaning,
        )
    policy = context.catalog.policy.handoff
    ms = round(policy.timeout_seconds * 1000)
    limits = SafetyLimits(
        tool_calls=policy.tool_calls,
        planner_invocations=policy.planner_invocations,
        ms=min(ms, call.within_ms) if call.within_ms else ms,
    )
    how = Working(role=envelope.worker, limits=limits, counts=version >= COUNTS)
    worked = await work(context, planner_request(context.catalog, call), HANDOFF_PROMPT, how)
    if not worked.ok:
        return _failed(context, envelope.mode, worked.error, worked.message, worked.steps)
    card, output = context.catalog.card_of(call.verb), worked.output
    if card is not None:
        done = worked.apart if version >= APART else worked
        substitute = (
            takes_a_place(call, envelope, done)
            if version >= APART
            else envelope.reason == WhyHanded.FALLBACK
        )
        handed = Call(verb=call.verb, args=call.args)
        found = counted(context, handed, card, done, substitute=substitute)
        if isinstance(found.outcome, ToolFirstViolation):
            return _failed(context, envelope.mode, VIOLATION, found.reason.meaning, worked.steps)
        output = PASSED if isinstance(found.outcome, OutputPassed) else output
    result = completed(envelope.mode, output if envelope.return_expected else None)
    return VerbPlanOutput(ok=True, output=_wire(result), trust=TRUST, step_results=worked.steps)


def _begun(context: FlowContext, call: VerbPlanInput) -> HandoffOutcome:
    asks = asks_of((Call(verb=call.verb, args=call.args),))
    facts = HandoffFacts(
        stage=HandoffStage.RUN,
        targets=1,
        asked=asks[0].digest,
        chain=context.chain,
        may_ask=context.may_ask,
    )
    inputs = HandoffInputs(
        calls=asks,
        catalog=context.catalog,
        held=context.held,
        scope=context.granted,
        given=call.handoff,
    )
    return context.fx.decide(HANDOFF, facts, inputs, (0,)).outcome


def _failed(
    context: FlowContext, mode: str, code: str, message: str, steps: tuple[StepResult, ...] = ()
) -> VerbPlanOutput:
    result = failed(mode, code, message, context.run)
    return VerbPlanOutput(
        ok=False, output=_wire(result), trust=TRUST, error=code, message=message, step_results=steps
    )


def _wire(result: HandoffResult) -> dict[str, object]:
    return msgspec.to_builtins(result)
