"""Rule ``workflow``: what a suggested template and its arguments come to (WFL-01..WFL-03, B-27,
C5).

Whoever suggests, a sender or a model, names ``{template, args}``; the steps are the catalog's.
Expanding is total: what is unknown, missing, undeclared or of the wrong type, and a step whose verb
is not there, is refused by name before anybody is asked. Whether somebody has to be asked is read
off the same table over effect as rule ``authorize``'s, call by call, what undoes a step included.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import MayAsk, Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.compiled_workflow import CompiledWorkflow
from ordain.contracts.handoff import Handed
from ordain.contracts.pinned import SafetyMode
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.tiers import delegation_tier, tier_of
from ordain.contracts.verbs import VerbEffect, properties_of
from ordain.contracts.workflow import ARGUMENTS_MAX, FixedCall, calls_of, steps_digest
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason

NAMED_CHARS = 64
"""Most of a name that somebody gave, in an outcome."""
DETAIL_CHARS = 200
KEYS = frozenset({"template", "args"})
DELEGATES_KEY = "delegates"
DELEGATES_MOST = 20


class WorkflowReason(Reason):
    """What a suggested workflow comes to (WFL-01..WFL-03, B-27)."""

    UNASKED = (
        "workflow.unasked",
        "Every step is allowed by the table over effect: nobody has to be asked.",
    )
    TO_BE_APPROVED = (
        "workflow.to_be_approved",
        "A step needs an approval; it is asked for all of them at once.",
    )
    NOBODY_TO_ASK = (
        "workflow.approval_not_available",
        "A step needs an approval, and the run may ask nobody for one.",
    )
    NOTHING_SUGGESTED = "workflow.nothing_suggested", "The model names no template."
    AGENTS_NAMED = (
        "workflow.agents_named",
        "The model names agents to be handed the turn, and no template.",
    )
    UNANSWERED = "workflow.unanswered", "The model gave no answer: nothing is suggested."
    MALFORMED = (
        "workflow.malformed_suggestion",
        "The model's answer is not a template's name and arguments, and nothing else.",
    )
    UNKNOWN_TEMPLATE = "workflow.unknown_template", "There is no template of this name."
    MISSING_ARGUMENT = (
        "workflow.missing_argument",
        "An argument that the template needs is not given.",
    )
    UNKNOWN_ARGUMENT = (
        "workflow.unknown_argument",
        "An argument is given that the template does not have.",
    )
    MISTYPED_ARGUMENT = (
        "workflow.mistyped_argument",
        "An argument does not fit the template's schema.",
    )
    TOOL_UNAVAILABLE = (
        "workflow.tool_unavailable",
        "A step's verb is not configured, not registered or switched off here.",
    )
    SAFETY = (
        "workflow.safety",
        (
            "The profile that holds for the conversation lets nothing happen beyond reads, and "
            "a step "
            "is more."
        ),
    )
    OUT_OF_SCOPE = "workflow.out_of_scope", "The run may not use a verb of the template's steps."
    STEP_ARGUMENTS = (
        "workflow.step_arguments",
        "With these arguments a step does not fit its verb's schema.",
    )


class SuggestedBy(StrEnum):
    """Whose suggestion it is; ``run``: it was judged before, and is carried out now."""

    SENDER = "sender"
    MODEL = "model"
    RUN = "run"


class Expanded(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="expanded"):
    """The template has fixed steps, of which ``digest`` is the hash. ``tier`` is what a person is
    asked about; "": nobody has to be asked.

    ``proposed``: the run is to ask for all of them before any of them runs.
    """

    template: str
    version: int
    steps: int
    digest: str
    verbs: tuple[str, ...]
    tier: str = ""
    proposed: bool = False


class NothingSuggested(Struct, frozen=True, tag="nothing_suggested"):
    """No workflow."""


class DelegatesSuggested(Struct, frozen=True, kw_only=True, tag="delegates"):
    """No workflow; these agents are to be handed the turn, which rule ``outcome`` judges."""

    agents: tuple[str, ...]


class SuggestionRefused(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="refused"):
    """Nothing of it runs; ``detail`` names the place, never a value."""

    code: str
    template: str = ""
    detail: str = ""


WorkflowOutcome = Expanded | NothingSuggested | DelegatesSuggested | SuggestionRefused


class WorkflowFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose suggestion it is, the template as a sender names it, how many arguments are given, and
    whether the model answered.

    ``may_ask`` is whom the run may ask for a yes that carries the workflow out, ``safety`` the mode
    of the profile that holds ("": standard). ``agents`` counts those that the model may name in
    place of a template (0: none, as before turn@7).
    """

    by: SuggestedBy
    template: str = ""
    given: int = 0
    answered: bool = False
    may_ask: MayAsk | None = None
    safety: str = ""
    agents: int = 0


