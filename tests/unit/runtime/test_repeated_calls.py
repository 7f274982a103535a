"""Whether a run's call may have happened already, by what the journals beside it say."""

from __future__ import annotations

import pytest

from ordain import verb
from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import ArgumentRole
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import VerbCall
from ordain.effects.results import AnyResult, VerbReturned, VerbUnknown
from ordain.errors import JournalCorrupt
from ordain.journal.records import NoteBody, RecordKind, raw
from ordain.ports.store import Append, JournalStore, StoredRun
from ordain.runtime.asking_run import Looking, asked_before_anywhere
from ordain.runtime.repeated_calls import HAPPENED, NOWHERE, why_in_doubt
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.testing import catalog_of
from tests.contract.writing import Run

ROLES = {"item": ArgumentRole.CONTENT, "count": ArgumentRole.CONTENT}


@verb(name="shop.order", effect="private", arguments=ROLES)
def order(item: str, count: int = 1) -> dict[str, str]:
    """Order an item."""
    raise NotImplementedError


@verb(name="shop.order", effect="private", arguments=ROLES)
def order_pairs(item: str, count: int = 2) -> dict[str, str]:
    """Order an item, as another build has it."""
    raise NotImplementedError


THEN, NOW = catalog_of(verbs=[order.spec]), catalog_of(verbs=[order_pairs.spec])
TEA, CAKE = (Call(verb="shop.order", args={"item": item}) for item in ("tea", "cake"))
ONE_TEA, TWO_TEAS = (
    Call(verb="shop.order", args={"item": "tea", "count": count}) for count in (1, 2)
)
CUT_OFF = VerbUnknown(message="cut off")


async def built_then(_: str) -> Catalog:
    """The catalog that every run here began under."""
    return THEN


async def not_stored(digest: str) -> Catalog:
    """A catalog that is gone."""
    raise JournalCorrupt(digest)


async def made(store: JournalStore, run: Run, call: Call, result: AnyResult) -> None:
    """Have a run's call become this, durably."""
    effect = VerbCall(authorized=Authorized(call=call, decision="d"), deadline=9)
    records = (run.intent(effect=effect), run.observation(result=result))
    await store.submit(Append(run=run.id, epoch=1, records=records))


@pytest.fixture
async def family() -> tuple[JournalStore, Run, Run]:
    """A run, and one below it."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    top = Run("top")
    below = Run("below", parent=top, addr=1)
    await store.submit(top.open())
    await store.submit(Append(run="top", epoch=1, records=(top.note(),), writes=(below.new,)))
    return store, top, below


async def held(store: JournalStore, run: str, *calls: Call, catalog: Catalog = THEN) -> list[bool]:
    """Of each of these, proposed by a run, whether it is in doubt."""
    stored = (await store.load([run]))[run]
    assert isinstance(stored, StoredRun)
    looking = Looking(pinned=built_then)
    return [bool(await why_in_doubt(store, stored, call, catalog, looking)) for call in calls]


@pytest.mark.parametrize("asks", ["top", "below"])
async def test_that_very_call_is_in_doubt_for_its_run_and_those_beside_it(
    family: tuple[JournalStore, Run, Run], asks: str
) -> None:
    """However it is spelled; neither another call of the verb nor one that returned is."""
    store, _, below = family
    await made(store, below, CAKE, VerbReturned(output={}))
    assert await held(store, asks, TEA, CAKE) == [False, False]
    await made(store, below, TEA, CUT_OFF)
    assert await held(store, asks, TEA, ONE_TEA, TWO_TEAS, CAKE) == [True, True, False, False]


async def test_a_call_of_another_build_counts_by_what_it_was_then_and_would_be_now(
    family: tuple[JournalStore, Run, Run],
) -> None:
    """What was left out was one then: one said now is the same, and so is the very same text."""
    store, _, below = family
    await made(store, below, TEA, CUT_OFF)
    asked = (TEA, ONE_TEA, TWO_TEAS, CAKE)
    assert await held(store, "top", *asked, catalog=NOW) == [True, True, True, False]


async def test_where_the_catalog_of_then_is_gone_the_call_counts_as_it_would_be_now(
    family: tuple[JournalStore, Run, Run],
) -> None:
    """It is no reason to let the very same call go out."""
    store, top, below = family
    await made(store, below, TEA, CUT_OFF)
    stored = (await store.load([top.id]))[top.id]
    assert isinstance(stored, StoredRun)
    assert await why_in_doubt(store, stored, TEA, NOW, Looking(pinned=not_stored))
    assert not await why_in_doubt(store, stored, ONE_TEA, NOW, Looking(pinned=not_stored))


async def test_a_call_that_was_cut_off_is_in_doubt_though_nothing_says_so_yet(
    family: tuple[JournalStore, Run, Run],
) -> None:
    """Its process died, and nobody has taken its run up since: the same beside it is held back. One
    that is under way here is not, for its end will be known.
    """
    store, top, below = family
    effect = VerbCall(authorized=Authorized(call=TEA, decision="d"), deadline=9)
    await store.submit(Append(run=below.id, epoch=1, records=(below.intent(effect=effect),)))
    stored = (await store.load([top.id]))[top.id]
    assert isinstance(stored, StoredRun)
    assert await why_in_doubt(store, stored, ONE_TEA, THEN, Looking(pinned=built_then))
    under_way = Looking(pinned=built_then, at_work={below.id})
    assert not await why_in_doubt(store, stored, ONE_TEA, THEN, under_way)


async def test_what_is_known_to_have_happened_is_told_so_and_is_news_to_who_was_told_of_a_doubt(
    family: tuple[JournalStore, Run, Run],
) -> None:
    """An operator has found out that it did: nobody says any more that nobody knows."""
    store, top, below = family
    await made(store, below, TEA, CUT_OFF)
    looking, stored = Looking(pinned=built_then), (await store.load([top.id]))[top.id]
    assert isinstance(stored, StoredRun)
    before = await asked_before_anywhere(store, stored, NOWHERE, (), looking)
    told = before.places((TEA,), THEN)
    assert await why_in_doubt(store, stored, TEA, THEN, looking, told) == ""
    word = NoteBody(by="local:ops", action="resolve", details=raw({"addr": 0, "happened": True}))
    note = below.write(RecordKind.NOTE, "resolve", word)
    await store.submit(Append(run=below.id, epoch=1, records=(note,)))
    assert await why_in_doubt(store, stored, TEA, THEN, looking, told) == HAPPENED
    assert await why_in_doubt(store, stored, CAKE, THEN, looking) == ""


async def test_who_was_told_of_every_doubt_makes_the_call_and_not_who_was_told_of_some(
    family: tuple[JournalStore, Run, Run],
) -> None:
    """A yes is good for what it was told of: what came into doubt since holds the call back."""
    store, top, below = family
    await made(store, below, TEA, CUT_OFF)

    async def news(told: tuple[str, ...]) -> bool:
        stored = (await store.load([top.id]))[top.id]
        assert isinstance(stored, StoredRun)
        return bool(await why_in_doubt(store, stored, TEA, THEN, Looking(pinned=built_then), told))

    stored = (await store.load([top.id]))[top.id]
    assert isinstance(stored, StoredRun)
    looking = Looking(pinned=built_then)
    before = await asked_before_anywhere(store, stored, NOWHERE, (), looking)
    told = before.places((ONE_TEA,), THEN)
    assert len(told) == 1
    assert [await news(()), await news(told)] == [True, False]
    await made(store, top, ONE_TEA, CUT_OFF)
    assert await news(told)
