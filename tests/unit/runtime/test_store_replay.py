"""A store held to its ledger: what is missing is named, a broken ledger is not believed, and
content is missing unless something took it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from ordain.effects.effect import Say
from ordain.flows.context import FlowContext
from ordain.journal.ledger import Discrepancy, LedgerRow, next_row
from ordain.journal.ledger_items import LedgerItem, run_item, swept_item
from ordain.journal.records import RecordKind
from ordain.ports.sessions import Entry, EntryKind
from ordain.runtime.replay import Replayed
from ordain.runtime.store_replay import LedgerKnows, held_to_ledger, held_to_sweeps
from ordain.testing import kind_of
from tests.unit.runtime.house import House

RUN = run_item("r", ("w",), b"")


class Written:
    """Implements ``Ledger`` over what is given."""

    def __init__(
        self,
        batches: Sequence[Sequence[LedgerItem]],
        standing: Sequence[LedgerItem],
        other: Sequence[Discrepancy] = (),
    ) -> None:
        self.rows: list[LedgerRow] = []
        for batch in batches:
            self.rows.append(
                next_row((self.rows[-1].no, self.rows[-1].chain) if self.rows else None, batch)
            )
        self.standing, self.other = standing, other

    async def read(
        self, row: Callable[[LedgerRow], None], stands: Callable[[LedgerItem], None]
    ) -> None:
        for one in self.rows:
            row(one)
        for item in self.standing:
            stands(item)

    async def contradictions(self) -> Sequence[Discrepancy]:
        return self.other

    @property
    def head(self) -> str:
        return f"{self.rows[-1].no}-{self.rows[-1].chain.hex()}"


async def test_what_stands_as_it_was_is_equal() -> None:
    """The head is the last row's number and link; what the ledger knows besides is handed on."""
    ledger = Written([[swept_item("verb", 5)], [RUN]], [RUN])
    report, known = await held_to_ledger(ledger)
    assert (report.verdict, report.rows, report.head, report.differences) == (
        "equal",
        2,
        ledger.head,
        [],
    )
    assert known is not None
    assert (known.swept, known.placed) == ({"verb": 5}, {})


async def test_whatever_does_not_stand_is_named() -> None:
    """Missing, of another value, unknown to the ledger, and at odds with another column."""
    elsewhere = run_item("s", ("w",), b"")
    report, _ = await held_to_ledger(
        Written([[RUN]], [elsewhere], [Discrepancy("turn t", "as others say", "state")])
    )
    assert (report.verdict, [one.place for one in report.differences]) == (
        "journal_corrupt",
        ["run s", "run r", "turn t"],
    )


async def test_a_kept_head_has_to_be_gone_on_from() -> None:
    """Each earlier head holds; another link at its number does not, nor a ledger that ends before
    it.
    """
    ledger = Written([[], [RUN], []], [RUN])
    heads = [f"{row.no}-{row.chain.hex()}" for row in ledger.rows]
    for head in heads:
        assert (await held_to_ledger(ledger, head))[0].verdict == "equal"
    assert (await held_to_ledger(ledger, f"2-{bytes(16).hex()}"))[0].differences[
        0
    ].place == "ledger row 2"
    cut = Written([[], [RUN]], [RUN])
    assert [one.now for one in (await held_to_ledger(cut, heads[-1]))[0].differences] == [
        "missing, and all after it"
    ]


async def test_a_broken_ledger_is_named_and_not_believed() -> None:
    """Of what comes behind the first row that is another nobody says anything."""
    ledger = Written([[RUN], [run_item("s", ("w",), b"")]], [RUN])
    ledger.rows[1] = msgspec.structs.replace(ledger.rows[1], chain=bytes(16))
    report, known = await held_to_ledger(ledger)
    assert ([one.place for one in report.differences], known) == (["ledger row 2"], None)


async def _says(context: FlowContext, given: Any) -> str:
    await context.fx.perform(Say(text="x"))
    return "said"


async def test_content_is_missing_unless_something_took_it() -> None:
    """Of a run that ended before a sweep of that class, or whose key is destroyed, content may be
    gone; of no other.
    """
    kind = kind_of(_says)
    with House(kind) as house:
        stored = await house.played(kind)
    gone = [
        msgspec.structs.replace(one, body=None) if one.kind is RecordKind.OBSERVATION else one
        for one in stored.records
    ]
    lacking, ended = msgspec.structs.replace(stored, records=tuple(gone)), stored.ended_at or 0

    def verdict(run: Any, **swept: int) -> str:
        return held_to_sweeps(
            Replayed(run="r", flow="f", verdict="erased"), run, LedgerKnows(swept=swept, placed={})
        ).verdict

    assert verdict(stored) == "erased"
    assert (
        verdict(lacking)
        == verdict(lacking, verb=ended)
        == verdict(lacking, input=ended + 1)
        == "journal_corrupt"
    )
    assert verdict(lacking, verb=ended + 1) == "erased"
    assert verdict(msgspec.structs.replace(lacking, key=None)) == "erased"


@pytest.mark.parametrize(
    ("kind", "of"),
    [(EntryKind.MESSAGE, "input"), (EntryKind.REPLY, "result"), (EntryKind.SUMMARY, "result")],
)
def test_entries_are_swept_with_their_class(kind: EntryKind, of: str) -> None:
    """What users said, and what came of it."""
    entry = Entry(1, kind, 10, 0, "", "", "", "", "", "", 0, 0, 0, b"", b"", None, None)
    assert LedgerKnows(swept={of: 11}, placed={}).swept_entry(entry)
    assert not LedgerKnows(swept={of: 10, "model": 99}, placed={}).swept_entry(entry)
