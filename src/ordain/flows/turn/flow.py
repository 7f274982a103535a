"""Flow ``turn``: one message, answered (RTE-02, B-39, B-41).

Rules decide entry, outcome and path; then a table says what carries the path out. A workflow is a
run of its own, and agents are handed a turn through the roster's. The narrative is what a model
wrote, or code where no model did; whether the turn succeeded is decided from its steps alone
(B-34).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.conversation import ExecMode
from ordain.contracts.roster import ROSTER_VERB
from ordain.contracts.verbs import MODEL_SERVICE
from ordain.effects.calls import Call
from ordain.effects.effect import SharedState
from ordain.effects.results import ModelAnswer, ReadValue, VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.acted import Acted, acts_of
from ordain.flows.ask import ask, lane_facts
from ordain.flows.carried import VERB_PLAN, InConversation, carrier_of, carrying_of
from ordain.flows.commission import MessageFacts, RecallAsked
from ordain.flows.context import FlowContext, TurnKind
from ordain.flows.history import gather
from ordain.flows.images import ImagesShown
from ordain.flows.kind import PromptKind
from ordain.flows.observations import error_of
from ordain.flows.pinned import profiled
from ordain.flows.recall import RECALL_VERB, Recollection, asked_for, bytes_of, lines_of, recall
from ordain.flows.steps.trace import proposal_of
from ordain.flows.turn.carried import (
    PlannedWork,
    TurnTerms,
    carry,
    chain_tools,
    failed,
    names,
)
from ordain.flows.turn.delegation import hand_to, heading_of
from ordain.flows.turn.execution_plan import execution_plan
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.router import RoutedTurn
from ordain.flows.turn.workflow import carry_out_judged
from ordain.flows.values import advice_bytes
from ordain.journal.records import Status
from ordain.ports.effects import Interrupted
from ordain.rules.completeness import COMPLETENESS, CompletenessFacts, CompletenessInputs
from ordain.rules.entry import ENTRY, ENTRY_OF, Entered, EntryFacts, EntryInputs, EntryRefused
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.outcome import OutcomeRefused, TurnOutcome
from ordain.rules.profile import NoProfile
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.recall import RECALL, Answerable, RecallFacts, Unanswerable
from ordain.rules.route import LEFT_OPEN, ROUTE, Path, Routed, RouteFacts, RouteInputs

PROMPT_BYTES = 4000
"""What a prompt is taken to need beside message and history; an agent's, with its tools and trace,
often needs more.
"""
BEFORE_CHARS = 2000
ENDED_BY_ITSELF = (
    "It had ended by itself already before it could be held, so nothing begins again; what it "
    "came to stands in its own reply."
)
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
VERB_OF: Mapping[Path, str] = {
    Path.DIRECT: "",
    Path.REACT_LITE: ENTRY_OF[ExecMode.AGENT],
    Path.AGENT_CHAIN: CHAIN_VERB,
    Path.COUNCIL: ENTRY_OF[ExecMode.COUNCIL],
}
"""What carries a path out: "" is the verb entered by."""


async def run_turn(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Answer one message, or say exactly why there is no answer."""
    return await run_on_terms(context, given, TurnTerms())


async def run_on_terms(context: FlowContext, given: TurnInput, terms: TurnTerms) -> TurnOutput:
    """Answer one message as the version of this flow did whose ``terms`` these are. What fails
    stands in the answer.
    """
    told = TurnOutput(ok=False, narrative="", mode=given.message.mode)
    try:
        replaced = await _replaced(context, given)
        if given.resumes and replaced.get("status") == Status.COMPLETED:
            return msgspec.structs.replace(told, ok=True, narrative=ENDED_BY_ITSELF)
        if (short := await open_account(context, context.agent)) is not None:
            return failed(
                told, "budget_exceeded", f"account {short.account} does not cover the turn"
            )
        under = await profiled(context)
        if isinstance(under, NoProfile):
            return failed(
                told, "profile_not_found", f"the profile that is pinned cannot be had: {under.name}"
            )
        return await _turn(under, given, told, _before(replaced), terms)
    except Interrupted as interrupted:
        why = (
            "a later message interrupted it"
            if interrupted.what == "override"
            else f"stopped by {interrupted.by}"
        )
        return failed(told, "interrupted", why)


