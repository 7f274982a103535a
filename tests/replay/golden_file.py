"""A golden journal's file: a whole run with its catalog, as JSON."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, Self

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.ports.sessions import Entry
from ordain.ports.store import StoredRun

GOLDEN = Path(__file__).parent / "golden"


class GoldenJournal(msgspec.Struct, frozen=True, kw_only=True):
    """A run with everything needed to replay it; bytes are base64 in the file."""

    run: StoredRun
    catalog: bytes
    tables: dict[str, bytes] = {}

    def compiled(self) -> Catalog:
        """The run's pinned catalog."""
        return Catalog.from_bytes(self.catalog, self.tables.get)


class GoldenTalk(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: every run of one session, the transcript they refer to, and the catalog they
    all pin.
    """

    runs: tuple[StoredRun, ...]
    transcript: tuple[Entry, ...]
    catalog: bytes
    tables: dict[str, bytes] = {}

    @classmethod
    def of(
        cls, runs: Iterable[StoredRun | None], transcript: Iterable[Entry], catalog: Catalog
    ) -> Self:
        """What was played, with the catalog and the table of phrases that it names."""
        *tables, (_, encoded) = catalog.stored
        return cls(
            runs=tuple(run for run in runs if run is not None),
            transcript=tuple(transcript),
            catalog=encoded,
            tables=dict(tables),
        )

    def compiled(self) -> Catalog:
        """The runs' pinned catalog."""
        return Catalog.from_bytes(self.catalog, self.tables.get)

    def read(self, session: str, first: int, last: int) -> list[Entry]:
        """The transcript as runs refer to it."""
        return [entry for entry in self.transcript if first <= entry.seq <= last]


def read_talk(file: Path) -> GoldenTalk:
    """A conversation from its file."""
    return msgspec.json.decode(file.read_bytes(), type=GoldenTalk)


def read(file: Path) -> GoldenJournal:
    """A journal from its file."""
    return msgspec.json.decode(file.read_bytes(), type=GoldenJournal)


def write(file: Path, journal: GoldenJournal | GoldenTalk) -> None:
    """A journal or a conversation to its file, one value per line so that a change can be read."""
    file.write_bytes(
        msgspec.json.format(msgspec.json.encode(journal, order="sorted"), indent=1) + b"\n"
    )


def make(play: Callable[[Path], Coroutine[Any, Any, GoldenTalk]]) -> None:
    """Play a conversation in a folder of its own, and write it to the file that the command line
    names.
    """
    with tempfile.TemporaryDirectory() as home:
        write(Path(sys.argv[1]), asyncio.run(play(Path(home))))
