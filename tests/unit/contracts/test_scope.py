"""Laws of the capability scope: it only narrows, and covering another scope means permitting
whatever that permits.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from ordain.contracts.scope import CapabilityScope, Constraint

VERBS = ["fs.read", "fs.write", "fs.r", "net.get", "a", "b"]
PATTERNS = [*VERBS, "fs.*", "fs.?", "net.*", "*", "?", "[ab]", "fs.[rw]*", "["]

bounds = st.one_of(st.none(), st.integers(0, 3))
lists = st.one_of(st.none(), st.lists(st.sampled_from("xyz"), max_size=2).map(tuple))
constraints = st.builds(
    Constraint, domains_allowlist=lists, paths=lists, max_amount=bounds, max_calls=bounds
)
allowed = st.lists(st.sampled_from(PATTERNS), max_size=4).map(tuple)
bounded = st.dictionaries(st.sampled_from(["fs.*", "a"]), constraints, max_size=2)
scopes = st.builds(CapabilityScope, allowed=allowed, constraints=bounded)
ids = st.one_of(st.sampled_from(PATTERNS), st.text("abfs.rw*?[]", max_size=6))


def opener(scope: CapabilityScope, more: tuple[str, ...], looser: bool) -> CapabilityScope:
    """A scope that is as wide or wider: more is allowed, and perhaps nothing is bounded."""
    return CapabilityScope(
        allowed=scope.allowed + more, constraints={} if looser else scope.constraints
    )


@given(scopes, st.lists(ids, max_size=5), ids)
@example(CapabilityScope(allowed=("fs.?",)), ["fs.*"], "fs.read")
def test_narrowed_never_permits_more(scope: CapabilityScope, verbs: list[str], verb: str) -> None:
    """What a narrowed scope permits the wide one permits too, whatever names it was narrowed to,
    globs among them; bounds go with it.
    """
    narrow = scope.narrowed(verbs)
    assert not narrow.permits(verb) or scope.permits(verb)
    assert scope.covers(narrow)
    assert narrow.constraints == scope.constraints
    assert narrow.allowed == tuple(sorted(set(narrow.allowed)))


@given(scopes, st.lists(st.sampled_from(VERBS), max_size=5), st.sampled_from(VERBS))
def test_narrowed_to_verbs_permits_those_in_scope(
    scope: CapabilityScope, verbs: list[str], verb: str
) -> None:
    """Narrowed to ids, exactly those of them are permitted that were before; narrowing again by the
    same changes nothing.
    """
    narrow = scope.narrowed(verbs)
    assert narrow.permits(verb) == (verb in verbs and scope.permits(verb))
    assert narrow.narrowed(verbs) == narrow


@given(scopes, scopes, scopes)
def test_covering_is_an_order(
    first: CapabilityScope, second: CapabilityScope, third: CapabilityScope
) -> None:
    """A scope covers itself; what covers a covering one covers the covered; two that cover each
    other permit the same.
    """
    assert first.covers(first)
    if first.covers(second) and second.covers(third):
        assert first.covers(third)
    if first.covers(second) and second.covers(first):
        assert [first.permits(verb) for verb in VERBS] == [second.permits(verb) for verb in VERBS]


@given(scopes, allowed, allowed, st.booleans(), st.booleans())
def test_covering_is_an_order_along_a_chain(
    scope: CapabilityScope,
    more: tuple[str, ...],
    most: tuple[str, ...],
    looser: bool,
    loosest: bool,
) -> None:
    """A scope that allows more, or bounds less, covers what it was made of, at one step and at
    two.
    """
    wide = opener(scope, more, looser)
    widest = opener(wide, most, loosest)
    assert wide.covers(scope)
    assert widest.covers(wide)
    assert widest.covers(scope)


# of two at random one seldom covers the other
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(scopes, scopes, ids)
def test_what_is_covered_permits_no_more(
    wide: CapabilityScope, narrow: CapabilityScope, verb: str
) -> None:
    """No verb is permitted by a covered scope and not by the covering one."""
    assume(wide.covers(narrow))
    assert not narrow.permits(verb) or wide.permits(verb)


@given(allowed, st.lists(st.sampled_from(VERBS), max_size=4).map(tuple))
def test_of_ids_covering_is_permitting(patterns: tuple[str, ...], verbs: tuple[str, ...]) -> None:
    """A scope without bounds covers one of ids exactly where it permits each of them."""
    wide = CapabilityScope(allowed=patterns)
    assert wide.covers(CapabilityScope(allowed=verbs)) == all(wide.permits(verb) for verb in verbs)


@given(allowed, st.sampled_from(["fs.*", "fs.?", "net.*", "?", "[ab]", "fs.[rw]*"]))
def test_a_glob_is_covered_by_itself_and_by_everything(
    patterns: tuple[str, ...], glob: str
) -> None:
    """Whether one glob is part of another is not guessed: it is covered where it stands itself, or
    where all is allowed.
    """
    assert CapabilityScope(allowed=patterns).covers(CapabilityScope(allowed=(glob,))) == (
        glob in patterns or "*" in patterns
    )


@given(constraints, constraints, constraints)
def test_bounds_are_an_order(first: Constraint, second: Constraint, third: Constraint) -> None:
    """Bounds are within themselves, within what theirs are within, and mutually only where they
    bound alike.
    """
    assert first.within(first)
    if first.within(second) and second.within(third):
        assert first.within(third)
    if first.within(second) and second.within(first):
        assert _as_sets(first) == _as_sets(second)


@given(allowed, constraints, constraints)
def test_looser_bounds_cover_tighter_ones(
    patterns: tuple[str, ...], ours: Constraint, theirs: Constraint
) -> None:
    """With the same verbs a scope covers another one exactly where each of its bounds is the
    other's too, or wider; dropping one covers nothing.
    """
    wide = CapabilityScope(allowed=patterns, constraints={"fs.*": ours})
    narrow = CapabilityScope(allowed=patterns, constraints={"fs.*": theirs})
    assert wide.covers(narrow) == theirs.within(ours)
    assert not wide.covers(CapabilityScope(allowed=patterns))


def _as_sets(bound: Constraint) -> tuple[Any, ...]:
    lists = (
        None if found is None else frozenset(found)
        for found in (bound.domains_allowlist, bound.paths)
    )
    return (*lists, bound.max_amount, bound.max_calls)
