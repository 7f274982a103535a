"""``ordain replay --policy`` as a CI job runs it: over a folder and over a backup, with a policy
that narrows and one that widens.
"""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from ordain.cli import main
from ordain.cli.exit_codes import FAILED, OK, UNREADABLE, USAGE
from ordain.store.folder import FILE
from tests.e2e.proposals import EXAMPLES, add, ask, case, finish
from tests.shapes.stored_journal import journal_of

SCRIPT: dict[str, Any] = {
    "verbs": {"extract_facts": [{"facts": [], "method": "analysed"}]},
    "cases": [case("sum", add("6 * 7"), finish("It is 42.")), case("talk", finish("Hello."))],
}
NARROW = '[verbs.default]\ndeny = ["math.*"]\n'
Trial = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that models are played in."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    monkeypatch.setenv("ORDAIN_SCRIPT", str(script))
    monkeypatch.delenv("ORDAIN_HOME", raising=False)
    (folder := tmp_path / "home").mkdir()
    return folder


@pytest.fixture
def trial(home: Path, capsys: pytest.CaptureFixture[str]) -> Trial:
    """Runs ``ordain replay`` over the folder: exit code, what was printed, what stood on stderr."""

    def trial(*arguments: str, over: Path | None = home) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(
            ["replay", *arguments, *(["--data-dir", str(over)] if over is not None else [])]
        )
        said = capsys.readouterr()
        return code, said.out, said.err

    return trial


def plan(home: Path, name: str, *tools: str) -> None:
    """Play one request in the folder."""
    request = home.parent / f"{name}.json"
    request.write_text(json.dumps(ask(name, *tools)), encoding="utf-8")
    main(["plan", str(request), "--data-dir", str(home)])


def policy(folder: Path, name: str, text: str = "") -> str:
    """A policy's file."""
    file = folder / f"{name}.toml"
    file.write_text(f"version = 1\n{text}", encoding="utf-8")
    return str(file)


def found(file: Path) -> dict[str, Any]:
    """A report as data."""
    return dict(json.loads(file.read_text(encoding="utf-8")))


