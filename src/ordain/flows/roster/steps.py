"""One step of a plan as a call of a card's verb, and what became of it in words of the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ordain.contracts.agent_verbs import TASK_CHARS, WhyHanded
from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import HandoffResult
from ordain.contracts.roster import StepRecord
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded, Cancelled
from ordain.effects.results import VerbReturned, VerbUnknown
from ordain.flows.act import Cleared
from ordain.flows.acted import Acted, acted_by_child
from ordain.flows.carried import StepResult
from ordain.flows.context import FlowContext
from ordain.flows.findings import StepFinding
from ordain.flows.observations import error_of
from ordain.flows.roster.request import RosterArgs
from ordain.journal.digests import call_digest
from ordain.rules.acts import ActEnd
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.negotiate import NEGOTIATE, AgentProposal, Agreed, NegotiateFacts, NegotiateInputs

INTENT_CHARS = 500
SUMMARY_CHARS = 300
FOUND_CHARS = 8000
"""Most of what one agent found that is handed on to the next, in characters."""
FAILED = "plan_failed"
"""The error of a plan of which no step was done, where its steps failed with several."""
DONE = frozenset({ActEnd.DONE, ActEnd.QUOTED})
SAID_NO = AuthorizeReason.NOT_APPROVED.value
NOES = frozenset({SAID_NO, "approval_denied"})
"""How a person's no to a call, or to a workflow, stands in a header."""


def call_of(args: RosterArgs, record: StepRecord, agent: str, reason: WhyHanded) -> Call:
    """The handoff of a step to an agent: exactly this is what somebody says yes to. Tools are asked
    of whom they were planned for alone (B-16).
    """
    given: dict[str, Any] = {
        "task": args.text[:TASK_CHARS],
        "intent": (record.planned_reason.strip() or f"step {record.index + 1} of the plan")[
            :INTENT_CHARS
        ],
        "reason": str(reason),
        "payload": {"step": record.index} | ({"known": args.known} if args.known else {}),
    }
    if agent == record.planned_agent and not record.fallback_applied:
        given |= {name: list(tools) for name, tools in _planned(record) if tools}
    return Call(verb=f"{AGENT_VERB}{agent}", args=given)


def _planned(record: StepRecord) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("tools", record.planned_tools), ("fallback_tools", record.planned_fallback_tools)


def fallback_of(catalog: Catalog, agent: str) -> str:
    """Who takes an agent's place as its card has it; "" where nobody does."""
    card = catalog.data.cards.get(agent)
    return (
        ""
        if card is None or card.fallback_agent not in catalog.data.cards
        else card.fallback_agent or ""
    )


def finding_of(record: StepRecord, acted: Acted) -> StepFinding:
    """What the agent gave back, or why it gave nothing; one that passes has nothing to say. A
    person's no below it is why, whatever came of it there.
    """
    agent = acted.verb.removeprefix(AGENT_VERB)
    if isinstance(acted.result, VerbReturned):
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.convert(acted.result.output, HandoffResult).output_payload or {}
        )
        return StepFinding(
            index=record.index,
            agent=agent,
            content=found.get("content", ""),
            structured=found.get("structured", {}),
        )
    error = error_of(acted)
    if said_no(acted):
        return StepFinding(
            index=record.index,
            agent=agent,
            error=SAID_NO,
            message=f"somebody said no to what it asked for; {error['message']}",
        )
    return StepFinding(
        index=record.index,
        agent=agent,
        error=acted.denied or error["code"],
        message=error["message"],
    )


def came_to(
    cleared: Cleared, numbers: Sequence[int], ends: Sequence[AnyEnded]
) -> Iterator[tuple[int, Acted]]:
    """What of these calls, by their place among ``numbers``, had come to an end by itself when
    their join was broken off; ``ends`` are those of the ones that were begun, in their order.
    """
    going = (
        (place, cleared.calls[number].call)
        for place, number in enumerate(numbers)
        if cleared.goes(number)
    )
    for (place, call), end in zip(going, ends, strict=False):  # fewer: there was no room for others
        if not isinstance(end, Cancelled):
            yield (
                place,
                replace(acted_by_child(call.verb, end), asked=call_digest(call), mode=cleared.mode),
            )


