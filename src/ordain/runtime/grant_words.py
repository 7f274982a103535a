"""What a grant lets happen, in plain words made by code: whose runs, which calls, about whom, how often, and what it is not for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ordain.contracts.access import NAMELESS
from ordain.contracts.approvals import Grant
from ordain.contracts.catalog import Catalog
from ordain.contracts.scope import GLOB_SIGNS, Constraint
from ordain.rules.grant import reach_of
from ordain.rules.header import plain, quoted

NAMED = 20
"""Most names that are told of one kind."""
VALUE_CHARS = 200


def grant_words(grant: Grant, catalog: Catalog) -> str:
    """All of it on a few lines; verbs that globs name are those of today's catalog."""
    reach = reach_of(grant.scope.capabilities, grant.risk_level, catalog)
    lines = [
        f"Runs of {plain(grant.principal, VALUE_CHARS)}{_whoever(grant)} may make these calls without being asked: {_verbs(grant, reach.covered)}.",
        _about(grant),
        *(f"{plain(name, VALUE_CHARS)}: {'; '.join(_bounds(bound))}." for name, bound in grant.scope.constraints.items()),
    ]
    if reach.each_time:
        lines.append(f"Not {_listed(reach.each_time)}: what pays, deletes or is secret is approved each time.")
    if reach.graver:
        lines.append(f"Not {_listed(reach.graver)}: that needs a grant of a higher risk level.")
    return "\n".join(lines)


def _whoever(grant: Grant) -> str:
    return ", which is anybody of this machine who gives no token," if grant.principal in NAMELESS else ""


def _verbs(grant: Grant, covered: Sequence[str]) -> str:
    """The names and globs as they were given; behind globs what they name now."""
    given = _listed(grant.scope.capabilities)
    if all(GLOB_SIGNS.isdisjoint(one) for one in grant.scope.capabilities):
        return given
    return f"{given}, now {_listed(covered)}" if covered else f"{given}, now none"


def _about(grant: Grant) -> str:
    targets = grant.scope.targets
    if targets is None:
        return "To and about anybody and anything: no recipient, target or address is excluded."
    if not targets:
        return "To nobody: whom it named is erased."
    return f"Only where every recipient, target and address is one of: {_listed([quoted(one, VALUE_CHARS) for one in targets])}."


def _bounds(bound: Constraint) -> Iterable[str]:
    if bound.max_calls is not None:
        yield f"{bound.max_calls} calls in all"
    if bound.max_amount is not None:
        yield f"an amount of {bound.max_amount} at most"
    if bound.domains_allowlist is not None:
        yield f"domains {_listed(bound.domains_allowlist)}"
    if bound.paths is not None:
        yield f"paths {_listed(bound.paths)}"


def _listed(names: Sequence[str]) -> str:
    told = [plain(name, VALUE_CHARS) for name in names[:NAMED]]
    return ", ".join(told) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