class WorkflowInputs(Struct, frozen=True, kw_only=True):
    """The template and its arguments as a sender gives them, or a model's ``proposal``; the
    catalog, and what the run may use.
    """

    catalog: Catalog
    scope: CapabilityScope
    template: str = ""
    args: Mapping[str, Any] | None = None
    proposal: Parsed | Unparsed | None = None


def decide_workflow(
    facts: WorkflowFacts, inputs: WorkflowInputs, policy: Policy
) -> Decision[WorkflowOutcome]:
    """Read the suggestion, find the template, hold the arguments to its schema and its calls to
    their verbs; then the table over effect.
    """
    template, args = inputs.template, inputs.args or {}
    if facts.by is SuggestedBy.MODEL:
        if not facts.answered or inputs.proposal is None:
            return Decision(outcome=NothingSuggested(), reason=WorkflowReason.UNANSWERED)
        named = _named(inputs.proposal, agents=facts.agents > 0)
        if named is None:
            return _refused(WorkflowReason.MALFORMED)
        template, args, agents = named
        if agents:
            return Decision(
                outcome=DelegatesSuggested(agents=agents), reason=WorkflowReason.AGENTS_NAMED
            )
        if not template:
            return Decision(outcome=NothingSuggested(), reason=WorkflowReason.NOTHING_SUGGESTED)
    workflow = inputs.catalog.workflows.get(template)
    if workflow is None:
        return _refused(WorkflowReason.UNKNOWN_TEMPLATE, template)
    return _misfit(workflow, args) or _expanded(facts, workflow, args, inputs, policy)


def _named(
    proposal: Parsed | Unparsed, *, agents: bool
) -> tuple[str, dict[str, Any], tuple[str, ...]] | None:
    """The template ("": none) with its arguments, or agents, of a model's answer; None where it is
    none of the contract's.
    """
    if isinstance(proposal, Unparsed) or proposal.value.keys() - (
        {DELEGATES_KEY} if agents else set[str]()
    ) != set(KEYS):
        return None
    template, args, named = (
        proposal.value["template"],
        proposal.value["args"],
        proposal.value.get(DELEGATES_KEY, []),
    )
    if (
        not isinstance(template, str | None)
        or not isinstance(args, dict)
        or not isinstance(named, list)
    ):
        return None
    found = cast("list[Any]", named)
    if (
        len(found) > DELEGATES_MOST
        or not all(isinstance(one, str) and one for one in found)
        or (template and found)
    ):
        return None
    return template or "", cast("dict[str, Any]", args), tuple(dict.fromkeys(found))


def _misfit(
    workflow: CompiledWorkflow, args: Mapping[str, Any]
) -> Decision[WorkflowOutcome] | None:
    """What is wrong with the arguments, the names first."""
    template = workflow.template
    known = properties_of(template.input_schema).keys()
    if unknown := [name for name in args if name not in known]:
        return _refused(
            WorkflowReason.UNKNOWN_ARGUMENT, template.id, ", ".join(sorted(unknown[:ARGUMENTS_MAX]))
        )
    if missing := [name for name in template.required if name not in args]:
        return _refused(WorkflowReason.MISSING_ARGUMENT, template.id, ", ".join(missing))
    if not workflow.input.accepts(args):
        return _refused(
            WorkflowReason.MISTYPED_ARGUMENT, template.id, "; ".join(workflow.input.errors(args))
        )
    return None


