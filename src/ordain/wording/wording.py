"""Wording: a table of phrases together with the engine that reads by it, compiled once per process
and identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import FIRST_WORDING
from ordain.errors import JournalCorrupt
from ordain.wording.cues import Cues
from ordain.wording.engines import ENGINES, NEWEST, Choosing, Reader
from ordain.wording.one_reading import one_reading
from ordain.wording.packaged import first_table
from ordain.wording.table import Table

COMPILED_MAX = 8
"""Wordings kept compiled, of 4 MB each."""
MENTIONING = 4
"""The first engine that says whether a text speaks of what was offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What reads a message's wording. A value: equal ``id`` means equal cues of every text."""

    engine: int
    digest: str
    reader: Reader = field(compare=False, repr=False)

    @property
    def id(self) -> str:
        """``engine:digest``, as catalogs, decisions and runs name it."""
        return f"{self.engine}:{self.digest}"

    def cues(self, text: str) -> Cues:
        """The features of a text's wording. Total, bounded, the same each time."""
        with one_reading():
            return self.reader.cues(text)

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the one option that a text chooses, "" where it chooses none; engines
        before 3 know A and B and no labels.
        """
        with one_reading():
            return (
                self.reader.chosen(text, options)
                if isinstance(self.reader, Choosing)
                else self.reader.cues(text).choice
            )

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether a text has a word of one of the options, as engines from 4 on see it: what engine
        3 read was not asked.
        """
        with one_reading():
            return (
                self.engine >= MENTIONING
                and isinstance(self.reader, Choosing)
                and self.reader.mentions(text, options)
            )

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """The text as its engine sees it: known phrases and unknown words, each with the name of
        its sign.
        """
        with one_reading():
            return self.reader.parts(text)


def compiled(table: Table, engine: int = NEWEST) -> Wording:
    """A table made ready to be read by: 70 ms for the shipped one, so keep what comes back."""
    return Wording(engine=engine, digest=table.digest, reader=ENGINES[engine].compile(table))


@dataclass(frozen=True, slots=True)
class _Kept:
    """An identity, and where its bytes are had if it is not compiled yet."""

    id: str
    fetch: Callable[[], bytes | None] = field(compare=False)


def wording_of(catalog: Catalog) -> Wording:
    """The wording that a catalog pins; one of before there were any reads with the first one.

    Raises:
        JournalCorrupt: its table is stored nowhere or was altered, or this build has no such
            engine.
    """
    return _compiled(_Kept(catalog.wording_id, catalog.table))


def first_wording() -> Wording:
    """Engine 1 with the table that it was shipped with, frozen: what everything was read with
    before catalogs named a wording.
    """
    return _compiled(_Kept(FIRST_WORDING, _nowhere))


def _nowhere() -> None:
    return None


@lru_cache(maxsize=COMPILED_MAX)
def _compiled(kept: _Kept) -> Wording:
    number, _, digest = kept.id.partition(":")
    encoded = first_table() if kept.id == FIRST_WORDING else kept.fetch()
    if encoded is None:
        raise JournalCorrupt(f"wording {kept.id[:14]} is not stored")
    if int(number) not in ENGINES:
        raise JournalCorrupt(f"this build has no wording engine {number}")
    if hashlib.sha256(encoded).hexdigest() != digest:
        raise JournalCorrupt(f"wording {kept.id[:14]} was altered")
    return Wording(
        engine=int(number),
        digest=digest,
        reader=ENGINES[int(number)].compile(Table.from_bytes(encoded)),
    )
