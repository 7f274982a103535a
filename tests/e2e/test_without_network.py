"""After the first set-up nothing needs a network: the demo runs where there is none but loopback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALONE = ("unshare", "-rn", "sh", "-c")


def test_an_environment_of_another_folder_is_left_alone(tmp_path: Path) -> None:
    """Where .venv is a link to an environment that was set up elsewhere, nothing of that is touched and the set-up says why."""
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "kept").write_text("kept", encoding="utf-8")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".venv").symlink_to(other)
    (tree / "locks").symlink_to(ROOT / "locks")
    (tree / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    script = f"source {ROOT / 'scripts' / 'setup.sh'} && set_up"
    done = subprocess.run(("bash", "-c", script), cwd=tree, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 1
    assert ".venv is a link" in done.stderr
    assert (other / "kept").read_text(encoding="utf-8") == "kept"


def test_the_demo_runs_without_a_network() -> None:
    """``./demo`` in a network namespace with loopback alone ends well: both providers named, headers equal, replays equal."""
    if subprocess.run((*ALONE, "ip link set lo up"), capture_output=True, check=False).returncode:
        pytest.skip("this machine refuses network namespaces (unshare -rn): the demo without a network is not shown here")
    if (ROOT / ".venv").is_symlink() or not (ROOT / ".venv" / "set-up").exists():
        pytest.skip("the environment was not set up by ./check or ./demo, so that the demo would begin with a download")
    done = subprocess.run((*ALONE, "ip link set lo up && ./demo"), cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "offline rules, no language model" in done.stdout
    assert "scripted proposals, no language model" in done.stdout
    assert done.stdout.count("2 of 2 runs replay equal") == 2
