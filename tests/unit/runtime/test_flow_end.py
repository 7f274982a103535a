"""What a flow came to: settlement, output, what its session is told, header lines, and the record
that says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ordain.flows.kind import Settlement
from ordain.flows.kinds import Kinds
from ordain.journal.folds import Fold
from ordain.journal.records import EndedBody, Raw, Status
from ordain.rules.header import HeaderLine, render_header
from ordain.runtime.flow_end import FlowEnd
from ordain.testing import ScriptedEffects, catalog_of, kind_of


async def _nothing(context: object, given: object) -> str:
    return "done"


KIND = replace(
    kind_of(_nothing),
    reply=lambda output: f"I am {output}.",
    header=lambda output: (HeaderLine(mark="info", what=f"own: {output}"),),
)


@pytest.mark.parametrize(
    ("masked", "status"), [(False, Status.COMPLETED), (True, Status.CANCELLED)]
)
def test_it_is_as_its_kind_reads_it(masked: bool, status: Status) -> None:
    """A run that was cancelled and only cleaned up is cancelled, whatever its flow returned."""
    end = FlowEnd.of(KIND, "done", masked=masked)
    assert (end.settlement.status, end.output, end.told, end.lines[0].what) == (
        status,
        Raw(b'"done"'),
        "I am done.",
        "own: done",
    )


def test_a_kind_that_says_nothing_tells_nothing() -> None:
    """Neither a reply nor lines."""
    end = FlowEnd.of(kind_of(_nothing), "done", masked=False)
    assert (end.told, end.lines) == (None, ())


class Shifting:
    """A settlement that is another one whenever it is looked at."""

    def __init__(self) -> None:
        self._statuses = iter((Status.COMPLETED, Status.RUNNING, "nonsense"))
        self._reasons = iter(("ok", "broken"))

    @property
    def status(self) -> object:
        return next(self._statuses)

    @property
    def reason(self) -> str:
        return next(self._reasons)


def test_a_settlement_is_read_once() -> None:
    """Row, record and parent's mail have what it was then."""
    shifting: Any = Shifting()
    end = FlowEnd.of(replace(KIND, settle=lambda _: shifting), "done", masked=False)
    assert end.settlement == Settlement(status=Status.COMPLETED, reason="ok")


def test_the_last_record_holds_the_header_as_rendered() -> None:
    """With the kind's own lines below what the records say, so that it outlives erasure."""
    played = ScriptedEffects(KIND, catalog_of()).play(None)
    fold = Fold(played.stored.id, played.stored.records[:-1], Kinds((KIND,)))
    ended, facts = FlowEnd.of(KIND, "done", masked=False).record(fold)
    assert isinstance(ended, EndedBody)
    assert (ended.header, ended.reason) == (render_header(facts), "ok")
    assert "own: done" in ended.header
    assert played.header == ended.header


def test_without_an_output_it_is_null() -> None:
    """A run that an interrupt ended returned nothing."""
    assert FlowEnd(settlement=Settlement(status=Status.CANCELLED, reason="cancel")).output == Raw(
        b"null"
    )
