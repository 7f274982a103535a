"""Rule ``unrecovered``: which failures of a turn's steps were not made good afterwards (B-34)? With
one of them the turn is partial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason

OUTCOME_UNKNOWN = "outcome_unknown"


class UnrecoveredReason(Reason):
    """Whether a turn's steps leave a failure."""

    NONE = "unrecovered.none", "No step failed, or what failed was made good."
    SOME = (
        "unrecovered.some",
        "A step failed and was not made good, or nobody knows what became of it.",
    )


class DoneStep(Struct, frozen=True, kw_only=True):
    """What one step did: its verb, the digest of verb and arguments, and the code of what went
    wrong ("": nothing).
    """

    verb: str
    call: str
    ok: bool
    error: str = ""


class Recovered(Struct, frozen=True, tag="recovered"):
    """Nothing is left to be made good."""


class Unrecovered(Struct, frozen=True, tag="unrecovered"):
    """The verbs whose failures were not made good, in order, each once."""

    verbs: tuple[str, ...]


class UnrecoveredFacts(Struct, frozen=True, kw_only=True):
    """How many steps there were, and how many of them failed."""

    steps: int
    failed: int


class UnrecoveredInputs(Struct, frozen=True, kw_only=True):
    """The steps in order, and the catalog that declares their verbs."""

    steps: Sequence[DoneStep]
    catalog: Catalog


def decide_unrecovered(
    facts: UnrecoveredFacts, inputs: UnrecoveredInputs, policy: Policy
) -> Decision[Recovered | Unrecovered]:
    """The failure of a read is made good by any later success of its verb, any other by the very
    same call; what may have happened by nothing.
    """
    bad: dict[str, None] = {}
    for number, step in enumerate(inputs.steps):
        declared = inputs.catalog.verbs.get(step.verb)
        reads = declared is not None and declared.spec.effect is VerbEffect.READ
        later = (
            again for again in inputs.steps[number + 1 :] if again.ok and again.verb == step.verb
        )
        good = step.error != OUTCOME_UNKNOWN and any(
            reads or again.call == step.call for again in later
        )
        if not step.ok and not good:
            bad[step.verb] = None
    if not bad:
        return Decision(outcome=Recovered(), reason=UnrecoveredReason.NONE)
    return Decision(outcome=Unrecovered(tuple(bad)), reason=UnrecoveredReason.SOME)


UNRECOVERED: Rule[UnrecoveredFacts, UnrecoveredInputs, Any] = Rule(
    name="unrecovered",
    outcome=Recovered | Unrecovered,
    apply=decide_unrecovered,
    reasons=(UnrecoveredReason,),
)
