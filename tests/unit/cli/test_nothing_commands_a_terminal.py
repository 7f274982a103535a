"""What the command prints for programs and writes to its log: no character of it commands whoever
reads it in a terminal.
"""

from __future__ import annotations

import ast
import errno
import json
import logging
import sys
from pathlib import Path

import pytest

from ordain.cli import commands
from ordain.cli.chat_lines import LineChat
from ordain.cli.entry import main
from ordain.cli.logs import SealedFormatter
from ordain.runtime.seal import Seal
from tests.unit.contracts.test_visible import hidden

CLI = Path(__file__).parents[3] / "src" / "ordain" / "cli"
POISON = "p\x1b[2J\x00\x7f\u202e\u200bz"


def test_json_for_programs_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """A line of JSON is exact when it is parsed, and nothing in its bytes commands."""
    LineChat._print_json({"text": POISON})
    told = capsys.readouterr().out
    assert json.loads(told) == {"text": POISON}
    assert told.strip().isprintable()


def test_what_is_printed_passes_what_makes_it_visible() -> None:
    """No module of the command prints words with something put into them, but through a function
    that makes them visible.
    """
    # those that make it so, and a line that is drawn over itself
    own = {"output.py", "entry.py", "library.py"}
    found = [
        f"{file.name}:{call.lineno}"
        for file in sorted(CLI.glob("*.py"))
        if file.name not in own
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "print"
        and any(isinstance(argument, ast.JoinedStr) for argument in call.args)
    ]
    assert found == []


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_error_names_what_is_wrong_visibly(
    capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    """An argument that does not fit comes back in the error without doing anything."""
    assert main(["plan", f"/nowhere/{POISON.replace(chr(0), '')}", *more]) != 0
    told = capsys.readouterr().err
    assert "nowhere" in told
    assert not hidden(told.replace("\n", " "))


@pytest.mark.parametrize(
    "arguments",
    [["{}"], ["--{}"], ["runs", "{}"], ["runs", "list", "--limit", "{}"], ["chat", "--{}=1"]],
)
def test_a_wrong_argument_is_named_visibly(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Also one that no command takes."""
    assert main([argument.format(POISON.replace(chr(0), "")) for argument in arguments]) == 2
    told = capsys.readouterr().err
    assert told.endswith("[usage]\n")
    assert not hidden(told.replace("\n", " "))


@pytest.mark.parametrize(
    "arguments", [["chat", "--session", "x\u200by", "hi"], ["runs", "x\u200by"]]
)
def test_what_shows_nothing_is_told_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """A blank in its place would be another argument."""
    assert main([*arguments, "--data-dir", str(tmp_path)]) == 2
    assert "x[U+200B]y" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_error_is_told_where_nothing_can_be_imported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """As where no file can be opened any more: one line in ASCII, or JSON."""
    monkeypatch.setitem(sys.modules, "ordain.contracts.visible", None)
    monkeypatch.setattr(commands, "app", _no_files)
    assert main(["verbs", "list", *more]) == 3
    told = capsys.readouterr().err
    assert told.isascii()
    if more:
        assert json.loads(told)["error"] == {"code": "io", "message": "/n: Too many open files"}
    else:
        assert told == "ordain: /n: Too many open files [io]\n"


def _no_files(*_: object, **__: object) -> int:
    raise OSError(errno.EMFILE, "Too many open files", "/n")


def test_a_log_line_commands_nothing() -> None:
    """Whatever library logs whatever text: it is shown."""
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "said %s", (POISON,), None)
    told = SealedFormatter(Seal(())).format(record)
    assert told.endswith("said p␀␡[U+202E][U+200B]z")
