"""A command that is forked is the command: what tests learn from it they would learn from one that
its interpreter began.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands import Command, Forked, run_command, start_command
from tests.e2e.process import PATIENCE_S
from tests.lanes import is_full

PIPE = subprocess.PIPE


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "ORDAIN_HOME": str(home), "PLANNER_PORT": "0", **more}


def forked(*arguments: str, home: Path, **more: str) -> Command:
    return Forked(arguments, environment(home, **more), (PIPE, PIPE, PIPE), session=False)


@pytest.mark.parametrize(
    "arguments",
    [("verbs", "list"), ("chat", "--data-dir"), ("runs", "show", "0" * 32), ("chat", "--nonsense")],
)
def test_it_says_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Output, errors and exit code are those of the command begun cold, whether it succeeds or is
    refused.
    """
    with forked(*arguments, home=tmp_path) as warm:
        told = (*warm.communicate(b"", PATIENCE_S), warm.returncode)
    cold = subprocess.run(
        [sys.executable, "-m", "ordain", *arguments],
        env=environment(tmp_path),
        input=b"",
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert told == (cold.stdout, cold.stderr, cold.returncode)


def test_it_has_the_environment_and_folder_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative home is below the caller's folder, and nothing of another command's environment
    stays.
    """
    monkeypatch.chdir(tmp_path)
    for home, said in (("first", 1), ("second", 0)):
        if said:
            assert (
                run_command(
                    "chat",
                    "--session",
                    "s",
                    "hello",
                    environment=environment(Path(home)),
                    timeout=PATIENCE_S,
                ).returncode
                == 0
            )
        shown = run_command(
            "sessions", "show", "s", environment=environment(Path(home)), timeout=PATIENCE_S
        )
        assert (b"hello" in shown.stdout) is bool(said)
    assert (tmp_path / "first" / "ordain.db").exists()


def test_it_ends_by_the_signal_that_it_was_sent(tmp_path: Path) -> None:
    """It runs until it is told: then by itself, or at once where it is killed; and nobody waits
    longer than he said.
    """
    for sent, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
        with forked("serve", home=tmp_path) as server:
            assert isinstance(server, Forked)
            note = tmp_path / "server.json"  # written once it answers, and hears signals
            while not note.exists():
                assert server.poll() is None
                time.sleep(0.02)
            with pytest.raises(subprocess.TimeoutExpired):
                server.wait(0.01)
            server.send_signal(sent)
            assert server.wait(PATIENCE_S) == code
            note.unlink(missing_ok=True)
            server.kill()  # of one that has ended it is nothing


def test_a_signal_to_one_of_whose_end_nobody_has_told_yet_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a process's end and the news of it there is a moment in which it can be sent
    nothing any more.
    """
    with forked("verbs", "list", home=tmp_path) as command:
        command.communicate(b"", PATIENCE_S)
        monkeypatch.setattr(Forked, "poll", lambda _: None)
        command.kill()
        assert command.returncode == 0


def test_what_speaks_to_the_interpreter_begins_one(tmp_path: Path) -> None:
    """A command whose environment chooses the encoding, or one of a full run, is not forked."""
    for more, of_its_own in (({}, is_full()), ({"PYTHONIOENCODING": "ascii"}, True)):
        with start_command(
            "--version", environment=environment(tmp_path, **more), stdout=PIPE
        ) as command:
            assert isinstance(command, subprocess.Popen) is of_its_own
            assert command.communicate(timeout=PATIENCE_S)[0].startswith(b"ordain ")
