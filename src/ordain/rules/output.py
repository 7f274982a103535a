"""Rule ``output``: does a prompt-plan step's answer count (VRB-07)? A missing or unfit reply fails
the step (C3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from ordain.contracts.grounds import Ground
from ordain.contracts.policy import Policy
from ordain.contracts.schema import Schema
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.grounds import find_ungrounded, find_unquoted
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed
from ordain.rules.reasons import Reason


class OutputReason(Reason):
    """Why a prompt plan's answer counts or does not (VRB-07, C3)."""

    VALID = "output.valid", "The step's answer fits the verb's output schema."
    UNPARSED = "output.unparsed", "The step's answer is not one JSON object."
    EMPTY = "output.empty", "The step's answer has no words."
    SCHEMA = "output.schema", "The step's answer does not fit the verb's output schema."
    UNGROUNDED = (
        "output.ungrounded",
        "The step's answer refers to an item, or quotes words, that its input does not hold.",
    )


class OutputAccepted(Struct, frozen=True, tag="accepted"):
    """The answer is the step's output."""


class OutputRejected(Struct, frozen=True, tag="rejected"):
    """The step fails; ``detail`` names the place, never a value."""

    detail: str = ""


class OutputFacts(Struct, frozen=True, kw_only=True):
    """Which verb and step, and how large the answer is."""

    verb: str
    step: str
    size_bytes: int


class OutputInputs(Struct, frozen=True, kw_only=True):
    """The answer as read, the schema it must fit, what it must refer to in the call's own
    arguments, and whether code answered, no model.

    ``text``: words were asked for, and they are read as the output's one field.
    """

    proposal: Parsed | Unparsed
    schema: Schema
    grounds: Sequence[Ground] = ()
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    by_code: bool = False
    text: bool = False


def decide_output(
    facts: OutputFacts, inputs: OutputInputs, policy: Policy
) -> Decision[OutputAccepted | OutputRejected]:
    """Parsed, schema-valid and grounded in the call's arguments, or rejected."""
    proposal = inputs.proposal
    if isinstance(proposal, Unparsed):
        reason = (
            OutputReason.EMPTY
            if inputs.text and proposal.reason is ProposalReason.EMPTY
            else OutputReason.UNPARSED
        )
        return Decision(outcome=OutputRejected(proposal.reason), reason=reason)
    if not inputs.schema.accepts(proposal.value):
        return Decision(
            outcome=OutputRejected("; ".join(inputs.schema.errors(proposal.value))[:200]),
            reason=OutputReason.SCHEMA,
        )
    ungrounded = find_ungrounded(
        inputs.grounds, proposal.value, inputs.args, by_code=inputs.by_code
    )
    if not ungrounded and not inputs.by_code:
        ungrounded = find_unquoted(proposal.value, inputs.args)
    if ungrounded:
        return Decision(outcome=OutputRejected(ungrounded[:200]), reason=OutputReason.UNGROUNDED)
    return Decision(outcome=OutputAccepted(), reason=OutputReason.VALID)


OUTPUT: Rule[OutputFacts, OutputInputs, Any] = Rule(
    name="output",
    outcome=OutputAccepted | OutputRejected,
    apply=decide_output,
    reasons=(OutputReason,),
    tells=tells_of("output", (OutputReason.SCHEMA, OutputReason.UNPARSED)),
)
