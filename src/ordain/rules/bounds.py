"""The bounds that a scope or a grant sets to a verb's calls (C5), held to a call's arguments by the
roles that the verb declares for them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import chain
from posixpath import normpath
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from ordain.contracts.approvals import Grant
from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.moments import DAY_US, moment_of
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import ArgumentRole, VerbSpec

ADDRESSES = (ArgumentRole.URL, ArgumentRole.RECIPIENT)
"""The roles of arguments that a list of domains is about."""
_THINGS = (ArgumentRole.TARGET, ArgumentRole.ATTACHMENT)
_DESIGNATING = (ArgumentRole.RECIPIENT, ArgumentRole.TARGET, ArgumentRole.URL)
"""Whom or what a call is about, and where it goes."""


def bounds_of(constraints: Mapping[str, Constraint], verb: str) -> tuple[Constraint, ...]:
    """The bounds of a verb's calls, by its id and by the globs that name it."""
    return tuple(bound for _, bound in named_bounds(constraints, verb))


def counts_calls(bounds: tuple[Constraint, ...]) -> bool:
    """Whether one of them says how often."""
    return any(bound.max_calls is not None for bound in bounds)


def beyond(
    bounds: tuple[Constraint, ...],
    spec: VerbSpec,
    args: Mapping[str, Any],
    calls: int,
    *,
    of_web: bool = True,
) -> str:
    """The bound that a call would break, with its place and no value; "" where it breaks none.
    ``calls`` are those of the verb before it.

    A value that a bound is about and that cannot be read as such is beyond it. ``of_web``: an
    address with a scheme is one of the web or, of a recipient, of mail; catalogs of before took any
    scheme (``CatalogData.web_addresses``).
    """
    return next(
        (broken for bound in bounds for broken in _broken(bound, spec, args, calls, of_web=of_web)),
        "",
    )


def too_far(spec: VerbSpec, args: Mapping[str, Any], at: int) -> str:
    """The argument that is about a moment further ahead of ``at`` than the verb declares, or that
    cannot be read as one; "" where none is.
    """
    for name, argument in spec.arguments.items():
        if argument.within_days is not None and name in args:
            latest = at + argument.within_days * DAY_US
            given: object = args[name]
            for value in cast("list[object]", given) if isinstance(given, list) else (given,):
                if (found := moment_of(value)) is None or found > latest:
                    return name
    return ""


def designated(spec: VerbSpec, args: Mapping[str, Any]) -> tuple[object, ...]:
    """Whom and what a call is about: its recipients, targets and addresses, each once; none where
    it leaves that open.
    """
    found: list[object] = []
    for _, value in _values(spec, args, _DESIGNATING):
        if value not in found:
            found.append(value)
    return tuple(found)


def not_granted(grant: Grant, spec: VerbSpec, args: Mapping[str, Any]) -> str:
    """Why a grant's scope is not for a call, with the place and no value; "" where it is.

    A run's own bounds hold where a call is about them. A grant says what may be done: it is for no
    call that leaves open what one of its bounds is about, be it that it names nobody, or that
    nobody knows which of its arguments does. Handing work to a card it has to name: no glob is for
    that.
    """
    scope = grant.scope
    if not scope.permits(spec.name) or (
        spec.name.startswith(AGENT_VERB) and spec.flow and spec.name not in scope.capabilities
    ):
        return "capability"
    if scope.targets is not None:
        named = designated(spec, args)
        if (
            not named
            or not args.keys() <= spec.arguments.keys()
            or any(value not in scope.targets for value in named)
        ):
            return "target"
    left = grant.calls_left
    for name, bound in named_bounds(scope.constraints, spec.name):
        if left.get(name) == 0:
            return f"maxCalls: {name}"
        if broken := next(chain(_broken(bound, spec, args, 0), _left_open(bound, spec, args)), ""):
            return broken
    return ""


def named_bounds(
    constraints: Mapping[str, Constraint], verb: str
) -> tuple[tuple[str, Constraint], ...]:
    """The bounds of a verb's calls, with the names that they go by."""
    return tuple(
        (name, bound)
        for name, bound in constraints.items()
        if name == verb or fnmatchcase(verb, name)
    )


