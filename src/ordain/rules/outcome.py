"""Rule ``outcome``: exactly one of the five things a turn can be (RTE-02, B-41).

An explicit mode agent or council fixes a direct turn. What a sender or a model hints at is a
suggestion: of a workflow rule ``workflow`` has said what it comes to. Agents are handed a turn only
where each of them is there and may be handed work; one who may not refuses all of them (B-30).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.cards import AgentCard
from ordain.contracts.conversation import ExecMode
from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.handoff import handoff_targets
from ordain.rules.header import HeaderLine
from ordain.rules.profile import HeldProfile
from ordain.rules.reasons import Reason


class OutcomeReason(Reason):
    """Why a turn has its outcome (RTE-02, B-41)."""

    BY_MODE = "outcome.by_mode", "An explicit mode agent or council is a direct turn."
    DIRECT = "outcome.direct", "Nothing but an answer is asked for."
    WORKFLOW = (
        "outcome.workflow",
        "A workflow template is suggested; it needs approval before it runs.",
    )
    PROPOSED = (
        "outcome.workflow_proposed",
        "A step of the suggested workflow needs an approval: it is asked for before any step runs.",
    )
    RUN = (
        "outcome.workflow_run",
        "Every step of the suggested workflow is allowed by itself: it runs at once.",
    )
    REFUSED = (
        "outcome.workflow_refused",
        "The suggested workflow cannot be carried out: the turn ends with the reason.",
    )
    NOT_FOLLOWED = (
        "outcome.suggestion_not_followed",
        (
            "A model suggests a workflow that cannot be carried out; policy has the turn answered "
            "directly then."
        ),
    )
    BY_VERB = "outcome.by_verb", "The message names the verb that answers it."
    DELEGATES = "outcome.delegates", "Other agents are suggested."
    HANDED_ON = (
        "outcome.handed_on",
        (
            "The agents that are named are there, and may be handed work: they are to be handed "
            "the turn."
        ),
    )
    UNKNOWN_AGENT = (
        "outcome.unknown_agent",
        "One of the agents that are named is not there: nobody is handed anything.",
    )
    NOT_A_TARGET = (
        "outcome.handoff_target_not_allowed",
        "One of the agents that are named may not be handed work: nobody is handed anything.",
    )
    NOBODY_INSTEAD = (
        "outcome.delegates_not_followed",
        (
            "A model names agents who cannot be handed work; policy has the turn answered "
            "directly then."
        ),
    )


NAME_CHARS = 64


class TurnOutcome(StrEnum):
    """The five outcomes (RTE-02)."""

    DIRECT = "direct"
    WORKFLOW_PROPOSAL = "workflow_proposal"
    WORKFLOW_RUN = "workflow_run"
    DELEGATE = "delegate"
    FAN_OUT = "fan_out"


class OutcomeChosen(Struct, frozen=True, kw_only=True, tag="outcome"):
    """What the turn is."""

    outcome: TurnOutcome


class OutcomeRefused(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="refused"):
    """The turn ends with this code; ``named`` is the agent who is not there, or may not be handed
    work.
    """

    code: str
    named: str = ""


class Expansion(StrEnum):
    """What rule ``workflow`` says of the workflow that is suggested; "": nothing, as before
    turn@6.
    """

    NOT_ASKED = ""
    UNASKED = "unasked"
    TO_BE_APPROVED = "to_be_approved"
    REFUSED = "refused"


class OutcomeFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The mode, the workflow template hinted at, and how many delegates are.

    ``suggested``: it was a model that named the template. ``expansion`` is what that comes to,
    ``why`` the code of a refusal. ``verb``: the message names the verb that answers it.
    ``hands_on``: agents can be handed the turn, as since turn@7; ``delegated_by_model``: a model
    names them. ``supervised``: what is hinted at is asked to be done in a supervised loop, which
    neither a workflow nor an agent's work is.
    """

    mode: ExecMode
    workflow: str = ""
    delegates: int = 0
    suggested: bool = False
    expansion: Expansion = Expansion.NOT_ASKED
    why: str = ""
    verb: bool = False
    hands_on: bool = False
    delegated_by_model: bool = False
    supervised: bool = False


class OutcomeInputs(Struct, frozen=True, kw_only=True):
    """Who is named to be handed the turn, who is there, and the profile that holds."""

    delegates: Sequence[str]
    cards: Mapping[str, AgentCard]
    held: HeldProfile | None = None


def decide_outcome(
    facts: OutcomeFacts, inputs: OutcomeInputs | None, policy: Policy
) -> Decision[OutcomeChosen | OutcomeRefused]:
    """Mode first, then what is suggested; a workflow of which a step needs a yes is proposed and
    never run unasked (WFL-01).
    """
    if facts.mode is not ExecMode.BRAIN:
        return _chosen(TurnOutcome.DIRECT, OutcomeReason.BY_MODE)
    if facts.workflow or facts.suggested:
        return _of_workflow(facts, policy)
    if facts.delegates and facts.hands_on and facts.verb:
        return _chosen(TurnOutcome.DIRECT, OutcomeReason.BY_VERB)
    if facts.delegates and facts.hands_on and inputs is not None:
        return _to_agents(facts, inputs, policy)
    if facts.delegates > 1:
        return _chosen(TurnOutcome.FAN_OUT, OutcomeReason.DELEGATES)
    if facts.delegates == 1:
        return _chosen(TurnOutcome.DELEGATE, OutcomeReason.DELEGATES)
    return _chosen(
        TurnOutcome.DIRECT, OutcomeReason.BY_VERB if facts.verb else OutcomeReason.DIRECT
    )


