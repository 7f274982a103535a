"""What a grant lets happen, in plain words made by code: whose runs, which calls, about whom, how
often, and what it is not for.

Names and targets are somebody's: what could be taken for something else stands there by its number
(``contracts.legible_text``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ordain.contracts.access import NAMELESS
from ordain.contracts.approvals import Grant
from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.floor import STRICTNESS
from ordain.contracts.legible_text import literal, name_text
from ordain.contracts.scope import GLOB_SIGNS, Constraint
from ordain.rules.grant import reach_of
from ordain.runtime.handoff_words import by_effect

KEPT_NOTHING = (
    "Now for no call: it was given under a build that kept nothing of what verbs declare. Give "
    "it anew."
)
NAMED = 20
"""Most names that are told of one kind of what bounds a grant, or is not in it."""
_GLOB: Final = re.compile(r"[A-Za-z0-9_.*?-]+\Z")


def grant_words(grant: Grant, catalog: Catalog) -> str:
    """All of it on a few lines; verbs that globs name are those of today's catalog."""
    reach = reach_of(grant.scope.capabilities, grant.risk_level, catalog)
    covered = [verb for verb in reach.covered if grant.is_for(verb, catalog.declared(verb))]
    lines = [
        (
            f"Runs of {name_text(grant.principal)}{_whoever(grant)} may make these calls without "
            f"being asked: {_verbs(grant, covered, catalog)}."
        ),
        _about(grant),
        *(
            f"{_named(name)}: {'; '.join(_bounds(bound))}."
            for name, bound in grant.scope.constraints.items()
        ),
    ]
    lines += [
        _handing(verb, card, catalog)
        for verb in covered
        if (card := catalog.card_of(verb)) is not None
    ]
    if not grant.declared:
        lines.append(KEPT_NOTHING)
    elif otherwise := [verb for verb in reach.covered if verb not in covered]:
        lines.append(
            f"Not {_listed(otherwise)}: declared otherwise than when the grant was given, or not "
            "there then."
        )
    if reach.each_time:
        lines.append(
            f"Not {_listed(reach.each_time)}: what pays, deletes or is secret is approved "
            "each time."
        )
    if reach.graver:
        lines.append(f"Not {_listed(reach.graver)}: that needs a grant of a higher risk level.")
    return "\n".join(lines)


def _handing(verb: str, card: AgentCard, catalog: Catalog) -> str:
    """What comes with handing work on: whom it goes to, and all that may be done there without this
    grant being asked after again.
    """
    uses = by_effect(sorted(catalog.domain_of(card)), catalog)
    return (
        f"{_named(verb)} hands work to {name_text(card.name)}, which may use at most: {uses}. "
        "What there needs a yes is asked for by itself."
    )


def _whoever(grant: Grant) -> str:
    return (
        ", which is anybody of this machine who gives no token,"
        if grant.principal in NAMELESS
        else ""
    )


def _verbs(grant: Grant, covered: Sequence[str], catalog: Catalog) -> str:
    """The names and globs as they were given; behind globs what they name now. Each of them: what
    is let happen is never "and more".
    """
    capabilities = grant.scope.capabilities
    if all(GLOB_SIGNS.isdisjoint(one) for one in capabilities):
        return _whole(_gravest_first(capabilities, catalog))
    return f"{_whole(capabilities)}, now {_whole(_gravest_first(covered, catalog)) or 'none'}"


def _gravest_first(verbs: Sequence[str], catalog: Catalog) -> list[str]:
    """Those whose effect is graver before the others, each kind in its order."""

    def gravity(verb: str) -> int:
        found = catalog.verbs.get(verb)
        return 0 if found is None else -STRICTNESS[found.spec.effect]

    return sorted(verbs, key=gravity)


def _whole(names: Sequence[str]) -> str:
    return ", ".join(map(_named, names))


def _about(grant: Grant) -> str:
    targets = grant.scope.targets
    if targets is None:
        return "To and about anybody and anything: no recipient, target or address is excluded."
    if not targets:
        return "To nobody: whom it named is erased."
    return (
        "Only where every recipient, target and address is one of: "
        f"{_told(list(map(literal, targets)))}."
    )


def _bounds(bound: Constraint) -> Iterable[str]:
    if bound.max_calls is not None:
        yield f"{bound.max_calls} calls in all"
    if bound.max_amount is not None:
        yield f"an amount of {bound.max_amount} at most"
    if bound.domains_allowlist is not None:
        yield f"domains {_told(list(map(name_text, bound.domains_allowlist)))}"
    if bound.paths is not None:
        yield f"paths {_told(list(map(literal, bound.paths)))}"


def _listed(names: Sequence[str]) -> str:
    return _told(list(map(_named, names)))


def _named(name: str) -> str:
    """The name of a verb, or a glob."""
    return name if _GLOB.match(name) else name_text(name)


def _told(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (
        f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    )
