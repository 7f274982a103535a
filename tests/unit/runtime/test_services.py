"""The catalogs of a process: the current one, and those that runs began under, each read from
storage as seldom as can be.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.errors import JournalCorrupt
from ordain.runtime.services import CATALOGS_KEPT, Catalogs
from ordain.testing import catalog_of
from tests.at_once import at_once, awaited
from tests.lanes import examples

MANY: list[Catalog] = [
    catalog_of(policy={"limits": {"timeout_seconds": 60 + number}})
    for number in range(CATALOGS_KEPT + 4)
]


class Fetching:
    """The stored catalogs; ``fetched`` are those that were asked for."""

    def __init__(self, *stored: Catalog) -> None:
        self.stored = {digest: encoded for catalog in stored for digest, encoded in catalog.stored}
        self.digests = {catalog.digest for catalog in stored}
        self.fetched: list[str] = []

    async def __call__(self, digest: str) -> bytes | None:
        if digest in self.digests:
            self.fetched.append(digest)
        return self.stored.get(digest)


def test_what_a_run_pins_is_read_once() -> None:
    """The current one never."""
    fetch = Fetching(*MANY[:2])
    catalogs = Catalogs(MANY[0], fetch)
    for _ in range(2):
        assert at_once(catalogs.pinned(MANY[1].digest)).encoded == MANY[1].encoded
        assert at_once(catalogs.pinned(MANY[0].digest)) is MANY[0]
    assert fetch.fetched == [MANY[1].digest]


def test_what_was_current_stays_for_its_runs() -> None:
    """It is the same value, and nothing is read."""
    fetch = Fetching()
    catalogs = Catalogs(MANY[0], fetch)
    catalogs.swap(MANY[1])
    assert (catalogs.current, at_once(catalogs.pinned(MANY[0].digest))) == (MANY[1], MANY[0])


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(st.booleans(), st.integers(0, len(MANY) - 1)), max_size=60))
def test_every_pin_gives_its_own_catalog(steps: list[tuple[bool, int]]) -> None:
    """However many were current or pinned before; and the one that is current now is never read
    again.
    """
    fetch = Fetching(*MANY)
    catalogs = Catalogs(MANY[0], fetch)
    for swaps, number in steps:
        if swaps:
            catalogs.swap(MANY[number])
        before = len(fetch.fetched)
        assert at_once(catalogs.pinned(catalogs.current.digest)).digest == catalogs.current.digest
        assert len(fetch.fetched) == before
        assert at_once(catalogs.pinned(MANY[number].digest)).digest == MANY[number].digest


def test_the_current_one_is_never_let_go_of() -> None:
    """However many others are pinned after it."""
    fetch = Fetching(*MANY)
    catalogs = Catalogs(MANY[0], fetch)
    for catalog in MANY[1:]:
        at_once(catalogs.pinned(catalog.digest))
    assert at_once(catalogs.pinned(MANY[0].digest)) is MANY[0]
    assert MANY[0].digest not in fetch.fetched


def test_only_so_many_are_kept() -> None:
    """The one that was read first is read again."""
    fetch = Fetching(*MANY)
    catalogs = Catalogs(MANY[0], fetch)
    for catalog in (*MANY[1:], MANY[1]):
        at_once(catalogs.pinned(catalog.digest))
    assert fetch.fetched.count(MANY[1].digest) == 2


@pytest.mark.parametrize(
    ("stored", "says"), [({}, "is not stored"), ({MANY[1].digest: MANY[2].encoded}, "was altered")]
)
def test_a_catalog_is_the_one_of_its_digest_or_none(stored: dict[str, bytes], says: str) -> None:
    """What is not there, and what was changed in storage, is no catalog to decide by."""
    with pytest.raises(JournalCorrupt, match=says):
        at_once(Catalogs(MANY[0], awaited(stored.get)).pinned(MANY[1].digest))
