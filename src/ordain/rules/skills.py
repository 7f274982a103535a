"""Which verbs a specialist may use: what its card, the profile that holds, policy and the run that
hands on have in common (HND-03..HND-05, HND-07). Part of rule ``handoff``.

What a model asks to be passed on only takes away. What work is planned with and lies outside the
card's domain is had by a person's yes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.cards import AGENT_VERB, AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import RejectedSkill
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.rules.profile import HeldProfile, enables

SKILLS_MAX = 100
"""Most verbs that work is handed on with: as many tools as a planner's request has."""


class Lending(Struct, frozen=True, kw_only=True):
    """What a run can pass on: what it may do itself, under which profile and policy. ``chain`` are
    the cards that the work went through, ``asks`` that it may ask a person.
    """

    catalog: Catalog
    policy: Policy
    held: HeldProfile | None
    scope: CapabilityScope
    chain: tuple[str, ...]
    asks: bool


class Clamped(Struct, frozen=True, kw_only=True):
    """What is passed on; what of it lies outside the card's domain; what was asked for in vain.
    ``wanted``: the work is to be done with verbs at all.
    """

    scope: tuple[str, ...]
    expansion: tuple[str, ...]
    rejected: tuple[RejectedSkill, ...]
    wanted: bool


def clamped(card: AgentCard, args: dict[str, Any], lending: Lending) -> Clamped:
    """The verbs that work is handed on with, by the arguments of the call that asks for it."""
    forwarded: list[str] | None = args.get("forward_skills")
    planned: list[str] = [*args.get("tools", ()), *args.get("fallback_tools", ())]
    domain = lending.catalog.domain_of(card)
    scope = {verb for verb in domain if not _withheld(verb, card, lending)}
    if forwarded is not None:
        scope.intersection_update(forwarded)
    expansion: set[str] = set()
    rejected: dict[str, str] = {}
    for verb in dict.fromkeys((*(forwarded or ()), *planned)):
        if verb in scope:
            continue
        if by := _withheld(verb, card, lending):
            rejected[verb] = by
        elif forwarded is not None and verb not in forwarded:
            rejected[verb] = "forward_skills"
        elif verb in planned and lending.asks and verb not in denied_by(card, lending.catalog):
            expansion.add(verb)
        else:
            rejected[verb] = "card"
    scope, beyond = _within_bounds(card, scope | expansion, planned)
    rejected |= dict.fromkeys(beyond, "limit")
    told = tuple(RejectedSkill(verb=verb, by=by) for verb, by in rejected.items())
    wanted = forwarded is not None or bool(planned or card.allow or card.tool_preference)
    return Clamped(
        scope=tuple(sorted(scope)),
        expansion=tuple(sorted(expansion & scope)),
        rejected=told,
        wanted=wanted,
    )


def _within_bounds(
    card: AgentCard, scope: set[str], planned: Sequence[str]
) -> tuple[set[str], list[str]]:
    """No more verbs than a planner is told of: first those that the work is planned with, then what
    the card prefers, then the rest.
    """
    preferred = set(card.tool_preference)
    ordered = sorted(scope, key=lambda verb: (verb not in planned, verb not in preferred, verb))
    return set(ordered[:SKILLS_MAX]), ordered[SKILLS_MAX:]


def _withheld(verb: str, card: AgentCard, lending: Lending) -> str:
    """Who does not let a verb be passed on, whatever the card says; "" where nobody does."""
    catalog = lending.catalog
    found = catalog.verbs.get(verb)
    if found is None or found.spec.entry:
        return "catalog"
    if (target := catalog.card_of(verb)) is not None and target.name in (*lending.chain, card.name):
        return "chain"
    if not lending.scope.permits(verb):
        return "caller"
    if lending.held is not None and not enables(lending.held, found.spec, lending.policy):
        return "profile"
    return "policy" if catalog.inactive_reason(verb, lending.policy.verbs) is not None else ""


def denied_by(card: AgentCard, catalog: Catalog) -> frozenset[str]:
    """The verbs that a card is never to use, whoever says so."""
    return frozenset[str]().union(*map(catalog.named_by, card.deny))


def temporary_card(card: AgentCard, number: int, scope: Sequence[str]) -> AgentCard:
    """A sub-agent for one piece of work beside others (HND-06): a card that code makes of a card,
    with no more than that was handed, and never to hand work on.
    """
    own = [verb for verb in scope if not verb.startswith(AGENT_VERB)]
    made = {
        "name": f"{card.name}_{number}",
        "tool_preference": own,
        "allow": own,
        "deny": [f"{AGENT_VERB}*"],
        "fallback_agent": None,
    }
    return card.model_copy(update=made)
