"""The collector's settings of a process that stays."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from ordain import tune_collector
from ordain.collector import NET_ALLOCATIONS


@pytest.fixture(autouse=True)
def untuned() -> Generator[None]:
    """The process of the tests keeps its own settings."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    yield
    gc.unfreeze()
    if frozen:
        gc.freeze()
    gc.set_threshold(*before)


def test_what_was_loaded_is_looked_at_no_more() -> None:
    """What exists by then is in no collection, and the next one is a long way off; the older
    generations keep their own settings.
    """
    older = gc.get_threshold()[1:]
    loaded: list[object] = [[]]
    tune_collector()
    assert not any(one is loaded for one in gc.get_objects())
    assert gc.get_threshold() == (NET_ALLOCATIONS, *older)


def test_cycles_made_later_are_still_found() -> None:
    """Leaving alone what was loaded is not leaving alone everything."""
    tune_collector()
    circle: list[object] = []
    circle.append(circle)
    del circle
    assert gc.collect() > 0
