"""Loading a folder of verb files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordain.contracts.verbs import TrustClass, VerbEffect
from ordain.errors import ConfigurationError
from ordain.runtime.reloader import MESSAGE_MAX, problem_of
from ordain.verbs.folder import FILE_BYTES_MAX, load_folder

VERB = """\
name: {name}
description: Says what it is told.
effect: read
services: [LLMGatewayService]
plan:
  - name: ask
    order: 0
"""


def write(
    folder: Path, name: str = "tell", extra: str = "", template: str = "{{ input.text | json }}"
) -> Path:
    (folder / f"{name}.yaml").write_text(VERB.format(name=name) + extra)
    (folder / f"{name}_prompt.j2").write_text(template)
    return folder / f"{name}.yaml"


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as error:
        load_folder(folder)
    return error.value.message


def test_a_file_is_a_verb(tmp_path: Path) -> None:
    """A file gives the verb it is named for, with its template; other files are left alone.

    VRB-06 "loads `orion/cognition/verbs/<verb_name>.yaml`"
    """
    write(tmp_path, extra="timeout_ms: 1500\n")
    (tmp_path / "README.md").write_text("about")
    (tmp_path / "below").mkdir()
    loaded = load_folder(tmp_path)
    assert set(loaded.specs) == {"tell"}
    spec = loaded.specs["tell"]
    assert (spec.timeout_ms, spec.effect, spec.prompt_template) == (
        1500,
        VerbEffect.READ,
        "tell_prompt.j2",
    )
    assert loaded.templates == {"tell_prompt.j2": "{{ input.text | json }}"}
    assert loaded.origins["tell"].endswith("tell.yaml")


def test_a_step_may_bring_its_own_template(tmp_path: Path) -> None:
    """A template that only a step names is loaded too."""
    write(tmp_path, extra="  - {name: again, order: 1, prompt_template: again.j2}\n")
    (tmp_path / "again.j2").write_text("{{ previous | json }}")
    loaded = load_folder(tmp_path)
    assert set(loaded.templates) == {"tell_prompt.j2", "again.j2"}


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("surprise: 1\n", "tell.yaml:8: surprise: there is no such key"),
        ("timeout_ms: 0\n", "tell.yaml:8: timeout_ms: should be greater than or equal to 1"),
        ("timeout_ms: '5'\n", "tell.yaml:8: timeout_ms: should be a valid integer"),
        ("category: Magic\n", "tell.yaml:8: category: should be"),
        ("name: tell\n", "tell.yaml:8: duplicate key 'name'"),
        ("interruptible: no\n", "tell.yaml:8: interruptible: should be a valid boolean"),
        (
            "arguments:\n  who: {role: recipient}\n",
            "tell.yaml:9: arguments.who: arguments not in input_schema: who",
        ),
        (
            "  - {name: more, order: 1, shell: rm}\n",
            "tell.yaml:8: plan.1.shell: there is no such key",
        ),
        ("prompt_template: ../tell_prompt.j2\n", "is not the name of a .j2 file beside it"),
        ("prompt_template: /etc/passwd\n", "is not the name of a .j2 file beside it"),
        ("prompt_template: absent.j2\n", "absent.j2: cannot be read: No such file"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, extra: str, says: str) -> None:
    """A file that is no verb is refused with file, line and field."""
    write(tmp_path, extra=extra)
    assert says in refusal(tmp_path)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ input.text", "j2:1: not a template"),
        ("a\n{% include 'secret.j2' %}", "j2:2: a template stands alone"),
        ("{% import 'x' as y %}", "a template stands alone"),
        ("\n\n{{ environment }}", "j2:3: unknown name 'environment'"),
        ("{{ input.text | shell }}", "No filter named 'shell'"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "tell_prompt.j2"),
    ],
)
def test_a_template_is_checked_when_it_is_loaded(tmp_path: Path, template: str, says: str) -> None:
    """A template that could not be rendered later is refused now."""
    write(tmp_path, template=template)
    assert says in refusal(tmp_path)


def test_names_that_a_template_sets_are_known(tmp_path: Path) -> None:
    """Loop variables and set names are no unknown names."""
    write(
        tmp_path,
        template="{% for item in input.items %}{% set text = item %}{{ text }}{% endfor %}",
    )
    assert load_folder(tmp_path).specs


def test_the_file_name_is_the_id(tmp_path: Path) -> None:
    """A file whose verb has another name is refused, so that an id always says where it came
    from.
    """
    write(tmp_path).rename(tmp_path / "ask.yaml")
    assert "ask.yaml:1: name must be 'ask'" in refusal(tmp_path)


def test_a_misspelt_suffix_is_not_overlooked(tmp_path: Path) -> None:
    """A .yml file is an error and not silently no verb."""
    write(tmp_path).rename(tmp_path / "tell.yml")
    assert "is named <verb>.yaml" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["tell.yaml", "tell_prompt.j2"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Neither a verb file nor a template may be a link to somewhere else."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write(inside)
    (inside / name).rename(outside / name)
    (inside / name).symlink_to(outside / name)
    assert "a link that leaves the folder" in refusal(inside)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    """Links inside the folder work: that is how mounted configuration is laid out."""
    write(tmp_path)
    (tmp_path / "v1").mkdir()
    (tmp_path / "tell.yaml").rename(tmp_path / "v1" / "tell.yaml")
    (tmp_path / "tell.yaml").symlink_to(Path("v1") / "tell.yaml")
    assert set(load_folder(tmp_path).specs) == {"tell"}


def test_things_that_are_no_files_are_refused(tmp_path: Path) -> None:
    """A pipe does not hang the loader, a loop of links and a folder do not pass for a file."""
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    assert "cannot be read" in refusal(tmp_path)
    (tmp_path / "loop.yaml").unlink()
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "not a regular file" in refusal(tmp_path)
    (tmp_path / "pipe.yaml").unlink()
    (tmp_path / "dir.yaml").mkdir()
    assert "cannot be read: Is a directory" in refusal(tmp_path)


def test_size_and_encoding_are_limited(tmp_path: Path) -> None:
    """A file over the limit or not UTF-8 is refused before it is parsed."""
    file = write(tmp_path)
    file.write_bytes(b"# " + b"x" * FILE_BYTES_MAX)
    assert "larger than" in refusal(tmp_path)
    file.write_bytes(b"name: tell\nlabel: \xff\n")
    assert "tell.yaml:2: not UTF-8" in refusal(tmp_path)


@pytest.mark.parametrize("text", ["", "- a\n", "just text"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    """An empty file, a list and a text are no verbs."""
    (tmp_path / "tell.yaml").write_text(text)
    assert "a verb file is a mapping" in refusal(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing folder is a configuration error with its name."""
    assert "nowhere" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "said", ["trust_class: native\n", "declared_effect: read\n", "trust_class: plugin\n"]
)
def test_no_file_says_where_it_comes_from(tmp_path: Path, said: str) -> None:
    """What Ordain itself finds of a verb is no key of a file, whatever its value; an operator's
    verb is a skill.
    """
    write(tmp_path, extra=said)
    assert "which no file says" in refusal(tmp_path)
    write(tmp_path)
    assert load_folder(tmp_path).specs["tell"].trust_class is TrustClass.SKILL