def _to_agents(
    facts: OutcomeFacts, inputs: OutcomeInputs, policy: Policy
) -> Decision[OutcomeChosen | OutcomeRefused]:
    """One is delegation, several are a fan-out, each agent counted once."""
    targets = handoff_targets(inputs.held, policy)
    for name in inputs.delegates:
        if name in inputs.cards and name in targets:
            continue
        if facts.delegated_by_model and policy.outcome.on_refusal == "direct":
            return _chosen(TurnOutcome.DIRECT, OutcomeReason.NOBODY_INSTEAD)
        reason = OutcomeReason.NOT_A_TARGET if name in inputs.cards else OutcomeReason.UNKNOWN_AGENT
        return Decision(
            outcome=OutcomeRefused(code=reason.value.rpartition(".")[2], named=name[:NAME_CHARS]),
            reason=reason,
        )
    several = len(set(inputs.delegates)) > 1
    return _chosen(
        TurnOutcome.FAN_OUT if several else TurnOutcome.DELEGATE, OutcomeReason.HANDED_ON
    )


def _of_workflow(facts: OutcomeFacts, policy: Policy) -> Decision[OutcomeChosen | OutcomeRefused]:
    match facts.expansion:
        case Expansion.NOT_ASKED:
            return _chosen(TurnOutcome.WORKFLOW_PROPOSAL, OutcomeReason.WORKFLOW)
        case Expansion.UNASKED:
            return _chosen(TurnOutcome.WORKFLOW_RUN, OutcomeReason.RUN)
        case Expansion.TO_BE_APPROVED:
            return _chosen(TurnOutcome.WORKFLOW_PROPOSAL, OutcomeReason.PROPOSED)
        case Expansion.REFUSED if facts.suggested and policy.outcome.on_refusal == "direct":
            return _chosen(TurnOutcome.DIRECT, OutcomeReason.NOT_FOLLOWED)
        case Expansion.REFUSED:
            return Decision(outcome=OutcomeRefused(code=facts.why), reason=OutcomeReason.REFUSED)


def _chosen(
    outcome: TurnOutcome, reason: OutcomeReason
) -> Decision[OutcomeChosen | OutcomeRefused]:
    return Decision(outcome=OutcomeChosen(outcome=outcome), reason=reason)


OPEN = frozenset({str(OutcomeReason.DIRECT)})
"""Reasons with which a turn is a direct one as long as nobody suggests anything else."""
_DIRECT = TurnOutcome.DIRECT
_BY_VERB = str(OutcomeReason.BY_VERB)
_OUTCOME = msgspec.json.Decoder(OutcomeChosen | OutcomeRefused)
_HINTED = msgspec.json.Decoder(OutcomeFacts)
_CARRIED_OUT = frozenset(
    map(
        str,
        (
            *(OutcomeReason.PROPOSED, OutcomeReason.RUN, OutcomeReason.NOT_FOLLOWED),
            *(OutcomeReason.HANDED_ON, OutcomeReason.NOBODY_INSTEAD),
        ),
    )
)
_NOBODY_HANDED = frozenset(map(str, (OutcomeReason.UNKNOWN_AGENT, OutcomeReason.NOT_A_TARGET)))


def _tells(recorded: Recorded) -> HeaderShare:
    """An outcome other than a direct answer, and hints that the mode passes over. A refusal shows
    where it was decided.
    """
    chosen = _OUTCOME.decode(recorded.outcome)
    if isinstance(chosen, OutcomeRefused):
        if recorded.reason not in _NOBODY_HANDED:
            return SILENT
        return HeaderShare(
            lines=(
                HeaderLine(
                    mark="fail",
                    what="nobody is handed the turn",
                    reason=recorded.reason,
                    excerpt=chosen.named,
                ),
            )
        )
    outcome, hinted = chosen.outcome, _HINTED.decode(recorded.facts)
    if outcome is not _DIRECT or recorded.reason in _CARRIED_OUT:
        mark = "info" if recorded.reason in _CARRIED_OUT else "fail"
        line = HeaderLine(mark=mark, what=f"outcome {outcome}", reason=recorded.reason)
        return HeaderShare(lines=(line, *_passed_over(hinted, outcome, recorded.reason)))
    if recorded.reason == _BY_VERB:
        return HeaderShare(lines=_passed_over(hinted, outcome, recorded.reason))
    if not hinted.workflow and not hinted.delegates:
        return SILENT
    what = f"hints at a workflow or delegates are not followed in mode {hinted.mode}"
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


def _passed_over(hinted: OutcomeFacts, outcome: TurnOutcome, reason: str) -> tuple[HeaderLine, ...]:
    """What the sender hinted at besides, and what is not followed beside the outcome: nothing of it
    is dropped without a word. Since turn@7.
    """
    by_workflow = outcome in (TurnOutcome.WORKFLOW_PROPOSAL, TurnOutcome.WORKFLOW_RUN)
    hints = {
        "a verb": hinted.verb and by_workflow and bool(hinted.workflow),
        "delegates": bool(hinted.delegates)
        and not hinted.delegated_by_model
        and outcome not in (TurnOutcome.DELEGATE, TurnOutcome.FAN_OUT),
        "supervised": hinted.supervised and outcome is not TurnOutcome.DIRECT,
    }
    names = ", ".join(name for name, passed in hints.items() if passed)
    if not names or not hinted.hands_on:
        return ()
    followed = (
        "the message names the verb that answers it"
        if outcome is TurnOutcome.DIRECT
        else f"beside outcome {outcome}"
    )
    return (
        HeaderLine(mark="info", what=f"hints not followed, {followed}: {names}", reason=reason),
    )


OUTCOME: Rule[OutcomeFacts, OutcomeInputs | None, Any] = Rule(
    name="outcome",
    outcome=OutcomeChosen | OutcomeRefused,
    apply=decide_outcome,
    reasons=(OutcomeReason,),
    tells=_tells,
)
