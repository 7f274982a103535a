"""``ordain workflows``: what there is, what of it is not here, and what is wrong with a file as it
is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from tests.shapes.workflows import TEXT, step, template, write_templates

Said = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON, else as
    text.
    """

    def run(*arguments: str, as_json: bool = True) -> tuple[int, Any]:
        code = main(
            ["workflows", *arguments, "--data-dir", str(tmp_path), *(["--json"] if as_json else [])]
        )
        said = capsys.readouterr()
        return code, json.loads(said.out) if as_json and said.out else said.out + said.err

    return run


def test_the_list_says_what_is_not_here(run: Said, tmp_path: Path) -> None:
    """A verb that the settings do not name, one that is not configured, one that no build has yet;
    an own template stands beside the shipped ones.
    """
    write_templates(tmp_path, {"announce": template("announce", [step("math.evaluate")])})
    code, found = run("list")
    assert code == 0
    assert {one["id"]: one["unavailable"] for one in found["workflows"]} == {
        "announce": [],
        "complete_task": [],
        "delegate_to_agent": [],
        "draft_email": [],
        "lookup_weather": ["[workflows.verbs] weather"],
        "search_web": ["[workflows.verbs] search"],
        "send_email": ["mail.send"],
    }
    (tmp_path / "ordain.toml").write_text('[workflows.verbs]\nsearch = "research.search"\n')
    assert {one["id"]: one["unavailable"] for one in run("list")[1]["workflows"]}[
        "search_web"
    ] == []
    code, said = run("list", as_json=False)
    assert (code, "announce, for tests." in said) == (0, True)


def test_a_template_is_shown_with_its_steps(run: Said) -> None:
    """Arguments and steps; of what there is not, that there is none."""
    code, found = run("show", "complete_task")
    assert (code, found["version"], found["steps"]) == (
        0,
        1,
        [{"verb": "thread.close", "args": {"note": {"$arg": "note"}}}],
    )
    assert found["arguments"]["additionalProperties"] is False
    code, said = run("show", "send_email", as_json=False)
    assert (code, "not here: mail.send" in said) == (0, True)
    code, said = run("show", "no_such", as_json=False)
    assert code != 0
    assert "there is no workflow no_such" in said


def test_lint_tells_every_problem_with_its_line(run: Said, tmp_path: Path) -> None:
    """An error is a refusal at load; a warning is what would be refused when it is suggested."""
    write_templates(
        tmp_path,
        {
            "odd": template("odd", [{"verb": "math.evaluate", "args": {"sum": {"$arg": "text"}}}]),
            "gone": template("gone", [step("no.such")]),
            "number": template("number", [{"verb": "math.evaluate", "args": {"expression": 5}}]),
            "part": {
                key: value
                for key, value in template("part", [step("note")]).items()
                if key != "description"
            }
            | {"note": 1, "steps": [{"verb": {"$arg": "text"}}]},
            "away": template(
                "away", [step("math.evaluate")], text={"$ref": "https://example.org/x"}
            ),
            "loose": template(
                "loose",
                [{"verb": "math.evaluate", "args": {"expression": {"$arg": "text"}}}],
                text=TEXT,
                more=TEXT,
            ),
        },
    )
    (tmp_path / "workflows" / "torn.yaml").write_text("id: torn\nversion: 1\nversion: 2\n")
    code, found = run("lint")
    said = {(Path(one["file"]).stem, one["severity"], one["message"]) for one in found["findings"]}
    assert code == 1
    assert {
        message for name, severity, message in said if (name, severity) == ("odd", "error")
    } == {
        "verb math.evaluate has no argument sum",
        "verb math.evaluate needs argument expression",
    }
    assert [message for name, _, message in said if name == "number" and "take" in message] == [
        'argument expression of math.evaluate does not take this: 5 is not of type "string"'
    ]
    assert {message for name, _, message in said if name == "part"} == {
        "description is missing",
        "note: there is no such key",
        (
            "steps.0.verb is a verb's id, or {$verb: name}, which the settings fill in: no "
            "argument "
            "names a verb"
        ),
    }
    assert [message for name, _, message in said if name == "away"] == [
        "schema is no JSON Schema: it refers outside itself: https://example.org/x"
    ]
    assert (
        "gone",
        "warning",
        "no.such names no verb of this house: the workflow is refused (tool_unavailable)",
    ) in said
    assert ("loose", "warning", "no step uses argument more") in said
    assert [one["line"] for one in found["findings"] if "torn" in one["file"]] == [3]


@pytest.mark.parametrize(
    "name",
    [
        "search_web",
        "lookup_weather",
        "draft_email",
        "send_email",
        "complete_task",
        "delegate_to_agent",
    ],
)
def test_no_shipped_template_has_an_error(run: Said, name: str) -> None:
    """What is missing here is a warning."""
    code, found = run("lint", name)
    assert code == 0, found
