"""Command lines that people are told to run next name the folder that this one names."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordain.cli.entry import main
from ordain.cli.groups import GROUPS
from ordain.cli.hints import in_folder, named_folder
from ordain.cli.output import with_places
from ordain.contracts.remedies import NO_MODEL
from ordain.contracts.visible import visible_line

SAID = "do `ordain runs list`, see ordain doctor says which, or: ordain init --replace"
CLI = Path(__file__).parents[3] / "src" / "ordain" / "cli"


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDAIN_HOME", str(tmp_path / "default"))


@pytest.mark.parametrize(
    "given",
    [["--data-dir", "/a b"], ["--data-dir=/a b"], ["-x", "--data-dir", "/x", "--data-dir", "/a b"]],
)
def test_the_folder_stands_in_every_line(given: list[str]) -> None:
    """Behind the command's name, as a shell reads it; once."""
    with named_folder(["runs", *given]):
        told = in_folder(SAID)
        assert in_folder(told) == told
    assert told == (
        "do `ordain runs list --data-dir '/a b'`, see ordain doctor --data-dir '/a b' says which, "
        "or: ordain init --data-dir '/a b' --replace"
    )
    assert in_folder(SAID) == SAID


def test_nothing_is_said_of_the_default(tmp_path: Path) -> None:
    """Neither where none is named, nor where it is the one that is meant anyway; what stands behind
    -- names none.
    """
    for given in (
        [],
        ["--data-dir", str(tmp_path / "default")],
        ["--data-dir"],
        ["chat", "--", "--data-dir", "/x"],
    ):
        with named_folder(given):
            assert in_folder(SAID) == SAID


@pytest.mark.parametrize("odd", ["\\1", "it's", "$(x)", "a;b", "ä", "-dash"])
def test_any_folder_is_quoted(odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell reads what was given, wherever it stands: the folder is told from the root."""
    monkeypatch.chdir(tmp_path)
    with named_folder([f"--data-dir={odd}"]):
        told = in_folder("ordain store compact")
    assert shlex.split(told) == ["ordain", "store", "compact", "--data-dir", f"{tmp_path}/{odd}"]


def test_a_folder_of_somebodys_home_is_told_from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """In quotation marks no shell knows whose home it is."""
    monkeypatch.setenv("HOME", "/srv/ada")
    with named_folder(["--data-dir", "~/x"]):
        assert in_folder("ordain init") == "ordain init --data-dir /srv/ada/x"


@pytest.mark.parametrize("odd", ["a\x1b[2Jb", "a\u200bb", "a\udcffb", "a  b"])
def test_a_folder_that_is_not_seen_is_told_by_numbers(odd: str) -> None:
    """What is told passes every place that shows foreign text, and bash reads the folder's name in
    it.
    """
    with named_folder(["--data-dir", f"/srv/{odd}"]):
        told = visible_line(in_folder("ordain init"), 1000)
    line = os.fsencode(told).replace(b"ordain init --data-dir", b"printf %s")
    assert subprocess.run(
        ["bash", "-c", line], check=True, capture_output=True
    ).stdout == os.fsencode(f"/srv/{odd}")


def test_a_server_elsewhere_is_set_up_there() -> None:
    """A hint of its answers is no command for this machine; what this command says by itself is."""
    with named_folder(["chat", "--url", "https://ordain.example"]):
        assert with_places(NO_MODEL) == f"{NO_MODEL} (on the server's machine)"
        assert in_folder(NO_MODEL) == NO_MODEL
    with named_folder(["chat", "--data-dir", "/x"]):
        assert with_places(NO_MODEL) == f"{NO_MODEL} --data-dir /x"


@pytest.mark.parametrize(
    "words",
    ["ordain backup", "ordain restore FILE", "ordain is", "coordain init", "ordain initial"],
)
def test_other_words_stay(words: str) -> None:
    """What copies a folder says itself which one, and not every word is a command."""
    with named_folder(["--data-dir", "/x"]):
        assert in_folder(words) == words


def test_every_group_is_known() -> None:
    """A new group of commands is one here, too."""
    with named_folder(["--data-dir", "/x"]):
        for group in (*GROUPS, "runs", "sessions"):
            if group != "seats":
                assert in_folder(f"ordain {group} list") == f"ordain {group} list --data-dir /x"


def test_an_error_names_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also one that is made where nobody knows of command lines."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "ordain.toml").write_text(
        '[models.small]\nprovider = "local"\nmodel = "smollm2"\n'
    )
    assert main(["init", "--use", "offline", "--data-dir", str(tmp_path / "own")]) == 1
    assert f"ordain models list --data-dir {tmp_path}/own shows" in capsys.readouterr().err


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What a module prints or yields, and what it says: texts outside of docstrings and errors,
    which are placed where they are told.
    """
    placing = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _name(call) == "in_folder"
        for inner in ast.walk(call)
    }
    raised = {
        id(inner)
        for one in ast.walk(tree)
        if isinstance(one, ast.Raise | ast.Assign)
        for inner in ast.walk(one)
    }
    shown = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _name(call) in ("show", "notice")
        for inner in ast.walk(call)
    }
    for one in ast.walk(tree):
        if (
            isinstance(one, ast.Constant)
            and isinstance(one.value, str)
            and id(one) in shown
            and not {id(one)} & (placing | raised)
        ):
            yield one, one.value


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def test_what_is_shown_is_placed() -> None:
    """No module of the command shows a line to run next but through ``in_folder``."""
    found = [
        f"{file.name}: {said}"
        for file in sorted(CLI.glob("*.py"))
        for _, said in texts(ast.parse(file.read_text(encoding="utf-8")))
        if re.search(r"\bordain (?!is\b)[a-z]+ ?[a-z]*", said) and "pip install" not in said
    ]
    assert found == []
