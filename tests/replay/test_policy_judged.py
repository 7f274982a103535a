"""What a policy changes, said of recorded runs: a narrowing never allows anything, the policy that
was there changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.policy_findings import PolicyFindingKind, RunFate, judged
from ordain.contracts.policy import Policy
from ordain.flows.shipped import shipped_kinds
from ordain.ports.store import StoredRun
from ordain.runtime.diff import PolicyDiff, diff
from ordain.runtime.policy_changes import PolicyChange
from tests.replay.golden_file import GOLDEN, GoldenJournal, read, read_talk
from tests.replay.test_policy_diff import compare

NAMES = sorted(
    file.stem for file in (GOLDEN / "v1").glob("*.json") if not file.stem.endswith(".child")
)


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
    return diff(
        one.run, catalog, Policy.model_validate(tables, strict=False), shipped_kinds(), below.get
    )


def changes(report: PolicyDiff) -> Iterator[PolicyChange]:
    """What every decision of the run and of those below it changes."""
    yield from (flip.change for flip in report.flips)
    for child in report.children:
        yield from changes(child)


@given(
    name=st.sampled_from(NAMES),
    denied=st.lists(
        st.sampled_from(["math.*", "math.evaluate", "extract_*", "text.*", "*"]), max_size=3
    ),
    cap=st.integers(1, 8),
)
def test_a_narrowing_never_allows_anything(name: str, denied: list[str], cap: int) -> None:
    """Whatever verbs a policy denies besides, and however little depth it leaves: no call and no
    run is newly allowed.
    """
    report = narrowed(name, denied, cap)
    assert PolicyChange.NEW_ALLOW not in set(changes(report))
    assert PolicyFindingKind.NEW_ALLOW not in {found.kind for found in judged(report).findings}


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_that_was_there_finds_nothing(name: str) -> None:
    """Under its own policy a run has no finding, and its fate is that of the record."""
    told = judged(compare(name))
    assert (told.fate, told.findings, told.unreadable, told.others) == (
        RunFate.UNCHANGED,
        (),
        (),
        {},
    )


def test_the_policy_that_was_there_finds_nothing_in_a_conversation() -> None:
    """No turn of the golden conversation has a finding under its own policy."""
    talk = read_talk(GOLDEN / "talks" / "first.json")
    catalog, runs = talk.compiled(), {run.id: run for run in talk.runs}
    for run in talk.runs:
        assert (
            judged(
                diff(run, catalog, catalog.policy, shipped_kinds(), runs.get, talk.read)
            ).findings
            == ()
        )


def test_a_denied_verb_is_denied_by_both_doors_and_ends_the_run() -> None:
    """A verb that is switched off: the run is refused before its first call, the recorded calls of
    the verb are denied, each named with its verb.
    """
    told = judged(compare("three_tools", verbs={"default": {"deny": ["math.*"]}}))
    assert told.fate is RunFate.OUTCOME
    found = {(one.kind, one.rule, one.verb, one.after.code) for one in told.findings}
    assert (PolicyFindingKind.NEW_DENY, "scope", "math.evaluate", "scope.inactive_verb") in found
    assert (PolicyFindingKind.NEW_DENY, "authorize", "math.evaluate", "authorize.inactive") in found
    assert (
        PolicyFindingKind.OUTCOME,
        "scope",
        "math.evaluate",
        "failed inactive_verb:math.evaluate",
    ) in found
    assert all(one.before.words or one.kind is PolicyFindingKind.OUTCOME for one in told.findings)


def test_another_prompt_is_another_course_and_no_other_end() -> None:
    """A limit that models are told of takes the run another way, and nobody claims to know its
    end.
    """
    told = judged(compare("three_tools", limits={"max_steps": 7}))
    assert (told.fate, {found.kind for found in told.findings}) == (
        RunFate.COURSE,
        {PolicyFindingKind.COURSE},
    )


def test_what_happens_below_a_run_is_part_of_its_fate() -> None:
    """Where a run below another one would go another way, so would the one above it, whose own
    record knows nothing of that.
    """
    report = compare("prompt_plan_child")
    report.children[0].ended = ("failed", "other")
    told = judged(report)
    assert (told.fate, [(one.kind, one.run) for one in told.findings]) == (
        RunFate.COURSE,
        [(PolicyFindingKind.OUTCOME, report.children[0].run)],
    )


def test_a_run_below_that_cannot_be_read_is_named() -> None:
    """The run above it is judged all the same."""
    report = compare("prompt_plan_child")
    report.children[0].verdict = "journal_corrupt"
    told = judged(report)
    assert (told.fate, told.unreadable) == (
        RunFate.UNCHANGED,
        ((report.children[0].run, "journal_corrupt"),),
    )


def test_an_unsound_record_is_named_whatever_its_policy_says() -> None:
    """A decision on record that its own policy does not come to is no finding of the other policy:
    the run is not compared.
    """
    golden_run, below = golden("three_tools")
    catalog = golden_run.compiled()
    stricter = catalog.changed(
        policy=catalog.policy.model_copy(
            update={"step": catalog.policy.step.model_copy(update={"max_bytes": 64})}
        )
    )
    catalog.__dict__["policy"] = stricter.policy  # as if it had run under another one than it says
    report = diff(
        golden_run.run,
        catalog,
        stricter.policy.model_copy(update={"version": 1}),
        shipped_kinds(),
        below.get,
    )
    assert report.verdict != "compared"
    assert judged(report).fate is RunFate.UNREADABLE
