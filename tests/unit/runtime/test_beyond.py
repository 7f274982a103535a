"""What an execution leaves to others: whoever stands where a journal ends can be asked all of
it.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from ordain.runtime.beyond import PLAINLY, Beyond, Judge
from ordain.runtime.flow_outcome import NothingBeyond
from ordain.runtime.live import LiveRun
from ordain.testing.scripted_beyond import ScriptedBeyond


@pytest.mark.parametrize("end", [LiveRun, NothingBeyond, ScriptedBeyond])
def test_every_end_of_a_journal_is_asked_alike(end: type[Any]) -> None:
    """A driven run, a replay and a scripted one take the same questions, with the same
    parameters.
    """
    asked = [
        name
        for name, _ in inspect.getmembers(Beyond, inspect.isfunction)
        if not name.startswith("_")
    ]
    assert asked == ["begin", "claim", "decided", "resume"]
    for name in asked:
        assert list(inspect.signature(getattr(end, name)).parameters) == list(
            inspect.signature(getattr(Beyond, name)).parameters
        )


def test_records_are_read_plainly_unless_somebody_looks_on() -> None:
    """A driven run has no judge; a judge is asked of decisions and of what a prompt was rendered
    from.
    """
    assert PLAINLY.judge is None
    assert {"judge", "rendered"} <= set(vars(Judge))
