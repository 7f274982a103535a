"""Every shape, killed at every moment: before and after each commit, around each side effect, each
model call, each acknowledgement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from tests.integration.crash.case import Case
from tests.integration.crash.conftest import Nursery
from tests.lanes import is_full, sampled
from tests.shapes.catalogue import SHAPES

MOMENTS = (
    "commit before",
    "commit after",
    "ack before",
    "ack after",
    "model before",
    "model after",
)
ONE_IN = 10
"""Of the moments, outside `--full`: which ones the seed says."""


def undisturbed(nursery: Nursery, name: str, case: str) -> dict[str, Any]:
    """The report of the shape when nothing happens to it."""
    (report,) = nursery.run([Case(id=case, shape=name)]).values()
    assert report["broken"] == [], report["broken"]
    assert report["boots"] == 1
    return report


def moments_of(name: str, plain: dict[str, Any], moments: Sequence[str] = MOMENTS) -> list[Case]:
    """A case for every moment of these kinds that the undisturbed run had."""
    slug = name.replace(" ", "-")
    deaths = [(kind, n) for kind in moments for n in range(1, plain["counts"].get(kind, 0) + 1)]
    kills = [
        {"when": when, "n": n}
        for when in ("arrived", "applied", "answered")
        for n in range(1, plain["calls"] + 1)
    ]
    cases = [
        Case(id=f"{slug}-{kind.replace(' ', '-')}-{n}", shape=name, deaths=((kind, n),))
        for kind, n in deaths
    ]
    cases += [
        Case(id=f"{slug}-ledger-{kill['when']}-{kill['n']}", shape=name, kill=kill)
        for kill in kills
    ]
    return [dataclasses.replace(case, expected=plain["result"]) for case in cases]


def judged(reports: dict[str, dict[str, Any]]) -> None:
    """No law is broken anywhere, and the moments really came."""
    broken = {name: report["broken"] for name, report in reports.items() if report["broken"]}
    assert not broken, "\n".join(
        f"{name}: {line}" for name, lines in broken.items() for line in lines
    )
    died = sum(report["boots"] > 1 for report in reports.values())
    most = 0.8 if is_full() else 1 / len(reports)  # few of them say little of the others
    assert died >= len(reports) * most, f"only {died} of {len(reports)} cases met their moment"


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_survives_every_moment(nursery: Nursery, name: str) -> None:
    """Killed anywhere and started again, a run ends as it would have: nothing lost, nothing twice,
    unknown only where nobody can know.
    """
    plain = undisturbed(nursery, name, f"{name.replace(' ', '-')}-plain")
    judged(nursery.run(sampled(moments_of(name, plain), ONE_IN, name)))


def twice(name: str, plain: dict[str, Any]) -> list[Case]:
    """Killed after a commit, and the process that takes it up killed around its own first commits;
    every other one writes in a thread.
    """
    slug = name.replace(" ", "-")
    return [
        Case(
            id=f"{slug}-twice-{first}-{kind.replace(' ', '-')}-{second}",
            shape=name,
            deaths=(("commit after", first), (kind, second)),
            threaded=first % 2 == 0,
            expected=plain["result"],
        )
        for first in range(1, plain["counts"]["commit after"])
        for kind, second in (("commit before", 1), ("commit after", 1), ("commit before", 2))
    ]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_survives_dying_twice(nursery: Nursery, name: str) -> None:
    """Killed again while it is taken up, also where a thread writes, a run still ends as it would
    have.
    """
    plain = undisturbed(nursery, name, f"{name.replace(' ', '-')}-plain-twice")
    judged(nursery.run(sampled(twice(name, plain), ONE_IN, f"{name} twice")))
