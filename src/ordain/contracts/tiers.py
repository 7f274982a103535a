"""What a call needs somebody's yes for: one table over the effect that its verb has, and the
declared values that go out unasked (security policy).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ordain.contracts.approvals import TIERS, Delegation, Tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.compiled_verb import CompiledVerb
from ordain.contracts.handoff import Handed
from ordain.contracts.pinned import SafetyMode
from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect

GUARDED = {VerbEffect.PRIVATE: Tier.WRITE, VerbEffect.EGRESS: Tier.EGRESS}
"""What a guarded conversation asks somebody about besides, by the verb's effect: all that is more
than a read.
"""


def tier_of(verb: CompiledVerb, args: dict[str, Any], safety: str = "") -> Tier | None:
    """What a call needs somebody's yes for, by the verb's effect and the safety mode that holds;
    None where it needs none.
    """
    effect = verb.spec.effect
    tier = TIERS.get(effect)
    if tier is not None and effect is VerbEffect.EGRESS and _all_declared(verb, args):
        tier = None
    return GUARDED.get(effect) if tier is None and safety and safety == SafetyMode.GUARDED else tier


def delegation_tier(handed: Handed | None, safety: str, policy: Policy) -> Tier | None:
    """What handing work to a card needs somebody's yes for; None where it needs none, or the call
    hands nothing on.
    """
    if handed is None:
        return None
    asks = policy.approvals.delegation
    more = handed is Handed.MORE and (
        asks is Delegation.BEYOND_READ or safety == SafetyMode.GUARDED
    )
    always = asks is Delegation.ALWAYS
    return Tier.DELEGATION if handed is Handed.PERSON or more or always else None


def tiers_of(
    calls: Sequence[tuple[str, dict[str, Any]]], gravest: Tier, catalog: Catalog, safety: str = ""
) -> tuple[Tier, ...]:
    """What each of the calls, verb and arguments, of one approval needs its yes for by itself;
    those that need none, and those that hand work on, what all together are asked for.

    A row of policy is about a call: one beside it that is graver makes nobody an approver of this
    one.
    """
    return tuple(
        gravest
        if (verb := catalog.verbs.get(verb_id)) is None or catalog.card_of(verb_id) is not None
        else tier_of(verb, args, safety) or gravest
        for verb_id, args in calls
    )


def _all_declared(verb: CompiledVerb, args: dict[str, Any]) -> bool:
    """Every argument that the verb has is given, and as declared: what is left out would be filled
    in by code nobody declared.
    """
    names: Any = verb.spec.input_schema.get("properties", {})
    return set(names) <= args.keys() and all(
        _declared(verb, name, value) for name, value in args.items()
    )


def _declared(verb: CompiledVerb, name: str, value: object) -> bool:
    argument = verb.spec.arguments.get(name)
    if argument is None or (argument.fixed is not None and not _same(value, argument.fixed)):
        return False
    if argument.allowed is not None:
        return any(_same(value, member) for member in argument.allowed)
    return argument.fixed is not None


def _same(value: object, declared: object) -> bool:
    """Equal and of one type all the way down: for Python ``True == 1``, for a policy not."""
    same_type = type(value) is type(declared)
    if isinstance(value, dict) and isinstance(declared, dict):
        ours, theirs = cast("dict[str, object]", value), cast("dict[str, object]", declared)
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(value, list) and isinstance(declared, list):
        left, right = cast("list[object]", value), cast("list[object]", declared)
        return len(left) == len(right) and all(
            _same(a, b) for a, b in zip(left, right, strict=True)
        )
    return same_type and value == declared
