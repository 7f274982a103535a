"""A command that is begun without stdin, stdout or stderr, or whose reader has read enough: no
traceback, and its exit code as ever.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.process import PATIENCE_S

ORDAIN = (sys.executable, "-m", "ordain")


def begun(home: Path, closed: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, by a shell that closes streams of it."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *ORDAIN, *arguments],
        env={**os.environ, "ORDAIN_HOME": str(home)},
        input="",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--version",), 0),
        (("--help",), 0),
        (("verbs", "list"), 0),
        (("chat",), 0),
        (("plan", "-"), 2),
        (("runs", "show", "0" * 32), 2),
    ],
)
def test_a_stream_that_is_closed_is_empty_or_goes_nowhere(
    tmp_path: Path, closed: str, arguments: tuple[str, ...], code: int
) -> None:
    """Whatever the command: what it says on stderr is a line of ours, if anything."""
    done = begun(tmp_path, closed, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert all(line.startswith(("ordain: ", "session ")) for line in done.stderr.splitlines()), (
        done.stderr
    )


def test_without_any_stream_the_exit_code_is_left(tmp_path: Path) -> None:
    """Nobody can be told why."""
    assert begun(tmp_path, "<&- >&- 2>&-", "plan", "-").returncode == 2


@pytest.mark.parametrize("arguments", [("--help",), ("verbs", "list")])
def test_a_reader_that_has_read_enough_is_no_failure(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """As of ``| head -1``, also where nothing was written before the reader had gone."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*ORDAIN, *arguments],
            env={**os.environ, "ORDAIN_HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
