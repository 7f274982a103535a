"""Loading a folder of workflow templates: whole or not at all, by file and line, whatever somebody
wrote into it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.verbs.folder import FILE_BYTES_MAX
from ordain.verbs.workflow.folder import WORKFLOWS, shipped_workflows
from tests.shapes.workflows import step, template, write_templates
from tests.unit.verbs.test_yaml_document import REFUSED

TEXT = """\
id: announce
version: 1
description: Say it.
schema:
  type: object
  properties: {text: {type: string}}
  required: [text]
  additionalProperties: false
steps:
  - verb: note
    args: {text: {$arg: text}}
"""


def written(home: Path, text: str = TEXT, name: str = "announce.yaml") -> Path:
    (home / name).write_text(text)
    return home


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as error:
        WORKFLOWS.load(folder)
    assert error.value.code == "invalid_workflow"
    return error.value.message


def test_a_file_is_a_template(tmp_path: Path) -> None:
    """It gives the template it is named for; what has another suffix is left alone."""
    written(tmp_path)
    (tmp_path / "README.md").write_text("about")
    (found,) = WORKFLOWS.load(tmp_path).values()
    assert (found.id, found.version, [call.named for call in found.calls]) == (
        "announce",
        1,
        ["note"],
    )
    assert found.steps[0].args_of({"text": "tea"}) == {"text": "tea"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("version: 1", "version: '1'", "announce.yaml:2: version: should be a valid integer"),
        ("id: announce", "id: other", "announce.yaml:1: id must be 'announce'"),
        (
            "additionalProperties: false",
            "additionalProperties: true",
            "announce.yaml:4: schema: additionalProperties is false",
        ),
        (
            "{$arg: text}",
            "{$arg: txt}",
            "announce.yaml:11: steps.0.args.text: schema has no argument 'txt'",
        ),
        (
            "verb: note",
            "verb: note\n    when: always",
            "announce.yaml:11: steps.0.when: there is no such key",
        ),
        ("verb: note", "verb: {$arg: text}", "announce.yaml:10"),
        ("type: string", "type: text", "schema"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    """File, line and field."""
    assert says in refusal(written(tmp_path, TEXT.replace(old, new)))


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_yaml_is_no_template(tmp_path: Path, name: str) -> None:
    """Bombs, tags, anchors and the rest are refused by name and line, in bounded work."""
    assert "announce.yaml:" in refusal(written(tmp_path, REFUSED[name][0]))


@pytest.mark.parametrize("text", ["", "[]", "a: [1, 2", "text"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    """Whatever else it is."""
    assert "announce.yaml" in refusal(written(tmp_path, text))


def test_names_with_line_ends_and_misspelt_ones_are_refused(tmp_path: Path) -> None:
    """A file whose name is no template's id is no template; one that ends otherwise is not
    overlooked.
    """
    written(tmp_path, TEXT.replace("id: announce", 'id: "a\\nb"'), "a\nb.yaml")
    assert "String should match pattern" in refusal(tmp_path)
    (tmp_path / "a\nb.yaml").unlink()
    written(tmp_path, name="announce.yml")
    assert "a template is named <id>.yaml" in refusal(tmp_path)


def test_what_is_no_file_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A link out of it, a pipe, a folder, and what is too large."""
    (tmp_path / "secret").write_text(TEXT)
    folder = tmp_path / "workflows"
    folder.mkdir()
    for made, says in (
        (
            lambda place: place.symlink_to(tmp_path / "secret"),
            "a link that leaves the folder is refused",
        ),
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "not a regular file"),
        (lambda place: place.write_text("# " + "x" * FILE_BYTES_MAX), "larger than"),
    ):
        place = folder / "announce.yaml"
        made(place)
        assert says in refusal(folder) or "cannot be read" in refusal(folder)
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()


def test_a_folder_has_so_many_templates_at_most(tmp_path: Path) -> None:
    """Nobody reads more."""
    for number in range(WORKFLOWS.most + 1):
        (tmp_path / f"t{number}.yaml").write_text("")
    assert f"more than {WORKFLOWS.most} templates" in refusal(tmp_path)


def test_a_shipped_template_is_nobodys_to_change(tmp_path: Path) -> None:
    """A file with its id is refused; without a folder there are the shipped ones alone."""
    assert WORKFLOWS.of(tmp_path / "nowhere") == dict(shipped_workflows())
    write_templates(tmp_path, {"send_email": template("send_email", [step("note")])})
    with pytest.raises(
        ConfigurationError, match="send_email is a shipped template: give it another id"
    ):
        WORKFLOWS.of(tmp_path / "workflows")
    (tmp_path / "workflows" / "send_email.yaml").unlink()
    write_templates(tmp_path, {"announce": template("announce", [step("note")])})
    assert set(WORKFLOWS.of(tmp_path / "workflows")) == {*shipped_workflows(), "announce"}