async def _replaced(context: FlowContext, given: TurnInput) -> Mapping[str, Any]:
    """The run that this one takes the place of, as it stands; nothing where there is none, or none
    any more.
    """
    if not given.after:
        return {}
    seen = await context.fx.perform(context.read(SharedState.RUN, {"run": given.after}))
    return {} if not isinstance(seen, ReadValue) or seen.value is None else seen.value


def _before(replaced: Mapping[str, Any]) -> str:
    """What the run that this one takes the place of had done: it stands in the header, and an agent
    is told, so as not to do it twice.
    """
    lines: list[dict[str, Any]] = replaced["header"]["lines"] if replaced else []
    done = [
        f"{line['what']}: {line.get('excerpt', '')}"
        for line in lines
        if line["mark"] in ("ok", "unknown")
    ]
    return "\n".join(done)[:BEFORE_CHARS]


async def _turn(
    context: FlowContext, given: TurnInput, told: TurnOutput, before: str, terms: TurnTerms
) -> TurnOutput:
    message = given.message
    entry = _entry(context, message)
    if isinstance(entry, EntryRefused):
        return failed(told, entry.code, REFUSED[entry.code.partition(":")[0]].format(entry.verb))
    plan = execution_plan(message.mode, entry.verb)
    told = msgspec.structs.replace(told, verb=plan.verb_name, skipped=names(plan.steps))
    heading = await heading_of(context, given)
    if isinstance(heading.chosen, OutcomeRefused):
        return failed(told, heading.chosen.code, heading.why_not)
    told = msgspec.structs.replace(told, outcome=str(heading.chosen.outcome))
    if heading.chosen.outcome in WORKFLOWS and heading.suggestion is not None:
        told, error = await carry_out_judged(context, heading.suggestion, told)
        return told if error is None else failed(told, error["code"], error["message"])
    if heading.chosen.outcome is not TurnOutcome.DIRECT or _plans_for_agents(message):
        told, _, failure = await _recalled(context, message, ROSTER_VERB, told)
        return failure or await hand_to(context, heading.agents, given, told, terms.by_code)
    routed, ambiguous = await _route(context, given, entry.verb, terms.router)
    told = msgspec.structs.replace(
        told, path=str(routed.path), budget_class=str(routed.budget_class)
    )
    verb = VERB_OF[routed.path] or entry.verb
    if context.catalog.policy.lanes.routes:
        context = context.told(TurnKind(budget_class=str(routed.budget_class), ambiguous=ambiguous))
    told, recalled, failure = await _recalled(context, message, verb, told)
    if failure is not None:
        return failure
    chain: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    if routed.path is not Path.DIRECT:
        chain = tuple(filter(context.scope.permits, chain_tools(message, entry, context.catalog)))
        beyond = (CHAIN_VERB, *chain)
    context = context.narrowed(
        context.catalog.lendable((verb, context.catalog.policy.history.verb, *entry.tools, *beyond))
    )
    summed: list[Acted] = []
    history, window = await gather(context, given.seq, _room(context, message, verb), summed)
    told = msgspec.structs.replace(told, whole=window.whole, left_out=window.left_out)
    talk = InConversation(
        history=history,
        narrate=True,
        max_tokens=routed.max_tokens_answer,
        recalled=recalled.fragments,
    )
    if _sees(context, message):
        talk = msgspec.structs.replace(
            talk, images=ImagesShown(seq=given.seq, digests=message.images)
        )
    if routed.path is Path.DIRECT:
        until = (
            context.now()
            + min(routed.timeout_ms, plan.timeout_ms, *(step.timeout_ms for step in plan.steps))
            * 1000
        )
        return await _direct(context.until(min(context.deadline, until)), message, told, talk)
    tools = tuple(tool for tool in entry.tools if context.scope.permits(tool))
    work = PlannedWork(
        words=message.request,
        routed=routed,
        verb=verb,
        tools=tools,
        chain_tools=chain,
        chain_steps=message.max_steps,
        before=before,
        bounds_chain=terms.bounds_chain,
        recalled=lines_of(recalled),
        acts=(*recalled.acts, *(act for one in summed for act in acts_of(context, one))),
        refs=tuple(seq for seq in (recalled.seq, *(one.seq for one in summed)) if seq >= 0),
    )
    return await carry(context, work, told, msgspec.structs.replace(talk, recalled=()))


