"""Policy diff: what other policy would have decided over a recorded run, exactly up to the frontier
and bounded past it.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.policy import Policy
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import ending
from ordain.ports.store import StoredRun
from ordain.runtime.diff import PolicyDiff, diff
from tests.replay.golden_file import GOLDEN, read, read_talk

V1 = GOLDEN / "v1"


def compare(name: str, **changes: dict[str, Any]) -> PolicyDiff:
    """Diff a golden run against its own policy with some tables changed."""
    golden = read(V1 / f"{name}.json")
    child = V1 / f"{name}.child.json"
    children: dict[str, StoredRun] = {}
    if child.exists():
        loaded = read(child).run
        children[loaded.id] = loaded
    catalog = golden.compiled()
    tables = catalog.policy.model_dump(mode="json")
    for table, values in changes.items():
        tables[table] = {**tables[table], **values}
    return diff(
        golden.run,
        catalog,
        Policy.model_validate(tables, strict=False),
        shipped_kinds(),
        children.get,
    )


def flips(report: PolicyDiff) -> list[tuple[str, str, str, bool]]:
    """(rule, recorded reason, new reason, exact) of each flip."""
    return [
        (flip.rule, flip.recorded.split(" ")[0], flip.now.split(" ")[0], flip.exact)
        for flip in report.flips
    ]


@pytest.mark.parametrize(
    "name", sorted(file.stem for file in V1.glob("*.json") if not file.stem.endswith(".child"))
)
def test_same_policy_changes_nothing(name: str) -> None:
    """Against its own policy a run has no flip and no frontier, its children neither."""
    report = compare(name)
    assert (report.verdict, report.frontier, report.flips) == ("compared", None, [])
    assert all(not child.flips and child.frontier is None for child in report.children)


def test_flip_without_an_effect_is_exact_to_the_end() -> None:
    """Forbidding re-asks ends a run earlier than recorded: both reasons are shown, the rest of the
    journal is past the frontier.
    """
    report = compare("refused_twice", step={"reask": 0})
    assert ("reask", "reask.allowed", "reask.spent", True) in flips(report)
    assert report.ended == ("failed", "step.tool.unknown")
    assert report.frontier == 1


def test_forbidden_verb_flips_the_scope() -> None:
    """Switching a verb off refuses the run that used it, before its first effect."""
    report = compare("three_tools", verbs={"default": {"deny": ["math.*"]}})
    assert flips(report)[0] == ("scope", "scope.granted", "scope.inactive_verb", True)
    assert report.ended == ("failed", "inactive_verb:math.evaluate")
    assert ("authorize", "authorize.read", "authorize.inactive", False) in flips(report)
    assert report.frontier == 0


def test_past_the_frontier_rules_are_asked_on_recorded_facts() -> None:
    """A smaller directive limit flips the first step exactly and the later ones as bounded rows."""
    report = compare("three_tools", step={"max_bytes": 256, "reask": 1}, limits={"max_steps": 2})
    assert report.frontier == 0
    assert all(not exact for rule, _, _, exact in flips(report) if rule == "step")


def test_children_before_the_frontier_are_exact() -> None:
    """A child whose spawn lies before its parent's frontier has a frontier of its own; one behind
    it is bounded throughout.
    """
    report = compare("prompt_plan_child", verbs={"max_depth": 3})
    assert [child.frontier for child in report.children] == [None]
    behind = compare("prompt_plan_child", limits={"max_steps": 1})
    assert behind.frontier == 0
    assert [child.frontier for child in behind.children] == [-1]


def test_fallback_table_flips_a_retry() -> None:
    """A policy that does not retry an overloaded model gives up where the recorded one tried
    again.
    """
    report = compare("model_down", fallback={"on_error": {"overloaded": "fail"}})
    assert ("fallback", "fallback.retry", "fallback.not_retryable", True) in flips(report)
    assert report.frontier == 1
    assert report.ended == ("failed", "overloaded")


def test_altered_journal_is_not_compared() -> None:
    """A run that does not replay is not compared but named."""
    golden = read(V1 / "three_tools.json")
    report = diff(golden.run, golden.compiled(), golden.compiled().policy, Kinds(), lambda _: None)
    assert report.verdict == "flow_unavailable"


def test_same_policy_changes_nothing_in_a_conversation() -> None:
    """Every run of the golden conversation ends as recorded under its own policy: interrupted ones
    as cancelled.
    """
    talk = read_talk(GOLDEN / "talks" / "first.json")
    catalog, runs = talk.compiled(), {run.id: run for run in talk.runs}
    for run in talk.runs:
        report = diff(run, catalog, catalog.policy, shipped_kinds(), runs.get, talk.read)
        recorded = ending(run.records)
        assert report.verdict == "compared", run.id
        assert (report.frontier, flips(report)) == (None, []), run.id
        assert recorded is not None
        assert report.ended == (recorded.status, recorded.reason), run.id
