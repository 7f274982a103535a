"""Law of pinned wording: whatever phrase a build's own files gain or lose, what was recorded
replays as it was; asked of whole other builds.

A build is a copy of this one with other files of phrases (the frozen table aside), or with a flow
that reads by the wrong table. What flows read is thus what they would read there, and nothing is
put in its place.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.wording.languages import shipped_table
from tests.replay.golden_words import WORDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "ordain"
PINNED, OWN = "wording_of(context.catalog)", "compiled(shipped_table())"
OWN_WORDS = ("words", "words_question4")
"""Goldens in words of one's own, of versions before and of now."""


TABLE = Path("wording", "tables", "shipped.json")


def as_it_is(package: Path) -> None:
    """Nothing is changed."""


def without_phrases(package: Path) -> None:
    """Every phrase has gone."""
    (package / TABLE).write_text('{"phrases": [], "lists": {}}', encoding="utf-8")


def with_others(package: Path) -> None:
    """Words that mean something to recorded conversations mean something else, and come before all
    others.
    """
    table = json.loads((package / TABLE).read_text(encoding="utf-8"))
    table["phrases"].insert(
        0, ["keep", [*WORDS.values(), "yes", "no", "stop", "B", "Lisbon", "next Tuesday"]]
    )
    (package / TABLE).write_text(json.dumps(table), encoding="utf-8")


def reading_its_own(flow: str, module: str) -> Callable[[Path], None]:
    """One flow reads by the build's own table."""

    def change(package: Path) -> None:
        file = package / "flows" / flow / f"{module}.py"
        source = file.read_text(encoding="utf-8")
        assert source.count(PINNED) == 1
        source = source.replace(PINNED, OWN).replace("import wording_of", "import compiled")
        imports = "from ordain.wording.languages import shipped_table\nfrom ordain.wording.wording"
        file.write_text(source.replace("from ordain.wording.wording", imports), encoding="utf-8")

    return change


def verdicts(home: Path, change: Callable[[Path], None], *names: str) -> dict[str, Any]:
    """What a build with this change makes of the goldens of these names, of all where there is
    none; and its table.
    """
    package = Path(
        shutil.copytree(PACKAGE, home / "ordain")
    )  # compiled modules too: all but one hold
    change(package)
    done = subprocess.run(
        [sys.executable, "-m", "tests.replay.verdicts", *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def as_built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an unchanged copy of this build makes of the goldens in words of one's own."""
    return verdicts(tmp_path_factory.mktemp("same"), as_it_is, *OWN_WORDS)["found"]


@pytest.mark.parametrize("change", [without_phrases, with_others])
def test_any_phrase_may_go_or_come(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """All may go, and those that matter may come under another sign: every golden run and session
    replays equal, and is read as it was.
    """
    told = verdicts(tmp_path, change)
    assert told["table"] != shipped_table().digest
    assert {(name, *one["runs"]) for name, one in told["found"].items()} == {
        (name, "equal") for name in told["found"]
    }
    talks = [one for one in told["found"].values() if "session" in one]
    assert {(one["session"], one["flips"]) for one in talks} == {("equal", 0)}
    assert "words" in told["found"]


@pytest.mark.parametrize(
    ("flow", "module", "golden"),
    [
        ("question", "v3", OWN_WORDS[0]),
        ("triage", "v5", OWN_WORDS[0]),
        ("question", "flow", OWN_WORDS[1]),
        ("triage", "flow", OWN_WORDS[1]),
    ],
)
def test_the_law_notices_a_flow_that_reads_the_builds_own_table(
    tmp_path: Path, as_built: dict[str, Any], flow: str, module: str, golden: str
) -> None:
    """A golden conversation in words of one's own does not replay there, of whichever version of
    the flow; as the build is, it does.
    """
    told = verdicts(tmp_path / "mutant", reading_its_own(flow, module), golden)["found"][golden]
    assert "equal" in told["runs"]
    assert len(told["runs"]) > 1
    assert as_built[golden]["runs"] == ["equal"]
