"""Flow ``turn``, version 4, frozen: for runs that began as such. Whether a turn with tools went
well was judged by its steps, denied calls among what was executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordain.contracts.conversation import ExecMode
from ordain.effects.calls import Call
from ordain.effects.effect import SharedState
from ordain.effects.results import ModelAnswer, ReadValue, VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.ask import ask, lane_facts
from ordain.flows.carried import InConversation, carrying_of
from ordain.flows.commission import MessageFacts, RecallAsked
from ordain.flows.context import FlowContext, TurnKind
from ordain.flows.history import gather
from ordain.flows.observations import error_of
from ordain.flows.recall import RECALLED_BYTES, Recollection, lines_of, recall
from ordain.flows.steps.trace import proposal_of
from ordain.flows.turn.execution_plan import execution_plan
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.router import ROUTER_PROMPT_4, RoutedTurn
from ordain.ports.effects import Interrupted
from ordain.rules.completeness import COMPLETENESS, CompletenessFacts, CompletenessInputs
from ordain.rules.entry import ENTRY, ENTRY_OF, Entered, EntryFacts, EntryInputs, EntryRefused
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.outcome import OUTCOME, OutcomeFacts, TurnOutcome
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.recall import RECALL, Answerable, RecallFacts, Unanswerable
from ordain.rules.route import LEFT_OPEN, ROUTE, Path, Routed, RouteFacts, RouteInputs
from ordain.rules.unrecovered import (
    UNRECOVERED,
    DoneStep,
    Unrecovered,
    UnrecoveredFacts,
    UnrecoveredInputs,
)

PROMPT_BYTES = 4000
"""What a prompt is taken to need beside message and history; an agent's, with its tools and trace,
often needs more.
"""
BEFORE_CHARS = 2000
CODE_CHARS = 64
"""Most of a failed recall's code in the facts of rule ``recall``."""

REFUSED = {
    "unknown_verb": "there is no verb {}",
    "inactive_verb": "{} is switched off here",
    "reserved_verb": "{} is the entry of another mode",
    "unknown_pack": "there is no pack {}",
    "empty_pack": "pack {} has no verb that may be used here",
}
VERB_OF: Mapping[Path, str | None] = {
    Path.DIRECT: "",
    Path.REACT_LITE: ENTRY_OF[ExecMode.AGENT],
    Path.AGENT_CHAIN: None,
    Path.COUNCIL: None,
}
"""What carries a path out: "" is the verb entered by; None is what this build does not have."""


