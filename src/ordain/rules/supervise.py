"""Rule ``supervise``: the supervisor's next move after each planner proposal (EXE-04..EXE-06,
EXE-11, EXE-12).

By facts alone, or with a supervisor model's decision, which must be one of the five and possible
here: nothing is executed without a valid action, nothing finishes without a valid answer, and a
planner that gave neither fails the turn; it never becomes prose.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason


class SuperviseReason(Reason):
    """Why the supervisor's next move is what it is (EXE-04..EXE-06, EXE-12)."""

    ACTION = "supervise.action", "A valid action is pending."
    FINAL = "supervise.final", "A valid final answer is pending."
    REPLAN = "supervise.replan", "The planner's step was refused and one more try is granted."
    SUGGESTED = "supervise.suggested", "The supervisor model's decision, possible here."
    NO_DIRECTIVE = (
        "supervise.no_directive",
        "The planner gave neither a valid action nor a valid answer, and no further try is left.",
    )
    PLANNER_FAILED = "supervise.planner_failed", "The planner gave no step at all."
    INVALID = "supervise.invalid", "The supervisor model's answer is not of its contract's shape."
    NOT_POSSIBLE = (
        "supervise.not_possible",
        "The supervisor model chose what the state does not permit.",
    )
    COUNCIL_MODE = (
        "supervise.council_mode",
        "A turn in mode council begins with a checkpoint of the council.",
    )


class Move(StrEnum):
    """The five moves (EXE-12)."""

    EXECUTE_ACTION = "execute_action"
    REQUEST_REPLAN = "request_replan"
    ESCALATE_AGENT_CHAIN = "escalate_agent_chain"
    CHECKPOINT_COUNCIL = "checkpoint_council"
    FINISH = "finish"


class Pending(StrEnum):
    """What the planner's last step came to; ``council``: none was asked for yet, and the turn's
    mode is council (EXE-02).
    """

    ACTION = "action"
    FINAL = "final"
    REFUSED = "refused"
    FAILED = "failed"
    COUNCIL = "council"


class NextMove(Struct, frozen=True, kw_only=True, tag="move"):
    """What is done next."""

    move: Move


class SuperviseFailed(Struct, frozen=True, kw_only=True, tag="failed"):
    """The turn fails; ``code`` is the wire's error code."""

    code: str


class SuperviseFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the loop stands: steps taken and permitted, what is pending and why, re-plans used,
    whether a model was asked.
    """

    step: int
    max_steps: int
    pending: Pending
    code: str = ""
    replans: int = 0
    asked: bool = False


class SuperviseInputs(Struct, frozen=True, kw_only=True):
    """The supervisor model's answer, parsed; None where none was asked or none answered."""

    proposal: Parsed | Unparsed | None


def decide_supervise(
    facts: SuperviseFacts, inputs: SuperviseInputs, policy: Policy
) -> Decision[NextMove | SuperviseFailed]:
    """What the facts demand, then what a model may choose among what they permit."""
    if facts.pending is Pending.COUNCIL:
        return Decision(
            outcome=NextMove(move=Move.CHECKPOINT_COUNCIL), reason=SuperviseReason.COUNCIL_MODE
        )
    if facts.pending is Pending.FAILED:
        return _failed(facts.code, SuperviseReason.PLANNER_FAILED)
    if facts.pending is Pending.REFUSED:
        if facts.replans < policy.step.reask and facts.step < facts.max_steps:
            return Decision(
                outcome=NextMove(move=Move.REQUEST_REPLAN), reason=SuperviseReason.REPLAN
            )
        return _failed(facts.code, SuperviseReason.NO_DIRECTIVE)
    if facts.asked:
        return _by_model(facts, inputs.proposal)
    if facts.pending is Pending.FINAL:
        return Decision(outcome=NextMove(move=Move.FINISH), reason=SuperviseReason.FINAL)
    return Decision(outcome=NextMove(move=Move.EXECUTE_ACTION), reason=SuperviseReason.ACTION)


def _by_model(
    facts: SuperviseFacts, proposal: Parsed | Unparsed | None
) -> Decision[NextMove | SuperviseFailed]:
    if not isinstance(proposal, Parsed) or set(proposal.value) != {"decision"}:
        return _failed("supervisor_invalid", SuperviseReason.INVALID)
    said = proposal.value["decision"]
    if not isinstance(said, str) or said not in set(Move):
        return _failed("supervisor_invalid", SuperviseReason.INVALID)
    if said not in PERMITTED[facts.pending] or (
        said == Move.REQUEST_REPLAN and facts.step >= facts.max_steps
    ):
        return _failed("supervisor_invalid", SuperviseReason.NOT_POSSIBLE)
    return Decision(outcome=NextMove(move=Move(said)), reason=SuperviseReason.SUGGESTED)


def _failed(code: str, reason: Reason) -> Decision[NextMove | SuperviseFailed]:
    return Decision(outcome=SuperviseFailed(code=code or str(reason)), reason=reason)


PERMITTED: Mapping[Pending, frozenset[Move]] = {
    Pending.ACTION: frozenset(
        {
            Move.EXECUTE_ACTION,
            Move.REQUEST_REPLAN,
            Move.ESCALATE_AGENT_CHAIN,
            Move.CHECKPOINT_COUNCIL,
        }
    ),
    Pending.FINAL: frozenset(
        {Move.FINISH, Move.REQUEST_REPLAN, Move.ESCALATE_AGENT_CHAIN, Move.CHECKPOINT_COUNCIL}
    ),
    Pending.REFUSED: frozenset(),
    Pending.FAILED: frozenset(),
    Pending.COUNCIL: frozenset(),
}
"""What a supervisor model may choose, by what is pending."""

_EXPECTED = frozenset({str(SuperviseReason.ACTION), str(SuperviseReason.FINAL)})
_REPLANNED = frozenset({str(SuperviseReason.REPLAN), str(SuperviseReason.SUGGESTED)})


_MOVE = msgspec.json.Decoder(NextMove | SuperviseFailed)


def _tells(recorded: Recorded) -> HeaderShare:
    """Where a header has a verdict each move is a line: what the planner proposed is only done
    where the supervisor says so.
    """
    if recorded.judged:
        outcome = _MOVE.decode(recorded.outcome)
        mark, what = (
            ("info", str(outcome.move)) if isinstance(outcome, NextMove) else ("fail", "no move")
        )
        return HeaderShare(
            lines=(HeaderLine(mark=mark, what=f"supervisor: {what}", reason=recorded.reason),)
        )
    if recorded.reason in _EXPECTED:
        return SILENT
    mark = "info" if recorded.reason in _REPLANNED else "fail"
    return HeaderShare(lines=(HeaderLine(mark=mark, what="supervisor", reason=recorded.reason),))


SUPERVISE: Rule[SuperviseFacts, SuperviseInputs, Any] = Rule(
    name="supervise",
    outcome=NextMove | SuperviseFailed,
    apply=decide_supervise,
    reasons=(SuperviseReason,),
    tells=_tells,
)