def _entry(context: FlowContext, message: MessageFacts) -> Entered | EntryRefused:
    facts = EntryFacts(
        mode=message.mode,
        verb=message.verb,
        tools=len(message.allowed_verbs),
        attachments=message.attachments
        - (len(message.documents) if message.recall is not None else 0)
        - (len(message.images) if _sees(context, message) else 0),
        packs=len(message.packs),
    )
    inputs = EntryInputs(tools=message.allowed_verbs, catalog=context.catalog, packs=message.packs)
    return context.fx.decide(ENTRY, facts, inputs, (0,)).outcome


def _sees(context: FlowContext, message: MessageFacts) -> bool:
    """Whether whoever answers is shown the message's images: a verb's prompt plan, entered by with
    nobody else to choose a path.
    """
    if not message.images:
        return False
    spec = context.catalog.verbs.get(message.verb or ENTRY_OF[message.mode])
    asks = spec is not None and spec.spec.composite and carrier_of(spec.spec) == VERB_PLAN
    plain = (
        message.mode is ExecMode.BRAIN
        and not message.supervised
        and not message.delegates
        and not message.template
    )
    return asks and plain and context.catalog.policy.router.ask is None


async def _route(
    context: FlowContext, given: TurnInput, verb: str, router: PromptKind[RoutedTurn]
) -> tuple[Routed, bool]:
    """The path, and whether it was left open; where policy names a lane for it, a router model is
    asked first (EXE-09).
    """
    message = given.message
    proposal: Parsed | Unparsed | None = None
    refs: tuple[int, ...] = (0,)
    if context.catalog.policy.router.ask is not None:
        answer = await ask(context, router, RoutedTurn(given=given, verb=verb))
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
        chains=True,
    )
    decision = context.fx.decide(ROUTE, facts, RouteInputs(proposal=proposal), refs)
    return decision.outcome, decision.reason in LEFT_OPEN


def _plans_for_agents(message: MessageFacts) -> bool:
    """Whether the message names the verb that has a plan made for agents: their work is judged, and
    bounded, as that of any who are handed a turn.
    """
    named = message.verb == ROSTER_VERB
    return named and message.mode is ExecMode.BRAIN and not message.supervised


async def _recalled(
    context: FlowContext, message: MessageFacts, verb: str, told: TurnOutput
) -> tuple[TurnOutput, Recollection, TurnOutput | None]:
    """What is told now, what was recalled for a verb, and the turn's end where the message is not
    answered without.
    """
    asked = asked_for(message, verb, context)
    recalled = await recall(context, asked, message.words, verb, message.documents)
    told = msgspec.structs.replace(told, recall=recalled.told)
    if asked is not None and isinstance(
        _recall_outcome(context, asked, recalled, len(message.documents)), Unanswerable
    ):
        return told, recalled, failed(told, "recall_failed", recalled.error)
    return told, recalled, None


def _recall_outcome(
    context: FlowContext, asked: RecallAsked, recalled: Recollection, attached: int
) -> Answerable | Unanswerable:
    facts = RecallFacts(
        required=asked.required,
        code=recalled.code[:CODE_CHARS],
        found=recalled.told.get("found", 0),
        given=recalled.told.get("given", 0),
        auto=asked.auto,
        attached=attached,
        of=recalled.told.get("of", 0),
        own=RECALL_VERB if context.catalog.data.strict_verdicts and recalled.seq >= 0 else "",
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
    recalled = bytes_of(message.recall)
    return (
        window
        - PROMPT_BYTES
        - advice_bytes(context.advice)
        - recalled
        - len(msgspec.json.encode(message.request))
    )


async def _direct(
    context: FlowContext, message: MessageFacts, told: TurnOutput, talk: InConversation
) -> TurnOutput:
    """One verb answers; only its text counts, whatever else it says (EXE-03)."""
    call = Call(verb=told.verb, args=_arguments(context, told.verb, message.request))
    acted = await act(context, call, (0,), talk)
    if not acted.denied:
        asked = acted.below is not None and acted.below.model_calls > 0
        ran = (f"{told.verb}/{MODEL_SERVICE}" if asked else told.verb,)
        told = msgspec.structs.replace(told, executed=(told.verb,), plan=ran, skipped=())
    told = msgspec.structs.replace(told, steps=acted.steps)
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return failed(told, error["code"], error["message"])
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
