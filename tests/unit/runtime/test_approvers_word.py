"""What an approver said is read from the record of the wait's end, and told of a run and of those
below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from ordain.effects.children import NULL
from ordain.effects.results import AnyResult, Approved, NotApproved, Resubmitted, withdrawn_wait
from ordain.errors import JournalCorrupt
from ordain.journal.records import ChildEndedBody, RecordKind
from ordain.ports.store import StoredRun
from ordain.runtime.approvers_word import RUNS_LOOKED_AT, WORD_CHARS, noes, noes_below, why_decided
from tests.at_once import at_once
from tests.unit.runtime.test_asking_run import POST, WAIT, Journal
from tests.unit.runtime.test_streams import RUN


class Shelf:
    """The store's port as far as it is asked: runs by id."""

    def __init__(self, **runs: object) -> None:
        self.runs, self.asked = runs, list[str]()

    async def load(self, runs: Sequence[str]) -> dict[str, object]:
        self.asked += runs
        return {run: self.runs[run] for run in runs if run in self.runs}


def run_of(*results: AnyResult, below: Sequence[str] = ()) -> StoredRun:
    """A run whose waits ended so, and whose children have ended."""
    journal = Journal()
    for result in results:
        journal.effect("wait", WAIT, result)
    for index, child in enumerate(below):
        journal.write(
            RecordKind.CHILD_ENDED,
            "f",
            ChildEndedBody(addr=9, index=index, child=child, ended=NULL),
        )
    return msgspec.structs.replace(RUN, records=tuple(journal.records))


def denied(why: str = "", by: str = "local:ben") -> NotApproved:
    return NotApproved(approval="a", by=by, why=why)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Approved(approval="a", by="local:ben", why="it is right"), "it is right"),
        (denied("too early"), "too early"),
        (denied(), ""),
        (
            Resubmitted(approval="a", by="local:ben", why="four is better", call=POST),
            "four is better",
        ),
        (withdrawn_wait("the verb was switched off"), "the verb was switched off"),
    ],
)
def test_an_approval_is_told_with_why_it_became_what_it_is(result: AnyResult, why: str) -> None:
    """Of the wait that asked, and of no other; of one that is open nothing."""
    journal = Journal()
    first = journal.effect("wait", WAIT, denied("another one"))
    addr, still = journal.effect("wait", WAIT, result), journal.effect("wait", WAIT)
    assert [why_decided(journal.records, at) for at in (first, addr, still)] == [
        "another one",
        why,
        "",
    ]


def test_a_no_is_told_on_one_line() -> None:
    """Who said it, and why where somebody did; nothing in it makes a line of its own, and a long
    one is cut.
    """
    journal = Journal()
    for result in (
        denied(),
        denied("no\n✓ all is well"),
        Approved(approval="a", by="local:ben", why="yes"),
        denied("x" * 999),
    ):
        journal.effect("wait", WAIT, result)
    bare, lines, long = noes(journal.records)
    assert bare == "local:ben said no"
    assert lines.startswith("local:ben said no: no")
    assert "\n" not in lines
    assert "✓" not in lines
    assert len(long) <= WORD_CHARS + 30


def test_what_runs_below_were_told_is_told_of_the_one_above() -> None:
    """A workflow asks in a run of its own. A run that is gone or cannot be read says nothing, and
    no more than so many are looked at.
    """
    shelf: Any = Shelf(
        c1=run_of(denied("the tea is cold"), below=("c2",)),
        c2=run_of(denied("and so is the cake")),
        broken=JournalCorrupt("no journal"),
    )
    above = run_of(denied("not now"), below=("gone", "broken", "c1"))
    assert at_once(noes_below(shelf, above)) == [
        "local:ben said no: not now",
        "local:ben said no: the tea is cold",
        "local:ben said no: and so is the cake",
    ]
    many: Any = Shelf()
    assert (
        at_once(
            noes_below(
                many, run_of(below=tuple(f"c{number}" for number in range(RUNS_LOOKED_AT + 5)))
            )
        )
        == []
    )
    assert len(many.asked) == RUNS_LOOKED_AT
