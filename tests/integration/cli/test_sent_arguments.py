"""What of a command line goes into requests: what cannot be sent is refused by name before anything
is, and is never a server that went away.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ordain.cli import main

IN_A_WORKSPACE = (
    "sessions list",
    "sessions show a",
    "chat hi",
    "call math.evaluate expression=1",
    "approvals list",
    "approvals show a",
    "grants list",
    "memory list",
    "docs list",
    "models cost",
)


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which something was said."""
    home = tmp_path_factory.mktemp("sent") / "home"
    assert main(["chat", "--session", "a", "hello", "--data-dir", str(home)]) == 0
    return home


@pytest.fixture(autouse=True)
def home(talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDAIN_HOME", str(talked))
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.mark.parametrize("name", ["é", "a\nb", "UPPER", "", "a" * 65, "\u200b", "\udcff"])
@pytest.mark.parametrize("command", IN_A_WORKSPACE)
def test_a_workspace_that_there_cannot_be_is_refused(
    command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the rule that the server has for it, wherever a workspace is named."""
    capsys.readouterr()
    assert main([*command.split(), f"--workspace={name}"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "is no workspace: a-z, 0-9" in told.err
    assert told.err.endswith("[invalid_workspace]\n")


def test_it_is_refused_before_a_server_elsewhere_hears_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody answers at the address, and that is not what is told."""
    assert main(["chat", "--url", "http://127.0.0.1:1", "--workspace", "é", "hi"]) == 2
    assert "[invalid_workspace]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["sessions show", "runs list --status", "call", "memory forget", "chat --verb"]
)
def test_bytes_that_are_no_text_are_named(command: str) -> None:
    """A path may hold them, what is sent may not."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ordain",
            *command.split(),
            b"x\xffy",
            *(["hi"] if command.startswith("chat") else []),
        ],
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    (*_, line) = done.stderr.decode().splitlines()
    assert line == r"ordain: x\udcffy holds bytes that are no text (UTF-8) [usage]"


def test_what_is_longer_than_an_address_is_no_server_that_went_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is the caller's."""
    assert main(["runs", "list", "--before", "x" * 70_000]) == 2
    assert "[invalid_request]" in capsys.readouterr().err


def test_a_request_that_is_none_is_named_by_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As is what is wrong with it."""
    (tmp_path / "ask.json").write_text("{")
    assert main(["plan", str(tmp_path / "ask.json")]) == 2
    assert f"{tmp_path}/ask.json: the body is not JSON" in capsys.readouterr().err
