"""A real ``ordain serve`` over a folder, and what it takes of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class Served:
    """The server with its models played from a script, or (None) as the folder says; it listens
    where the block begins and has ended after it.
    """

    def __init__(self, home: Path, script: Path | None = None) -> None:
        """Start it; ``start_s`` is after how many seconds it was there."""
        note, began = home / "server.json", time.perf_counter()
        note.unlink(missing_ok=True)
        command = [sys.executable, "-m", "ordain", "serve", "--port", "0", "--data-dir", str(home)]
        beside = {} if script is None else {"ORDAIN_SCRIPT": str(script)}
        with (home / "log").open("ab") as log:
            self._process = subprocess.Popen(command, env=os.environ | beside, stderr=log)
        while not note.exists():
            if self._process.poll() is not None:
                raise SystemExit((home / "log").read_text())
            time.sleep(0.01)
        self.url: str = json.loads(note.read_text())["url"]
        self.start_s = time.perf_counter() - began

    def cpu_s(self) -> float:
        """CPU seconds so far, of all threads."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_exactly_s(self) -> float:
        """The same to the nanosecond, of the threads that there are."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> dict[str, float]:
        """Resident and anonymous memory in MB, and open descriptors."""
        process = Path(f"/proc/{self._process.pid}")
        status = dict(
            line.split(":", 1)
            for line in (process / "status").read_text().splitlines()
            if ":" in line
        )
        mb = {name: int(status[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "RssAnon")}
        return {
            "rss_mb": mb["VmRSS"],
            "anon_mb": mb["RssAnon"],
            "files": len(list((process / "fd").iterdir())),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(60)