async def run_turn(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Version 4."""
    told = TurnOutput(ok=False, narrative="", mode=given.message.mode)
    try:
        before = await _before(context, given)
        if (
            short := await open_account(context, given.message.verb or ENTRY_OF[given.message.mode])
        ) is not None:
            return _failed(
                told, "budget_exceeded", f"account {short.account} does not cover the turn"
            )
        return await _turn(context, given, told, before)
    except Interrupted as interrupted:
        why = (
            "a later message interrupted it"
            if interrupted.what == "override"
            else f"stopped by {interrupted.by}"
        )
        return _failed(told, "interrupted", why)


async def _before(context: FlowContext, given: TurnInput) -> str:
    """What the run that this one takes the place of had done: it stands in the header, and an agent
    is told, so as not to do it twice.
    """
    if not given.after:
        return ""
    seen = await context.fx.perform(context.read(SharedState.RUN, {"run": given.after}))
    if not isinstance(seen, ReadValue) or seen.value is None:
        return ""
    lines: list[dict[str, Any]] = seen.value["header"]["lines"]
    done = [
        f"{line['what']}: {line.get('excerpt', '')}"
        for line in lines
        if line["mark"] in ("ok", "unknown")
    ]
    return "\n".join(done)[:BEFORE_CHARS]


async def _turn(
    context: FlowContext, given: TurnInput, told: TurnOutput, before: str
) -> TurnOutput:
    message = given.message
    entry = _entry(context, message)
    if isinstance(entry, EntryRefused):
        return _failed(told, entry.code, REFUSED[entry.code.partition(":")[0]].format(entry.verb))
    facts = OutcomeFacts(
        mode=message.mode, workflow=message.template, delegates=len(message.delegates)
    )
    outcome = context.fx.decide(OUTCOME, facts, None, (0,)).outcome.outcome
    plan = execution_plan(message.mode, entry.verb)
    steps = tuple(f"{step.step_name}/{service}" for step in plan.steps for service in step.services)
    told = msgspec.structs.replace(told, verb=plan.verb_name, plan=steps, outcome=str(outcome))
    if outcome is not TurnOutcome.DIRECT:
        return _failed(told, "path_unavailable", f"this build cannot carry out outcome {outcome}")
    routed, ambiguous = await _route(context, given, entry.verb)
    told = msgspec.structs.replace(
        told, path=str(routed.path), budget_class=str(routed.budget_class)
    )
    carrier = VERB_OF[routed.path]
    if carrier is None:
        return _failed(told, "path_unavailable", f"this build cannot carry out path {routed.path}")
    verb = carrier or entry.verb
    if context.catalog.policy.lanes.routes:
        context = context.told(TurnKind(budget_class=str(routed.budget_class), ambiguous=ambiguous))
    recalled = await recall(context, message.recall, message.words, verb)
    told = msgspec.structs.replace(told, recall=recalled.told)
    if message.recall is not None and isinstance(
        _recall_outcome(context, message.recall, recalled), Unanswerable
    ):
        return _failed(told, "recall_failed", recalled.error)
    context = context.narrowed((verb, context.catalog.policy.history.verb, *entry.tools))
    history, window = await gather(context, given.seq, _room(context, message, verb))
    told = msgspec.structs.replace(told, whole=window.whole, left_out=window.left_out)
    talk = InConversation(
        history=history,
        narrate=True,
        max_tokens=routed.max_tokens_answer,
        recalled=recalled.fragments,
    )
    if routed.path is Path.DIRECT:
        until = context.now() + min(routed.timeout_ms, plan.timeout_ms) * 1000
        return await _direct(context.until(min(context.deadline, until)), message, told, talk)
    more = {"before": before, "recalled": lines_of(recalled)}
    call = _supervisor_call(message, routed, entry.tools, more)
    return await _supervised(context, call, told, msgspec.structs.replace(talk, recalled=()))


def _entry(context: FlowContext, message: MessageFacts) -> Entered | EntryRefused:
    facts = EntryFacts(
        mode=message.mode,
        verb=message.verb,
        tools=len(message.allowed_verbs),
        attachments=message.attachments,
        packs=len(message.packs),
    )
    inputs = EntryInputs(tools=message.allowed_verbs, catalog=context.catalog, packs=message.packs)
    return context.fx.decide(ENTRY, facts, inputs, (0,)).outcome


async def _route(context: FlowContext, given: TurnInput, verb: str) -> tuple[Routed, bool]:
    """The path, and whether it was left open; where policy names a lane for it, a router model is
    asked first (EXE-09).
    """
    message = given.message
    proposal: Parsed | Unparsed | None = None
    refs: tuple[int, ...] = (0,)
    if context.catalog.policy.router.ask is not None:
        answer = await ask(context, ROUTER_PROMPT_4, RoutedTurn(given=given, verb=verb))
        if isinstance(answer, ModelAnswer):
            proposal, refs = proposal_of(answer), (0, answer.seq)
    facts = RouteFacts(
        mode=message.mode,
        supervised=message.supervised,
        budget_class=message.budget_class,
        max_steps=message.max_steps,
        asked=""
        if context.catalog.policy.router.ask is None
        else "answered"
        if proposal is not None
        else "unanswered",
    )
    decision = context.fx.decide(ROUTE, facts, RouteInputs(proposal=proposal), refs)
    return decision.outcome, decision.reason in LEFT_OPEN


def _recall_outcome(
    context: FlowContext, asked: RecallAsked, recalled: Recollection
) -> Answerable | Unanswerable:
    facts = RecallFacts(
        required=asked.required,
        code=recalled.code[:CODE_CHARS],
        found=recalled.told.get("found", 0),
        given=recalled.told.get("given", 0),
    )
    refs = (0,) if recalled.seq < 0 else (0, recalled.seq)
    return context.fx.decide(RECALL, facts, None, refs).outcome


def _room(context: FlowContext, message: MessageFacts, verb: str) -> int:
    """What the window of the models that the verb's run will ask leaves for the history, a byte
    counted as a token: it fits whatever the tokens are.
    """
    how = carrying_of(context, verb)
    if how.prompt is None:  # no window bounds what no model reads
        return context.catalog.policy.history.max_bytes
    facts = msgspec.structs.replace(
        lane_facts(context, how.prompt.purpose, verb if how.by_verb else ""), ahead=True
    )
    lane = context.fx.decide(LANE, facts, LaneInputs(by_purpose=how.prompt.lane)).outcome
    names = lane.profiles if isinstance(lane, LaneChosen) else ()
    profiles = [context.catalog.data.profiles[name] for name in names]
    window = min((profile.context_tokens - profile.max_tokens for profile in profiles), default=0)
    recalled = RECALLED_BYTES if message.recall is not None else 0
    return window - PROMPT_BYTES - recalled - len(msgspec.json.encode(message.words))


async def _direct(
    context: FlowContext, message: MessageFacts, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """One verb answers; only its text counts, whatever else it says (EXE-03)."""
    call = Call(verb=told.verb, args=_arguments(context, told.verb, message.words))
    acted = await act(context, call, (0,), talk)
    told = msgspec.structs.replace(
        told, executed=() if acted.denied else (told.verb,), steps=acted.steps
    )
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return _failed(told, error["code"], error["message"])
    output = acted.result.output
    places = (context.catalog.verbs[told.verb].spec.narrates, "content", "text")
    text = next(
        (output[key] for key in places if key is not None and isinstance(output.get(key), str)),
        None,
    )
    narrative = text if text is not None else msgspec.json.encode(output).decode()
    return msgspec.structs.replace(
        told, ok=True, narrative=narrative, structured=output if text is None else {}
    )


def _arguments(context: FlowContext, verb: str, text: str) -> dict[str, Any]:
    """A message as the arguments of a verb: rule ``completeness`` says which of them it fills."""
    required: Any = context.catalog.verbs[verb].spec.input_schema.get("required", [])
    facts = CompletenessFacts(verb=verb, required=len(required))
    outcome = context.fx.decide(
        COMPLETENESS, facts, CompletenessInputs(catalog=context.catalog), (0,)
    ).outcome
    # Complete or not, the call is proposed: the rule reads names off a schema, and only rule
    # authorize holds arguments to all of it.
    return {outcome.argument: text}


def _supervisor_call(
    message: MessageFacts, routed: Routed, tools: Sequence[str], more: Mapping[str, str]
) -> Call:
    args: dict[str, Any] = {
        "text": message.words,
        "tools": list(tools),
        "max_steps": routed.max_steps,
        "max_tokens_reason": routed.max_tokens_reason,
        "max_tokens_answer": routed.max_tokens_answer,
        "timeout_ms": routed.timeout_ms,
    }
    args |= {name: text for name, text in more.items() if text}
    return Call(verb=ENTRY_OF[ExecMode.AGENT], args=args)


async def _supervised(
    context: FlowContext, call: Call, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """The supervised loop as a child run; a step that failed and was not made good leaves the turn
    partial (B-34).
    """
    acted: Acted = await act(context, call, (0,), talk)
    told = msgspec.structs.replace(
        told,
        executed=tuple(dict.fromkeys(step.step_name for step in acted.steps)),
        steps=acted.steps,
    )
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return _failed(told, error["code"], error["message"])
    narrative, structured = acted.result.output["content"], acted.result.output["structured"]
    told = msgspec.structs.replace(told, narrative=narrative, structured=structured)
    if bad := _unrecovered(context, acted):
        return msgspec.structs.replace(
            told, error={"code": "partial", "message": f"failed: {', '.join(bad)}"}
        )
    return msgspec.structs.replace(told, ok=True)


def _unrecovered(context: FlowContext, acted: Acted) -> tuple[str, ...]:
    """The verbs with a failure that was not made good."""
    steps = [
        DoneStep(verb=step.step_name, call=step.call, ok=step.ok, error=step.error)
        for step in acted.steps
    ]
    facts = UnrecoveredFacts(steps=len(steps), failed=sum(not step.ok for step in steps))
    inputs = UnrecoveredInputs(steps=steps, catalog=context.catalog)
    outcome = context.fx.decide(UNRECOVERED, facts, inputs, (acted.seq,)).outcome
    return outcome.verbs if isinstance(outcome, Unrecovered) else ()


def _failed(told: TurnOutput, code: str, message: str) -> TurnOutput:
    """A failed turn: what is said about it is written here, by code."""
    return msgspec.structs.replace(
        told,
        ok=False,
        narrative=f"This was not done: {message.rstrip('.')} ({code}).",
        error={"code": code, "message": message},
    )
