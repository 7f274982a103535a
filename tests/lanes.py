"""How much of the tests a run goes through: all of it with `--full`, else what `./check` runs
(tests/README.md says what that leaves out).

What is left to chance follows one seed, printed at the top of every run: ``ORDAIN_SEED=7 ./check``
does again what such a run did.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

SEED = "ORDAIN_SEED"
EXAMPLES = 25
"""Most examples of a property outside `--full`."""
FEWEST = 5
"""Of what is sampled: one or two could all be such as never came."""
REPEATABLE = bool(os.environ.get("CI"))
"""Where `./check` asks, the same tree has the same examples; a run by hand looks further each
time.
"""

settings.register_profile(
    "quick", deadline=None, derandomize=REPEATABLE, print_blob=True, max_examples=EXAMPLES
)
settings.register_profile("full", deadline=None, derandomize=REPEATABLE, print_blob=True)

One = TypeVar("One")


class _Run:
    """What holds for this run of the tests."""

    full = False
    seed = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full",
        action="store_true",
        help="every example, every moment of the crash sweeps, every command begun cold",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported; processes that share the work inherit the seed."""
    _Run.full = config.getoption("full")
    os.environ.setdefault(SEED, str(random.randrange(10**6)))
    _Run.seed = int(os.environ[SEED])
    settings.load_profile("full" if _Run.full else "quick")


def pytest_report_header(config: pytest.Config) -> str:
    return f"ordain: {'everything' if _Run.full else 'sampled'}, {SEED}={_Run.seed}"


def is_full() -> bool:
    """Whether this run leaves nothing out."""
    return _Run.full


def examples(most: int, quick: int = EXAMPLES) -> int:
    """How many examples a property gets that asks for so many; ``quick`` where each of them takes
    long.
    """
    return most if _Run.full else min(most, quick)


def size(whole: int, quick: int) -> int:
    """How much of something large a test goes through; ``quick`` shows the same, at a size at which
    nothing takes long.
    """
    return whole if _Run.full else quick


def sampled(all_of_them: Sequence[One], parts: int, name: str) -> list[One]:
    """One in ``parts`` of them, at least FEWEST, in their order, which ones by the seed and the
    name; all with `--full`.
    """
    if _Run.full:
        return list(all_of_them)
    count = min(len(all_of_them), max(FEWEST, round(len(all_of_them) / parts)))
    chosen = dice(name).sample(range(len(all_of_them)), count)
    return [all_of_them[index] for index in sorted(chosen)]


def dice(name: str) -> random.Random:
    """Chance for a test that goes through one course of things of many: the same with the same
    seed, whatever else is tested.
    """
    return random.Random(f"{_Run.seed} {name}")
