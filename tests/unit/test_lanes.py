"""The lanes of ``./check``: what each goes through, and that what one leaves out another has."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests import lanes
from tests.hangs import time_out
from tests.lanes import FEWEST, examples, sampled
from tests.recording import Recorder

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = list(range(60))


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "check"), *arguments], capture_output=True, text=True, check=False
    )


def test_help_says_every_lane() -> None:
    """``./check --help`` names each flag that is taken, and does nothing else."""
    told = check("--help")
    taken = re.findall(r"^  (--\w+)\)", (ROOT / "check").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(taken) == {"--fast", "--docs", "--full", "--coverage"}
    assert told.returncode == 0
    assert [flag for flag in taken if f"\n  {flag} " not in told.stdout] == []


@pytest.mark.parametrize(
    "arguments", [("--quick",), ("full",), ("--fast", "--full"), ("", "--fast")]
)
def test_what_is_no_lane_is_refused(arguments: tuple[str, ...]) -> None:
    """An unknown flag, or more than one, runs nothing."""
    told = check(*arguments)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("usage: ./check")


def test_ci_runs_what_everybody_runs() -> None:
    """CI calls ``./check`` and nothing else, as the README tells a reader to."""
    called = [
        line
        for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
        if "check" in line
    ]
    assert called == ["exec ./check"]
    assert "\n./check " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(params=[False, True], ids=["sampling", "full"])
def full(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the run is one that leaves nothing out."""
    monkeypatch.setattr(lanes._Run, "full", request.param)
    monkeypatch.setattr(lanes._Run, "seed", 1)
    return request.param


def test_a_full_run_leaves_nothing_out(full: bool) -> None:
    """With ``--full`` every moment and every example, else some, in their order and never more than
    there are.
    """
    some = sampled(MOMENTS, 6, "a shape")
    assert some == (MOMENTS if full else sorted(set(some)))
    assert len(some) == (60 if full else 10)
    assert sampled(MOMENTS[:3], 6, "a shape") == MOMENTS[:3]
    assert len(sampled(MOMENTS[:20], 6, "a shape")) == (20 if full else FEWEST)
    assert [examples(400), examples(12), examples(40, quick=10)] == (
        [400, 12, 40] if full else [25, 12, 10]
    )


def test_the_seed_chooses(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed and name choose the same moments; the seeds together reach every one of
    them.
    """
    first = sampled(MOMENTS, 6, "a shape")
    assert sampled(MOMENTS, 6, "a shape") == first
    assert full or sampled(MOMENTS, 6, "another") != first
    reached: set[int] = set()
    for seed in range(100):
        monkeypatch.setattr(lanes._Run, "seed", seed)
        reached.update(sampled(MOMENTS, 6, "a shape"))
    assert reached == set(MOMENTS)


@pytest.fixture(params=[None, 1800.0], ids=["settings", "half an hour"])
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float | None:
    """What ``--timeout`` says."""
    monkeypatch.setattr(request.config.option, "timeout", request.param)
    return request.param


def test_what_hangs_is_ended_behind_its_time_out(
    asked: float | None, request: pytest.FixtureRequest
) -> None:
    """A process that hangs is ended behind the time-out that its test has: what the run gives it,
    which is half an hour in a full one, else what the settings say.
    """
    assert time_out(request.node) == (asked or 120)


@pytest.mark.timeout(250)
def test_a_time_out_of_its_own_holds(asked: float | None, request: pytest.FixtureRequest) -> None:
    """Whatever the run gives, a test's own mark holds."""
    assert (asked in {None, 1800.0}, time_out(request.node)) == (True, 250)


def test_what_a_killed_process_was_at_is_recorded(tmp_path: Path) -> None:
    """A test whose process was ended is a failed one on record, though nobody read its docstring:
    the run goes on to its end.
    """
    recorder = Recorder(tmp_path / "tests.json")
    recorder.pytest_runtest_logreport(
        pytest.TestReport(
            "t.py::test_a[1]", ("t.py", 1, "test_a"), {}, "failed", "crashed", "call", sections=()
        )
    )
    recorder.pytest_sessionfinish()
    assert json.loads((tmp_path / "tests.json").read_text(encoding="utf-8")) == {
        "t.py::test_a": {"docstring": "", "failed": 1, "passed": 0, "skipped": 0}
    }
