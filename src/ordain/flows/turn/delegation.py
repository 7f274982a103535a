"""A turn that is handed to agents: who is named, what that comes to, and what they found as the
turn's answer (RTE-02, RTE-04, B-39, B-40).

Agents are named by the sender or, where policy has one asked, by a model; rule ``outcome`` says
whether they may be handed the turn. It is then one call of the roster's verb, whose results come
back here. A model may put them into words, which stand under the header; whether the turn succeeded
its acts alone say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ExecMode
from ordain.contracts.packs import pack_verbs
from ordain.contracts.roster import ROSTER_VERB, agents_with_substitutes, answers_alone
from ordain.contracts.work_bounds import WorkBounds
from ordain.effects.calls import Call
from ordain.effects.children import NULL, AnyEnded, Completed, Join, Spawn
from ordain.effects.results import ModelAnswer, VerbReturned
from ordain.flows.act import act
from ordain.flows.ask import ask
from ordain.flows.commission import MessageFacts
from ordain.flows.context import FlowContext, TurnKind
from ordain.flows.findings import (
    SYNTHESIS_KIND,
    StepFinding,
    SynthesisInput,
    SynthesisOutput,
)
from ordain.flows.observations import error_of
from ordain.flows.steps.trace import proposal_of
from ordain.flows.turn.carried import failed
from ordain.flows.turn.judged import judged
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.suggestion import SUGGESTION_PROMPT, agents_offered, offered
from ordain.flows.turn.workflow import (
    NAME_CHARS,
    Suggestion,
    refusal,
    suggested_by_sender,
    with_expansion,
)
from ordain.journal.records import raw
from ordain.rules.header import plain
from ordain.rules.outcome import (
    OPEN,
    OUTCOME,
    OutcomeChosen,
    OutcomeFacts,
    OutcomeInputs,
    OutcomeRefused,
    TurnOutcome,
)
from ordain.rules.proposals import Parsed
from ordain.rules.workflow import (
    WORKFLOW,
    DelegatesSuggested,
    Expanded,
    NothingSuggested,
    SuggestedBy,
    WorkflowFacts,
    WorkflowInputs,
)

HANDED_ON = frozenset({TurnOutcome.DELEGATE, TurnOutcome.FAN_OUT})
NAMED = {
    "unknown_agent": "there is no agent {}",
    "handoff_target_not_allowed": "{} may not be handed work here",
}
TEXT_CHARS = 32_000
SYNTHESIS_MS = 120_000


class Heading(Struct, frozen=True, kw_only=True):
    """What the turn is, and the workflow or the agents that somebody suggested for it."""

    chosen: OutcomeChosen | OutcomeRefused
    suggestion: Suggestion | None = None
    agents: tuple[str, ...] = ()

    @property
    def why_not(self) -> str:
        """What is said of a turn that ends here."""
        if not isinstance(self.chosen, OutcomeRefused):
            return ""
        if self.chosen.code in NAMED and self.suggestion is None:
            return NAMED[self.chosen.code].format(plain(self.chosen.named, NAME_CHARS))
        return refusal(self.chosen, self.suggestion)


def handing(message: MessageFacts, catalog: Catalog) -> tuple[str, ...]:
    """What a turn needs that may be handed to agents: the roster's verb, the agents' own, and what
    these are for.

    Of whom the message names, and whoever may take their place; of all where a model may name them
    or a workflow hands work on. The tools and packs that the message names bound what agents may
    use, too.
    """
    asks = catalog.policy.outcome.ask is not None and not message.verb
    everybody = (
        asks or bool(message.template) or (message.verb == ROSTER_VERB and not message.delegates)
    )
    if not everybody and (not message.delegates or answers_alone(message.verb)):
        return ()
    named = (
        catalog.data.cards.keys()
        if everybody
        else agents_with_substitutes(message.delegates, catalog.data.cards)
    )
    cards = [catalog.data.cards[name] for name in named]
    tools = {
        verb
        for card in cards
        for pattern in card.allow or card.tool_preference
        for verb in catalog.named_by(pattern)
    }
    if message.allowed_verbs:
        tools.intersection_update(message.allowed_verbs)
    if message.packs:
        tools.intersection_update(pack_verbs(message.packs, catalog, catalog.policy))
    return (ROSTER_VERB, *(card.verb for card in cards), *catalog.scoring, *sorted(tools))


async def heading_of(context: FlowContext, given: TurnInput) -> Heading:
    """What the turn is: by its mode, by what its sender suggests, else by what a model suggests
    where policy has one asked.
    """
    message, cards = given.message, context.catalog.data.cards
    agents = tuple(dict.fromkeys(message.delegates))
    facts = OutcomeFacts(
        mode=message.mode,
        workflow=message.template,
        delegates=len(agents),
        verb=answers_alone(message.verb) if agents else bool(message.verb),
        hands_on=True,
        supervised=message.supervised and bool(agents or message.template),
    )
    suggestion = None
    if message.template and message.mode is ExecMode.BRAIN:
        suggestion = suggested_by_sender(context, message.template, message.workflow_args)
        facts = with_expansion(facts, suggestion.outcome)
    named = OutcomeInputs(delegates=agents, cards=cards, held=context.held)
    decision = context.fx.decide(OUTCOME, facts, named, (0,))
    if (
        decision.reason not in OPEN
        or context.catalog.policy.outcome.ask is None
        or not (offered(context.catalog) or agents_offered(context.catalog))
    ):
        return Heading(chosen=decision.outcome, suggestion=suggestion, agents=agents)
    suggestion, agents, refs = await _asked(context, given)
    if agents:
        facts = msgspec.structs.replace(facts, delegates=len(agents), delegated_by_model=True)
        named = OutcomeInputs(delegates=agents, cards=cards, held=context.held)
        return Heading(
            chosen=context.fx.decide(OUTCOME, facts, named, (0, *refs)).outcome, agents=agents
        )
    if isinstance(suggestion.outcome, NothingSuggested):
        return Heading(chosen=decision.outcome)
    facts = msgspec.structs.replace(with_expansion(facts, suggestion.outcome), suggested=True)
    return Heading(
        chosen=context.fx.decide(OUTCOME, facts, named, (0, *refs)).outcome, suggestion=suggestion
    )


async def _asked(
    context: FlowContext, given: TurnInput
) -> tuple[Suggestion, tuple[str, ...], tuple[int, ...]]:
    """A model's workflow or agents, as rule ``workflow`` reads them."""
    answer = await ask(context, SUGGESTION_PROMPT, given)
    had = isinstance(answer, ModelAnswer)
    facts = WorkflowFacts(
        by=SuggestedBy.MODEL,
        answered=had,
        safety=context.safety,
        agents=len(context.catalog.data.cards),
    )
    proposal, refs = (proposal_of(answer), (answer.seq,)) if had else (None, ())
    inputs = WorkflowInputs(catalog=context.catalog, scope=context.scope, proposal=proposal)
    outcome = context.fx.decide(WORKFLOW, facts, inputs, refs).outcome
    named = outcome.agents if isinstance(outcome, DelegatesSuggested) else ()
    if not isinstance(outcome, Expanded) or not isinstance(proposal, Parsed):
        return Suggestion(template="", args={}, outcome=outcome), named, refs
    return (
        Suggestion(template=outcome.template, args=proposal.value["args"], outcome=outcome),
        (),
        refs,
    )


