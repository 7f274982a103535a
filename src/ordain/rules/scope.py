"""Rule ``scope``: which verbs a run may use (PLN-26, SAF-01, C1). Scope only narrows; a bad request
fails, nothing is dropped silently.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason


class ScopeReason(Reason):
    """Whether the verbs asked for can be had (PLN-26, SAF-01)."""

    GRANTED = "scope.granted", "Every requested verb is in scope."
    UNKNOWN_VERB = "scope.unknown_verb", "A requested verb is not registered."
    INACTIVE_VERB = "scope.inactive_verb", "A requested verb is switched off here."


class Scope(Struct, frozen=True, tag="scope"):
    """The verbs in scope, in the order asked, without repeats."""

    verbs: tuple[str, ...]


class ScopeRefused(Struct, frozen=True, tag="refused"):
    """The verb that cannot be had; ``code`` is the wire's error code."""

    verb: str
    code: str


class ScopeFacts(Struct, frozen=True, kw_only=True):
    """How many verbs are asked for, and the digest of the list."""

    asked: int
    digest: str


class ScopeInputs(Struct, frozen=True, kw_only=True):
    """The verbs asked for and the catalog to find them in."""

    asked: tuple[str, ...]
    catalog: Catalog


def decide_scope(
    facts: ScopeFacts, inputs: ScopeInputs, policy: Policy
) -> Decision[Scope | ScopeRefused]:
    """All of what is asked, or the first verb that cannot be had."""
    for verb in inputs.asked:
        if verb not in inputs.catalog.verbs:
            return Decision(
                outcome=ScopeRefused(verb, "unknown_verb"), reason=ScopeReason.UNKNOWN_VERB
            )
        if inputs.catalog.inactive_reason(verb, policy.verbs) is not None:
            return Decision(
                outcome=ScopeRefused(verb, f"inactive_verb:{verb}"),
                reason=ScopeReason.INACTIVE_VERB,
            )
    return Decision(outcome=Scope(tuple(dict.fromkeys(inputs.asked))), reason=ScopeReason.GRANTED)


SCOPE: Rule[ScopeFacts, ScopeInputs, Any] = Rule(
    name="scope",
    outcome=Scope | ScopeRefused,
    apply=decide_scope,
    reasons=(ScopeReason,),
    tells=tells_of("scope", (ScopeReason.UNKNOWN_VERB, ScopeReason.INACTIVE_VERB)),
)
