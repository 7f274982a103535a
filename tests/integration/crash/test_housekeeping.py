"""Housekeeping, killed at every moment: what was begun is taken up and ends, nothing that is kept
or goes on is touched.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.integration.crash.case import Case
from tests.integration.crash.conftest import Nursery
from tests.integration.crash.test_sweep import MOMENTS, ONE_IN, judged, moments_of, twice
from tests.lanes import sampled

NAME = "housekeeping"
WITH_CHECKPOINTS = (*MOMENTS, "checkpoint before", "checkpoint after")


@pytest.fixture(scope="module")
def old_folder(nursery: Nursery) -> str:
    """The case that made a folder whose content is two days old."""
    (report,) = nursery.run([Case(id="an-old-folder", shape="an old folder")]).values()
    assert report["broken"] == [], report["broken"]
    return "an-old-folder"


@pytest.fixture(scope="module")
def plain(nursery: Nursery, old_folder: str) -> dict[str, Any]:
    """The report of housekeeping when nothing happens to it."""
    (report,) = nursery.run([Case(id=f"{NAME}-plain", shape=NAME, begins=old_folder)]).values()
    assert report["broken"] == [], report["broken"]
    return report


def begun(cases: list[Case], old_folder: str) -> list[Case]:
    return [dataclasses.replace(case, begins=old_folder) for case in cases]


def test_housekeeping_survives_every_moment(
    nursery: Nursery, old_folder: str, plain: dict[str, Any]
) -> None:
    """Killed between any two slices of a sweep, an erasure or giving room back, all of it ends with
    the next start, and everybody else's work too.
    """
    cases = begun(moments_of(NAME, plain, WITH_CHECKPOINTS), old_folder)
    judged(nursery.run(sampled(cases, ONE_IN, NAME)))


def test_housekeeping_survives_dying_twice(
    nursery: Nursery, old_folder: str, plain: dict[str, Any]
) -> None:
    """Killed again while what was cut off is being taken up, also where a thread writes, it still
    ends.
    """
    judged(nursery.run(sampled(begun(twice(NAME, plain), old_folder), 2 * ONE_IN, f"{NAME} twice")))
