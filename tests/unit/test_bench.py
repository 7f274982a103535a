"""The measurements look at functions of the product by name: each is there, though no test runs
them.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from bench.phases import PHASES

BENCH = Path(__file__).resolve().parents[2] / "bench"
PEERS = "systems"
"""What needs the peers' own packages, Ordain's side aside."""
MODULES = sorted(
    ".".join(("bench", *file.relative_to(BENCH).with_suffix("").parts))
    for file in BENCH.rglob("*.py")
    if PEERS not in file.parts
)


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_is_made_of_functions_that_exist(phase: str) -> None:
    """A renamed function would end the measurement, or leave its time out."""
    assert all(callable(getattr(owner, name)) for owner, name in PHASES[phase])


@pytest.mark.parametrize(
    "module",
    [*(name for name in MODULES if not name.endswith("__main__")), "bench.systems.ordain_turn"],
)
def test_a_measurement_can_be_imported(module: str) -> None:
    """What it takes from the product is there."""
    assert importlib.import_module(module)
