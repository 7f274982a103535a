"""After the first set-up nothing needs a network: the demo runs where there is none but
loopback.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALONE = ("unshare", "-rn", "sh", "-c")


def test_an_environment_of_another_folder_is_left_alone(tmp_path: Path) -> None:
    """Where .venv is a link to an environment that was set up elsewhere, nothing of that is touched
    and the set-up says why.
    """
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "kept").write_text("kept", encoding="utf-8")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".venv").symlink_to(other)
    (tree / "locks").symlink_to(ROOT / "locks")
    (tree / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    script = f"source {ROOT / 'scripts' / 'setup.sh'} && set_up"
    done = subprocess.run(
        ("bash", "-c", script), cwd=tree, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 1
    assert ".venv is a link" in done.stderr
    assert (other / "kept").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("lock", ["dev", "demo"])
def test_what_is_pinned_is_installed_by_the_pip_that_is_pinned(lock: str) -> None:
    """A new environment begins with the pip of the lock, with all its hashes and nothing else: a
    Python's own may be years old, and took twice the time of the pinned one to choose what to
    download.
    """
    done = _sourced(f"pinned_pip {lock}")
    pinned = (ROOT / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    first, *hashes = done.splitlines()
    assert first.startswith("pip==")
    assert done in pinned
    assert hashes
    assert all(line.startswith("    --hash=sha256:") for line in hashes)
    assert not done.rstrip("\n").endswith("\\")


def test_a_python_is_known_by_its_own_path(tmp_path: Path) -> None:
    """Where a script stands on the path in place of a Python, the Python behind it is asked from
    then on: each question to such a script took a quarter of a second.
    """
    shim = tmp_path / "python3.11"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    assert _sourced("find_python", PATH=f"{tmp_path}:{os.environ['PATH']}") == f"{sys.executable}\n"


def _sourced(command: str, **more: str) -> str:
    script = f"source {ROOT / 'scripts' / 'setup.sh'} && {command}"
    environment = {name: value for name, value in os.environ.items() if name != "ORDAIN_PYTHON"}
    return subprocess.run(
        ("bash", "-c", script),
        cwd=ROOT,
        env=environment | more,
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    ).stdout


def test_the_demo_shows_a_true_story_without_a_network() -> None:
    """``./demo`` ends with 0 where there is no network but loopback: the quoted answer and three
    facts shown, nudge and override answered, a council and a delegation after its yes, all replayed
    equal, and the command that approves what waits does.
    """
    # where this machine has no such place, or would have to set up first, the demo is played as it
    # is
    alone = not subprocess.run(
        (*ALONE, "ip link set lo up"), capture_output=True, check=False
    ).returncode
    set_up = not (ROOT / ".venv").is_symlink() and (ROOT / ".venv" / "set-up").exists()
    command = (
        (*ALONE, "ip link set lo up && ./demo")
        if alone and set_up
        else (sys.executable, str(ROOT / "examples" / "demo.py"))
    )
    # not another one that is found first, which would be set up in place of ours
    ours = {**os.environ, "ORDAIN_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=ROOT, env=ours, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Quoted from the result of extract_facts, not analysed:" in done.stdout
    assert (
        "1. Alice lives in Paris.\n2. Alice works at Acme Corp.\n3. Alice's manager is Bob.\n"
        in done.stdout
    )
    assert done.stdout.count("2 of 2 runs replay equal") == 2
    for shown in (
        "status@2 · completed",
        "✗ override by user:you",
        "It is 54.",
        "7 of 7 runs replay equal",
        "1 of 1 sessions verify",
    ):
        assert shown in done.stdout
    for shown in (
        "Open on four Sunday afternoons",
        "✓ agent.finance_agent",
        "wait approved",
        "The till took 3785 EUR",
        "10 of 10 runs replay equal",
    ):
        assert shown in done.stdout
    for notice in ("offline rules, no language model", "scripted proposals, no language model"):
        assert notice in done.stdout
    assert "waiting for somebody who may approve: announce@1: mail.draft, board.post" in done.stdout
    approve = done.stdout.splitlines()[-1]
    assert approve.startswith(".venv/bin/ordain approvals approve ")
    folder = Path(approve.rpartition(" ")[2])
    try:
        command = (sys.executable, "-m", "ordain", *approve.split()[1:])
        said = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
        )
        assert (said.returncode, "is completed" in said.stdout) == (0, True), (
            said.stdout + said.stderr
        )
        assert (folder / "board.txt").read_text(encoding="utf-8") == "everybody: Tea is at four.\n"
    finally:
        shutil.rmtree(folder)
    if not alone:
        pytest.skip(
            "the demo is true, but this machine refuses network namespaces (unshare -rn): it was "
            "not shown without a network"
        )
    if not set_up:
        pytest.skip(
            "the demo is true, but the environment was not set up by ./check or ./demo: ./demo "
            "would begin with a download"
        )
