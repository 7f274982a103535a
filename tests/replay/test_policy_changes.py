"""What a policy changes, said of recorded runs: a narrowing never allows anything, the policy that was there changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.policy_findings import FindingKind, RunFate, judged
from ordain.contracts.approvals import MayAsk, Tier
from ordain.contracts.policy import Policy
from ordain.flows.shipped import shipped_kinds
from ordain.ports.store import StoredRun
from ordain.rules.authorize import Allow, AuthorizeOutcome, Deny, NeedsApproval
from ordain.rules.entry import Entered
from ordain.rules.scope import Scope, ScopeRefused
from ordain.runtime.diff import PolicyDiff, diff
from ordain.runtime.policy_changes import PolicyChange, change_of
from tests.replay.golden_file import GOLDEN, GoldenJournal, read, read_talk
from tests.replay.test_policy_diff import compare

NAMES = sorted(file.stem for file in (GOLDEN / "v1").glob("*.json") if not file.stem.endswith(".child"))
ALLOW, ASK, DENY = Allow("c"), NeedsApproval("c", Tier.WRITE, MayAsk.PEOPLE), Deny()


@cache
def golden(name: str) -> tuple[GoldenJournal, dict[str, StoredRun]]:
    """A golden run, and its child where it has one."""
    child = GOLDEN / "v1" / f"{name}.child.json"
    below = [read(child).run] if child.exists() else []
    return read(GOLDEN / "v1" / f"{name}.json"), {run.id: run for run in below}


def narrowed(name: str, denied: list[str], cap: int) -> PolicyDiff:
    """A golden run under its own policy with more verbs denied, and no more depth than ``cap``."""
    one, below = golden(name)
    catalog = one.compiled()
    tables: dict[str, Any] = catalog.policy.model_dump(mode="json")
    access = tables["verbs"]["default"]
    tables["verbs"] = {
        **tables["verbs"],
        "default": {**access, "deny": [*access["deny"], *denied]},
        "max_depth": min(cap, tables["verbs"]["max_depth"]),
    }
    return diff(one.run, catalog, Policy.model_validate(tables, strict=False), shipped_kinds(), below.get)


def changes(report: PolicyDiff) -> Iterator[PolicyChange]:
    """What every decision of the run and of those below it changes."""
    yield from (flip.change for flip in report.flips)
    for child in report.children:
        yield from changes(child)


@given(
    name=st.sampled_from(NAMES),
    denied=st.lists(st.sampled_from(["math.*", "math.evaluate", "extract_*", "text.*", "*"]), max_size=3),
    cap=st.integers(1, 8),
)
def test_a_narrowing_never_allows_anything(name: str, denied: list[str], cap: int) -> None:
    """Whatever verbs a policy denies besides, and however little depth it leaves: no call and no run is newly allowed."""
    report = narrowed(name, denied, cap)
    assert PolicyChange.NEW_ALLOW not in set(changes(report))
    assert FindingKind.NEW_ALLOW not in {found.kind for found in judged(report).findings}


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_that_was_there_finds_nothing(name: str) -> None:
    """Under its own policy a run has no finding, and its fate is that of the record."""
    told = judged(compare(name))
    assert (told.fate, told.findings, told.unreadable, told.others) == (RunFate.UNCHANGED, (), (), {})


def test_the_policy_that_was_there_finds_nothing_in_a_conversation() -> None:
    """No turn of the golden conversation has a finding under its own policy."""
    talk = read_talk(GOLDEN / "talks" / "first.json")
    catalog, runs = talk.compiled(), {run.id: run for run in talk.runs}
    for run in talk.runs:
        assert judged(diff(run, catalog, catalog.policy, shipped_kinds(), runs.get, talk.read)).findings == ()


def test_a_denied_verb_is_denied_by_both_doors_and_ends_the_run() -> None:
    """A verb that is switched off: the run is refused before its first call, the recorded calls of the verb are denied, each named with its verb."""
    told = judged(compare("three_tools", verbs={"default": {"deny": ["math.*"]}}))
    assert told.fate is RunFate.OUTCOME
    found = {(one.kind, one.rule, one.verb, one.after.code) for one in told.findings}
    assert (FindingKind.NEW_DENY, "scope", "math.evaluate", "scope.inactive_verb") in found
    assert (FindingKind.NEW_DENY, "authorize", "math.evaluate", "authorize.inactive") in found
    assert (FindingKind.OUTCOME, "scope", "math.evaluate", "failed inactive_verb:math.evaluate") in found
    assert all(one.before.words or one.kind is FindingKind.OUTCOME for one in told.findings)


def test_another_prompt_is_another_course_and_no_other_end() -> None:
    """A limit that models are told of takes the run another way, and nobody claims to know its end."""
    told = judged(compare("three_tools", limits={"max_steps": 7}))
    assert (told.fate, {found.kind for found in told.findings}) == (RunFate.COURSE, {FindingKind.COURSE})


def test_what_happens_below_a_run_is_part_of_its_fate() -> None:
    """Where a run below another one would go another way, so would the one above it, whose own record knows nothing of that."""
    report = compare("prompt_plan_child")
    report.children[0].ended = ("failed", "other")
    told = judged(report)
    assert (told.fate, [(one.kind, one.run) for one in told.findings]) == (
        RunFate.COURSE,
        [(FindingKind.OUTCOME, report.children[0].run)],
    )


def test_a_run_below_that_cannot_be_read_is_named() -> None:
    """The run above it is judged all the same."""
    report = compare("prompt_plan_child")
    report.children[0].verdict = "journal_corrupt"
    told = judged(report)
    assert (told.fate, told.unreadable) == (RunFate.UNCHANGED, ((report.children[0].run, "journal_corrupt"),))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (DENY, ALLOW, PolicyChange.NEW_ALLOW),
        (DENY, ASK, PolicyChange.NEW_ALLOW),
        (ASK, ALLOW, PolicyChange.NEW_ALLOW),
        (ALLOW, ASK, PolicyChange.NEW_DENY),
        (ALLOW, DENY, PolicyChange.NEW_DENY),
        (ASK, DENY, PolicyChange.NEW_DENY),
        (DENY, Deny("other"), PolicyChange.OTHER),
    ],
)
def test_a_yes_stands_between_no_and_allowed(before: AuthorizeOutcome, after: AuthorizeOutcome, change: PolicyChange) -> None:
    """A call that needs a yes is less than one that is allowed and more than one that is denied."""
    assert change_of(before, after) is change


def test_tool_lists_are_longer_or_shorter() -> None:
    """Fewer tools are told apart from others: what is offered besides is never taken for less."""
    assert change_of(Scope(("a", "b")), Scope(("a",))) is PolicyChange.FEWER_TOOLS
    assert change_of(Scope(("a",)), Scope(("b",))) is PolicyChange.MORE_TOOLS
    assert change_of(Entered(verb="v", tools=("a", "b")), Entered(verb="v", tools=("b", "a"))) is PolicyChange.OTHER
    assert change_of(ScopeRefused("a", "c"), Scope(("a",))) is PolicyChange.NEW_ALLOW
