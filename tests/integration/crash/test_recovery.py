"""Runs that kill the process they run in: found out, driven alone, and stopped, while all others go
on.
"""

from __future__ import annotations

from tests.integration.crash.case import Case
from tests.integration.crash.conftest import Nursery
from tests.shapes.catalogue import INNOCENT, RUN


def test_the_run_that_kills_again_and_again_is_quarantined_and_no_other(nursery: Nursery) -> None:
    """A run on which the process died four times at one place is quarantined; one that was merely
    there each time ends.
    """
    (report,) = nursery.run([Case(id="poison", shape="poison")]).values()
    assert report["broken"] == []
    assert report["runs"] == {RUN: "quarantined", INNOCENT: "completed"}
    assert report["boots"] == 5
    assert [boot for text, boot in report["seen"] if text == "poison"] == [1, 2, 3, 4]
    assert [boot for text, boot in report["seen"] if text == "hold this"] == [1, 2, 5]


def test_a_run_that_kills_before_its_first_commit_is_found_out(nursery: Nursery) -> None:
    """A run that has never got as far as a commit is counted all the same: the process does not die
    for ever.
    """
    (report,) = nursery.run([Case(id="deadly", shape="deadly")]).values()
    assert report["broken"] == []
    assert report["runs"] == {RUN: "quarantined"}
