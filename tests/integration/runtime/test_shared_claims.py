"""A shared decision that a kind brings needs a table, a rule and its facts, and nothing of any
store.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ordain.app import Extras, Ordain
from ordain.errors import ConfigurationError
from ordain.flows.kinds import Kinds
from ordain.journal.records import Status
from ordain.ports.writes import RowTable, TableRow
from ordain.rules.budget import CARVE
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from tests.shapes.seats import ROOMS, SEATS, SITTING, Asked


def house(home: Path) -> Ordain:
    return Ordain(load_settings(environment={}, home=home), extras=Extras(kinds=(SITTING,)))


async def sat(ordain: Ordain, asked: Asked, workspace: str = "default") -> str:
    """The run's status and what it was given."""
    accepted = await ordain.runtime.open("sitting", asked, "local:test", workspace)
    view = await asyncio.wait_for(ordain.runtime.wait(accepted.run), 20)
    assert replay(view.stored, ordain.catalog, ordain.kinds).equal
    return view.header


async def test_as_many_sit_as_there_are_seats(tmp_path: Path) -> None:
    """Whoever asks at once, before and after a start; each workspace has its own rows, and every
    decision stands in a journal and a header.
    """
    async with house(tmp_path) as ordain:
        headers = await asyncio.gather(
            *(sat(ordain, Asked(room="blue", seats=3)) for _ in range(5))
        )
        assert sorted(header.count("seat.free") for header in headers) == [0, 0, 1, 1, 1]
        assert sum("seat.full" in header for header in headers) == 2
    async with house(tmp_path) as ordain:
        assert "seat.full" in await sat(ordain, Asked(room="blue", seats=3))
        assert "seat.free" in await sat(ordain, Asked(room="blue", seats=4))
        assert "seat.free" in await sat(ordain, Asked(room="green"))
        assert "seat.free" in await sat(ordain, Asked(room="blue", seats=1), "other")
    with closing(sqlite3.connect(tmp_path / "ordain.db")) as db:
        assert sorted(db.execute("SELECT * FROM shared_rooms")) == [
            ("default", "blue", 4),
            ("default", "green", 1),
            ("other", "blue", 1),
        ]


@pytest.mark.parametrize(
    "asked",
    [
        Asked(room="x", name="carve"),
        Asked(room="x", name="nothing"),
        Asked(room="x", table="engine"),
    ],
)
async def test_a_claim_that_is_not_the_kinds_own_is_a_fault(tmp_path: Path, asked: Asked) -> None:
    """A rule of the house's that the run may not claim, one that nobody has, and rows of another
    table.
    """
    async with house(tmp_path) as ordain:
        accepted = await ordain.runtime.open("sitting", asked, "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(accepted.run), 20)
        assert view.stored.status is Status.FAULTED


async def test_what_it_writes_is_rows_of_its_tables(tmp_path: Path) -> None:
    """A claim of the kind that would write elsewhere faults the run, and nothing is written."""
    elsewhere = replace(
        SEATS, writes=lambda facts, outcome: (TableRow(table="engine", key=("x",), values=(1,)),)
    )
    kind = replace(SITTING, claims=(elsewhere,))
    async with Ordain(
        load_settings(environment={}, home=tmp_path), extras=Extras(kinds=(kind,))
    ) as ordain:
        accepted = await ordain.runtime.open("sitting", Asked(room="x"), "local:test")
        view = await asyncio.wait_for(ordain.runtime.wait(accepted.run), 20)
        assert view.stored.status is Status.FAULTED
        assert len(view.stored.records) == 2


def test_names_mean_one_thing() -> None:
    """A claim has no shipped rule's name, and a table the same columns in every kind."""
    with pytest.raises(ConfigurationError, match="a shipped one's"):
        replace(SITTING, claims=(replace(SEATS, shared=replace(SEATS.shared, rule=CARVE)),))
    other = replace(
        SITTING,
        name="standing",
        claims=(replace(SEATS, tables=(RowTable(name="rooms", key=("room",), columns=("x",)),)),),
    )
    with pytest.raises(ConfigurationError, match="table rooms"):
        Kinds((SITTING, other))
    assert Kinds((SITTING,)).tables == (ROOMS,)


@pytest.mark.parametrize("name", ["", "Rooms", "rooms; DROP", "rooms-2", "a" * 60])
def test_a_tables_names_are_names(name: str) -> None:
    """They stand in statements."""
    with pytest.raises(ValueError, match="letters a to z"):
        RowTable(name=name, key=("room",), columns=("taken",))
    with pytest.raises(ValueError, match="letters a to z"):
        RowTable(name="rooms", key=(name,), columns=("taken",))
