"""Another policy takes an approver's recorded answer, or does not: who may say yes, to what, and
until when.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ordain.cli.policy_findings import PolicyFindingKind, RunFate, judged
from ordain.contracts.policy import Policy
from ordain.effects.results import Approved, NotApproved, Resubmitted
from ordain.flows.shipped import shipped_kinds
from ordain.journal.codec import decode
from ordain.journal.records import ClaimBody, ObservationBody, RecordKind
from ordain.runtime.diff import PolicyDiff, diff
from ordain.runtime.policy_changes import PolicyChange
from ordain.runtime.recorded_form import RESULTS
from tests.replay.golden_file import GOLDEN, GoldenTalk, read_talk

ROLE = {"roles": {"office": ["local:eve"]}, "rules": [{"verb": "*", "role": "office"}]}


@pytest.fixture(scope="module")
def talk() -> GoldenTalk:
    """Conversations and calls in which local:ben said yes, said no, proposed another call, and gave
    grants.
    """
    return read_talk(GOLDEN / "talks" / "granted.json")


def under(talk: GoldenTalk, **approvals: Any) -> list[PolicyDiff]:
    """Every run of it that somebody asked for, under its own policy with other approvals."""
    catalog, runs = talk.compiled(), {run.id: run for run in talk.runs}
    tables = catalog.policy.model_dump(mode="json")
    tables["approvals"] = {**tables["approvals"], **approvals}
    policy = Policy.model_validate(tables, strict=False)
    return [
        diff(run, catalog, policy, shipped_kinds(), runs.get, talk.read)
        for run in talk.runs
        if not run.parent
    ]


def flipped(reports: list[PolicyDiff]) -> Counter[tuple[str, PolicyChange]]:
    """How many answers rule ``approve`` judges otherwise, by its new reason and what that
    changes.
    """
    found: Counter[tuple[str, PolicyChange]] = Counter()
    for report in reports:
        told = {
            (flip.address, flip.now, flip.change) for flip in report.flips if flip.rule == "approve"
        }  # one answer may be about several verbs
        found.update((now, change) for _, now, change in told)
        found.update(flipped(report.children))
    return found


def answers(talk: GoldenTalk) -> Counter[str]:
    """What is on record of approvers: answers of theirs by kind, and uses of grants."""
    found: Counter[str] = Counter()
    for record in (record for run in talk.runs for record in run.records):
        body = (
            decode(record)
            if record.name in {"wait", "grant"} and record.kind is not RecordKind.SUSPENDED
            else None
        )
        if isinstance(body, ObservationBody) and isinstance(
            said := RESULTS.decode(body.result), Approved | NotApproved | Resubmitted
        ):
            found[type(said).__name__] += 1
        found["grant"] += isinstance(body, ClaimBody) and b'"taken"' in bytes(body.outcome)
    return found


def test_whoever_has_not_the_role_is_no_approver(talk: GoldenTalk) -> None:
    """Every answer and every grant of somebody who may not any more is found, yes and no apart."""
    there = answers(talk)
    assert all(there[kind] for kind in ("Approved", "NotApproved", "Resubmitted", "grant"))
    assert flipped(under(talk, **ROLE)) == {
        ("approve.not_an_approver", PolicyChange.NEW_DENY): there["Approved"] + there["grant"],
        ("approve.not_an_approver", PolicyChange.OTHER): there["NotApproved"]
        + there["Resubmitted"],
    }


def test_whoever_has_the_role_changes_nothing(talk: GoldenTalk) -> None:
    """With the role held by whoever answered, nothing is found."""
    reports = under(talk, roles={"office": ["local:ben"]}, rules=[{"verb": "*", "role": "office"}])
    assert not flipped(reports)
    assert {judged(report).fate for report in reports} == {RunFate.UNCHANGED}


def test_a_row_for_another_verb_changes_nothing(talk: GoldenTalk) -> None:
    """Rows are about the calls that they name."""
    assert not flipped(
        under(talk, roles=ROLE["roles"], rules=[{"verb": "no.such_verb", "role": "office"}])
    )


def test_it_is_a_finding_and_another_way(talk: GoldenTalk) -> None:
    """A yes that would not count is ``new-deny``; how the run ends then nobody knows, so it is no
    end otherwise.
    """
    found = [judged(report) for report in under(talk, **ROLE)]
    denied = [
        one
        for one in found
        if PolicyFindingKind.NEW_DENY in {finding.kind for finding in one.findings}
    ]
    assert denied
    assert {one.fate for one in denied} == {RunFate.COURSE}
    assert all(
        finding.verb for one in denied for finding in one.findings if finding.rule == "approve"
    )
    assert not any(
        finding.kind is PolicyFindingKind.OUTCOME for one in found for finding in one.findings
    )


def test_past_an_answer_that_would_not_count_nothing_is_certain(talk: GoldenTalk) -> None:
    """The effect after the answer is the frontier, and no decision beyond it is said to be
    exact.
    """

    def every(reports: list[PolicyDiff]) -> list[PolicyDiff]:
        return [one for report in reports for one in (report, *every(report.children))]

    turned = [
        one
        for one in every(under(talk, **ROLE))
        if any(flip.rule == "approve" for flip in one.flips)
    ]
    assert turned
    for one in turned:
        certain = [int(flip.address.partition("/")[0]) for flip in one.flips if flip.exact]
        assert one.frontier is not None
        assert one.ended is None
        assert all(effect < one.frontier for effect in certain)


def test_a_time_that_was_over_before_the_answer_refuses_it(talk: GoldenTalk) -> None:
    """An answer that came later than the policy leaves a question open is none; those that came at
    once stand.
    """
    late = flipped(under(talk, expires_s=10))
    assert set(late) <= {
        ("approve.expired", PolicyChange.NEW_DENY),
        ("approve.expired", PolicyChange.OTHER),
    }
    assert late.total() < answers(talk).total()
