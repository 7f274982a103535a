"""The crash harness's processes: the ledger and the nursery, once for all sweeps of a test
session.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.integration.crash.case import Case
from tests.shapes.ledger import Ledger, ledger_process

ROOT = Path(__file__).resolve().parents[3]


class Nursery:
    """Runs cases in processes forked from one that is ready."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """The process says when it is ready."""
        self._process = process
        self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def run(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The report of every case, by its id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([asdict(case) for case in cases]) + "\n")
        self._process.stdin.flush()
        reports = [self._read() for _ in cases]
        return {report["id"]: report for report in reports}


@pytest.fixture(scope="session")
def ledger_port() -> Iterator[int]:
    """The ledger's process."""
    with ledger_process() as port:
        yield port


@pytest.fixture(scope="session")
def nursery(ledger_port: int) -> Iterator[Nursery]:
    """The nursery; its cases live in memory where the machine has such a folder, for a killed
    process loses no page cache.
    """
    shared = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(prefix="ordain-crash-", dir=shared if os.access(shared, os.W_OK) else None)
    )
    command = [
        sys.executable,
        "-m",
        "tests.integration.crash.nursery",
        str(ledger_port),
        str(folder),
    ]
    try:
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            yield Nursery(process)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def ledger(ledger_port: int, request: pytest.FixtureRequest) -> Ledger:
    """A case of its own for one test."""
    return Ledger(ledger_port, f"test-{abs(hash(request.node.nodeid))}")
