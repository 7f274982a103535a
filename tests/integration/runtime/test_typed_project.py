"""The sample project of ``examples/typed-project``: it runs, and a strict type checker has nothing
to say.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ordain

PROJECT = Path(__file__).resolve().parents[3] / "examples" / "typed-project"


def test_it_runs(tmp_path: Path) -> None:
    """What it prints comes from attributes of the offer that it asked for."""
    done = subprocess.run(
        [sys.executable, str(PROJECT / "offer.py")],
        env={**os.environ, "ORDAIN_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stdout) == (0, "10.00 EUR ok\n"), done.stderr


def test_its_tests_need_no_plugin(tmp_path: Path) -> None:
    """Its fixture gives each test an Ordain of its own, with pytest alone: anyio, which Ordain
    brings, runs what is async.
    """
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    without = [f"no:{plugin}" for plugin in ("asyncio", "randomly", "timeout", "cacheprovider")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *(word for one in without for word in ("-p", one))],
        cwd=tmp_path,
        env={**os.environ, "ORDAIN_HOME": str(tmp_path), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stdout.split("\n")[-2][:8]) == (0, "2 passed"), done.stdout


def test_a_strict_checker_knows_what_comes_back(tmp_path: Path) -> None:
    """Strict pyright finds nothing, its tests included, and reveals the very type that was asked for: no ``Any`` hides
    behind it.
    """
    assert (Path(ordain.__file__).parent / "py.typed").is_file()
    source = (PROJECT / "offer.py").read_text(encoding="utf-8")
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    (tmp_path / "offer.py").write_text(
        source.replace(
            "        offer: Offer = ", "        reveal_type(result)\n        offer: Offer = "
        )
    )
    settings = {
        "typeCheckingMode": "strict",
        "include": ["*.py"],
        "extraPaths": [str(Path(ordain.__file__).parents[1])],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "pyright",
            "--outputjson",
            "--pythonpath",
            sys.executable,
            "--project",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    told = json.loads(checked.stdout)["generalDiagnostics"]
    assert [one["message"] for one in told if one["severity"] != "information"] == []
    assert [one["message"] for one in told] == ['Type of "result" is "PlanResult[Offer]"']
