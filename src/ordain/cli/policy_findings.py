"""What trying a policy on recorded runs found: each run's fate, and the findings that a person
looks at or a CI job fails on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ordain.runtime.diff import PolicyDiff
from ordain.runtime.flips import Flip
from ordain.runtime.policy_changes import COMPARED, PolicyChange
from ordain.runtime.reason_words import meanings
from ordain.runtime.transcript_replay import ERASED


class PolicyFindingKind(StrEnum):
    """What ``--fail-on`` names: a call or run that is allowed more, or less; an end that is another
    one; a run that takes another way to an end nobody knows.
    """

    NEW_ALLOW = "new-allow"
    NEW_DENY = "new-deny"
    OUTCOME = "outcome"
    COURSE = "course"


class RunFate(StrEnum):
    """What would become of a run, with all below it, that somebody asked for."""

    UNCHANGED = "unchanged"
    SHORTER_TOOLS = "shorter_tools"
    SAME_END = "same_end"
    COURSE = "another_course"
    OUTCOME = "ends_otherwise"
    ERASED = "erased"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonTold:
    """A reason's code, and what it means in words ("": it has none)."""

    code: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFinding:
    """One finding, in a run below ``root`` or in that itself. ``exact``: it certainly comes out so;
    else on the facts that were recorded.
    """

    kind: PolicyFindingKind
    run: str
    root: str
    flow: str
    rule: str
    verb: str
    address: str
    before: ReasonTold
    after: ReasonTold
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJudged:
    """A run that somebody asked for: its fate, its findings, and which runs of its tree cannot be
    read (run, why).
    """

    run: str
    flow: str
    fate: RunFate
    findings: tuple[PolicyFinding, ...]
    unreadable: tuple[tuple[str, str], ...]
    others: Mapping[str, int]


def judged(diff: PolicyDiff) -> RunJudged:
    """What one run's comparison, with all below it, comes to."""
    every = list(_flat(diff))
    unreadable = tuple(
        (one.run, one.verdict) for one in every if one.verdict not in {COMPARED, ERASED}
    )
    findings = tuple(found for one in every for found in _findings(one, diff.run))
    others = Counter(
        flip.rule for one in every for flip in one.flips if flip.change is PolicyChange.OTHER
    )
    return RunJudged(
        run=diff.run,
        flow=diff.flow,
        fate=_fate(diff, every),
        findings=findings,
        unreadable=unreadable,
        others=dict(sorted(others.items())),
    )


def _flat(diff: PolicyDiff) -> Iterator[PolicyDiff]:
    yield diff
    for child in diff.children:
        yield from _flat(child)


def _fate(root: PolicyDiff, every: Sequence[PolicyDiff]) -> RunFate:
    if root.verdict == ERASED:
        return RunFate.ERASED
    if root.verdict != COMPARED:
        return RunFate.UNREADABLE
    if _ends_otherwise(root):
        return RunFate.OUTCOME
    turned = [one for one in every if _turns(one)]
    if not turned:
        return RunFate.UNCHANGED
    if all(map(_ends_alike, turned)):
        return RunFate.SAME_END
    return RunFate.SHORTER_TOOLS if all(map(_only_fewer_tools, every)) else RunFate.COURSE


def _ends_otherwise(one: PolicyDiff) -> bool:
    return one.ended is not None and one.settled is not None and one.ended != one.settled


def _ends_alike(one: PolicyDiff) -> bool:
    """Whether a run is known to come to the end on record, by another way or sooner."""
    return one.ended is not None and one.ended == one.settled


def _turns(one: PolicyDiff) -> bool:
    """Whether a run leaves its recorded course by itself, and not because one above it did."""
    return one.verdict == COMPARED and (
        (one.frontier is not None and one.frontier >= 0) or _ends_otherwise(one)
    )


def _only_fewer_tools(one: PolicyDiff) -> bool:
    """Whether all that changes is that models are offered fewer tools, and none that they
    called.
    """
    return (
        not _ends_otherwise(one)
        and all(flip.change is PolicyChange.FEWER_TOOLS for flip in one.flips)
        and (bool(one.flips) or not _turns(one))
    )


def _findings(one: PolicyDiff, root: str) -> Iterator[PolicyFinding]:
    if one.verdict != COMPARED:
        return
    for flip in one.flips:
        match flip.change:
            case PolicyChange.NEW_ALLOW:
                yield _finding(PolicyFindingKind.NEW_ALLOW, one, root, flip)
            case PolicyChange.NEW_DENY:
                yield _finding(PolicyFindingKind.NEW_DENY, one, root, flip)
            case PolicyChange.VERDICT:
                yield _finding(PolicyFindingKind.OUTCOME, one, root, flip)
            case PolicyChange.FEWER_TOOLS | PolicyChange.MORE_TOOLS | PolicyChange.OTHER:
                pass
    cause = next((flip for flip in one.flips if flip.exact), None)
    if _ends_otherwise(one):
        yield _ended(one, root, cause)
    elif _turns(one) and not _ends_alike(one) and not _only_fewer_tools(one):
        yield _turned(one, root, cause)


def _finding(kind: PolicyFindingKind, one: PolicyDiff, root: str, flip: Flip) -> PolicyFinding:
    return PolicyFinding(
        kind=kind,
        run=one.run,
        root=root,
        flow=one.flow,
        rule=flip.rule,
        verb=flip.verb,
        address=flip.address,
        before=_reason(flip.recorded.partition(" ")[0]),
        after=_reason(flip.now.partition(" ")[0]),
        exact=flip.exact,
    )


def _ended(one: PolicyDiff, root: str, cause: Flip | None) -> PolicyFinding:
    before, after = (
        ReasonTold(code=" ".join(end), words=_words(end[1]))
        for end in (one.settled or ("", ""), one.ended or ("", ""))
    )
    rule, verb, address = ("", "", "") if cause is None else (cause.rule, cause.verb, cause.address)
    return PolicyFinding(
        kind=PolicyFindingKind.OUTCOME,
        run=one.run,
        root=root,
        flow=one.flow,
        rule=rule,
        verb=verb,
        address=address,
        before=before,
        after=after,
        exact=True,
    )


def _turned(one: PolicyDiff, root: str, cause: Flip | None) -> PolicyFinding:
    if cause is not None:
        return _finding(PolicyFindingKind.COURSE, one, root, cause)
    place = ReasonTold(
        code="", words=f"What goes into effect {one.frontier} is made from the policy."
    )
    return PolicyFinding(
        kind=PolicyFindingKind.COURSE,
        run=one.run,
        root=root,
        flow=one.flow,
        rule="",
        verb="",
        address=f"{one.frontier}",
        before=ReasonTold(code="", words=""),
        after=place,
        exact=True,
    )


def _reason(code: str) -> ReasonTold:
    return ReasonTold(code=code, words=_words(code))


def _words(code: str) -> str:
    return meanings().get(code, "")