def _expanded(
    facts: WorkflowFacts,
    workflow: CompiledWorkflow,
    args: Mapping[str, Any],
    inputs: WorkflowInputs,
    policy: Policy,
) -> Decision[WorkflowOutcome]:
    template, catalog = workflow.template, inputs.catalog
    missing = [
        call.named
        for call in template.calls
        if _unavailable(workflow.verb_of(call), catalog, policy)
    ]
    if missing:
        return _refused(
            WorkflowReason.TOOL_UNAVAILABLE, template.id, ", ".join(dict.fromkeys(missing))
        )
    if outside := [verb for verb in workflow.verbs if not inputs.scope.permits(verb)]:
        return _refused(WorkflowReason.OUT_OF_SCOPE, template.id, ", ".join(outside))
    steps = workflow.steps_of(args)
    calls = calls_of(steps)
    for call in calls:
        if found := catalog.verbs[call.verb].input.errors(call.args):
            return _refused(
                WorkflowReason.STEP_ARGUMENTS, template.id, f"{call.verb}: {'; '.join(found)}"
            )
    if facts.safety == SafetyMode.READ_ONLY and (
        more := [verb for verb in workflow.verbs if _beyond_reads(catalog, verb)]
    ):
        return _refused(WorkflowReason.SAFETY, template.id, ", ".join(more))
    tiers = filter(None, (_tier(call, catalog, facts.safety, policy) for call in calls))
    tier = max(tiers, key=list(Tier).index, default=None)
    asks = tier is not None and facts.by is SuggestedBy.RUN
    if asks and facts.may_ask is None:
        return _refused(WorkflowReason.NOBODY_TO_ASK, template.id)
    outcome = Expanded(
        template=template.id,
        version=template.version,
        steps=len(steps),
        digest=steps_digest(template, steps),
        verbs=workflow.verbs,
        tier="" if tier is None else str(tier),
        proposed=asks and facts.may_ask is MayAsk.PEOPLE,
    )
    return Decision(
        outcome=outcome,
        reason=WorkflowReason.UNASKED if tier is None else WorkflowReason.TO_BE_APPROVED,
    )


def _tier(call: FixedCall, catalog: Catalog, safety: str, policy: Policy) -> Tier | None:
    """What a step needs a yes for; of work that it hands to a card nobody knows yet how much that
    is handed.
    """
    if catalog.card_of(call.verb) is not None:
        return delegation_tier(Handed.MORE, safety, policy)
    return tier_of(catalog.verbs[call.verb], call.args, safety)


def _unavailable(verb: str, catalog: Catalog, policy: Policy) -> bool:
    """Whether nobody could call it here: what a turn enters by is no tool."""
    found = catalog.verbs.get(verb)
    return (
        found is None or found.spec.entry or catalog.inactive_reason(verb, policy.verbs) is not None
    )


def _beyond_reads(catalog: Catalog, verb: str) -> bool:
    return catalog.verbs[verb].spec.effect is not VerbEffect.READ


def _refused(
    reason: WorkflowReason, template: str = "", detail: str = ""
) -> Decision[WorkflowOutcome]:
    code = reason.value.rpartition(".")[2]
    return Decision(
        outcome=SuggestionRefused(
            code=code, template=template[:NAMED_CHARS], detail=detail[:DETAIL_CHARS]
        ),
        reason=reason,
    )


_OUTCOME = msgspec.json.Decoder(WorkflowOutcome)
_FACTS = msgspec.json.Decoder(WorkflowFacts)


def _tells(recorded: Recorded) -> HeaderShare:
    """A refusal, wherever it is decided; the steps where they are carried out."""
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, SuggestionRefused):
        named = " ".join(filter(None, (outcome.template, outcome.detail)))
        return HeaderShare(
            lines=(
                HeaderLine(
                    mark="fail", what="workflow refused", reason=recorded.reason, excerpt=named
                ),
            )
        )
    if not isinstance(outcome, Expanded) or _FACTS.decode(recorded.facts).by is not SuggestedBy.RUN:
        return SILENT
    what = (
        f"workflow {outcome.template}@{outcome.version}: {outcome.steps} "
        f"{'step' if outcome.steps == 1 else 'steps'}"
    )
    return HeaderShare(
        lines=(
            HeaderLine(
                mark="info",
                what=f"{what}, {outcome.tier}" if outcome.tier else what,
                reason=recorded.reason,
            ),
        )
    )


WORKFLOW: Rule[WorkflowFacts, WorkflowInputs, Any] = Rule(
    name="workflow",
    outcome=WorkflowOutcome,
    apply=decide_workflow,
    reasons=(WorkflowReason,),
    tells=_tells,
)
