"""Flow ``turn``, version 6, frozen: for runs that began as such. Delegation, an agent chain and a
council end as ``path_unavailable``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.contracts.cortex import ExecutionStep
from ordain.contracts.verbs import MODEL_SERVICE
from ordain.contracts.verdict import RunVerdict
from ordain.effects.calls import Call
from ordain.effects.effect import SharedState
from ordain.effects.results import ModelAnswer, ReadValue, VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.acted import Acted, acts_of
from ordain.flows.ask import ask, lane_facts
from ordain.flows.carried import InConversation, carrying_of
from ordain.flows.commission import MessageFacts, RecallAsked
from ordain.flows.context import FlowContext, TurnKind
from ordain.flows.history import gather
from ordain.flows.observations import error_of
from ordain.flows.pinned import profiled
from ordain.flows.recall import RECALLED_BYTES, Recollection, lines_of, recall
from ordain.flows.steps.trace import proposal_of
from ordain.flows.turn.execution_plan import execution_plan
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.router import ROUTER_PROMPT_8, RoutedTurn
from ordain.flows.turn.workflow import carry_out, course_of, refusal
from ordain.flows.values import advice_bytes
from ordain.ports.effects import Interrupted
from ordain.rules.acts import Act
from ordain.rules.completeness import COMPLETENESS, CompletenessFacts, CompletenessInputs
from ordain.rules.entry import ENTRY, ENTRY_OF, Entered, EntryFacts, EntryInputs, EntryRefused
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.outcome import OutcomeRefused, TurnOutcome
from ordain.rules.profile import NoProfile
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.recall import RECALL, Answerable, RecallFacts, Unanswerable
from ordain.rules.route import LEFT_OPEN, ROUTE, Path, Routed, RouteFacts, RouteInputs
from ordain.rules.verdict import VERDICT, Judged, VerdictFacts, VerdictInputs

PROMPT_BYTES = 4000
"""What a prompt is taken to need beside message and history; an agent's, with its tools and trace,
often needs more.
"""
BEFORE_CHARS = 2000
CODES: Mapping[RunVerdict, str] = {
    RunVerdict.UNKNOWN: "outcome_unknown",
    RunVerdict.PARTIAL: "partial",
    RunVerdict.NO_TOOL: "no_tool_succeeded",
    RunVerdict.NOTHING: "nothing_done",
}
"""The code with which a turn with tools ends whose verdict is not ok."""
CODE_CHARS = 64
"""Most of a failed recall's code in the facts of rule ``recall``."""

REFUSED = {
    "unknown_verb": "there is no verb {}",
    "inactive_verb": "{} is switched off here",
    "reserved_verb": "{} is the entry of another mode",
    "unknown_pack": "there is no pack {}",
    "empty_pack": "pack {} has no verb that may be used here",
}
WORKFLOWS = frozenset({TurnOutcome.WORKFLOW_PROPOSAL, TurnOutcome.WORKFLOW_RUN})
VERB_OF: Mapping[Path, str | None] = {
    Path.DIRECT: "",
    Path.REACT_LITE: ENTRY_OF[ExecMode.AGENT],
    Path.AGENT_CHAIN: None,
    Path.COUNCIL: None,
}
"""What carries a path out: "" is the verb entered by; None is what this build does not have."""


