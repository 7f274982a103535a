"""The runs that another one waits for: in their order, however many, also where which they are was
erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Children
from ordain.errors import JournalCorrupt
from ordain.journal.codec import Scribe
from ordain.journal.digests import derived_id
from ordain.journal.open_joins import open_join
from ordain.journal.records import ClaimBody, IntentBody, ObservationBody, Record, RecordKind, raw
from ordain.ports.store import StoredRun
from ordain.rules.spend import Spend
from ordain.runtime.joined_runs import LOOKED_FOR, joined_runs
from tests.at_once import at_once

RUN = "r" * 32


class Runs:
    """As much of ``JournalStore`` as this asks: these runs cannot be read, which is as good as
    any.
    """

    def __init__(self, known: Sequence[str]) -> None:
        self.known = known

    async def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        return {run: JournalCorrupt("damaged") for run in self.known if run in runs}


def records(before: Sequence[str], children: int) -> list[Record]:
    """Effects and claims that were over, then a join that is not."""
    scribe, found, addr = Scribe(RUN, bytes(32)), list[Record](), 0
    for what in before:
        if what == "claim":
            body = ClaimBody(addr=addr, claim=raw({}), outcome=raw({}), reason="r", facts=raw({}))
            found.append(scribe.write(RecordKind.CLAIM, "claim", body, 1))
        else:
            found.append(
                scribe.write(RecordKind.INTENT, "wait", IntentBody(addr=addr, effect=raw({})), 1)
            )
            found.append(
                scribe.write(
                    RecordKind.OBSERVATION, "wait", ObservationBody(addr=addr, result=raw({})), 1
                )
            )
        addr += 1
    spawns = tuple(
        Spawn[object](flow="part", input=raw(None), deadline=1, allowance=Spend())
        for _ in range(children)
    )
    effect = raw(Children(spawns=spawns, until=Join()))
    return [
        *found,
        scribe.write(RecordKind.INTENT, "children", IntentBody(addr=addr, effect=effect), 1),
    ]


@given(
    st.lists(st.sampled_from(["claim", "effect"]), max_size=4),
    st.integers(1, 2 * LOOKED_FOR + 1),
    st.booleans(),
)
def test_all_children_are_found(before: list[str], children: int, erased: bool) -> None:
    """What was erased changes nothing of which they are."""
    announced = records(before, children)
    if erased:
        announced = [msgspec.structs.replace(record, body=None) for record in announced]
    wanted = [derived_id(RUN, len(before), index) for index in range(children)]
    found = at_once(joined_runs(Runs(wanted[::-1]), RUN, announced))  # type: ignore[arg-type]
    assert list(found) == wanted


@pytest.mark.parametrize("erased", [True, False])
def test_a_join_that_is_over_is_none(erased: bool) -> None:
    """Nor is any other effect."""
    over = [*records(["effect"], 2)]
    scribe = Scribe(RUN, bytes(32), over[-1])
    over.append(
        scribe.write(RecordKind.OBSERVATION, "children", ObservationBody(addr=1, result=raw({})), 1)
    )
    for found in (over, over[:2]):
        assert (
            open_join(
                [msgspec.structs.replace(one, body=None) for one in found] if erased else found, RUN
            )
            is None
        )
