"""The bounds that a scope or a grant sets to a verb's calls (C5), held to a call's arguments by the roles that the verb declares for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import Any, cast
from urllib.parse import urlsplit

from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import ArgumentRole, VerbSpec

_ADDRESSES = (ArgumentRole.URL, ArgumentRole.RECIPIENT)
_THINGS = (ArgumentRole.TARGET, ArgumentRole.ATTACHMENT)
_DESIGNATING = (ArgumentRole.RECIPIENT, ArgumentRole.TARGET)


def bounds_of(constraints: Mapping[str, Constraint], verb: str) -> tuple[Constraint, ...]:
    """The bounds of a verb's calls, by its id and by the globs that name it."""
    return tuple(bound for name, bound in constraints.items() if name == verb or fnmatchcase(verb, name))


def counts_calls(bounds: tuple[Constraint, ...]) -> bool:
    """Whether one of them says how often."""
    return any(bound.max_calls is not None for bound in bounds)


def beyond(bounds: tuple[Constraint, ...], spec: VerbSpec, args: Mapping[str, Any], calls: int) -> str:
    """The bound that a call would break, with its place and no value; "" where it breaks none. ``calls`` are those of the verb before it.

    A value that a bound is about and that cannot be read as such is beyond it.
    """
    return next((broken for bound in bounds for broken in _broken(bound, spec, args, calls)), "")


def outside(targets: tuple[str, ...] | None, spec: VerbSpec, args: Mapping[str, Any]) -> bool:
    """Whether a call is about a recipient or a target that is none of these; None are all."""
    return targets is not None and any(value not in targets for _, value in _values(spec, args, _DESIGNATING))


def _broken(bound: Constraint, spec: VerbSpec, args: Mapping[str, Any], calls: int) -> Iterator[str]:
    if bound.max_calls is not None and calls >= bound.max_calls:
        yield "maxCalls"
    if bound.max_amount is not None:
        for name, value in _values(spec, args, (ArgumentRole.AMOUNT,)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not value <= bound.max_amount:
                yield f"maxAmount: {name}"
    if bound.domains_allowlist is not None:
        if spec.http is not None and not _listed(urlsplit(spec.http.url).hostname or "", bound.domains_allowlist):
            yield "domainsAllowlist: http"
        for name, value in _values(spec, args, _ADDRESSES):
            if not isinstance(value, str) or not _listed(_domain(value), bound.domains_allowlist):
                yield f"domainsAllowlist: {name}"
    if bound.paths is not None:
        for name, value in _values(spec, args, _THINGS):
            if not isinstance(value, str) or not _within(value, bound.paths):
                yield f"paths: {name}"


def _values(spec: VerbSpec, args: Mapping[str, Any], roles: tuple[ArgumentRole, ...]) -> Iterator[tuple[str, object]]:
    """The values of the arguments that have one of these roles, those of a list one by one."""
    for name, argument in spec.arguments.items():
        if argument.role in roles and name in args:
            given: object = args[name]
            for value in cast("list[object]", given) if isinstance(given, list) else (given,):
                yield name, value


def _domain(value: str) -> str:
    """The host of an address, of the web or of mail; "" where it has none."""
    try:
        host = urlsplit(value).hostname if "://" in value else value.rpartition("@")[2] if "@" in value else value
    except ValueError:
        return ""
    return (host or "").lower().rstrip(".")


def _listed(domain: str, allowed: tuple[str, ...]) -> bool:
    return any(domain == one or domain.endswith(f".{one}") for one in map(str.lower, allowed)) if domain else False


def _within(value: str, paths: tuple[str, ...]) -> bool:
    path = normpath(value)
    return not path.startswith("..") and any(path == base or path.startswith(base.rstrip("/") + "/") for base in map(normpath, paths))