async def run_turn(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Version 6."""
    told = TurnOutput(ok=False, narrative="", mode=given.message.mode)
    try:
        before = await _before(context, given)
        if (short := await open_account(context, context.agent)) is not None:
            return _failed(
                told, "budget_exceeded", f"account {short.account} does not cover the turn"
            )
        under = await profiled(context)
        if isinstance(under, NoProfile):
            return _failed(
                told, "profile_not_found", f"the profile that is pinned cannot be had: {under.name}"
            )
        return await _turn(under, given, told, before)
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
    plan = execution_plan(message.mode, entry.verb)
    told = msgspec.structs.replace(told, verb=plan.verb_name, skipped=_names(plan.steps))
    course = await course_of(context, given)
    if isinstance(course.chosen, OutcomeRefused):
        return _failed(told, course.chosen.code, refusal(course.chosen, course.suggestion))
    told = msgspec.structs.replace(told, outcome=str(course.chosen.outcome))
    if course.chosen.outcome in WORKFLOWS and course.suggestion is not None:
        told, error = await carry_out(context, course.suggestion, told)
        return told if error is None else _failed(told, error["code"], error["message"])
    if course.chosen.outcome is not TurnOutcome.DIRECT:
        return _failed(
            told, "path_unavailable", f"this build cannot carry out outcome {course.chosen.outcome}"
        )
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
    summed: list[Acted] = []
    history, window = await gather(context, given.seq, _room(context, message, verb), summed)
    told = msgspec.structs.replace(told, whole=window.whole, left_out=window.left_out)
    talk = InConversation(
        history=history,
        narrate=True,
        max_tokens=routed.max_tokens_answer,
        recalled=recalled.fragments,
    )
    if routed.path is Path.DIRECT:
        until = (
            context.now()
            + min(routed.timeout_ms, plan.timeout_ms, *(step.timeout_ms for step in plan.steps))
            * 1000
        )
        return await _direct(context.until(min(context.deadline, until)), message, told, talk)
    more = {"before": before, "recalled": lines_of(recalled)}
    # a supervised turn of another mode works by the agent's plan as well
    agent = execution_plan(ExecMode.AGENT, verb)
    routed = msgspec.structs.replace(routed, timeout_ms=min(routed.timeout_ms, agent.timeout_ms))
    tools = [tool for tool in entry.tools if context.scope.permits(tool)]
    call = _supervisor_call(
        message, routed, tools, {**more, "step_timeout_ms": agent.steps[0].timeout_ms}
    )
    before_acts = (*recalled.acts, *(act for one in summed for act in acts_of(context, one)))
    refs = tuple(seq for seq in (recalled.seq, *(one.seq for one in summed)) if seq >= 0)
    work = _Supervised(call=call, step=agent.steps[0], acts=before_acts, refs=refs)
    return await _supervised(context, work, told, msgspec.structs.replace(talk, recalled=()))


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
        answer = await ask(context, ROUTER_PROMPT_8, RoutedTurn(given=given, verb=verb))
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
    lane = context.fx.decide(
        LANE, facts, LaneInputs(by_purpose=how.prompt.lane, held=context.held)
    ).outcome
    names = lane.profiles if isinstance(lane, LaneChosen) else ()
    profiles = [context.catalog.data.profiles[name] for name in names]
    window = min((profile.context_tokens - profile.max_tokens for profile in profiles), default=0)
    recalled = RECALLED_BYTES if message.recall is not None else 0
    return (
        window
        - PROMPT_BYTES
        - advice_bytes(context.advice)
        - recalled
        - len(msgspec.json.encode(message.words))
    )


async def _direct(
    context: FlowContext, message: MessageFacts, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """One verb answers; only its text counts, whatever else it says (EXE-03)."""
    call = Call(verb=told.verb, args=_arguments(context, told.verb, message.words))
    acted = await act(context, call, (0,), talk)
    if not acted.denied:
        asked = acted.below is not None and acted.below.model_calls > 0
        ran = (f"{told.verb}/{MODEL_SERVICE}" if asked else told.verb,)
        told = msgspec.structs.replace(told, executed=(told.verb,), plan=ran, skipped=())
    told = msgspec.structs.replace(told, steps=acted.steps)
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
    message: MessageFacts, routed: Routed, tools: Sequence[str], more: Mapping[str, str | int]
) -> Call:
    args: dict[str, Any] = {
        "text": message.words,
        "tools": list(tools),
        "max_steps": routed.max_steps,
        "max_tokens_reason": routed.max_tokens_reason,
        "max_tokens_answer": routed.max_tokens_answer,
        "timeout_ms": routed.timeout_ms,
    }
    args |= {name: value for name, value in more.items() if value}
    return Call(verb=ENTRY_OF[ExecMode.AGENT], args=args)


class _Supervised(Struct, frozen=True, kw_only=True):
    """The call of the supervised loop, the plan's step that it is, and what was done for the turn
    before it, with the records of that.
    """

    call: Call
    step: ExecutionStep
    acts: tuple[Act, ...]
    refs: tuple[int, ...]


async def _supervised(
    context: FlowContext, work: _Supervised, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """The supervised loop as a child run; the answer stands as written, and whether all went well
    is the verdict's alone (B-34, RTE-12).
    """
    acted: Acted = await act(context, work.call, (0,), talk)
    ran = _names((work.step,))
    executed = tuple(dict.fromkeys(step.step_name for step in acted.steps if not step.skipped))
    told = msgspec.structs.replace(told, executed=executed, steps=acted.steps)
    if not acted.denied:
        told = msgspec.structs.replace(
            told, plan=ran, skipped=tuple(name for name in told.skipped if name not in ran)
        )
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return _failed(told, error["code"], error["message"])
    narrative, structured = acted.result.output["content"], acted.result.output["structured"]
    told = msgspec.structs.replace(told, narrative=narrative, structured=structured)
    judged = _judged(context, work, acted)
    if (code := CODES.get(judged.verdict)) is None:
        return msgspec.structs.replace(told, ok=True)
    message = f"failed: {', '.join(judged.verbs)}" if judged.verbs else str(judged.verdict)
    return msgspec.structs.replace(told, error={"code": code, "message": message})


def _judged(context: FlowContext, work: _Supervised, acted: Acted) -> Judged:
    """The verdict on all that was done for the turn, as its header will have it."""
    below = acted.below
    acts = (*work.acts, *(() if below is None else below.acts))
    facts = VerdictFacts(
        proposed=0 if below is None else below.proposed,
        acts=len(acts),
        answered=below is not None and below.answered,
    )
    return context.fx.decide(
        VERDICT, facts, VerdictInputs(acts=acts), (*work.refs, acted.seq)
    ).outcome


def _names(steps: Sequence[ExecutionStep]) -> tuple[str, ...]:
    return tuple(f"{step.step_name}/{service}" for step in steps for service in step.services)


def _failed(told: TurnOutput, code: str, message: str) -> TurnOutput:
    """A failed turn: what is said about it is written here, by code."""
    return msgspec.structs.replace(
        told,
        ok=False,
        narrative=f"This was not done: {message.rstrip('.')} ({code}).",
        error={"code": code, "message": message},
    )