def _left_open(bound: Constraint, spec: VerbSpec, args: Mapping[str, Any]) -> Iterator[str]:
    """What a bound is about and the call names nothing of; of an amount below nothing no bound says
    what it is.
    """
    if bound.max_amount is not None:
        amounts = [value for _, value in _values(spec, args, (ArgumentRole.AMOUNT,))]
        if not amounts or any(isinstance(value, int | float) and value < 0 for value in amounts):
            yield "maxAmount"
    if (
        bound.domains_allowlist is not None
        and spec.http is None
        and not any(_values(spec, args, ADDRESSES))
    ):
        yield "domainsAllowlist"
    if bound.paths is not None and not any(_values(spec, args, _THINGS)):
        yield "paths"


def _broken(
    bound: Constraint, spec: VerbSpec, args: Mapping[str, Any], calls: int, *, of_web: bool = True
) -> Iterator[str]:
    if bound.max_calls is not None and calls >= bound.max_calls:
        yield "maxCalls"
    if bound.max_amount is not None:
        for name, value in _values(spec, args, (ArgumentRole.AMOUNT,)):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not value <= bound.max_amount
            ):
                yield f"maxAmount: {name}"
    if bound.domains_allowlist is not None:
        if spec.http is not None and not _listed(
            urlsplit(spec.http.url).hostname or "", bound.domains_allowlist
        ):
            yield "domainsAllowlist: http"
        for name, value in _values(spec, args, ADDRESSES):
            role = spec.arguments[name].role if of_web else None
            if not isinstance(value, str) or not _listed(
                _domain(value, role), bound.domains_allowlist
            ):
                yield f"domainsAllowlist: {name}"
    if bound.paths is not None:
        for name, value in _values(spec, args, _THINGS):
            if not isinstance(value, str) or not _within(value, bound.paths):
                yield f"paths: {name}"


def _values(
    spec: VerbSpec, args: Mapping[str, Any], roles: tuple[ArgumentRole, ...]
) -> Iterator[tuple[str, object]]:
    """The values of the arguments that have one of these roles, those of a list one by one."""
    for name, argument in spec.arguments.items():
        if argument.role in roles and name in args:
            given: object = args[name]
            for value in cast("list[object]", given) if isinstance(given, list) else (given,):
                yield name, value


_HOST = r"(?P<host>[\w-]+(?:\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\])"
_ADDRESS_FORMS = (
    re.compile(
        r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://"
        rf"{_HOST}(?::[0-9]{{1,5}})?(?:[/?#][^\\\s\x00-\x20\x7f-\x9f]*)?"
    ),
    re.compile(rf"(?P<mail>(?:mailto:)?[\w.+=~'-]+)@{_HOST}", re.IGNORECASE),
    re.compile(_HOST),
)
"""The forms of an address that every reader takes for the same: of the web, without a user; one of
mail, alone and without quotes, routes and codes; a host.

Whatever else is written, somebody finds another host in: ``https:/evil.com/@example.org``,
``a@evil.com,b@example.org``, ``evil.com#.example.org``.
"""
_OF_WEB = frozenset({"http", "https"})
"""What has another scheme a host says nothing of: ``javascript://example.org/%0aalert(1)`` runs
where it is opened.
"""
_PATH_READ_OTHERWISE = re.compile(r"[\\\x00-\x1f\x7f-\x9f]")
_DECODINGS = 4


def _domain(value: str, role: ArgumentRole | None) -> str:
    """The host of an address, of the web or of mail; "" where it has none, or where another reader
    could find another one.

    For an argument of this ``role`` the scheme counts, too.
    """
    found = next(
        (match for form in _ADDRESS_FORMS if (match := form.fullmatch(value)) is not None), None
    )
    if found is None:
        return ""
    parts = found.groupdict()
    other = parts.get("scheme", "https").lower() not in _OF_WEB or (
        "mail" in parts and role is ArgumentRole.URL
    )
    return "" if role is not None and other else parts["host"].strip("[]").lower().rstrip(".")


def _listed(domain: str, allowed: tuple[str, ...]) -> bool:
    return (
        any(domain == one or domain.endswith(f".{one}") for one in map(str.lower, allowed))
        if domain
        else False
    )


def _within(value: str, paths: tuple[str, ...]) -> bool:
    """Whether a path is below one of these, also for whoever decodes it first."""
    if _PATH_READ_OTHERWISE.search(value):
        return False
    for _ in range(_DECODINGS):
        if not _below(value, paths):
            return False
        if (decoded := unquote(value)) == value:
            return True
        value = decoded
    return False


def _below(value: str, paths: tuple[str, ...]) -> bool:
    path = normpath(value)
    return not path.startswith("..") and any(
        path == base or path.startswith(base.rstrip("/") + "/") for base in map(normpath, paths)
    )
