"""Rule ``verdict``: may a turn with tools say that all went well? By its acts alone, as its header
is judged (RTE-12, FAIL-04).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.contracts.verdict import RunVerdict
from ordain.rules.acts import Act, Work, not_made_good, verdict_of
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class VerdictReason(Reason):
    """Why a turn's work is what it is (RTE-12, FAIL-04)."""

    UNKNOWN = "verdict.unknown", "Nobody knows whether one of its calls took effect."
    PARTIAL = "verdict.partial", "A call failed or was denied and was not made good."
    NO_TOOL = "verdict.no_tool_succeeded", "Tools were proposed, and none succeeded."
    NOTHING = "verdict.nothing_done", "No call succeeded, and code wrote the answer."
    OK = "verdict.ok", "Whatever was called succeeded or was made good."


_REASONS = {
    RunVerdict.UNKNOWN: VerdictReason.UNKNOWN,
    RunVerdict.PARTIAL: VerdictReason.PARTIAL,
    RunVerdict.NO_TOOL: VerdictReason.NO_TOOL,
    RunVerdict.NOTHING: VerdictReason.NOTHING,
    RunVerdict.OK: VerdictReason.OK,
}
VERBS_TOLD = 5


class Judged(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="judged"):
    """The verdict, and the first verbs whose failures were not made good."""

    verdict: RunVerdict
    verbs: tuple[str, ...] = ()


class VerdictFacts(Struct, frozen=True, kw_only=True):
    """How many calls were proposed and made, and whether a model answered."""

    proposed: int
    acts: int
    answered: bool


class VerdictInputs(Struct, frozen=True, kw_only=True):
    """The acts in order, as the records of what was called have them."""

    acts: Sequence[Act]


def decide_verdict(facts: VerdictFacts, inputs: VerdictInputs, policy: Policy) -> Decision[Judged]:
    """The verdict on work that came to an answer."""
    acts = tuple(inputs.acts)
    verdict = verdict_of(
        Work(acts=acts, proposed=facts.proposed, completed=True, answered=facts.answered)
    )
    return Decision(
        outcome=Judged(verdict=verdict, verbs=not_made_good(acts)[:VERBS_TOLD]),
        reason=_REASONS[verdict],
    )


VERDICT: Rule[VerdictFacts, VerdictInputs, Any] = Rule(
    name="verdict", outcome=Judged, apply=decide_verdict, reasons=(VerdictReason,)
)
