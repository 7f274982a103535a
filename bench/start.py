"""What it costs until ``ordain serve`` answers, until ``ordain chat`` can be typed at, and to say
one word with it. ``python -m bench.start HOME [ROUNDS]``: a fresh data folder below HOME in every
round, then the same one again, then a conversation in it.

CPU is user and system time of the process, threads included: the server's up to the first 200 of
``/health``, that of ``ordain chat`` until its prompt stands at a terminal, that of ``ordain chat
hello`` from its beginning to its end. Modules are compiled before, as an installed package has
them. Linux: what is not over is read from ``/proc``.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROUNDS = 7
LOOK_S = 0.005
WAIT_S = 120
PROMPT = b"chat >"


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _answers(note: Path) -> bool:
    try:
        url = json.loads(note.read_text(encoding="utf-8"))["url"]
        with urllib.request.urlopen(f"{url}/health") as answer:
            return answer.status == 200
    except (OSError, ValueError, urllib.error.URLError):
        return False


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _ordain(*arguments: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "ordain", *arguments],
        env=_environment(),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
    )


def said(folder: Path) -> dict[str, float]:
    """Say a word over the folder, which no server holds, and wait until the command has ended."""
    began = time.perf_counter()
    process = _ordain("chat", "hello", "--data-dir", str(folder))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the message was not answered: {process.returncode}")
    return {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": time.perf_counter() - began}


def prompted(folder: Path) -> dict[str, float]:
    """Begin a conversation at a terminal of its own, and end it as soon as its prompt stands."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if not pid:
        command = [sys.executable, "-m", "ordain", "chat", "--data-dir", str(folder)]
        os.execve(sys.executable, command, _environment() | {"TERM": "xterm"})
    shown = b""
    try:
        while PROMPT not in shown:
            left_s = began + WAIT_S - time.perf_counter()
            if not select.select([terminal], [], [], max(left_s, 0))[0]:
                raise SystemExit(f"no prompt: {shown!r}")
            shown += os.read(terminal, 2**16)
        return {"cpu_s": _cpu_s(pid), "wall_s": time.perf_counter() - began}
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def started(folder: Path) -> dict[str, float]:
    """Start a server over the folder, and stop it as soon as it answers."""
    note = folder / "server.json"
    note.unlink(missing_ok=True)
    began = time.perf_counter()
    process = _ordain("serve", "--port", "0", "--data-dir", str(folder))
    try:
        while not _answers(note):
            if process.poll() is not None or time.perf_counter() - began > WAIT_S:
                raise SystemExit(f"the server did not start: {process.poll()}")
            time.sleep(LOOK_S)
        return {"cpu_s": _cpu_s(process.pid), "wall_s": time.perf_counter() - began}
    finally:
        process.terminate()
        process.wait()


def _main(home: Path, rounds: int) -> dict[str, Any]:
    started(home / "compiling")
    said(home / "compiling")
    prompted(home / "compiling")
    measured = {"fresh": started, "used": started, "prompt": prompted, "chat": said}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in measured}
    for number in range(rounds):
        for name, measure in measured.items():
            found[name].append(measure(home / f"start-{number}"))
    return {"rounds": rounds, **found}


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS)))
