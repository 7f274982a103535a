"""Golden journals of every schema version, replayed for ever: the good ones equal, the bad ones
refused by name.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.contracts.catalog import Catalog
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import shipped_kinds
from ordain.journal.codec import decode
from ordain.journal.records import (
    CURRENT_VERSION,
    SETTLED,
    ClaimBody,
    DecisionBody,
    FaultedBody,
    ObservationBody,
    RecordKind,
    Status,
    SuspendedBody,
)
from ordain.ports.store import StoredRun
from ordain.rules.grant import GrantReason
from ordain.runtime.replay import Replayed, replay
from tests.replay.golden_file import GOLDEN, read, read_talk
from tests.replay.mutate import corrupted, forged
from tests.shapes.flows import ERRANDS
from tests.shapes.forgers import FORGING_KINDS

FILES = sorted(GOLDEN.glob("v*/*.json"))
REFUSED = sorted(GOLDEN.glob("refused/*.json"))
TALKS = sorted(GOLDEN.glob("talks/*.json"))
OVERREACH = sorted(GOLDEN.glob("overreach/*.json"))


def again(run: StoredRun, catalog: Catalog) -> Replayed:
    """Replay with the flows of this build."""
    return replay(run, catalog, shipped_kinds())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_golden_journal_replays_equal(file: Path) -> None:
    """A golden journal of any schema version comes out byte for byte."""
    golden = read(file)
    report = again(golden.run, golden.compiled())
    assert (report.verdict, report.differences) == ("equal", [])
    assert report.settled
    assert report.records == len(golden.run.records)


@pytest.mark.parametrize("file", TALKS, ids=lambda file: file.stem)
def test_golden_conversation_replays_equal(file: Path) -> None:
    """Every run of a golden conversation comes out byte for byte, over the transcript that its
    prompts refer to.
    """
    talk = read_talk(file)
    catalog, flows = talk.compiled(), shipped_kinds()
    reports = [replay(run, catalog, flows, talk.read) for run in talk.runs]
    assert [
        (report.flow, report.verdict, report.differences) for report in reports if not report.equal
    ] == []
    assert all(report.settled for report in reports)


def test_every_flow_version_that_can_be_resumed_has_a_golden() -> None:
    """What no golden holds could not be kept: every flow version of this build, older ones
    included, stands in one.
    """
    runs = [run for file in TALKS for run in read_talk(file).runs] + [
        read(file).run for file in FILES
    ]
    assert {(run.flow, run.flow_version) for run in runs} >= set(shipped_kinds().by_id)


def test_a_lane_looked_up_ahead_is_the_one_that_was_asked() -> None:
    """What a golden turn made the room of its history for is what its child decided for its own
    first question, fact by fact.
    """
    runs = read_talk(GOLDEN / "talks" / "told_turn4.json").runs
    ahead: dict[str, tuple[Any, Any]] = {}
    asked: dict[str, list[tuple[Any, Any]]] = {}
    for run in runs:
        for body in (
            decode(record)
            for record in run.records
            if (record.kind, record.name) == (RecordKind.DECISION, "lane")
        ):
            assert isinstance(body, DecisionBody)
            facts = msgspec.json.decode(body.facts)
            if facts.pop("ahead", False):
                assert run.id not in ahead
                ahead[run.id] = facts, msgspec.json.decode(body.outcome)
            elif run.parent is not None:
                asked.setdefault(run.parent, []).append((facts, msgspec.json.decode(body.outcome)))
    answering = {
        run: [
            one
            for one in asked.get(run, ())
            if all(one[0].get(name) == facts.get(name) for name in ("purpose", "verb"))
        ]
        for run, (facts, _) in ahead.items()
    }
    assert sum(map(bool, answering.values())) > 30
    assert [run for run, lanes in answering.items() if lanes and ahead[run] != lanes[0]] == []


@pytest.mark.parametrize("file", OVERREACH, ids=lambda file: file.stem)
def test_golden_overreach_replays_equal(file: Path) -> None:
    """Calls that were denied and forgeries that stopped their runs come out byte for byte, with the
    tests' flows that reached for them.
    """
    golden = read_talk(file)
    flows = shipped_kinds((*FORGING_KINDS, ERRANDS))
    reports = [replay(run, golden.compiled(), flows, golden.read) for run in golden.runs]
    assert [(report.verdict, report.differences) for report in reports if not report.equal] == []
    assert [report.settled for report in reports] == [run.status in SETTLED for run in golden.runs]


def test_a_golden_denial_of_each_kind() -> None:
    """A verb out of scope and one too deep are denied and the run goes on; nothing of them went
    live.
    """
    runs = read_talk(GOLDEN / "overreach" / "denied.json").runs
    assert {run.status for run in runs} == {Status.COMPLETED}
    decisions = [
        decode(record)
        for run in runs
        for record in run.records
        if (record.kind, record.name) == (RecordKind.DECISION, "authorize")
    ]
    denials = [
        one.reason
        for one in decisions
        if isinstance(one, DecisionBody) and b'"deny"' in bytes(one.outcome)
    ]
    assert sorted(denials) == ["authorize.depth"] * 2 + ["authorize.out_of_scope"] * 3


def test_a_golden_forgery_stops_its_run() -> None:
    """Whatever is forged, the run is faulted at once, and no record says that anything came of it
    but the end of a run that was called off.
    """
    runs = read_talk(GOLDEN / "overreach" / "forged.json").runs
    forgers = [
        run for run in runs if any(record.kind is RecordKind.FAULTED for record in run.records)
    ]
    assert {run.status for run in forgers} == {Status.FAULTED, Status.CANCELLED}
    for run in forgers:
        faults = [decode(record) for record in run.records if record.kind is RecordKind.FAULTED]
        assert {fault.error for fault in faults if isinstance(fault, FaultedBody)} == {"FlowFault"}
        assert not {record.kind for record in run.records} & {
            RecordKind.OBSERVATION,
            RecordKind.CHILD_ENDED,
        }


def test_a_golden_of_every_end_of_a_grant_and_of_other_arguments() -> None:
    """A grant that is taken, does not cover and is not there; what was proposed instead approved,
    denied, left to time, granted and called off.
    """
    runs = read_talk(GOLDEN / "talks" / "granted.json").runs
    claims, ends = set[str](), set[tuple[str, ...]]()
    for run in runs:
        bodies = [(record.name, decode(record)) for record in run.records]
        claims |= {
            body.reason for name, body in bodies if name == "grant" and isinstance(body, ClaimBody)
        }
        waits = [
            body for name, body in bodies if name == "wait" and isinstance(body, ObservationBody)
        ]
        said = tuple(str(msgspec.json.decode(body.result)["result"]) for body in waits)
        after = [
            body.reason
            for name, body in bodies
            if name == "authorize" and isinstance(body, DecisionBody)
        ]
        ends |= {(*said, after[-1])} if "resubmitted" in said else set()
    assert claims == {str(reason) for reason in GrantReason}
    assert ends == {
        ("resubmitted", "approved", "authorize.approved"),
        ("resubmitted", "resubmitted", "approved", "authorize.approved"),
        ("resubmitted", "resubmitted", "not_approved", "authorize.not_approved"),
        ("resubmitted", "expired", "authorize.approval_expired"),
        ("resubmitted", "authorize.granted"),
        ("resubmitted", "abandoned", "authorize.needs_approval"),
    }
    assert {(run.flow, run.flow_version) for run in runs} >= {
        ("turn", 6),
        ("planner", 3),
        ("verb", 3),
        ("workflow", 1),
    }


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_bad_journal_is_refused_by_name(file: Path) -> None:
    """A committed journal that must be refused is refused, with the code that its file names."""
    bad = read(file)
    assert again(bad.run, bad.compiled()).verdict == file.suffixes[0].removeprefix(".")


def test_first_schema_version_is_kept() -> None:
    """Journals whose suspended records are of version 1 are still read, and say that they do not
    know what was waited for.
    """
    golden = read(GOLDEN / "v1" / "prompt_plan_child.json")
    (suspended,) = [record for record in golden.run.records if record.kind is RecordKind.SUSPENDED]
    assert suspended.v == 1 < CURRENT_VERSION[RecordKind.SUSPENDED]
    body = decode(suspended)
    assert isinstance(body, SuspendedBody)
    assert body.waits_for == "unknown"


def test_second_schema_version_says_what_is_waited_for() -> None:
    """Journals of version 2 name what a suspended run waits for."""
    golden = read(GOLDEN / "v2" / "prompt_plan_child.json")
    (suspended,) = [record for record in golden.run.records if record.kind is RecordKind.SUSPENDED]
    body = decode(suspended)
    assert isinstance(body, SuspendedBody)
    assert body.waits_for == "children"


GOOD = read(GOLDEN / "v2" / "prompt_plan_child.json")


def refused(run: StoredRun) -> str:
    """The verdict on a changed journal."""
    report = again(run, GOOD.compiled())
    assert not report.equal
    return report.verdict


def test_newer_record_version_is_refused() -> None:
    """A record of a version this build does not know is refused, not guessed."""
    assert refused(forged(GOOD.run, 6, v=99)) == "journal_corrupt"


def test_missing_record_is_refused() -> None:
    """A journal with a record cut out is refused."""
    records = GOOD.run.records
    assert (
        refused(msgspec.structs.replace(GOOD.run, records=(*records[:5], *records[6:])))
        == "journal_corrupt"
    )


def test_swapped_records_are_refused() -> None:
    """A journal whose records changed places is refused."""
    records = list(GOOD.run.records)
    records[3], records[4] = records[4], records[3]
    assert refused(msgspec.structs.replace(GOOD.run, records=tuple(records))) == "journal_corrupt"


def test_cut_off_end_is_not_settled() -> None:
    """A journal cut before its end replays as far as it goes and is not called settled."""
    report = again(
        msgspec.structs.replace(GOOD.run, records=GOOD.run.records[:-1]), GOOD.compiled()
    )
    assert report.verdict == "journal_diverged"


def test_every_prefix_replays() -> None:
    """Every crash prefix of a good journal that stops before the flow's end replays equal."""
    for length in range(1, len(GOOD.run.records) - 1):
        report = again(
            msgspec.structs.replace(GOOD.run, records=GOOD.run.records[:length]), GOOD.compiled()
        )
        assert report.equal, (length, report)
        assert not report.settled


