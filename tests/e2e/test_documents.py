"""What the README, the demo and the test documents promise, run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.proposals import EXAMPLES, SEEDS

ROOT = EXAMPLES.parent
CHANGING = re.compile(r"\b[0-9a-f]{32}\b|\b\d+\+\d+ tokens\b|\b\d+ ms\b")


def blocks(document: Path, language: str) -> list[str]:
    """The code blocks of a Markdown file."""
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)


def test_the_readmes_lines_print_what_it_says(tmp_path: Path) -> None:
    """The README's example runs as printed, and its output is the one shown but for ids, token
    counts and milliseconds.
    """
    (program,), (shown,) = blocks(ROOT / "README.md", "python"), blocks(ROOT / "README.md", "text")
    environment = {**os.environ, "ORDAIN_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert CHANGING.sub("…", done.stdout) == CHANGING.sub("…", shown)
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def test_the_example_request_is_the_sources_own() -> None:
    """The request in examples/ is the sources' minimal one, to the byte."""
    assert (EXAMPLES / "extract_facts.json").read_bytes() == (
        SEEDS / "extract_facts_plan_minimal.json"
    ).read_bytes()


def test_the_planners_tests_are_documented() -> None:
    """TST-02 "minimal happy path · multi-tool chaining · error/timeout (bad verb, offline orch)":
    the page beside them names tests that exist.
    """
    page = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    tests = {
        name: path.name
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text())
    }
    for heading in ("Minimal happy path", "Multi-tool chaining", "Error and timeout"):
        section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        named = re.findall(r"`(test_\w+)`", section)
        assert named
        assert set(named) <= set(tests), set(named) - set(tests)
