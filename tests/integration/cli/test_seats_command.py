"""``ordain seats``: who speaks in a council, and what is wrong with a seat as it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from ordain.verbs.council.folder import SEATS

Said = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON, else as
    text.
    """

    def run(*arguments: str, as_json: bool = True) -> tuple[int, Any]:
        code = main(
            ["seats", *arguments, "--data-dir", str(tmp_path), *(["--json"] if as_json else [])]
        )
        said = capsys.readouterr()
        return code, json.loads(said.out) if as_json and said.out else said.out + said.err

    return run


def written(home: Path, text: str, name: str = "Skeptic") -> Path:
    """The file of a seat."""
    file = home / "council" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_the_list_has_every_seat(run: Said, tmp_path: Path) -> None:
    """Shipped ones and those of the folder, each as whose it is; of a file that is none, its
    place.
    """
    written(
        tmp_path, "name: Skeptic\nrole_description: Asks what is not known.\nuniverse: safety\n"
    )
    code, found = run("list")
    assert code == 0
    told = {one["name"]: (one["universe"], one["shipped"]) for one in found["seats"]}
    assert (set(told), told["Skeptic"]) == ({*SEATS.shipped(), "Skeptic"}, ("safety", False))
    assert "Asks what is not known." in run("list", as_json=False)[1]
    written(tmp_path, "name: Skeptic\ntemperature: warm\n")
    code, said = run("list", as_json=False)
    assert (code != 0, "Skeptic.yaml:2: temperature: " in said) == (True, True)


def test_lint_tells_every_problem_with_its_line(run: Said, tmp_path: Path) -> None:
    """An error is a refusal at load, of one or of too many; a warning is what leaves a seat
    nobody.
    """
    written(tmp_path, "name: Skeptic\ntemperature: 0.2\n")
    assert run("lint")[0] == 0
    assert run("lint", "--strict")[0] == 1
    shipped = next(iter(SEATS.shipped()))
    written(tmp_path, f"name: {shipped}\nweight: 1000\n", shipped)
    code, found = run("lint", shipped)
    assert (code, found["errors"], {one["line"] for one in found["findings"]}) == (1, 2, {1, 2})
    code, said = run("lint", "nobody", as_json=False)
    assert (code != 0, "there is no seat nobody" in said) == (True, True)
    (tmp_path / "council" / f"{shipped}.yaml").unlink()
    for number in range(SEATS.most):
        written(tmp_path, f"name: s{number}\nrole_description: One of many.\n", f"s{number}")
    code, found = run("lint")
    assert f"more than {SEATS.most} seats: none of them is taken up" in [
        one["message"] for one in found["findings"]
    ]
    assert code == 1


def test_lint_makes_no_lines_of_a_file_s_name(run: Said, tmp_path: Path) -> None:
    """A line's end in it stands there by its number, as in every command that lints; a name that
    was asked for likewise.
    """
    written(tmp_path, "name: Skeptic\n", "Skep\nno such error: 1")
    code, said = run("lint", as_json=False)
    assert (code, said.count("Skep\\nno such error: 1.yaml:1: error")) == (
        1,
        said.count("error: ") // 2,
    )
    assert not any(line.startswith("no such error") for line in said.splitlines())
    assert r'there is no seat "no\nbody"' in run("lint", "no\nbody", as_json=False)[1]