def test_erased_run_is_refused_as_erased() -> None:
    """A run whose key was destroyed replays as erased, not as corrupt."""
    records = tuple(
        msgspec.structs.replace(record, body=None)
        if record.kind is not RecordKind.ENDED
        else record
        for record in GOOD.run.records
    )
    assert refused(msgspec.structs.replace(GOOD.run, key=None, records=records)) == "erased"


def test_unknown_flow_version_is_refused() -> None:
    """A run of a flow that this build lacks is flow_unavailable."""
    report = replay(GOOD.run, GOOD.compiled(), Kinds())
    assert report.verdict == "flow_unavailable"


def test_dated_back_record_is_refused() -> None:
    """A record dated before its predecessor is refused."""
    assert refused(corrupted(GOOD.run, 3, at=1)) == "journal_corrupt"


def test_other_key_is_refused() -> None:
    """Digests made with another subject's key do not pass."""
    assert refused(msgspec.structs.replace(GOOD.run, key=bytes(32))) == "journal_corrupt"


def test_golden_journals_are_never_made_again() -> None:
    """The committed journals are byte for byte what they were when their list of digests was
    written; a new schema adds a folder.
    """
    listed = dict(
        reversed(line.split("  "))
        for line in (GOLDEN / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    there = {
        file.relative_to(GOLDEN).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (*FILES, *REFUSED, *TALKS, *OVERREACH)
    }
    assert there == listed
