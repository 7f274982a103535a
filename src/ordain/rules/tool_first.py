"""Rule ``tool_first``: may what an agent says count (PLAN-15, C6)?

An agent for whose step tools were planned, or whose card is enforced, counts after one of them, or
of what stands in for them, succeeded: what it says it looked up is no evidence. What was called
besides does not stand in; and no other agent counts who proposed calls of which none could be made.
Not held to it: who takes another's place (B-16), a step whose every tool an operator switched off,
who declares that it has nothing to say, and small talk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.roster import GENERAL_AGENT
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason

SESSION_MOST = 10_000
"""More calls than this of one step nobody counts."""


class ToolFirstReason(Reason):
    """Why an agent's output counts or does not (C6)."""

    PRIMARY = "tool_first.primary", "A tool that was planned succeeded."
    FALLBACK = "tool_first.fallback", "A tool that stands in for what was planned succeeded."
    OPTIONAL = "tool_first.optional", "No tool was planned, and the agent need not use one."
    TRIAGE = "tool_first.triage", "Small talk and triage: no tool was planned, and none was called."
    SUBSTITUTE = (
        "tool_first.substitute",
        "It takes another agent's place, and is not held to that one's tools.",
    )
    SWITCHED_OFF = "tool_first.switched_off", "Every tool that was planned is switched off here."
    PASSED = (
        "tool_first.passed",
        "The agent declares that it passes, with confidence 0: it says nothing that would count.",
    )
    UNPLANNED = (
        "tool_first.unplanned",
        "Tools succeeded, and none of them was planned: what the agent says does not count.",
    )
    REFUSED = (
        "tool_first.refused",
        (
            "Calls were proposed, and code let none of them be made: what the agent says does not "
            "count."
        ),
    )
    NO_SUCCESS = (
        "tool_first.no_success",
        "No tool that was planned succeeded: what the agent says does not count.",
    )


class ToolClass(StrEnum):
    """Which tools succeeded, by the best of them."""

    PRIMARY = "primary"
    FALLBACK = "fallback"
    UNPLANNED = "unplanned"
    NONE = "none"


class ToolSession(Struct, frozen=True, kw_only=True):
    """The calls of one step (C6)."""

    attempts: int
    successes: int
    failures: int


class OutputCounts(Struct, frozen=True, kw_only=True, tag="counts"):
    """What the agent says is the step's result."""

    tools: ToolClass
    session: ToolSession


class OutputPassed(Struct, frozen=True, kw_only=True, tag="passed"):
    """The step is done, and has no result."""

    session: ToolSession


class ToolFirstViolation(Struct, frozen=True, kw_only=True, tag="violation"):
    """The step fails."""

    tools: ToolClass
    session: ToolSession


ToolFirstOutcome = OutputCounts | OutputPassed | ToolFirstViolation


class ToolFirstFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose step it was, whether the card enforces it, how many tools were planned and may stand
    in, and how many calls were made.

    ``substitute``: the agent takes the place of whom the step was planned for. ``refused``: so many
    calls it proposed that code did not let be made.
    """

    agent: str
    enforced: bool
    planned: int = 0
    fallback: int = 0
    calls: int = 0
    substitute: bool = False
    refused: int = 0


class CalledTool(Struct, frozen=True, kw_only=True):
    """A call that was made for the step, and whether it succeeded."""

    verb: str
    ok: bool


class ToolFirstInputs(Struct, frozen=True, kw_only=True):
    """The tools as planned, those that stand in, what the agent's card prefers, the calls as
    records have them, and what it returned.
    """

    catalog: Catalog
    calls: Sequence[CalledTool]
    planned: Sequence[str] = ()
    fallback: Sequence[str] = ()
    preferred: Sequence[str] = ()
    structured: Mapping[str, Any] | None = None


def decide_tool_first(
    facts: ToolFirstFacts, inputs: ToolFirstInputs, policy: Policy
) -> Decision[ToolFirstOutcome]:
    """What was planned, else what the card prefers; then the calls that succeeded."""
    made = inputs.calls[:SESSION_MOST]
    session = ToolSession(
        attempts=len(made),
        successes=sum(call.ok for call in made),
        failures=sum(not call.ok for call in made),
    )
    planned = tuple(inputs.planned) or (tuple(inputs.preferred) if facts.enforced else ())
    succeeded = [call.verb for call in made if call.ok]
    tools = _class_of(succeeded, planned, inputs.fallback)
    if (skipped := _not_held(facts, inputs, planned, policy)) is not None:
        return Decision(outcome=OutputCounts(tools=tools, session=session), reason=skipped)
    if _passes(inputs.structured):
        return Decision(outcome=OutputPassed(session=session), reason=ToolFirstReason.PASSED)
    if not planned and not facts.enforced:
        if facts.refused and not made:
            return Decision(
                outcome=ToolFirstViolation(tools=tools, session=session),
                reason=ToolFirstReason.REFUSED,
            )
        triage = facts.agent == GENERAL_AGENT and not made
        counts = OutputCounts(tools=tools, session=session)
        return Decision(
            outcome=counts, reason=ToolFirstReason.TRIAGE if triage else ToolFirstReason.OPTIONAL
        )
    if tools in _HELD:
        return Decision(outcome=OutputCounts(tools=tools, session=session), reason=_HELD[tools])
    reason = (
        ToolFirstReason.UNPLANNED if tools is ToolClass.UNPLANNED else ToolFirstReason.NO_SUCCESS
    )
    return Decision(outcome=ToolFirstViolation(tools=tools, session=session), reason=reason)


_HELD = {ToolClass.PRIMARY: ToolFirstReason.PRIMARY, ToolClass.FALLBACK: ToolFirstReason.FALLBACK}


def _not_held(
    facts: ToolFirstFacts, inputs: ToolFirstInputs, planned: Sequence[str], policy: Policy
) -> ToolFirstReason | None:
    if facts.substitute:
        return ToolFirstReason.SUBSTITUTE
    named = [
        verb
        for pattern in (*planned, *inputs.fallback)
        for verb in inputs.catalog.named_by(pattern)
    ]
    off = bool(named) and all(
        inputs.catalog.inactive_reason(verb, policy.verbs) is not None for verb in named
    )
    return ToolFirstReason.SWITCHED_OFF if off else None


def _passes(structured: Mapping[str, Any] | None) -> bool:
    """Whether the agent says, in so many words, that it has nothing to say."""
    if structured is None or structured.get("passed") is not True:
        return False
    confidence = structured.get("confidence")
    return (
        not isinstance(confidence, bool) and isinstance(confidence, int | float) and confidence == 0
    )


def _class_of(
    succeeded: Sequence[str], planned: Sequence[str], fallback: Sequence[str]
) -> ToolClass:
    if any(_among(verb, planned) for verb in succeeded):
        return ToolClass.PRIMARY
    if any(_among(verb, fallback) for verb in succeeded):
        return ToolClass.FALLBACK
    return ToolClass.UNPLANNED if succeeded else ToolClass.NONE


def _among(verb: str, patterns: Sequence[str]) -> bool:
    return any(verb == pattern or fnmatchcase(verb, pattern) for pattern in patterns)


_FACTS = msgspec.json.Decoder(ToolFirstFacts)
_OUTCOME: msgspec.json.Decoder[ToolFirstOutcome] = msgspec.json.Decoder(ToolFirstOutcome)
_QUIET = frozenset(
    map(str, (ToolFirstReason.PRIMARY, ToolFirstReason.OPTIONAL, ToolFirstReason.TRIAGE))
)


def _tells(recorded: Recorded) -> HeaderShare:
    """What does not count, and what counts without the tool that was planned."""
    if recorded.reason in _QUIET:
        return SILENT
    agent, outcome = _FACTS.decode(recorded.facts).agent, _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, ToolFirstViolation):
        what = (
            f"what {agent} says does not count: {outcome.session.successes} of "
            f"{outcome.session.attempts} tool calls succeeded"
        )
        return HeaderShare(lines=(HeaderLine(mark="fail", what=what, reason=recorded.reason),))
    what = f"{agent} passed" if isinstance(outcome, OutputPassed) else f"what {agent} says counts"
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


TOOL_FIRST: Rule[ToolFirstFacts, ToolFirstInputs, Any] = Rule(
    name="tool_first",
    outcome=ToolFirstOutcome,
    apply=decide_tool_first,
    reasons=(ToolFirstReason,),
    tells=_tells,
)