async def hand_to(
    context: FlowContext,
    agents: Sequence[str],
    given: TurnInput,
    told: TurnOutput,
    by_code: Callable[[Sequence[StepFinding]], str],
) -> TurnOutput:
    """The turn handed to these agents, or where none are named to those of a plan; each result
    comes back, and what they come to is told under the header, ``by_code`` where no model puts it
    into words.
    """
    message, words = given.message, given.message.request[:TEXT_CHARS]
    bounds = WorkBounds.asked(message.budget_class, message.max_steps, context.catalog.policy)
    context = context.told(TurnKind(budget_class=message.budget_class, bounds=bounds))
    acted = await act(
        context,
        Call(verb=ROSTER_VERB, args={"text": words} | ({"agents": list(agents)} if agents else {})),
        (0,),
    )
    executed = tuple(dict.fromkeys(step.step_name for step in acted.steps if not step.skipped))
    told = msgspec.structs.replace(
        told,
        steps=acted.steps,
        executed=executed,
        plan=tuple(f"{step.order}:{step.step_name}" for step in acted.steps if not step.skipped),
        skipped=tuple(f"{step.order}:{step.step_name}" for step in acted.steps if step.skipped),
    )
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return failed(told, error["code"], error["message"])
    structured: dict[str, Any] = acted.result.output["structured"]
    findings = msgspec.convert(structured["results"], tuple[StepFinding, ...])
    told = msgspec.structs.replace(
        told,
        narrative=await _in_words(context, words, findings) or by_code(findings),
        structured=structured,
    )
    return judged(context, told, acted.below, (acted.seq,))


async def _in_words(context: FlowContext, request: str, findings: tuple[StepFinding, ...]) -> str:
    """What was found as one text; "" where no model puts it into words, or none can be asked any
    more.
    """
    if context.account.runs_left < 1:
        return ""
    spawn: Spawn[SynthesisOutput] = Spawn(
        flow=SYNTHESIS_KIND,
        input=raw(SynthesisInput(request=request, findings=findings)),
        deadline=min(context.hard, context.now() + SYNTHESIS_MS * 1000),
        allowance=context.share(1),
        keep_thoughts=context.keep_thoughts,
    )
    (ended,) = await context.fx.children((spawn,), Join(deadline=context.hard))
    return _text(ended)


def _text(ended: AnyEnded) -> str:
    if not isinstance(ended, Completed) or ended.value == NULL:
        return ""
    return msgspec.json.decode(ended.value, type=SynthesisOutput).text
