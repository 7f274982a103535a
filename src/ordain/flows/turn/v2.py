"""Flow ``turn``, version 2, frozen: for runs that began as such. What a turn failed at was found
here and not by a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ExecMode
from ordain.contracts.verbs import VerbEffect
from ordain.effects.calls import Call
from ordain.effects.effect import SharedState
from ordain.effects.results import ModelAnswer, ReadValue, VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.ask import ask, lane_facts
from ordain.flows.carried import InConversation, StepResult
from ordain.flows.context import FlowContext, TurnKind
from ordain.flows.history import gather
from ordain.flows.observations import error_of
from ordain.flows.recall import RECALLED_BYTES, lines_of, recall
from ordain.flows.recording_1 import spelled_out
from ordain.flows.steps.trace import proposal_of
from ordain.flows.supervisor.prompt import STEP_PROMPT
from ordain.flows.turn.execution_plan import execution_plan
from ordain.flows.turn.flat_input import FlatTurnInput
from ordain.flows.turn.request import TurnOutput
from ordain.flows.turn.router import ROUTER_PROMPT_4, RoutedTurn
from ordain.flows.verb_plan.prompt import VERB_PROMPT
from ordain.ports.effects import Interrupted
from ordain.rules.entry import ENTRY, ENTRY_OF, Entered, EntryFacts, EntryInputs, EntryRefused
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.outcome import OUTCOME, OutcomeFacts, TurnOutcome
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.route import ROUTE, Path, Routed, RouteFacts, RouteInputs, RouteReason

PROMPT_BYTES = 4000
"""What a prompt is taken to need beside message and history; an agent's, with its tools and trace,
often needs more.
"""
LEFT_OPEN = frozenset({RouteReason.LOW_CONFIDENCE, RouteReason.OUTSIDE_MODE})
"""A router model was asked and its answer did not settle the path: the turn is ambiguous
(LLM-03).
"""
BEFORE_CHARS = 2000

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


@spelled_out(ROUTER_PROMPT_4)
async def run_turn(context: FlowContext, given: FlatTurnInput) -> TurnOutput:
    """Version 2."""
    told = TurnOutput(ok=False, narrative="", mode=given.mode)
    try:
        before = await _before(context, given)
        if (short := await open_account(context, given.verb or ENTRY_OF[given.mode])) is not None:
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


async def _before(context: FlowContext, given: FlatTurnInput) -> str:
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
    context: FlowContext, given: FlatTurnInput, told: TurnOutput, before: str
) -> TurnOutput:
    entry = _entry(context, given)
    if isinstance(entry, EntryRefused):
        return _failed(told, entry.code, REFUSED[entry.code.partition(":")[0]].format(entry.verb))
    facts = OutcomeFacts(mode=given.mode, workflow=given.workflow, delegates=len(given.delegates))
    outcome = context.fx.decide(OUTCOME, facts, None, (0,)).outcome.outcome
    plan = execution_plan(given.mode, entry.verb)
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
    recalled = await recall(context, given.recall, given.text, verb)
    told = msgspec.structs.replace(told, recall=recalled.told)
    if recalled.error and given.recall is not None and given.recall.required:
        return _failed(told, "recall_failed", recalled.error)
    context = context.narrowed((verb, context.catalog.policy.history.verb, *entry.tools))
    history, window = await gather(context, given.seq, _room(context, given, verb))
    told = msgspec.structs.replace(told, whole=window.whole, left_out=window.left_out)
    talk = InConversation(
        history=history,
        narrate=True,
        max_tokens=routed.max_tokens_answer,
        recalled=recalled.fragments,
    )
    if routed.path is Path.DIRECT:
        until = context.now() + min(routed.timeout_ms, plan.timeout_ms) * 1000
        return await _direct(context.until(min(context.deadline, until)), given, told, talk)
    more = {"before": before, "recalled": lines_of(recalled)}
    return await _supervised(
        context,
        _supervisor_call(given, routed, entry.tools, more),
        told,
        msgspec.structs.replace(talk, recalled=()),
    )


def _entry(context: FlowContext, given: FlatTurnInput) -> Entered | EntryRefused:
    facts = EntryFacts(
        mode=given.mode,
        verb=given.verb,
        tools=len(given.allowed_verbs),
        attachments=given.attachments,
        packs=len(given.packs),
    )
    inputs = EntryInputs(tools=given.allowed_verbs, catalog=context.catalog, packs=given.packs)
    return context.fx.decide(ENTRY, facts, inputs, (0,)).outcome


async def _route(context: FlowContext, given: FlatTurnInput, verb: str) -> tuple[Routed, bool]:
    """The path, and whether it was left open; where policy names a lane for it, a router model is
    asked first (EXE-09).
    """
    proposal: Parsed | Unparsed | None = None
    refs: tuple[int, ...] = (0,)
    if context.catalog.policy.router.ask is not None:
        answer = await ask(context, ROUTER_PROMPT_4, RoutedTurn(given=given, verb=verb))
        if isinstance(answer, ModelAnswer):
            proposal, refs = proposal_of(answer), (0, answer.seq)
    facts = RouteFacts(
        mode=given.mode,
        supervised=given.supervised,
        budget_class=given.budget_class,
        max_steps=given.max_steps,
        asked=""
        if context.catalog.policy.router.ask is None
        else "answered"
        if proposal is not None
        else "unanswered",
    )
    decision = context.fx.decide(ROUTE, facts, RouteInputs(proposal=proposal), refs)
    return decision.outcome, decision.reason in LEFT_OPEN


def _room(context: FlowContext, given: FlatTurnInput, verb: str) -> int:
    """What the model's window leaves for the history, a byte counted as a token: it fits whatever
    the tokens are.
    """
    agent = verb == VERB_OF[Path.REACT_LITE]
    prompt = STEP_PROMPT if agent else VERB_PROMPT
    facts = lane_facts(context, prompt.purpose, "" if agent else verb)
    lane = LANE.apply(facts, LaneInputs(by_purpose=prompt.lane), context.catalog.policy).outcome
    names = lane.profiles if isinstance(lane, LaneChosen) else ()
    profiles = [context.catalog.data.profiles[name] for name in names]
    window = min((profile.context_tokens - profile.max_tokens for profile in profiles), default=0)
    recalled = RECALLED_BYTES if given.recall is not None else 0
    return window - PROMPT_BYTES - recalled - len(msgspec.json.encode(given.text))


async def _direct(
    context: FlowContext, given: FlatTurnInput, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """One verb answers; only its text counts, whatever else it says (EXE-03)."""
    call = Call(verb=told.verb, args=_arguments(context, told.verb, given.text))
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
    """A message as the arguments of a verb: its ``text``, else its one required argument; rule
    ``authorize`` judges them.
    """
    schema = context.catalog.verbs[verb].spec.input_schema
    properties: Any = schema.get("properties", {})
    required: Any = schema.get("required", [])
    if "text" not in properties and len(required) == 1:
        return {str(required[0]): text}
    return {"text": text}


def _supervisor_call(
    given: FlatTurnInput, routed: Routed, tools: Sequence[str], more: Mapping[str, str]
) -> Call:
    args: dict[str, Any] = {
        "text": given.text,
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
    if bad := _unrecovered(acted.steps, context.catalog):
        return msgspec.structs.replace(
            told, error={"code": "partial", "message": f"failed: {', '.join(bad)}"}
        )
    return msgspec.structs.replace(told, ok=True)


def _unrecovered(steps: Sequence[StepResult], catalog: Catalog) -> Sequence[str]:
    """The verbs with a failure that was not made good afterwards: of a read by any success of the
    verb, else by the very same call.

    What may have happened cannot be made good: an unknown outcome always counts.
    """
    bad: dict[str, None] = {}
    for number, step in enumerate(steps):
        reads = catalog.verbs[step.step_name].spec.effect is VerbEffect.READ
        later = [
            again for again in steps[number + 1 :] if again.ok and again.step_name == step.step_name
        ]
        good = (
            any(reads or again.call == step.call for again in later)
            and step.error != "outcome_unknown"
        )
        if not step.ok and not good:
            bad[step.step_name] = None
    return list(bad)


def _failed(told: TurnOutput, code: str, message: str) -> TurnOutput:
    """A failed turn: what is said about it is written here, by code."""
    return msgspec.structs.replace(
        told,
        ok=False,
        narrative=f"This was not done: {message.rstrip('.')} ({code}).",
        error={"code": code, "message": message},
    )