HOSTILE = {
    "anchors": "a: &a [x, x]\nb: [*a, *a, *a]\n",
    "tag": "name: !!python/object/apply:os.system [id]\n",
    "merge": "<<: {effect: read}\n",
    "two documents": "name: tell\n---\nname: other\n",
    "deep": "input_schema: " + "{a: " * 200 + "1" + "}" * 200 + "\n",
    "deep in short": "[" * 100_000,
    "control": "name: \x00tell\n",
    "number": "timeout_ms: 1" + "0" * 400 + "\n",
    "nan": "timeout_ms: .nan\n",
    "line end in the id": 'name: "tell\\n"\n',
    "line end in a tool": 'name: tell\ndescription: d\neffect: read\nreconcile: "a\\nb"\n',
    "effect": "name: tell\ndescription: d\neffect: [read]\n",
    "long description": "name: tell\neffect: read\ndescription: " + "d" * 5000 + "\n",
    "many scopes": "name: tell\neffect: read\ndescription: d\nscopes: ["
    + ", ".join(["memory"] * 5000)
    + "]\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_typed(tmp_path: Path, text: str) -> None:
    """Whatever a file holds it is a verb or a typed refusal that names it, never another exception,
    and nothing of it is run.
    """
    (tmp_path / "tell.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"tell\.yaml") as error:
        load_folder(tmp_path)
    assert error.value.code in {"invalid_verb", "invalid_yaml"}
    assert len(problem_of(error.value).message) <= MESSAGE_MAX


def test_a_name_with_line_ends_makes_no_lines(tmp_path: Path) -> None:
    """A file may be named so that its name reads as lines of a log: it is refused, and what is told
    of it is one line.
    """
    (tmp_path / "tell\nERROR all is well\x1b[2K.yaml").write_text("name: tell\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        load_folder(tmp_path)
    problem = problem_of(error.value)
    assert problem.message.isprintable()
    assert problem.file.isprintable()