def test_a_narrowing_is_found_and_fails_where_it_is_named(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """One of two runs used what the policy forbids: all three reports lead with it, name it and
    both reasons; only a kind that is named fails.
    """
    plan(home, "sum")
    plan(home, "talk", "extract_facts")
    narrow = policy(tmp_path, "narrow", NARROW)
    files = [tmp_path / f"report{suffix}" for suffix in (".md", ".json", ".xml")]
    written = [part for file in files for part in ("--report", str(file))]
    code, said, _ = trial(
        "--since", "1d", "--policy", narrow, "--fail-on", "new-allow,new-deny,outcome", *written
    )
    assert (code, said.splitlines()[0]) == (FAILED, "1 of 2 runs would end otherwise")
    data = found(files[1])
    assert (
        data["lead"],
        data["failed"],
        data["runs"]["ends_otherwise"],
        data["runs"]["unchanged"],
    ) == (said.splitlines()[0], True, 1, 1)
    kinds = {one["kind"] for one in data["findings"]}
    assert kinds == {"new-deny", "outcome"}
    (run,) = {one["run"] for one in data["findings"]}
    by_call = next(one for one in data["findings"] if one["rule"] == "authorize")
    assert (by_call["verb"], by_call["before"]["code"], by_call["after"]["code"]) == (
        "math.evaluate",
        "authorize.read",
        "authorize.inactive",
    )
    assert by_call["after"]["words"] == "The verb is switched off here."
    markdown = files[0].read_text(encoding="utf-8")
    assert markdown.startswith("## 1 of 2 runs would end otherwise\n")
    assert f"`{run}`" in markdown
    suite = ET.fromstring(files[2].read_text(encoding="utf-8"))
    assert suite.attrib["name"].startswith("1 of 2 runs would end otherwise")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert [one.attrib["name"] for one in suite if one.find("failure") is not None] == [run]
    assert trial("--all", "--policy", narrow, "--fail-on", "new-allow")[0] == OK
    assert trial("--since", "1d", "--policy", narrow)[0] == OK


def test_a_widening_is_found(home: Path, trial: Trial, tmp_path: Path) -> None:
    """A run that was refused a verb would be let do it: that is a new allow, and no new deny."""
    policy(home, "policy", NARROW)
    plan(home, "sum")
    wide = policy(tmp_path, "wide")
    assert (
        trial(
            "--all",
            "--policy",
            str(home / "policy.toml"),
            "--fail-on",
            "new-allow,new-deny,outcome,course",
        )[0]
        == OK
    )
    report = tmp_path / "report.json"
    code, said, _ = trial(
        "--all", "--policy", wide, "--fail-on", "new-allow", "--report", str(report)
    )
    assert code == FAILED
    assert "Allowed now, and was not (new-allow, fails)" in said
    kinds = {(one["kind"], one["verb"]) for one in found(report)["findings"]}
    assert ("new-allow", "math.evaluate") in kinds
    assert "new-deny" not in {kind for kind, _ in kinds}
    assert trial("--all", "--policy", wide, "--fail-on", "new-deny")[0] == OK


def test_a_model_that_the_runs_did_not_have_is_another_course(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """A lane may name it: what it would have said nobody knows, and whatever else the policy
    changes is judged; nothing is unreadable.
    """
    plan(home, "talk")
    file = policy(
        tmp_path,
        "another",
        '[lanes.profiles]\nlocal = ["new"]\nworker = ["new", "default"]\nbrain = ["default"]\n',
    )
    report = tmp_path / "report.json"
    code, said, _ = trial(
        "--since", "30d", "--policy", file, "--fail-on", "course", "--report", str(report)
    )
    assert (code, "not judged" in said) == (FAILED, False)
    assert "would take another way" in said
    assert (
        trial("--since", "30d", "--policy", file, "--fail-on", "new-allow,new-deny,outcome")[0]
        == OK
    )


def test_a_store_that_something_was_taken_out_of_passes_for_none(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """A run that was deleted is judged by nobody: the ledger misses it, and the trial says so and
    is no success.
    """
    plan(home, "talk")
    plan(home, "sum", "math.evaluate")
    same = policy(tmp_path, "same", "")
    assert (
        trial("--since", "30d", "--policy", same, "--fail-on", "new-allow,new-deny,outcome")[0]
        == OK
    )
    with closing(sqlite3.connect(home / FILE)) as db, db:
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute("DELETE FROM runs WHERE no = (SELECT max(no) FROM runs)")
    code, _, told = trial(
        "--since", "30d", "--policy", same, "--fail-on", "new-allow,new-deny,outcome"
    )
    assert (code, f"ordain replay --data-dir {home} --all" in told) == (UNREADABLE, True)
    code, _, told = trial("--all", "--policy", same)
    assert (code, "the ledger over this store does not hold" in told) == (FAILED, True)


def test_a_backup_is_read_as_it_lies(
    home: Path, trial: Trial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup says what its folder says, without a data folder, is not written to, and leaves
    nothing behind.
    """
    plan(home, "sum")
    copy = tmp_path / "copy.db"
    assert main(["backup", str(copy), "--data-dir", str(home)]) == OK
    before, narrow = copy.read_bytes(), policy(tmp_path, "narrow", NARROW)
    told = [trial("--all", "--policy", narrow, "--fail-on", "outcome")]
    told.append(
        trial("--all", "--policy", narrow, "--fail-on", "outcome", "--backup", str(copy), over=None)
    )
    assert told[0] == told[1]
    assert told[0][0] == FAILED
    assert copy.read_bytes() == before
    assert trial("--all", "--backup", str(copy), over=None)[0] == OK
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database, for a hundred bytes" * 40)
    code, _, said = trial(
        "--all", "--policy", narrow, "--fail-on", "outcome", "--backup", str(broken), over=None
    )
    assert (code, said.count("\n"), "[no_backup]" in said) == (USAGE, 1, True)


def test_a_damaged_backup_is_no_finding(home: Path, trial: Trial, tmp_path: Path) -> None:
    """What cannot be judged has another exit code than a policy that fails, also where it is all of
    it; replayed without a policy it is a failure.
    """
    plan(home, "sum")
    copy, narrow = tmp_path / "copy.db", policy(tmp_path, "narrow", NARROW)
    assert main(["backup", str(copy), "--data-dir", str(home)]) == OK
    copy.write_bytes(copy.read_bytes()[:20_000])
    code, _, said = trial(
        "--all", "--policy", narrow, "--fail-on", "outcome", "--backup", str(copy), over=None
    )
    assert (code, "[journal_corrupt]" in said) == (UNREADABLE, True)
    assert trial("--all", "--backup", str(copy), over=None)[0] == FAILED


def test_a_damaged_run_is_named_and_stops_no_other(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """A run that cannot be read has an exit code of its own, is an error in JUnit, and the others
    are judged; a finding that fails comes first.
    """
    plan(home, "sum")
    plan(home, "talk", "extract_facts")
    with closing(journal_of(sqlite3.connect(home / FILE, isolation_level=None))) as database:
        (damaged,) = database.execute("SELECT id FROM runs ORDER BY no DESC LIMIT 1").fetchone()
        database.execute(
            "UPDATE journal SET kind = 'none' WHERE seq = 1 AND run = (SELECT no FROM runs WHERE "
            "id = ?)",
            (damaged,),
        )
    report = tmp_path / "report.xml"
    code, said, _ = trial(
        "--all",
        "--policy",
        policy(tmp_path, "same"),
        "--fail-on",
        "outcome",
        "--report",
        str(report),
    )
    assert (code, said.splitlines()[0]) == (UNREADABLE, "0 of 1 runs would end otherwise")
    assert f"not judged: {damaged}  journal_corrupt" in said
    suite = ET.fromstring(report.read_text(encoding="utf-8"))
    assert [one.attrib["name"] for one in suite if one.find("error") is not None] == [damaged]
    assert (
        trial("--all", "--policy", policy(tmp_path, "narrow", NARROW), "--fail-on", "outcome")[0]
        == FAILED
    )


@pytest.mark.parametrize(
    "text",
    [
        "'ab' || char(27) || '[31mX' || char(10) || '::error::pwned' || char(8238)",
        "CAST(x'ff410a' AS TEXT)",
    ],
)
def test_a_run_that_is_called_something_else_makes_no_line(
    home: Path, trial: Trial, tmp_path: Path, text: str
) -> None:
    """What a store holds for an id commands neither a terminal nor a CI job's log, is no text
    perhaps, and is named in every report; exit code 4.
    """
    plan(home, "sum", "math.evaluate")
    with closing(sqlite3.connect(home / FILE)) as db:
        db.execute(f"UPDATE runs SET id = {text}")
        db.commit()
    reports = [tmp_path / f"report.{kind}" for kind in ("md", "json", "xml")]
    told = [option for report in reports for option in ("--report", str(report))]
    for arguments in (
        ["--policy", policy(tmp_path, "same"), "--all", "--fail-on", "new-allow", *told],
        ["--all"],
        ["--all", "--json"],
    ):
        code, out, err = trial(*arguments)
        assert code == (UNREADABLE if "--report" in arguments else FAILED)
        assert (out + err).replace("\n", "").isprintable()
        assert not [line for line in (out + err).split("\n") if line.startswith("::")]
        assert "journal_corrupt" in out
    for report in reports:
        written = report.read_text(encoding="utf-8")
        assert "journal_corrupt" in written
        assert "\n::" not in written


def test_only_runs_of_the_span_are_judged(home: Path, trial: Trial, tmp_path: Path) -> None:
    """Spans lie back from now, dates are in UTC; what began at the later bound is left out. Of none
    nothing can be said: a gate does not pass by an empty span.
    """
    plan(home, "sum")
    same, tomorrow = (
        policy(tmp_path, "same"),
        (datetime.now(UTC) + timedelta(days=1)).date().isoformat(),
    )
    counts: list[str] = []
    for bounds in (
        ("--since", "1d"),
        ("--until", "1h"),
        ("--since", tomorrow),
        ("--until", tomorrow),
        ("--since", "2w", "--until", "1d"),
    ):
        code, said, _ = trial(*bounds, "--policy", same)
        counts.append(str(code) if code else re.findall(r"of (\d+) runs", said)[0] + " run")
    assert counts == ["1 run", "2", "2", "1 run", "2"]


def test_what_was_erased_is_no_run_that_comes_out_the_same(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """Its line counts no flips, the last one says of how many runs it speaks, and where nothing is
    left a gate does not pass.
    """
    plan(home, "sum")
    plan(home, "talk")
    same, judging = policy(tmp_path, "same"), ("--fail-on", "course", "--policy")
    _, compared, _ = trial("--all", "--policy", same)
    runs = re.findall(r"^compared +(\w+)", compared, re.MULTILINE)
    for left, (lead, code) in ((1, ("of 1 runs", OK)), (0, ("nothing can be said", USAGE))):
        main(["runs", "erase", runs[left], "--why", "w", "--data-dir", str(home)])
        _, compared, _ = trial("--all", "--policy", same)
        assert len(re.findall(r"^erased .*  not compared$", compared, re.MULTILINE)) == 2 - left
        assert f"0 decisions of {left} runs come out otherwise; {2 - left} others" in compared
        judged = trial(*judging, same)
        assert judged[0] == code
        assert lead in judged[1] + judged[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--since", "soon"),
        ("--since", "1d", "--until", "2d"),
        ("--all", "--fail-on", "anything"),
        ("--all", "--report", "report.pdf"),
        ("--all", "--report", "no/such/folder/report.md"),
        ("run", "--since", "1d"),
        ("--since", "999999w"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_judged(
    home: Path, trial: Trial, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """A span, a kind of finding or a report that is none is exit code 2 and one line."""
    plan(home, "talk", "extract_facts")
    code, said, error = trial(*arguments, "--policy", policy(tmp_path, "same"))
    assert (code, said, error.count("\n")) == (USAGE, "", 1)


def test_a_policy_that_is_none_or_missing_is_no_finding(
    home: Path, trial: Trial, tmp_path: Path
) -> None:
    """Exit code 2, not the 1 of a finding; so is judging without a policy."""
    plan(home, "talk", "extract_facts")
    for wrong in (
        str(tmp_path / "none.toml"),
        policy(tmp_path, "wrong", "[no_such_table]\nx = 1\n"),
    ):
        assert trial("--all", "--policy", wrong, "--fail-on", "outcome")[0] == USAGE
    assert trial("--all", "--fail-on", "outcome")[0] == USAGE


@pytest.mark.parametrize(
    ("name", "job"),
    [("github.yml", ("jobs", "judge", "steps")), ("gitlab-ci.yml", ("policy", "script"))],
)
def test_the_worked_ci_files_do_what_they_say(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, job: tuple[str, ...]
) -> None:
    """The command of each file, run as it stands over a backup: it fails by finding and writes all
    that is shown afterwards.
    """
    plan(home, "sum")
    assert main(["backup", str(tmp_path / "latest.db"), "--data-dir", str(home)]) == OK
    (work := tmp_path / "work").mkdir()
    policy(work, "policy", NARROW)
    monkeypatch.chdir(work)
    read: Any = yaml.safe_load((EXAMPLES / "policy-ci" / name).read_text(encoding="utf-8"))
    for key in job:
        read = read[key]
    steps = [str(step.get("run", "")) if isinstance(step, dict) else str(step) for step in read]
    (command,) = [step for step in steps if "ordain replay" in step]
    arguments = shlex.split(command.replace("$ORDAIN_BACKUP", str(tmp_path / "latest.db")))
    assert arguments[0] == "ordain"
    assert main(arguments[1:]) == FAILED
    assert sorted(file.name for file in work.iterdir()) == [
        "policy.json",
        "policy.md",
        "policy.toml",
        "policy.xml",
    ]
