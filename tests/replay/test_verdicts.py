"""What recorded headers say: those of new versions open with a verdict that their acts bear out,
those of earlier ones are as they were.
"""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from ordain.contracts.verdict import RunVerdict
from ordain.flows.shipped import shipped_kinds
from ordain.flows.turn.request import TurnOutput
from ordain.journal.folds import Fold, ending
from ordain.ports.store import StoredRun
from ordain.rules.acts import ActEnd
from ordain.rules.header import MARKS, title_line
from tests.replay.golden_file import GOLDEN, read_talk

KINDS = shipped_kinds()
RUNS = [run for file in sorted(GOLDEN.glob("talks/*.json")) for run in read_talk(file).runs]
JUDGED = [run for run in RUNS if KINDS.judges(run.flow, run.flow_version)]


def test_a_recorded_header_opens_with_its_verdict() -> None:
    """The first line and the record's own field say the same, and the fold of the journal comes to
    it again.
    """
    found: Counter[str] = Counter()
    for run in JUDGED:
        end = ending(run.records)
        assert end is not None
        facts = Fold(run.id, run.records, KINDS).header(end.status, end.reason)
        assert facts.verdict == end.verdict == str(RunVerdict(end.verdict))
        assert end.header.startswith(title_line(facts))
        assert f" {end.verdict} · ordain run {run.id}" in end.header.partition("\n")[0]
        found[end.verdict] += 1
    assert set(found) == set(map(str, RunVerdict)), found


def test_headers_of_earlier_versions_have_none() -> None:
    """What was recorded without a verdict stays without one."""
    before = [run for run in RUNS if not KINDS.judges(run.flow, run.flow_version)]
    ends = [end for run in before if (end := ending(run.records)) is not None]
    assert len(ends) > 100
    assert {end.verdict for end in ends} == {""}
    assert {end.header.partition("ordain run")[0] for end in ends} <= {
        f"{mark} " for mark in MARKS.values()
    }


def turns() -> list[tuple[StoredRun, TurnOutput, str]]:
    """The judged turns that went through the supervised loop, with their output and verdict."""
    found = []
    for run in JUDGED:
        end = ending(run.records)
        if run.flow == "turn" and end is not None and end.result != b"null":
            output = msgspec.json.decode(end.result, type=TurnOutput)
            if output.path == "react_lite":
                found.append((run, output, end.verdict))
    return found


def test_a_turn_with_tools_is_ok_where_its_verdict_is() -> None:
    """``ok: true`` means verdict ok, whatever the model's words were; rule and header come to it
    from the same acts.
    """
    found = turns()
    assert len(found) > 20
    assert [
        (run.id, verdict)
        for run, output, verdict in found
        if output.ok != (verdict == RunVerdict.OK)
    ] == []
    assert {output.ok for _, output, _ in found} == {True, False}


@pytest.mark.parametrize(
    "run", JUDGED, ids=lambda run: f"{run.flow}@{run.flow_version}-{run.id[-6:]}"
)
def test_marks_of_success_stand_at_acts_alone(run: StoredRun) -> None:
    """No proposal and no entry is marked as done: below the title there are at most as many ✓ as
    acts that returned, the children's included.
    """
    end = ending(run.records)
    assert end is not None
    facts = Fold(run.id, run.records, KINDS).header(end.status, end.reason)
    own = [line for line in facts.lines if line.mark == "ok"]
    done = [act for act in facts.acts if act.end in (ActEnd.DONE, ActEnd.QUOTED)]
    tells_of_another = any(line.what.startswith("run ") for line in facts.lines)
    assert tells_of_another or len(own) <= len(done)
    assert not any(
        line.what.startswith("step ") and line.mark != "proposal" for line in facts.lines
    )