def result_of(index: int, acted: Acted, finding: StepFinding) -> StepResult:
    """What one handoff of a step came to."""
    return StepResult(
        step_name=acted.verb,
        order=index,
        ok=not finding.error,
        error=finding.error,
        call=acted.asked,
        skipped=bool(acted.denied),
    )


def never_done(record: StepRecord) -> StepResult:
    """Of a step that never ran."""
    return StepResult(
        step_name=f"{AGENT_VERB}{record.executed_agent or record.planned_agent}",
        order=record.index,
        ok=False,
        skipped=True,
    )


def why_nothing(findings: Sequence[StepFinding], code: str) -> tuple[str, str]:
    """The code of a plan of which nothing was done, and its words: ``code``, where its steps failed
    with one alone.
    """
    said = "; ".join(f"{found.agent}: {found.message.rstrip('.')}" for found in findings)
    return (
        code if len({found.error for found in findings}) == 1 else FAILED
    ), said or "no step could be handed to anybody"


def in_vain(results: Iterable[StepResult], index: int) -> tuple[str, ...]:
    """The handoffs of a step that came to nothing, by the digest of each, once."""
    return tuple(dict.fromkeys(one.call for one in results if one.order == index and not one.ok))


def tools_of(catalog: Catalog, acted: Acted) -> tuple[str, ...]:
    """The verbs that succeeded below a handoff, each once; handoffs themselves are none."""
    acts = () if acted.below is None else acted.below.acts
    return tuple(
        dict.fromkeys(
            act.verb for act in acts if act.end in DONE and catalog.card_of(act.verb) is None
        )
    )


def said_no(acted: Acted) -> bool:
    """Whether a person said no to anything below a handoff."""
    return acted.below is not None and any(line.reason in NOES for line in acted.below.lines)


def did_something(acted: Acted) -> bool:
    """Whether something beyond reads was done below a handoff, or nobody knows what was."""
    acts = () if acted.below is None else acted.below.acts
    return isinstance(acted.result, VerbUnknown) or any(
        act.end is ActEnd.UNKNOWN
        or (act.end in DONE and not act.reads and not act.verb.startswith(AGENT_VERB))
        for act in acts
    )


def agreed(context: FlowContext, found: Sequence[tuple[StepRecord, StepFinding]]) -> Agreed | None:
    """Who stands first, where several found something; that nobody does is on record and breaks
    nothing.
    """
    proposals = [_proposal(record, finding) for record, finding in found]
    outcome = context.fx.decide(
        NEGOTIATE,
        NegotiateFacts(proposals=len(proposals)),
        NegotiateInputs(proposals=proposals),
        (),
    ).outcome
    return outcome if isinstance(outcome, Agreed) else None


def _proposal(record: StepRecord, finding: StepFinding) -> AgentProposal:
    """What an agent found as it stands in a negotiation: how confident it is rule ``negotiate``
    reads off what it says, else of how its step was planned.
    """
    rationale = finding.structured.get("rationale")
    return AgentProposal(
        agent=finding.agent,
        summary=finding.content[:SUMMARY_CHARS],
        confidence=record.planned_confidence,
        rationale=rationale[:SUMMARY_CHARS] if isinstance(rationale, str) else "",
        said=finding.structured.get("confidence"),
    )


def handed_on(finding: StepFinding) -> dict[str, Any]:
    """What one agent found, as material for the next."""
    return {"agent": finding.agent, "step": finding.index, "content": finding.content[:FOUND_CHARS]}


def told(value: Any) -> Any:
    """A frozen value as plain JSON."""
    return msgspec.to_builtins(value)
