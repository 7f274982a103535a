"""The built wheel: installed into an empty environment it runs the README's example and the
command.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run to the end; what it printed on failure is shown."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "OPENAI", "ORDAIN", "COV"))
    }
    done = subprocess.run(
        command,
        env={**clean, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel; its dependencies are lent from this one, so that
    no network is needed.
    """
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("ordain-*.whl")
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        wheel,
    )
    return python


def lent(installed: Path) -> dict[str, str]:
    """What the wheel may need, for its interpreter: of this environment's packages those that
    ``locks/runtime.txt`` pins, and no other.
    """
    folder = installed.parents[2] / "lent"
    if not folder.exists():
        folder.mkdir()
        for name in re.findall(
            r"^([a-z0-9_.-]+)==",
            (ROOT / "locks" / "runtime.txt").read_text(encoding="utf-8"),
            re.MULTILINE,
        ):
            try:
                distribution = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                continue  # pinned for another platform
            for top in {
                file.parts[0]
                for file in distribution.files or ()
                if file.parts[0] not in {"..", "__pycache__"}
            }:
                if not (folder / top).exists():
                    (folder / top).symlink_to(Path(str(distribution.locate_file(top))))
    return {"PYTHONPATH": str(folder)}


def test_the_wheel_runs_the_readmes_lines(installed: Path, tmp_path: Path) -> None:
    """The README's example runs from the installed wheel and prints a header of a completed run,
    which then replays equal.
    """
    (example,) = re.findall(
        r"```python\n(import asyncio\nfrom ordain.*?)```",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    printed = run(installed, "-c", example, ORDAIN_HOME=str(tmp_path), **lent(installed)).stdout
    assert "planner@5 · completed · ok" in printed
    assert "✓ count_words" in printed
    where = run(installed, "-c", "import ordain; print(ordain.__file__)", **lent(installed)).stdout
    assert str(installed.parents[1]) in where
    replayed = run(
        installed.with_name("ordain"),
        "replay",
        "--all",
        ORDAIN_HOME=str(tmp_path),
        **lent(installed),
    ).stdout
    assert "1 of 1 runs replay equal" in replayed


def test_the_wheel_carries_its_data(installed: Path, tmp_path: Path) -> None:
    """The installed command finds the shipped verbs, prompts and policy, and says its version."""
    ordain = installed.with_name("ordain")
    assert (
        "extract_facts"
        in run(ordain, "verbs", "list", ORDAIN_HOME=str(tmp_path), **lent(installed)).stdout
    )
    assert run(ordain, "--version", **lent(installed)).stdout == "ordain 0.1.0\n"
