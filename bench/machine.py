"""The machine a figure was taken on."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

PEERS = (
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "openai-agents",
    "pydantic-ai-slim",
    "openai",
    "httpx2",
    "msgspec",
    "pydantic",
)


def fsync_ms(folder: Path, samples: int = 20) -> float:
    """Median of a few fsyncs of 4 kB in the folder that is measured in, in milliseconds."""
    took: list[float] = []
    probe = folder / "fsync"
    with probe.open("wb") as file:
        for _ in range(samples):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    probe.unlink()
    return median(took)


def described() -> dict[str, Any]:
    """Cores, processor, system and versions."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "versions": {name: version(name) for name in PEERS},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"
